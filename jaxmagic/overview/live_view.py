"""The live view of a session's timings, with filters, and the report of a chosen run."""

from __future__ import annotations

import ipywidgets

from .. import units
from ..report.panel import WITHOUT_PICTURE, Guard, View, choice, row, screen, show, show_chart, show_html, words
from ..report.to_html import answer_and_rest
from ..session.history import History
from .analysis import ORDERS, PARTS, UNITS, Run, choose, functions, runs
from .charts import runs_chart

#: At most this many runs are drawn.
_MOST = 15

_ALL = "all functions"


class HistoryView(View):
    """Controls for the runs of a session, their bars, the report of the chosen run, and the list of records.

    Args:
        history: the records of the session.
    """

    def __init__(self, history: History) -> None:
        self._runs = runs(list(history))
        self.text = ipywidgets.Text(
            placeholder="part of the code",
            description="Cell",
            continuous_update=False,
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="16em"),
        )
        self.function = choice("Function", [_ALL, *functions(self._runs)])
        self.stage = choice("Stage", PARTS)
        self.unit = choice("Unit", UNITS)
        self.order = choice("Sort", ORDERS)
        self.run = ipywidgets.Select(
            options=[],
            description="Run",
            rows=6,
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="auto", max_width="52em"),
        )
        self.bars, self.report = screen(), screen()
        self.answer, self.records = screen(), screen()
        for where, html in zip((self.answer, self.records), answer_and_rest(history, WITHOUT_PICTURE), strict=True):
            show_html(where, html)
        self.left_out = words("")
        guard = Guard(self.bars)
        controls = [self.text, self.function, self.stage, self.unit, self.order]
        guard.watch(controls, self.refresh)
        Guard(self.report).watch([self.run], self.open_run)
        super().__init__([self.answer, row(*controls), self.bars, self.left_out, self.run, self.report, self.records])
        guard(self.refresh)(None)

    @property
    def repeats(self) -> bool:
        """Whether the view is of the session, rather than of a record that has no view of its own."""
        return bool(self.saved) and all(isinstance(each, History) for each in self.saved)

    def refresh(self) -> None:
        """Draw the runs that the controls select."""
        function = None if self.function.value == _ALL else self.function.value
        found = choose(self._runs, text=self.text.value, function=function, order=self.order.value)
        chosen = found[:_MOST]
        self.left_out.value = (
            f"{len(chosen)} of {len(found)} runs, {self.order.value}. Filter or sort to see others."
            if len(found) > len(chosen)
            else ""
        )
        self.run.options = [(_name(each), each) for each in chosen]
        show_chart(self.bars, runs_chart(chosen, stage=self.stage.value, function=function, unit=self.unit.value))

    def open_run(self) -> None:
        """Show the report of the chosen run: its parts, and its compilations with their causes."""
        if self.run.value is None:
            self.report.outputs = ()
        else:
            show(self.report, self.run.value.timing)


def _name(run: Run) -> str:
    return f"[{run.number}] {units.time(run.timing.wall_ns)}  {run.name}"[:100]


VIEWS = {History: HistoryView}
