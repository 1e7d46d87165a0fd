"""Shows a sweep interactively: all of it, or the comparison at one of its points."""

from __future__ import annotations

import ipywidgets

from ...report.panel import Guard, View, choice, row, screen, show_below
from ..charts.memory_time import tradeoff
from ..record.sweep import Point, Sweep
from .comparison import ComparisonView

#: The charts of all points to choose from.
_TIMES, _MEMORY = "times", "memory against time"


class SweepView(View):
    """A choice of points, with the comparison at the chosen one.

    Args:
        record: the sweep to show.
    """

    def __init__(self, record: Sweep) -> None:
        self.record = record
        measured = [(_name(record, each), each) for each in record.points if each.comparison is not None]
        self.point = choice("Point", [("all", None), *measured])
        self.drawn = choice("Show", (_TIMES, _MEMORY) if tradeoff(record) is not None else (_TIMES,))
        self.answer, self.screen = screen(), screen()
        self.place = ipywidgets.VBox([self.screen])
        guard = Guard(self.screen)
        guard.watch([self.point, self.drawn], self.refresh)
        super().__init__([self.answer, row(self.point, self.drawn), self.place])
        guard(self.refresh)(None)

    def refresh(self) -> None:
        """Show what the controls select."""
        point: Point | None = self.point.value
        before = [each for each in self.place.children if each is not self.screen]
        self.drawn.disabled = point is not None
        if point is None or point.comparison is None:
            self.place.children = [self.screen]
            chart = tradeoff(self.record) if self.drawn.value == _MEMORY else None
            show_below(self.answer, self.screen, self.record, chart)
        else:
            self.place.children = [ComparisonView(point.comparison)]
        for each in before:
            each.close()


def _name(sweep: Sweep, point: Point) -> str:
    return ", ".join(f"{name} = {label}" for name, label in sweep.values(point).items())
