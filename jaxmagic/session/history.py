"""The history of a session: its records in order, limited in number and size."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self, overload

from ..report.displayable import Displayable
from ..tracebacks import of_the_user

if TYPE_CHECKING:
    from .record import Record

#: The most records that a session keeps. A record takes a few kilobytes; a loop of ``%jaxtime`` must not fill memory.
CAPACITY = 1000


#: The most arrays, samples, buffers and call stacks in all records of ``%jaxmem`` together. Beyond that, the oldest
#: records keep a few arrays each; the newest ones keep all, because the next record is compared with them.
MOST_ENTRIES, _WHOLE = 30_000, 3


class History(Displayable):
    """The session's records, oldest first: indexable, bounded, and without any array.

    All memory records but the newest three list at most 30,000 arrays, samples, buffers and call stacks together.
    Beyond that, the oldest records keep only their nine largest arrays and the sum of the others, and a note says so.

    >>> history = History(capacity=2)
    >>> len(history)
    0
    """

    __slots__ = ("_entries", "_records")

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._records: deque[Record] = deque(maxlen=capacity)
        self._entries: deque[int] = deque(maxlen=capacity)  # of each record: counting them takes as long as they are

    @classmethod
    def of_records(cls, records: Iterable[Record]) -> Self:
        """Make a history with room for all `records`, oldest first."""
        found = tuple(records)
        history = cls(capacity=max(CAPACITY, len(found)))
        for each in found:
            history.append(each)
        return history

    def append(self, record: Record) -> None:
        """Add the newest record, and drop the oldest one if there is no more room."""
        self._records.append(record)
        self._entries.append(record._entries)
        if self._entries[-1]:
            self._thin_out()

    def _thin_out(self) -> None:
        """Shorten as many of the oldest memory records as necessary."""
        earlier = [at for at, entries in enumerate(self._entries) if entries][:-_WHOLE]
        listed = sum(self._entries[at] for at in earlier)
        for at in earlier:
            if listed <= MOST_ENTRIES:
                break
            self._records[at] = fewer = self._records[at]._shortened()
            listed += fewer._entries - self._entries[at]
            self._entries[at] = fewer._entries

    def replace_last(self, record: Record) -> None:
        """Replace the newest record with `record`."""
        self._records[-1] = record
        self._entries[-1] = record._entries

    def clear(self) -> None:
        """Forget all records."""
        self._records.clear()
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(tuple(self._records))

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    @of_the_user
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        if isinstance(index, slice):
            return list(self._records)[index]
        if not hasattr(index, "__index__"):
            kind = type(index).__name__
            raise TypeError(
                f"the history: expected the index of a record, got {kind}. Write history()[-1] for the last"
            )
        try:
            return self._records[index]
        except IndexError:
            told = f"the history: expected an index below {len(self)}, got {index}"
            write = "Write history()[-1] for the last record" if self else "Measure something first"
            raise IndexError(f"{told}. {write}") from None

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, History) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def to_dict(self) -> dict[str, Any]:
        """Return all records, each with its kind, as plain dictionaries, tuples, numbers and strings.

        >>> History().to_dict()
        {'records': ()}
        """
        return {"records": tuple({"kind": type(each).__name__, "record": each.to_dict()} for each in self)}
