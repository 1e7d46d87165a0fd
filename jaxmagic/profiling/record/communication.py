"""What devices move between each other and the host, and how the arrays of programs are divided among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from ...xla.hlo import Sharded

#: Where a copy goes.
Direction = OneOf["host to device", "device to host", "device to device", "on the device"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveTime:
    """All runs of one collective operation of one program, on all devices.

    Attributes:
        name: of the instruction, such as ``"psum_invariant.7"``; of the kernel where no program is known.
        kind: such as ``"all-reduce"``.
        module: of the program; empty if that is not known.
        devices: how many devices took part.
        count: how often it ran, on all devices.
        payload_bytes: what one run takes or gives on one device, the larger of the two; ``None`` if not known.
        total_ns: how long all runs took, one added to the other.
        exposed_ns: what of the time of the devices is its own, because nothing was computed meanwhile.
        wait_ns: how much later the last device began, added up over all runs of all devices: so long they had to
            wait for it. ``None`` where not all devices exchange with all, or their runs cannot be told apart.
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
    """All copies in one direction, of one device as far as that is known.

    Attributes:
        direction: from where to where.
        device: whose, such as ``"GPU:0"``; ``None`` where the recording does not tell.
        count: how many copies.
        size_bytes: of all of them; ``None`` where the recording does not tell that of each.
        total_ns: how long they took, one added to the other.
        time_ns: for how long there was any: several at once count once.
    """

    direction: Direction
    device: str | None
    count: int
    size_bytes: int | None
    total_ns: int
    time_ns: int

    @property
    def bytes_per_s(self) -> float | None:
        """The rate of all of them while there was any; ``None`` where sizes are not known."""
        return self.size_bytes / self.time_ns * 1e9 if self.size_bytes and self.time_ns else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTime:
    """A program that ran.

    Attributes:
        name: such as ``"jit_f"``.
        devices: on how many devices it ran.
        time_ns: what of the time of the devices is its own.
        inputs: the arrays that it takes.
        outputs: the arrays that it gives.
    """

    name: str
    devices: int
    time_ns: int
    inputs: tuple[Sharded, ...]
    outputs: tuple[Sharded, ...]
