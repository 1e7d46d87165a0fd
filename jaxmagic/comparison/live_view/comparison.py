"""Shows a comparison interactively: choose the baseline, metric and candidates, and measure again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ipywidgets

from ...charts.curves import Curves
from ...charts.spec import Chart
from ...report.panel import Guard, View, choice, row, screen, show_below, tick
from ..charts.choices import METRICS, STATISTICS, latencies, ratios_chart, times_chart, without_series
from ..charts.memory_time import tradeoff
from ..record.comparison import Comparison

#: The charts to choose from.
_RATIOS, _TIMES, _DISTRIBUTIONS = "ratios", "times", "distributions"
_MEMORY = "memory against time"


class ComparisonView(View):
    """Controls for a comparison, between its answer and the rest of its report.

    Args:
        record: the comparison to show first.

    Attributes:
        record: the comparison that is shown: the last one that was measured.
    """

    def __init__(self, record: Comparison) -> None:
        self.record = record
        labels = list(record)
        self.baseline = choice("Baseline", labels, record.baseline)
        drawn = [_RATIOS, _TIMES, _DISTRIBUTIONS]
        self.drawn = choice("Show", [*drawn, _MEMORY] if tradeoff(record) is not None else drawn)
        self.metric = choice("Metric", METRICS)
        self.statistic = choice("Statistic", list(STATISTICS))
        self.scale = choice("Scale", ("log", "linear"))
        self.shown = {label: tick(label) for label in labels}
        self.budget = ipywidgets.BoundedFloatText(
            value=2 * record.budget_ns / 1e9,
            min=0.01,
            max=3600,
            step=1,
            description="Budget (s)",
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="11em"),
        )
        self.again = ipywidgets.Button(description="Measure again", disabled=record.measure_again is None)
        self.again.tooltip = (
            "This record was loaded or comes from the history: the measured functions are no longer available."
            if record.measure_again is None
            else "Take new samples of the same candidates"
        )
        self.progress = ipywidgets.FloatProgress(max=1.0, layout=ipywidgets.Layout(width="10em", visibility="hidden"))
        self.answer, self.screen = screen(), screen()
        guard = Guard(self.screen)
        controls = [self.baseline, self.drawn, self.metric, self.statistic, self.scale]
        guard.watch([*controls, *self.shown.values()], self.refresh)
        self.again.on_click(guard(self._measure_again))
        super().__init__(
            [
                self.answer,
                row(*controls),
                row(
                    ipywidgets.Label("Candidates", layout=ipywidgets.Layout(margin="2px 10px 2px 0")),
                    *self.shown.values(),
                ),
                row(self.budget, self.again, self.progress),
                self.screen,
            ]
        )
        guard(self.refresh)(None)

    def refresh(self) -> None:
        """Show what the controls select."""
        drawn, metric = self.drawn.value, self.metric.value
        self.metric.disabled = drawn in (_DISTRIBUTIONS, _MEMORY)
        self.statistic.disabled = self.metric.disabled or metric in ("first call", "compile")
        self.scale.disabled = drawn == _TIMES
        rebased = replace(self.record, baseline=self.baseline.value)
        show_below(self.answer, self.screen, rebased, self._chart(rebased))

    def _chart(self, rebased: Comparison) -> Chart:
        hidden = [label for label, each in self.shown.items() if not each.value]
        if len(hidden) == len(self.shown):
            raise ValueError("every candidate is hidden. Tick one")
        chart: Chart
        if self.drawn.value == _DISTRIBUTIONS:
            chart = without_series(latencies(rebased), hidden)
        elif self.drawn.value == _MEMORY:
            chart = without_series(_known(tradeoff(rebased)), hidden)
        elif self.drawn.value == _TIMES:
            chart = times_chart(rebased, self.metric.value, self.statistic.value, hidden)
        else:
            chart = ratios_chart(rebased, self.metric.value, self.statistic.value, hidden)
        return replace(chart, x=replace(chart.x, log=self.scale.value == "log" and chart.x.low > 0))

    def _measure_again(self) -> None:
        measure = self.record.measure_again
        if measure is None:
            raise ValueError("this record was loaded or comes from the history. Run the cell again to measure again")
        self.again.disabled = True
        self.progress.layout.visibility = "visible"
        try:
            self.record = measure(self.budget.value, self._tell)
        finally:
            self.again.disabled = False
            self.progress.layout.visibility = "hidden"
            self.progress.value = 0.0
        self.refresh()

    def _tell(self, share: float) -> Any:
        self.progress.value = share


def _known(chart: Chart | None) -> Curves:
    """Raise if the memory is unknown, as it may be after measuring again."""
    if not isinstance(chart, Curves):
        raise ValueError("the memory of fewer than two candidates is known. Choose another picture")
    return chart
