"""Declares live arrays: how much memory they take on which device, and which names hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from ...records.environment import Environment
from ...records.note import Note, note
from ...session.record import Record

#: Number of arrays that an earlier record of a session keeps.
FEW_ARRAYS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldArray:
    """One live array, and the names that hold it.

    Attributes:
        shape: element type and shape as JAX writes them, such as ``"f32[256,512]"``.
        dtype: the element type in full, such as ``"float32"``; for a typed PRNG key, that of its data.
        sharding: the placement, such as ``"SingleDevice cpu:0"`` or ``"NamedSharding P('x', None) over 4 devices"``.
        size_bytes: global size: each element once, even if it is replicated.
        device_bytes: bytes on each device of this process, by the device's name. A replicated array takes its full
            size on every device. A memory kind other than the device's default is part of the name.
        shared_bytes: how many of these bytes have been counted for an array further up the list: shards of a sharded
            array, and copies that JAX elided.
        names: Python expressions that lead to the array, shortest first; empty if none was found.
        made: whether the array was made since the snapshot.
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
        """Bytes on all devices that have not been counted for an array further up the list."""
        return sum(each for _, each in self.device_bytes) - sum(each for _, each in self.shared_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveArrays(Record):
    """The arrays that were alive at one moment, on every backend that had been started.

    Attributes:
        arrays: the live arrays, largest first.
        started_at: when the list was made, in ISO 8601 with the time zone.
        deleted: arrays that were donated or deleted since the snapshot but are still held by names. They take no
            memory, and reading them raises an error. Empty without a snapshot.
        search_complete: whether the search for names finished. If not, an array without a name may have one.
        notes: what a reader must know to understand the list.
        environment: the hardware and software of this session.
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
        """Bytes of arrays on each device, largest first; memory that several arrays share counts once."""
        totals = _summed(array.device_bytes for array in self.arrays)
        totals.subtract(_summed(array.shared_bytes for array in self.arrays))
        return dict(totals.most_common())

    @property
    def total_bytes(self) -> int:
        """Bytes of arrays on all devices together."""
        return sum(self.by_device.values())

    @property
    def unnamed(self) -> tuple[HeldArray, ...]:
        """The arrays for which no name was found."""
        return tuple(array for array in self.arrays if not array.names)

    @property
    def made(self) -> tuple[HeldArray, ...]:
        """The arrays that were made since the snapshot; empty without a snapshot."""
        return tuple(array for array in self.arrays if array.made)

    @property
    def _entries(self) -> int:
        """Number of arrays in this record."""
        return len(self.arrays)

    def _shortened(self) -> LiveArrays:
        """Keep the largest arrays."""
        return self.with_largest(FEW_ARRAYS)

    def with_largest(self, most: int) -> LiveArrays:
        """Keep the largest arrays, and replace all others by one entry with their total size.

        Args:
            most: number of entries to keep at most, that of the others included; at least 1.
        """
        if len(self.arrays) <= most:
            return self
        kept, left = self.arrays[: most - 1], self.arrays[most - 1 :]
        others = HeldArray(
            shape=f"{len(left)} other arrays",
            dtype="",
            sharding="",
            size_bytes=sum(each.size_bytes for each in left),
            device_bytes=tuple(_summed(each.device_bytes for each in left).items()),
            shared_bytes=tuple(_summed(each.shared_bytes for each in left).items()),
        )
        shortened = note("memory_use.largest_arrays", kept=len(kept), arrays=len(self.arrays))
        return replace(self, arrays=(*kept, others), notes=(*self.notes, shortened))


def _summed(sizes: Iterable[tuple[tuple[str, int], ...]]) -> Counter[str]:
    """Add up the bytes on each device."""
    totals: Counter[str] = Counter()
    for device, size_bytes in chain.from_iterable(sizes):
        totals[device] += size_bytes
    return totals
