"""Convert records and their parts to dictionaries and data frames."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..subjects import medium
from ..tracebacks import of_the_user
from .names import nearest_name

if TYPE_CHECKING:
    from pandas import DataFrame


class Suggesting:
    """Mixin that adds to the error for an unknown attribute what the class's ``_suggestion(name)`` returns."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know the attributes

        def __getattr__(self, name: str) -> Any:
            """Say which attribute was probably meant by one that there is not."""
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises the error
            message = f"{type(self).__name__!r} object has no attribute {name!r}{self._suggestion(name)}"
            error = AttributeError(message, name=name, obj=None)
            try:
                raise error
            finally:
                error.__traceback__ = None  # this line is no news to the user


def _public(kind: type) -> list[str]:
    return [each for each in dir(kind) if not each.startswith("_")]


class Exportable(Suggesting):
    """Mixin with ``to_dict`` and ``to_frame``, for every record and for parts that have a meaning of their own."""

    __slots__ = ()

    #: Properties that :meth:`to_dict` puts in front of the stored fields.
    _derived: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Let a frozen dataclass say what to write in place of an assignment, which its own methods do not.

        Those fail with an unrelated error if the class has slots and the attribute is no field:
        https://github.com/python/cpython/issues/105936
        """
        super().__init_subclass__()
        if "__setattr__" in vars(cls):
            cls.__setattr__ = cls.__delattr__ = _refuse_change  # type: ignore[method-assign]

    @classmethod
    def _suggestion(cls, name: str) -> str:
        names = _public(cls)
        meant = "figure().savefig" if name == "savefig" and "figure" in names else nearest_name(name, names)
        return f". Did you mean: {meant!r}?" if meant else ""

    def to_dict(self) -> dict[str, Any]:
        """Return all stored fields and the main derived ones as plain dictionaries, tuples, numbers and strings.

        Values of the user's code are left out, as they are in files.

        >>> import jaxmagic
        >>> with jaxmagic.stopwatch() as t:
        ...     pass
        >>> t.timing.to_dict()["wall_ns"] == t.timing.wall_ns
        True
        """
        stored: dict[str, Any] = plain(self)
        return {name: plain(getattr(self, name)) for name in self._derived} | stored

    @of_the_user
    def to_frame(self, of: str | None = None) -> DataFrame:
        """Return a tidy pandas frame, with units in the column names; values that were not measured are ``<NA>``.

        Args:
            of: the kind of rows. For a ``Timing`` ``"timings"`` or ``"compilations"``, for a
                ``Benchmark`` ``"samples"``, ``"benchmarks"`` or ``"compilations"``, for the
                ``History`` ``"timings"``, ``"benchmarks"``, ``"profiles"`` or ``"compilations"``
                (if left out, the first of these kinds that it has), for a ``MemoryProfile``
                ``"executables"``, ``"buffers"``, ``"arrays"``, ``"timeline"``, ``"heap"`` or ``"compilations"``,
                for a ``HeapDifference`` or ``HeapProfile`` ``"heap"``, for
                ``LiveArrays`` ``"arrays"``, for an
                ``Executable`` ``"buffers"``, for a ``Profile`` ``"lines"``,
                ``"operations"``, ``"scopes"``, ``"devices"``, ``"collectives"``, ``"transfers"``, ``"programs"``,
                ``"timeline"`` or ``"compilations"``, for a ``Comparison`` ``"candidates"``,
                ``"samples"``, ``"lines"``, ``"operations"`` or ``"compilations"``, for a ``Sweep``
                ``"points"``, ``"scaling"`` or ``"compilations"``; the first of them if left out. A
                ``Compilation``, a ``Cause`` and an ``Environment``
                have one frame each, of one row.

        Raises:
            ValueError: the record has no frame of that name.

        >>> import jaxmagic
        >>> with jaxmagic.stopwatch() as t:
        ...     pass
        >>> int(t.timing.to_frame()["wall_ns"][0]) == t.timing.wall_ns
        True
        """
        frame: DataFrame = medium("to_frame")(self, of)
        return frame


@of_the_user
def _refuse_change(record: Any, name: str, *value: object) -> None:
    """Refuse to set or delete an attribute of a record."""
    write = ". Keep other values in variables of your own"
    if value and name in {each.name for each in fields(record)}:
        write = f". Write dataclasses.replace(record, {name}=...) for a changed copy"
    raise FrozenInstanceError(f"{name}: {type(record).__name__} is immutable{write}")


def plain(value: Any) -> Any:
    """Return `value` with every record in it as a dictionary of its stored fields."""
    if is_dataclass(value) and not isinstance(value, type):
        stored = (each.name for each in fields(value) if each.metadata.get("saved", True))
        return {name: plain(getattr(value, name)) for name in stored}
    if isinstance(value, tuple | list):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value


class Holder(Suggesting):
    """The object of a ``with`` block that measures it, and holds the record once the block has ended."""

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

    @classmethod
    def _suggestion(cls, name: str) -> str:
        meant = nearest_name(name, _public(cls._record_class))
        return f". Did you mean: '{cls._holds}.{meant}'?" if meant else f". Its record is {cls._holds!r}."
