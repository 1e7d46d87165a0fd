"""Lets a block that was measured show the report of its record, and point to the record's attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .names import nearest_name


class Holder:
    """What a ``with`` block was measured by, which holds the record once the block has ended."""

    #: The attribute that holds the record, and its class.
    _holds: ClassVar[str]
    _record_class: ClassVar[type]

    def _held(self) -> object | None:
        """Return the record; ``None`` before the block has ended."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the report, or that there is none yet."""
        record, name = self._held(), type(self).__name__
        return f"<{name}: no record yet, its block has not ended>" if record is None else str(record)

    if not TYPE_CHECKING:  # type checkers know the attributes

        def __getattr__(self, name: str) -> Any:
            """Say that an attribute is one of the record, if it is."""
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises the error
            names = [each for each in dir(self._record_class) if not each.startswith("_")]
            meant = nearest_name(name, names)
            suggestion = f"Did you mean: '{self._holds}.{meant}'?" if meant else f"Its record is {self._holds!r}."
            message = f"{type(self).__name__!r} object has no attribute {name!r}. {suggestion}"
            error = AttributeError(message, name=name, obj=None)
            try:
                raise error
            finally:
                error.__traceback__ = None  # this line is no news to the user
