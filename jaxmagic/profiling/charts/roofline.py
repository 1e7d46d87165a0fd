"""Roofline chart."""

from __future__ import annotations

from collections.abc import Sequence

from ...charts.curves import Curves, Series
from ...charts.scale import Scale
from ...records.names import numbered, told_apart
from ...records.paths import short_source
from ..analysis.roofline import peaks_of, placed_by_line
from ..record.profile import OperationTime, Profile

#: At most this many operations, or groups of one kind and line, are drawn, those with most time. Each has at least
#: this share of it.
_MOST_DRAWN = 7
_LEAST_SHARE = 0.002

#: Why a point can lie above the roof.
_ABOVE = "above the roof: data were in a cache, or the peak rate is too low"


def roofline_chart(profile: Profile) -> Curves | None:
    """Draw FLOP/s over operational intensity below the roofline; ``None`` if the peaks are not known."""
    peaks = peaks_of(profile)
    shown = [
        each
        for each in placed_by_line(profile)
        if each.operational_intensity and each.operation.time_ns >= _LEAST_SHARE * profile.device_ns
    ]
    if peaks is None or peaks.flops is None or not shown:
        return None
    drawn = shown[:_MOST_DRAWN]
    names, labels = _names([each.operation for each in drawn])
    flops = max(peaks.flops, *(peaks.flops_for(each.operation.multiplied) or 0 for each in drawn))
    ridge = flops / peaks.bytes
    low = min(ridge / 4, *(each.operational_intensity / 2 for each in drawn))
    high = max(ridge * 4, *(each.operational_intensity * 2 for each in drawn))
    rates = [each.flops_per_s for each in drawn]
    bottom, top = min(*rates, low * peaks.bytes) / 2, max(*rates, flops) * 2
    return Curves(
        title="roofline: operations and the peak rates of the device",
        x=Scale(label="operational intensity (FLOPs per byte)", quantity="number", low=low, high=high, log=True),
        y=Scale(label="FLOP/s", quantity="flops", low=bottom, high=top, log=True),
        series=(
            Series(name="roof", x=(low, ridge, high), y=(low * peaks.bytes, flops, flops), hue=7, muted=True),
            *(
                Series(
                    name=names[number],
                    x=(each.operational_intensity,),
                    y=(each.flops_per_s,),
                    hue=number,
                    points=True,
                    label=labels[number],
                )
                for number, each in enumerate(drawn)
            ),
        ),
        note=_ABOVE if any(each.roofline_efficiency > 1 for each in drawn) else "",
        tall=True,
    )


def _names(operations: Sequence[OperationTime]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names of operations in the legend, and those beside their points; none repeats.

    Operations of one name are told apart by their line, by the shape of their result, and otherwise by a number.
    """
    lines = [short_source(each.source or "") for each in operations]
    own = [each.name for each in operations]
    shapes = [each.shape for each in operations]
    names = [f"{name} ({line})" if line else name for name, line in zip(own, lines, strict=True)]
    return numbered(told_apart(names, shapes)), numbered(told_apart(own, lines, shapes))
