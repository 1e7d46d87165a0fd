"""Charts of a timing."""

from __future__ import annotations

from ..charts.chart_of import Pictured
from ..charts.scale import Scale
from ..charts.spec import Bar, Bars
from . import analysis
from .record import Timing


def parts_chart(record: Timing) -> Bars:
    """Draw the parts of the wall time as one bar."""
    parts = tuple((part.name, float(part.time_ns)) for part in analysis.parts(record))
    return Bars(
        title="where the time went",
        x=Scale(label="time", quantity="time", low=0.0, high=float(max(1, record.wall_ns))),
        bars=(Bar(name=record.code or "", parts=parts),),
    )


CHARTS = {Timing: {"parts": Pictured(parts_chart)}}
