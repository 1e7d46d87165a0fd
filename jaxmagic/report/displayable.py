"""The mixin of records: text, HTML, a figure and a file.

Jupyter asks an object for its ``_repr_mimebundle_``, so that method has to be on the record; what it shows is the
business of the media. They are imported in the call: a record that is never shown costs no renderer.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..records.exportable import Exportable

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from matplotlib.figure import Figure


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
            of: which picture of several; the first one if left out. A :class:`~jaxmagic.Profile` has ``"scopes"``,
                ``"stacks"``, ``"timeline"``, ``"roofline"``, ``"steps"`` and ``"memory"``, a
                :class:`~jaxmagic.Comparison` ``"ratios"`` and ``"distributions"``, a :class:`~jaxmagic.Benchmark`
                ``"distribution"`` and ``"order"``.

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
