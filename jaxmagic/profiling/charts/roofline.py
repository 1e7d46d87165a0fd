"""Roofline chart."""

from __future__ import annotations

from ...charts.curves import Curves, Series
from ...charts.scale import Scale
from ...records.names import shortened
from ..analysis.roofline import peaks_of, placed
from ..record.profile import Profile

#: At most this many operations are drawn, those with most time, and each has at least this share of it.
_MOST_DRAWN = 7
_LEAST_SHARE = 0.002

#: Letters of a name in the legend.
_MOST_LETTERS = 22


def roofline_chart(profile: Profile) -> Curves | None:
    """Draw FLOP/s over operational intensity below the roofline; ``None`` if the peaks are not known."""
    peaks = peaks_of(profile)
    shown = [
        each
        for each in placed(profile)
        if each.operational_intensity and each.operation.time_ns >= _LEAST_SHARE * profile.device_ns
    ]
    if peaks is None or peaks.flops is None or not shown:
        return None
    drawn = shown[:_MOST_DRAWN]
    names = shortened([each.operation.name for each in drawn], _MOST_LETTERS)
    ridge = peaks.flops / peaks.bytes
    low = min(ridge / 4, *(each.operational_intensity / 2 for each in drawn))
    high = max(ridge * 4, *(each.operational_intensity * 2 for each in drawn))
    rates = [each.flops_per_s for each in drawn]
    bottom, top = min(*rates, low * peaks.bytes) / 2, max(*rates, peaks.flops) * 2
    return Curves(
        title="roofline: operations and the peak rates of the device",
        x=Scale(label="operational intensity (FLOPs per byte)", quantity="number", low=low, high=high, log=True),
        y=Scale(label="FLOP/s", quantity="number", low=bottom, high=top, log=True),
        series=(
            Series(
                name="roof", x=(low, ridge, high), y=(low * peaks.bytes, peaks.flops, peaks.flops), hue=7, muted=True
            ),
            *(
                Series(
                    name=names[number],
                    x=(each.operational_intensity,),
                    y=(each.flops_per_s,),
                    hue=number,
                    points=True,
                )
                for number, each in enumerate(drawn)
            ),
        ),
    )
