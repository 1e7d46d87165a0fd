"""Which arrays are alive, how much of which device they take, and where they can be found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from ...records.environment import Environment
from ...records.note import Note, note
from ...report.displayable import Displayable


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldArray:
    """One array that is alive, and who holds it.

    Attributes:
        shape: type and sizes as JAX writes them, such as ``"f32[256,512]"``.
        dtype: its element type in full, such as ``"float32"``; of a typed key that of its data.
        sharding: where it lies, such as ``"SingleDevice cpu:0"`` or ``"NamedSharding P('x', None) over 4 devices"``.
        size_bytes: of all its elements once, wherever they lie and however often.
        device_bytes: what it takes of each device of this process, by the device's name. A replicated array takes
            all of its size on every device. What lies in another memory than the device's own has that in its name.
        shared_bytes: what of this lies in memory that an array further up has been counted for: the pieces of a
            sharded array, and copies that JAX did not make.
        names: where it was found, in Python as one would type it, shortest first; empty if it was not.
        made: whether it was made since the snapshot that it is compared with.
    """

    shape: str
    dtype: str
    sharding: str
    size_bytes: int
    device_bytes: tuple[tuple[str, int], ...]
    shared_bytes: tuple[tuple[str, int], ...] = ()
    names: tuple[str, ...] = ()
    made: bool = False

    def __post_init__(self) -> None:
        if self.size_bytes < 0 or any(each < 0 for _, each in (*self.device_bytes, *self.shared_bytes)):
            raise ValueError("the bytes of an array cannot be negative")

    @property
    def own_bytes(self) -> int:
        """Bytes that would be free on all devices if this array were not there, and those below it neither."""
        return sum(each for _, each in self.device_bytes) - sum(each for _, each in self.shared_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveArrays(Displayable):
    """The arrays that were alive at one moment, on every backend that had been started.

    Attributes:
        arrays: the one that takes most first.
        started_at: when, in ISO 8601 with the time zone.
        deleted: those that were donated or deleted since the snapshot although names still lead to them: they take
            no memory, and to read them is an error. None where there was no snapshot.
        search_complete: whether everything that the names lead to was looked at. Where it was not, an array without
            a name may have one.
        notes: what a reader must know to understand the list.
        environment: under which this is true.
    """

    _derived: ClassVar[tuple[str, ...]] = ("total_bytes", "by_device")

    arrays: tuple[HeldArray, ...]
    started_at: str
    deleted: tuple[HeldArray, ...] = ()
    search_complete: bool
    notes: tuple[Note, ...] = ()
    environment: Environment

    @property
    def by_device(self) -> dict[str, int]:
        """The bytes that they take of each device, most first; memory that several arrays share counts once."""
        found: dict[str, int] = {}
        for array in self.arrays:
            for device, size_bytes in array.device_bytes:
                found[device] = found.get(device, 0) + size_bytes
            for device, size_bytes in array.shared_bytes:
                found[device] = found.get(device, 0) - size_bytes
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def total_bytes(self) -> int:
        """The bytes that they take of all devices together."""
        return sum(self.by_device.values())

    @property
    def unnamed(self) -> tuple[HeldArray, ...]:
        """Those that were not found from any name."""
        return tuple(array for array in self.arrays if not array.names)

    @property
    def made(self) -> tuple[HeldArray, ...]:
        """Those that were made since the snapshot; none where there was no snapshot."""
        return tuple(array for array in self.arrays if array.made)

    def with_largest(self, most: int) -> LiveArrays:
        """The same with so many arrays at most: the largest ones, and one that stands for all others together.

        Args:
            most: at least 1.
        """
        if len(self.arrays) <= most:
            return self
        kept, left = self.arrays[: most - 1], self.arrays[most - 1 :]
        others = HeldArray(
            shape=f"{len(left)} other arrays",
            dtype="",
            sharding="",
            size_bytes=sum(each.size_bytes for each in left),
            device_bytes=_summed(each.device_bytes for each in left),
            shared_bytes=_summed(each.shared_bytes for each in left),
        )
        shortened = note("memory_use.largest_arrays", kept=len(kept), arrays=len(self.arrays))
        return replace(self, arrays=(*kept, others), notes=(*self.notes, shortened))


def _summed(sizes: Iterable[tuple[tuple[str, int], ...]]) -> tuple[tuple[str, int], ...]:
    """The bytes of all, by device."""
    found: dict[str, int] = {}
    for each in sizes:
        for device, size_bytes in each:
            found[device] = found.get(device, 0) + size_bytes
    return tuple(found.items())
