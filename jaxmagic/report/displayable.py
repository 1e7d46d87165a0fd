"""The mixin of records: text, HTML, a figure and a file.

Jupyter calls ``_repr_mimebundle_`` of an object, so that method has to be on the record. The media are imported only
when it is called: a record that is never shown costs no renderer.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

from ..records.exportable import Exportable
from ..terminal import width
from ..tracebacks import of_the_user

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from matplotlib.figure import Figure


def _printing(record: object) -> str:
    """Say how to print a record: by the name of the user's variable, if there is one."""
    variables = list(vars(sys.modules["__main__"]).items())
    name = next((name for name, value in variables if value is record and not name.startswith("_")), None)
    return f"print({name})" if name else "printing it"


class Shown:
    """Mixin of what has a report: text and HTML, on demand."""

    __slots__ = ()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None, **_: object
    ) -> dict[str, str]:
        from .mimebundle import mimebundle
        from .style import Style

        style = Style(whole=False, width=width(), whole_by=_printing(self))
        return mimebundle(self, include=include, exclude=exclude, style=style)

    def __str__(self) -> str:
        from .style import Style
        from .to_text import to_text

        return to_text(self, Style(width=width()), stream=sys.stdout)  # so that print(record) never fails


class Displayable(Shown, Exportable):
    """Mixin of every record: text, HTML, a file and a figure, on demand."""

    __slots__ = ()

    @of_the_user
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the record to `path` as JSON, as ``jaxmagic.save()`` does.

        >>> import jaxmagic, os, tempfile
        >>> with jaxmagic.stopwatch() as t:
        ...     pass
        >>> jaxmagic.load(t.timing.save(os.path.join(tempfile.mkdtemp(), "timing.json"))) == t.timing
        True
        """
        from ..records.storage import save

        return save(self, path)

    @of_the_user
    def figure(self, of: str | None = None) -> Figure:
        """Draw the record's chart as a matplotlib figure for a paper: 6.4 inches wide, with labelled axes and units.

        The first chart of each record shows:

        - ``Timing``: the parts of its time.
        - ``Benchmark``: the distribution of the samples, with the median and its interval.
        - ``Comparison``: the ratios, with their intervals and distributions.
        - ``Sweep``: the curves.
        - ``History``: the parts of its last twelve timings.
        - ``MemoryProfile``: the memory map of the program that needs the most memory.
        - ``Executable``: its memory map.
        - ``LiveArrays``: a treemap of the arrays' sizes.
        - ``HeapDifference`` and ``HeapProfile``: a flame graph of the heap.
        - ``Profile``: a flame graph of the device time by scope.

        The figure belongs to the caller: pyplot is not imported and does not list it, and no setting of matplotlib is
        changed.

        Args:
            of: the name of the chart; the first one if left out. A ``Profile`` has ``"scopes"``,
                ``"stacks"``, ``"lines"``, ``"timeline"``, ``"roofline"``, ``"steps"`` and ``"memory"``, a
                ``Comparison`` ``"ratios"`` and ``"distributions"``, a ``Sweep``
                ``"curves"`` and ``"times"``, a ``Benchmark`` ``"distribution"`` and ``"order"``.

        Raises:
            ValueError: there is nothing to draw, as for a history without timings, or there is no such chart.

        >>> import io, jaxmagic
        >>> with jaxmagic.stopwatch() as t:
        ...     pass
        >>> t.timing.figure().savefig(io.BytesIO(), format="pdf")
        """
        from ..charts.chart_of import chart_of
        from ..drawing.to_matplotlib import figure

        return figure(chart_of(self, of))
