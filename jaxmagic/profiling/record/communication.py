"""Communication of devices with each other and the host, and the shardings of programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from ...xla.hlo import Sharded

#: The direction of a copy.
Direction = OneOf["host to device", "device to host", "device to device", "on the device"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveTime:
    """All executions of one collective of one program, on all devices.

    Attributes:
        name: the name of the instruction, such as ``"psum_invariant.7"``; of the kernel if the program is not known.
        kind: the kind of collective, such as ``"all-reduce"``.
        module: the name of the program; empty if not known.
        devices: the number of devices that took part.
        count: number of executions on all devices.
        payload_bytes: the size of the operands or the result on one device, whichever is larger; ``None`` if not
            known.
        total_ns: sum of the durations.
        exposed_ns: the time in which no computation hid the collective.
        wait_ns: straggler wait: how much later the last device started, summed over all executions and devices.
            ``None`` with several replica groups, or if the executions of the devices cannot be matched.
    """

    name: str
    kind: str
    module: str
    devices: int
    count: int
    payload_bytes: int | None
    total_ns: int
    exposed_ns: int
    wait_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferTime:
    """All copies in one direction, of one device if that is known.

    Attributes:
        direction: the direction of the copies.
        device: the device, such as ``"GPU:0"``; ``None`` if not recorded.
        count: number of copies.
        size_bytes: sum of their sizes; ``None`` if the size of any is not recorded.
        total_ns: sum of their durations.
        time_ns: the time in which any of them ran; overlapping copies count once.
    """

    direction: Direction
    device: str | None
    count: int
    size_bytes: int | None
    total_ns: int
    time_ns: int

    @property
    def bytes_per_s(self) -> float | None:
        """Bandwidth while any copy ran; ``None`` if sizes are not known."""
        return self.size_bytes / self.time_ns * 1e9 if self.size_bytes and self.time_ns else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTime:
    """A program that ran.

    Attributes:
        name: the name of the module, such as ``"jit_f"``.
        devices: the number of devices that it ran on.
        time_ns: its attributed device time.
        inputs: the parameters.
        outputs: the results.
    """

    name: str
    devices: int
    time_ns: int
    inputs: tuple[Sharded, ...]
    outputs: tuple[Sharded, ...]
