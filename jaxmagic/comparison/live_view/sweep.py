"""A sweep to play with: all of it, or the comparison at one of its points."""

from __future__ import annotations

import ipywidgets

from ...report.panel import Guard, View, choice, row, screen, show
from ..charts.memory_time import tradeoff
from ..record.sweep import Point, Sweep
from .comparison import ComparisonView

#: What is drawn of all points.
_TIMES, _MEMORY = "times", "memory against time"


class SweepView(View):
    """A choice of points, and what was measured there.

    Args:
        record: what is shown.
    """

    def __init__(self, record: Sweep) -> None:
        self.record = record
        measured = [(_name(record, each), each) for each in record.points if each.comparison is not None]
        self.point = choice("Point", [("all", None), *measured])
        self.drawn = choice("Show", (_TIMES, _MEMORY) if tradeoff(record) is not None else (_TIMES,))
        self.screen = screen()
        self.place = ipywidgets.VBox([self.screen])
        guard = Guard(self.screen)
        guard.watch([self.point, self.drawn], self.refresh)
        super().__init__([row(self.point, self.drawn), self.place])
        guard(self.refresh)(None)

    def refresh(self) -> None:
        """Show what was chosen."""
        point: Point | None = self.point.value
        before = [each for each in self.place.children if each is not self.screen]
        self.drawn.disabled = point is not None
        if point is None or point.comparison is None:
            self.place.children = [self.screen]
            show(self.screen, self.record, tradeoff(self.record) if self.drawn.value == _MEMORY else None)
        else:
            self.place.children = [ComparisonView(point.comparison)]
        for each in before:
            each.close()


def _name(sweep: Sweep, point: Point) -> str:
    return ", ".join(f"{name} = {label}" for name, label in sweep.values(point).items())
