"""Draws the curves of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from ...charts.curves import Curves, Mark, Series
from ...charts.scale import Scale, around
from ..record.curve import Variable
from ..record.sweep import Sweep


def sweep_chart(record: Sweep) -> Curves | None:
    """Draw the time of each candidate along the variable with the most numbers."""
    curves = [each for each in record.curves if each.times]
    if not curves:
        return None
    variable = curves[0].variable
    places = variable.numbers or tuple(map(float, range(len(variable.labels))))
    series = []
    for hue, curve in enumerate(curves):
        x = tuple(places[at] for at in curve.positions)
        times = curve.times
        series.append(
            Series(
                name=curve.name,
                x=x,
                y=tuple(each.value for each in times),
                low=tuple(each.low for each in times),
                high=tuple(each.high for each in times),
                hue=hue,
                points=True,
            )
        )
        if any(curve.compile_ns) and not curve.others:  # a grid has enough curves without them
            compiling = tuple(float(each) if each else None for each in curve.compile_ns)
            series.append(Series(name=f"{curve.name}: compile", x=x, y=compiling, hue=hue, dashed=True, muted=True))
    heights = [y for each in series for y in (*each.y, *(each.low or ()), *(each.high or ())) if y is not None]
    low, high = around(heights, log=True)
    return Curves(
        title="time of a call, and compile time",
        x=_along(variable, places),
        y=Scale(label="time", quantity="time", low=low, high=high, log=True),
        series=tuple(series),
        marks=tuple(
            Mark(label=f"{each.after} overtakes {each.before} near", at=each.value) for each in record.crossings
        ),
    )


def _along(variable: Variable, places: Sequence[float]) -> Scale:
    """Make the axis of a variable: its numbers, logarithmic if they span more than a factor of 4, or its labels."""
    if variable.numbers is None:
        return Scale(
            label=variable.name,
            quantity="name",
            low=-0.5,
            high=len(places) - 0.5,
            names=variable.labels,
        )
    growing = max(places) > 4 * min(places)
    low, high = around(places, log=growing)
    return Scale(label=variable.name, quantity="number", low=low, high=high, log=growing)
