"""Declares how long devices were busy in a short profile."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTime:
    """Device time of some calls, from the JAX profiler.

    A profile shows how long a device was busy, whatever the host did meanwhile. It does not replace the latency,
    because the profiler itself takes time.

    Attributes:
        calls: the number of calls that were profiled.
        wall_ns: the wall time of all of them under the profiler.
        devices: the names of the devices that were busy.
        busy_ns: how long each of these was busy in all calls together. It is the union of its operations, so
            operations that ran concurrently count once.
        problem: a sentence that says why there is no number; ``None`` if there is one.
    """

    calls: int
    wall_ns: int = 0
    devices: tuple[str, ...] = ()
    busy_ns: tuple[int, ...] = ()
    problem: str | None = None

    def __post_init__(self) -> None:
        if len(self.devices) != len(self.busy_ns):
            raise ValueError(f"{len(self.devices)} devices and {len(self.busy_ns)} times")
        if any(each > self.wall_ns for each in self.busy_ns):
            raise ValueError("busy_ns: a device cannot be busy for longer than wall_ns")

    @property
    def call_ns(self) -> float | None:
        """The time per call of the device that was busy longest; ``None`` if unknown."""
        if self.problem is not None or not self.busy_ns:
            return None
        return max(self.busy_ns) / self.calls
