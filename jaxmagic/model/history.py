"""The records of a session, in order, and no more of them than fit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, overload

from .benchmark import Benchmark
from .comparison import Comparison
from .display import Displayable
from .memory import MemoryProfile
from .profile import Profile
from .sweep import Sweep
from .timing import Timing

#: What a measurement leaves behind.
Record = Timing | Benchmark | Comparison | Sweep | MemoryProfile | Profile

#: Records that a session keeps. One is a few kilobytes; a loop of ``%jaxtime`` must not fill the memory.
CAPACITY = 1000


#: Arrays, samples, buffers and call stacks that the records of ``%jaxmem`` list, all together. Beyond that the oldest
#: records keep a few arrays each; the newest ones keep all, because the next look is compared with them.
MOST_ENTRIES, _FEW_ARRAYS, _WHOLE = 30_000, 10, 3


class History(Displayable):
    """The session's records, oldest first: indexable, bounded, and without any array.

    Of records of memory all but the newest three list 30,000 arrays, samples, buffers and call stacks together:
    beyond that the oldest keep the largest nine arrays each and the sum of the others, and a note says so.

    >>> history = History(capacity=2)
    >>> len(history)
    0
    """

    __slots__ = ("_records",)

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._records: deque[Record] = deque(maxlen=capacity)

    def append(self, record: Record) -> None:
        """Add the newest record; the oldest is dropped when there is no more room."""
        self._records.append(record)
        if isinstance(record, MemoryProfile):
            self._thin_out()

    def _thin_out(self) -> None:
        """Shorten the oldest records of memory, as many of them as it takes."""
        memory = [(at, each) for at, each in enumerate(self._records) if isinstance(each, MemoryProfile)]
        earlier = [(at, each, _entries(each)) for at, each in memory[:-_WHOLE]]
        listed = sum(entries for _, _, entries in earlier)
        for at, each, entries in earlier:
            if listed <= MOST_ENTRIES:
                break
            if entries > _FEW_ARRAYS:
                self._records[at] = fewer = _shortened(each)
                listed -= entries - _entries(fewer)

    def replace_last(self, record: Record) -> None:
        """Put `record` in the place of the newest one."""
        self._records[-1] = record

    def clear(self) -> None:
        """Forget all records."""
        self._records.clear()

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(tuple(self._records))

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        if isinstance(index, slice):
            return list(self._records)[index]
        try:
            return self._records[index]
        except IndexError:
            raise IndexError(f"the history holds {len(self)} records; found index {index}") from None

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, History) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def to_dict(self) -> dict[str, Any]:
        """All records, each with its kind, as plain dictionaries, tuples, numbers and strings.

        >>> History().to_dict()
        {'records': ()}
        """
        return {"records": tuple({"kind": type(each).__name__, "record": each.to_dict()} for each in self)}


def _entries(record: MemoryProfile) -> int:
    """How many arrays, samples, buffers and call stacks it lists."""
    allocations = (each for program in record.executables for each in program.allocations or ())
    samples = 0 if record.timeline is None else len(record.timeline.times_ns)
    heaps = () if record.heap is None else (record.heap.before, record.heap.after)
    stacks = sum(len(each.samples) for each in heaps if each is not None)
    return len(record.arrays.arrays) + samples + sum(len(each.buffers) for each in allocations) + stacks


def _shortened(record: MemoryProfile) -> MemoryProfile:
    """The same with the largest arrays only, and without timeline, buffers and call stacks; a note says so."""
    lost = {
        "timeline": record.timeline is not None,
        "maps of programs": any(each.allocations for each in record.executables),
        "call stacks": record.heap is not None,
    }
    gone = [name for name, was_there in lost.items() if was_there]
    note = f"The history keeps no {' and no '.join(gone)} of an earlier record."
    return replace(
        record,
        arrays=record.arrays.with_largest(_FEW_ARRAYS),
        timeline=None,
        heap=None,
        executables=tuple(replace(each, allocations=None, steps=None) for each in record.executables),
        notes=(*record.notes, *([note] if gone else [])),
    )
