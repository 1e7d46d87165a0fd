"""Draws the curves of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...charts.curves import Curves, Mark, Series
from ...charts.scale import Scale, around
from ...charts.spec import Multiples
from ..record.curve import Curve, Variable
from ..record.sweep import Sweep

_TITLE, _WITH_COMPILING = "time of a call", "time of a call, and compile time"


def times_chart(record: Sweep) -> Curves | Multiples | None:
    """Draw the time of each candidate, without how long it compiled."""
    return sweep_chart(record, compiling=False)


def sweep_chart(record: Sweep, *, compiling: bool = True) -> Curves | Multiples | None:
    """Draw the time of each candidate along the variable with the most numbers.

    A sweep of several variables is a panel for each combination of the others, on the same axes.

    Args:
        record: the sweep.
        compiling: whether to draw how long each candidate compiled, where nothing else varies.
    """
    curves = [each for each in record.curves if each.times]
    if not curves:
        return None
    variable = curves[0].variable
    measured = sorted({at for each in curves for at in each.positions})
    places = {at: variable.numbers[at] if variable.numbers else float(n) for n, at in enumerate(measured)}
    by_panel: dict[str, list[Curve]] = {}
    for each in curves:
        by_panel.setdefault(each.others, []).append(each)
    series = {others: _series(drawn, places, compiling) for others, drawn in by_panel.items()}
    points = [each for drawn in series.values() for each in drawn]
    heights = [y for each in points for y in (*each.y, *(each.low or ()), *(each.high or ())) if y is not None]
    low, high = around(heights, log=True)
    panels = [
        Curves(
            title=others or (_WITH_COMPILING if compiling else _TITLE),
            x=_along(variable, places),
            y=Scale(label="time", quantity="time", low=low, high=high, log=True),
            series=drawn,
            marks=tuple(
                Mark(label=f"{each.after} overtakes {each.before} near", at=each.value)
                for each in record.crossings
                if each.others == others
            ),
            note=_beyond(variable, measured),
        )
        for others, drawn in series.items()
    ]
    return panels[0] if len(panels) == 1 else Multiples(title=_TITLE, panels=tuple(panels))


def _series(curves: Sequence[Curve], places: Mapping[int, float], compiling: bool) -> tuple[Series, ...]:
    """Draw the time of each candidate with its interval and, where nothing else varies, how long it compiled."""
    series = []
    for hue, curve in enumerate(curves):
        x = tuple(places[at] for at in curve.positions)
        times = curve.times
        series.append(
            Series(
                name=curve.label,
                x=x,
                y=tuple(each.value for each in times),
                low=tuple(each.low if each.confidence else None for each in times),
                high=tuple(each.high if each.confidence else None for each in times),
                hue=hue,
                points=True,
            )
        )
        if compiling and any(curve.compile_ns) and not curve.others:  # a small panel has enough curves without them
            compiled = tuple(float(each) if each else None for each in curve.compile_ns)
            series.append(Series(name=f"{curve.label}: compile", x=x, y=compiled, hue=hue, dashed=True, muted=True))
    return tuple(series)


def _beyond(variable: Variable, measured: Sequence[int]) -> str:
    """Say which values lie beyond the axis, because nothing could be measured there."""
    if variable.numbers is None:
        return ""
    largest = max(variable.numbers[at] for at in measured)
    beyond = [label for label, each in zip(variable.labels, variable.numbers, strict=True) if each > largest]
    if not beyond:
        return ""
    return f"{beyond[0]} not measured →" if len(beyond) == 1 else f"{len(beyond)} larger values not measured →"


def _along(variable: Variable, measured: Mapping[int, float]) -> Scale:
    """Make the axis of the measured values: numbers, logarithmic from a factor of 4 on, or labels."""
    places = list(measured.values())
    if variable.numbers is None:
        return Scale(
            label=variable.name,
            quantity="name",
            low=-0.5,
            high=len(places) - 0.5,
            names=tuple(variable.labels[at] for at in measured),
        )
    growing = max(places) >= 4 * min(places) > 0
    low, high = around(places, log=growing)
    return Scale(
        label=variable.name, quantity="number", low=low, high=high, log=growing, values=tuple(dict.fromkeys(places))
    )
