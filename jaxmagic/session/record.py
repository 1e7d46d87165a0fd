"""The base class of all records."""

from __future__ import annotations

from typing import Any, Self

from ..report.displayable import Displayable


class Record(Displayable):
    """Base of the records that a session keeps."""

    __slots__ = ()

    @property
    def _entries(self) -> int:
        """The number of listed arrays, samples, buffers and call stacks, in records where it may be large."""
        return 0

    def _shortened(self) -> Self:
        """Return the record with fewer of its entries, for a session that has many records."""
        return self

    def without_values(self) -> Self:
        """Return the record without functions and values of the user's code, so that it keeps no array alive."""
        return self

    @property
    def compilations(self) -> tuple[Any, ...]:
        """All compilations during the measurement."""
        return ()
