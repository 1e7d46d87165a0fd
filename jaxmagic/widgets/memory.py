"""A memory profile to play with: the map of each program, and what it needs at each step."""

from __future__ import annotations

import ipywidgets

from ..analysis.memory_chart import map_chart
from ..analysis.peak import peak_of
from ..model.memory import Executable, MemoryProfile
from ..render.html import chart_to_html, live_to_html, to_html
from ..render.style import Style
from .panel import Guard, View, choice, row, screen, show_html

#: Rows of the table of what is needed at a step.
_ROWS = 12


class MemoryView(View):
    """Controls over the programs of a profile, with the map and what is needed at the cursor below.

    Args:
        record: what is shown.
    """

    def __init__(self, record: MemoryProfile | Executable) -> None:
        self.record = record
        programs = (record,) if isinstance(record, Executable) else record.executables
        mapped = [each for each in programs if map_chart(each) is not None]
        names = [f"{number}: {each.name}" for number, each in enumerate(mapped, 1)]
        self.program = choice("Program", list(zip(names, mapped, strict=True)))
        self.colour = choice("Colour", ("kind", "source line"))
        self.step = ipywidgets.IntSlider(
            description="Step", min=1, max=1, layout=ipywidgets.Layout(width="28em"), continuous_update=False
        )
        self.screen = screen()
        guard = Guard(self.screen)
        guard.watch([self.program], self.choose)
        guard.watch([self.colour, self.step], self.refresh)
        super().__init__([row(self.program, self.colour, self.step), self.screen])
        guard(self.choose)(None)

    def choose(self) -> None:
        """Show another program, at its peak."""
        program = self.program.value
        peak = None if program is None else peak_of(program)
        if program is not None and peak is not None:
            with self.step.hold_trait_notifications():
                self.step.max = program.steps or 1
                self.step.value = peak.step + 1
        self.refresh()

    def refresh(self) -> None:
        """Show what the controls ask for."""
        program = self.program.value
        report = to_html(self.record, Style(picture=False))
        drawn = None if program is None else map_chart(program, self.colour.value, self.step.value)
        if program is None or drawn is None:
            show_html(self.screen, report)
            return
        table = live_to_html(program, self.step.value, _ROWS)
        show_html(self.screen, chart_to_html(drawn) + table + report)
