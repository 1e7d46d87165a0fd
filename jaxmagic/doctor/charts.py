"""Charts of a diagnosis."""

from __future__ import annotations

from ..charts.chart_of import Pictured
from ..charts.scale import Scale
from ..charts.spec import Bar, Bars
from .record.diagnosis import Diagnosis


def costs_chart(diagnosis: Diagnosis) -> Bars | None:
    """Draw what the findings cost in every run, below the time of a run; ``None`` if no finding costs time then."""
    wall_ns = float(diagnosis.wall_ns or 0)
    bars = [Bar(name="a run", parts=(("run", wall_ns),))]
    for each in diagnosis.findings:
        if each.cost_ns is not None and each.per == "run":
            name = each.rule if each.line is None else f"{each.rule}, {each.line}"
            bars.append(Bar(name=name, parts=(("cost", min(each.cost_ns, wall_ns)),)))
    if not wall_ns or len(bars) == 1:
        return None
    return Bars(
        title="what the findings cost in a run",
        x=Scale(label="time", quantity="time", low=0.0, high=wall_ns),
        bars=tuple(bars),
        order=("run", "cost"),
    )


CHARTS = {Diagnosis: {"costs": Pictured(costs_chart, "no finding costs time in each run")}}
