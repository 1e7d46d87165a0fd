"""How long devices were at work, out of a short profile."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTime:
    """Device time of some calls, from the JAX profiler.

    A profile tells how long a device had something to do, whatever the host did meanwhile. It is no measurement of
    the calls: running under the profiler takes time of its own. So it never replaces a latency.

    Attributes:
        calls: how many were profiled.
        wall_ns: how long they took under the profiler, altogether.
        devices: the names of those that worked.
        busy_ns: for each of them how long it did, in all calls together: the union of its operations, so that those
            that ran at once count once.
        problem: a sentence that says why there is no number, ``None`` if there is one.
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
            raise ValueError("no device works longer than the calls take")

    @property
    def call_ns(self) -> float | None:
        """For a call, how long the device worked that worked longest; ``None`` if that is not known."""
        if self.problem is not None or not self.busy_ns:
            return None
        return max(self.busy_ns) / self.calls
