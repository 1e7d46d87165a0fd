"""What every measurement leaves behind."""

from __future__ import annotations

from typing import Any, Self

from ..report.displayable import Displayable


class Record(Displayable):
    """Base of the records that a session keeps."""

    __slots__ = ()

    @property
    def _entries(self) -> int:
        """Number of arrays, samples, buffers and call stacks that it lists, where these may be very many."""
        return 0

    def _shortened(self) -> Self:
        """Return the record with fewer of its entries, for a session that has many records."""
        return self

    def without_values(self) -> Self:
        """Return the record without values of the user's code and functions, so that it keeps no array alive."""
        return self

    @property
    def compilations(self) -> tuple[Any, ...]:
        """All compilations meanwhile."""
        return ()
