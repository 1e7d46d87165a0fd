"""Declares timelines: rows of very many events over a common time axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The label of events that differ only in time.

    Attributes:
        name: their name.
        kind: their kind, as an index into the timeline's kinds.
        lines: further lines of their tooltip.
    """

    name: str
    kind: int
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane of events in the order of their starts, with several rows where events are nested.

    Attributes:
        name: its name.
        owner: the name of the group of lanes that it belongs to, such as a device; empty if none.
        rows: the number of rows.
        row: the row of each event, 0 at the top.
        start: the start of each event.
        length: the duration of each event.
        called: the label of each event, as an index into the timeline's `called`.
        faint: whether it is drawn faintly, because it lies between the events of other lanes.
    """

    name: str
    owner: str
    rows: int
    row: tuple[int, ...]
    start: tuple[int, ...]
    length: tuple[int, ...]
    called: tuple[int, ...]
    faint: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """Lanes over a common axis.

    Attributes:
        title: a short title.
        x: the time axis, from 0.
        kinds: the names of the kinds, with the numbers of their colours.
        called: the labels of events.
        lanes: the lanes, from top to bottom.
        note: what the chart leaves out; empty if nothing.
    """

    title: str
    x: Scale
    kinds: tuple[tuple[str, int], ...]
    called: tuple[Called, ...]
    lanes: tuple[Lane, ...]
    note: str = ""

    @property
    def drawn_kinds(self) -> frozenset[int]:
        """The kinds of the events that are in lanes."""
        return frozenset(self.called[each].kind for lane in self.lanes for each in set(lane.called))
