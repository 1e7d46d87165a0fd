"""What a picture shows whose rows are threads: events over a common time, very many of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The label of events that differ only in time.

    Attributes:
        name: what they are called.
        kind: what they count as, by its number in the picture's kinds.
        lines: what else there is to say.
    """

    name: str
    kind: int
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A row of events, or several below each other where events lie within each other; in order of their starts.

    Attributes:
        name: what it is.
        owner: what it belongs to, as the lanes around it do; empty if to nothing.
        rows: how many rows there are.
        row: of each event, the number of its row, 0 at the top.
        start: when it started.
        length: how long it took.
        called: the number of what it is called.
        faint: whether it is drawn as what lies between the events of others.
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
        title: the whole in a few words.
        x: the axis, from 0.
        kinds: names of what is told apart by colour, with the numbers of their colours.
        called: what events are called.
        lanes: from top to bottom.
        note: what the picture leaves out; empty if nothing.
    """

    title: str
    x: Scale
    kinds: tuple[tuple[str, int], ...]
    called: tuple[Called, ...]
    lanes: tuple[Lane, ...]
    note: str = ""
