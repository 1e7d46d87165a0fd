"""Shows a benchmark interactively: its distribution, or its calls in order."""

from __future__ import annotations

from dataclasses import replace

from ..charts.chart_of import chart_of
from ..charts.curves import Curves
from ..report.panel import Guard, View, choice, row, screen, show_below
from .charts import over_time
from .record.benchmark import Benchmark

_DISTRIBUTION, _ORDER = "distribution", "calls in order"


class BenchmarkView(View):
    """Controls for a benchmark, between its answer and the rest of its report.

    Args:
        record: the benchmark to show.
    """

    def __init__(self, record: Benchmark) -> None:
        self.record = record
        self.drawn = choice("Show", (_DISTRIBUTION, _ORDER))
        self.scale = choice("Scale", ("linear", "log"))
        self.answer, self.screen = screen(), screen()
        guard = Guard(self.screen)
        guard.watch([self.drawn, self.scale], self.refresh)
        super().__init__([self.answer, row(self.drawn, self.scale), self.screen])
        guard(self.refresh)(None)

    def refresh(self) -> None:
        """Show what the controls select."""
        log = self.scale.value == "log"
        if self.drawn.value == _ORDER:
            chart = over_time(self.record)
            chart = replace(chart, y=replace(chart.y, log=log and chart.y.low > 0))
        else:
            drawn = chart_of(self.record)
            assert isinstance(drawn, Curves)
            chart = replace(drawn, x=replace(drawn.x, log=log and drawn.x.low > 0))
        show_below(self.answer, self.screen, self.record, chart)


VIEWS = {Benchmark: BenchmarkView}
