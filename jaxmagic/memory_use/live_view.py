"""Shows memory profiles interactively: zoomable maps of one or two programs, and all other charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import units
from ..charts.areas import Boxes
from ..charts.spec import Chart
from ..records.names import type_in_words
from ..report.html_parts import beside_to_html
from ..report.panel import WITHOUT_PICTURE, Guard, View, choice, row, screen, show_html
from ..report.pictures import chart_to_html
from ..report.to_html import answer_and_rest
from ..session.verbs import cells
from .charts.buffer_map import MOST_IN_VIEW, has_map, map_chart
from .charts.cells import cells_chart
from .charts.live_arrays import arrays_chart
from .charts.usage import timeline_chart
from .record.cells import CellMemory
from .record.live_arrays import LiveArrays
from .record.memory_profile import Executable, MemoryProfile

#: The choice of a unit by size.
_AUTOMATIC = "automatic"


class MemoryView(View):
    """Shows memory maps of programs, or charts of usage, live arrays or cells, between the parts of the reports.

    Args:
        record: the record to show.
        beside: records to compare it with.
        cells: the memory of arrays after each cell of the session.
    """

    def __init__(
        self,
        record: MemoryProfile | Executable | LiveArrays,
        *beside: MemoryProfile | Executable,
        cells: Sequence[CellMemory] = (),
    ) -> None:
        self.records: tuple[MemoryProfile | Executable | LiveArrays, ...] = (record, *beside)
        self._cells = cells
        named = _programs(self.records)
        shown = [name for name, charts in self._others().items() if charts]
        self.look_at = choice("Show", ([_MAPS] if named else []) + shown or [_REPORT])
        self.program = choice("Program", named)
        others = named if len(named) > 1 else []
        self.beside = choice("Beside", [("nothing", None), *others], _first_of_another(self.records, named))
        self.colour = choice("Colour", ("kind", "source line"))
        self.unit = choice("Unit", (_AUTOMATIC, *reversed(units.SIZE_UNITS)))
        self.answer, self.screen = screen(), screen()
        guard = Guard(self.screen)
        of_maps = [self.program, self.beside, self.colour, self.unit]
        guard.watch([self.look_at, *of_maps], self.refresh)
        super().__init__([self.answer, row(self.look_at, *(of_maps if named else ())), self.screen])
        guard(self.refresh)(None)

    def refresh(self) -> None:
        """Show what the controls have selected."""
        of_maps = self.look_at.value == _MAPS
        for each in (self.program, self.beside, self.colour, self.unit):
            each.disabled = not of_maps
        charts: Sequence[Chart] = self._maps() if of_maps else self._others().get(self.look_at.value, ())
        answers, others = zip(*(answer_and_rest(each, WITHOUT_PICTURE) for each in self.records), strict=True)
        pictures = beside_to_html([chart_to_html(each) for each in charts]) if charts else ""
        show_html(self.answer, beside_to_html(answers))
        show_html(self.screen, pictures + beside_to_html(others))

    def _maps(self) -> list[Chart]:
        """Draw the maps of the selected programs at the same scale, so that areas can be compared."""
        unit = None if self.unit.value == _AUTOMATIC else self.unit.value
        maps: list[Boxes] = []
        for program in (self.program.value, self.beside.value):
            if program is not None:
                drawn = map_chart(program, self.colour.value, unit=unit, most=MOST_IN_VIEW)
                assert drawn is not None
                maps.append(drawn)
        high = max(each.y.high for each in maps)
        return [replace(each, y=replace(each.y, high=high)) for each in maps]

    def _others(self) -> dict[str, list[Chart]]:
        """Draw all charts but maps, by their names in the choice."""
        profiles = [each for each in self.records if isinstance(each, MemoryProfile)]
        alive = [each for each in self.records if isinstance(each, LiveArrays)] + [each.arrays for each in profiles]
        drawn: dict[str, list[Chart | None]] = {
            "usage over time": [timeline_chart(each) for each in profiles],
            "arrays": [arrays_chart(each) for each in alive],
            "cells of the session": [cells_chart(self._cells)],
        }
        return {name: [each for each in charts if each is not None] for name, charts in drawn.items()}


_MAPS = "memory map"
_REPORT = "report"


def _programs(records: Sequence[MemoryProfile | Executable | LiveArrays]) -> list[tuple[str, Executable]]:
    """Return the programs that have a map, with distinct names."""
    programs = []
    for record_number, record in enumerate(records, 1):
        if isinstance(record, LiveArrays):
            continue
        prefix = f"{record_number}." if len(records) > 1 else ""
        for number, program in enumerate((record,) if isinstance(record, Executable) else record.executables, 1):
            if has_map(program):
                programs.append((f"{prefix}{number}: {program.name}", program))
    return programs


def _first_of_another(
    records: Sequence[MemoryProfile | Executable | LiveArrays], named: Sequence[tuple[str, Executable]]
) -> Executable | None:
    """Return the program of the second record that needs most memory, to compare it with that of the first."""
    return next((program for name, program in named if name.startswith("2.")), None) if len(records) > 1 else None


def _beside(record: MemoryProfile | Executable, *beside: object) -> MemoryView:
    """Show programs, side by side with others if given, and the memory of arrays after each cell."""
    for each in beside:
        if not isinstance(each, MemoryProfile | Executable):
            raise TypeError(
                f"explore(): expected a memory profile or a program to compare with, got {type_in_words(each)}. "
                "Write for example explore(jaxmagic.memory(f, x), jaxmagic.memory(g, x))"
            )
    return MemoryView(record, *beside, cells=cells())  # type: ignore[arg-type]  # just checked


VIEWS = {
    MemoryProfile: _beside,
    Executable: _beside,
    LiveArrays: lambda record: MemoryView(record, cells=cells()),
}
