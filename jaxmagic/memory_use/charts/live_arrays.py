"""Draws live arrays as a treemap of the memory that they take."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ... import units
from ...charts.areas import Tile, Treemap
from ...charts.treemap_layout import Area, squarified
from ..record.live_arrays import HeldArray, LiveArrays

#: Number of arrays with a tile of their own; the others share one.
_MOST_TILES = 80

#: Number of variables with a colour of their own; the others share one.
_MOST_ROOTS = 6
_OTHERS = "others"

#: The variable at the beginning of a path.
_ROOT = re.compile(r"\w+(?=[\[.]|$)")

#: Width and height of the picture, for tiles that are almost square.
_WIDE, _HIGH = 2.6, 1.0


def arrays_chart(live: LiveArrays) -> Treemap | None:
    """Draw live arrays by their bytes on all devices together; ``None`` if they take none.

    Memory that two arrays share counts once, for the larger one.
    """
    arrays = sorted((each for each in live.arrays if each.own_bytes > 0), key=lambda each: -each.own_bytes)
    if not arrays:
        return None
    compared = any(each.made for each in live.arrays)
    shown = arrays[:_MOST_TILES]
    named = [
        (_name(each), each.own_bytes, kind, _lines(each))
        for each, kind in zip(shown, _kinds_of(shown, compared), strict=True)
    ]
    if rest := arrays[_MOST_TILES:]:
        rest_bytes = sum(each.own_bytes for each in rest)
        lines = f"{units.count(len(rest), 'more array')}", units.size(rest_bytes)
        named.append((lines[0], rest_bytes, _OTHERS, lines))
        named.sort(key=lambda each: -each[1])
    kinds = list(dict.fromkeys(kind for _, _, kind, _ in named))
    areas = squarified([size for _, size, _, _ in named], Area(0.0, 0.0, _WIDE, _HIGH))
    tiles = tuple(
        Tile(
            name=name,
            x=(area.x / _WIDE, (area.x + area.width) / _WIDE),
            y=(area.y / _HIGH, (area.y + area.height) / _HIGH),
            kind=kinds.index(kind),
            lines=lines,
        )
        for (name, _, kind, lines), area in zip(named, areas, strict=True)
    )
    return Treemap(title=f"arrays, {units.size(live.total_bytes)} in all", kinds=tuple(kinds), tiles=tiles)


def _kinds_of(arrays: Sequence[HeldArray], compared: bool) -> list[str]:
    """Group arrays into new and existing ones if that is known, or else by the variable that leads to them."""
    if compared:
        return ["new" if each.made else "existing" for each in arrays]
    roots = [_root(_name(each)) for each in arrays]
    coloured = list(dict.fromkeys(roots))[:_MOST_ROOTS]
    return [each if each in coloured else _OTHERS for each in roots]


def _root(name: str) -> str:
    match = _ROOT.match(name)
    return match[0] if match else name


def _name(array: HeldArray) -> str:
    return array.names[0] if array.names else "no name"


def _lines(array: HeldArray) -> tuple[str, ...]:
    held = ", ".join(array.names) if array.names else "no name found"
    return held, f"{array.shape}  {units.size(array.own_bytes)}", array.sharding
