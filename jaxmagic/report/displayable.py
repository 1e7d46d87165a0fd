"""The one door from the nouns up to the media: how a record shows itself.

Jupyter asks an object for its ``_repr_mimebundle_``, so that method has to be on the record; what it shows is
the business of ``render``. The import happens in the call: a record that is never shown costs no renderer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from matplotlib.figure import Figure
    from pandas import DataFrame


class Exportable:
    """Mixin of every record and of the parts that have a meaning of their own: a dictionary and a data frame."""

    __slots__ = ()

    #: Properties that :meth:`to_dict` puts in front of the stored fields.
    _derived: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """All stored fields and the main derived ones as plain dictionaries, tuples, numbers and strings.

        A value of the user's code is left out, as it is in files.

        >>> import jaxmagic
        >>> with jaxmagic.stopwatch() as t:
        ...     pass
        >>> t.timing.to_dict()["wall_ns"] == t.timing.wall_ns
        True
        """
        stored: dict[str, Any] = plain(self)
        return {name: plain(getattr(self, name)) for name in self._derived} | stored

    def to_frame(self, of: str | None = None) -> DataFrame:
        """A tidy pandas frame, the unit in each column's name; what was not measured is ``<NA>``.

        Args:
            of: what a row is. For a :class:`~jaxmagic.Timing` ``"timings"`` or ``"compilations"``, for a
                :class:`~jaxmagic.Benchmark` ``"samples"``, ``"benchmarks"`` or ``"compilations"``, for the
                :class:`~jaxmagic.History` ``"timings"``, ``"benchmarks"``, ``"profiles"`` or ``"compilations"``
                (if left out, the first of these kinds that it has), for a :class:`~jaxmagic.MemoryProfile`
                ``"executables"``, ``"buffers"``, ``"arrays"``, ``"timeline"``, ``"heap"`` or ``"compilations"``,
                for a :class:`~jaxmagic.HeapDifference` or :class:`~jaxmagic.HeapProfile` ``"heap"``, for
                :class:`~jaxmagic.LiveArrays` ``"arrays"``, for an
                :class:`~jaxmagic.Executable` ``"buffers"``, for a :class:`~jaxmagic.Profile` ``"lines"``,
                ``"operations"``, ``"scopes"``, ``"devices"``, ``"collectives"``, ``"transfers"``, ``"programs"``,
                ``"timeline"`` or ``"compilations"``, for a :class:`~jaxmagic.Comparison` ``"candidates"``,
                ``"samples"``, ``"lines"``, ``"operations"`` or ``"compilations"``, for a :class:`~jaxmagic.Sweep`
                ``"points"``, ``"scaling"`` or ``"compilations"``; the first of them if left out. A
                :class:`~jaxmagic.Compilation`, a :class:`~jaxmagic.Cause` and an :class:`~jaxmagic.Environment`
                have one frame each, of one row.

        Raises:
            ValueError: the record has no frame of that name.

        >>> import jaxmagic
        >>> with jaxmagic.stopwatch() as t:
        ...     pass
        >>> int(t.timing.to_frame()["wall_ns"][0]) == t.timing.wall_ns
        True
        """
        from .to_frame import to_frame

        return to_frame(self, of)


class Displayable(Exportable):
    """Mixin of every record: text, HTML, a file and a figure as well, on demand."""

    __slots__ = ()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None, **_: object
    ) -> dict[str, str]:
        from .mimebundle import mimebundle

        return mimebundle(self, include=include, exclude=exclude)

    def __str__(self) -> str:
        from .to_text import to_text

        return to_text(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the record to `path` as JSON, as :func:`jaxmagic.save` does.

        >>> import jaxmagic, os, tempfile
        >>> with jaxmagic.stopwatch() as t:
        ...     pass
        >>> jaxmagic.load(t.timing.save(os.path.join(tempfile.mkdtemp(), "timing.json"))) == t.timing
        True
        """
        from ..records.storage import save

        return save(self, path)

    def figure(self, of: str | None = None) -> Figure:
        """The record's chart as a matplotlib figure, for a paper: 6.4 inches wide, axes and units labelled.

        For a :class:`~jaxmagic.Timing` the parts of its time, for a :class:`~jaxmagic.Benchmark` the distribution of
        the samples with the median and its interval, for a :class:`~jaxmagic.Comparison` the ratios with their
        intervals and distributions, for a :class:`~jaxmagic.Sweep` the curves, for the :class:`~jaxmagic.History` the
        parts of its last twelve timings, for a :class:`~jaxmagic.MemoryProfile` the memory map of the hungriest
        program and for an :class:`~jaxmagic.Executable` its own, for :class:`~jaxmagic.LiveArrays` a treemap of what
        they take, for a :class:`~jaxmagic.HeapDifference` or :class:`~jaxmagic.HeapProfile` the flame graph, for a
        :class:`~jaxmagic.Profile` that of the device time by scope.

        Args:
            of: which picture of a :class:`~jaxmagic.Profile`: ``"scopes"``, ``"stacks"``,
                ``"timeline"``, ``"roofline"``, ``"steps"`` or ``"memory"``.

        The figure belongs to the caller alone: pyplot is not imported and does not list it, and no setting of
        matplotlib is changed.

        Raises:
            ValueError: there is nothing to draw, such as a history without any timing; or no such picture.

        >>> import io, jaxmagic
        >>> with jaxmagic.stopwatch() as t:
        ...     pass
        >>> t.timing.figure().savefig(io.BytesIO(), format="pdf")
        """
        from ..charts.chart_of import chart_of
        from ..drawing.to_matplotlib import figure

        return figure(chart_of(self, of))


def plain(value: Any) -> Any:
    """`value` with every record in it as a dictionary of its stored fields."""
    if is_dataclass(value) and not isinstance(value, type):
        stored = (each.name for each in fields(value) if each.metadata.get("saved", True))
        return {name: plain(getattr(value, name)) for name in stored}
    if isinstance(value, tuple | list):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value
