"""Steps, and what the devices did in each."""

from __future__ import annotations

from ...charts.scale import Scale
from ...charts.spec import Bar, Bars
from ..analysis.devices.step_parts import PARTS, mean_parts
from ..record.profile import Profile

#: What the parts are called in the legend of a picture.
_DRAWN = {
    "computes": "computing",
    "exchanges": "exchanging data",
    "copies": "copying",
    "input": "waiting for input",
    "host": "waiting for the host",
    "idle": "idle",
}


def steps_chart(profile: Profile) -> Bars | None:
    """A bar a device: its mean step in parts; ``None`` without steps."""
    found = [(each.device, mean_parts(each)) for each in profile.step_times if each.time_ns]
    if not found:
        return None
    shown = [name for name, _ in PARTS if any(parts[name] for _, parts in found)]
    bars = tuple(
        Bar(name=device, parts=tuple((_DRAWN[name], parts[name]) for name in shown)) for device, parts in found
    )
    high = max(sum(parts.values()) for _, parts in found)
    return Bars(
        title="a step in the mean, by device",
        x=Scale(label="time", quantity="time", low=0.0, high=float(max(1.0, high))),
        bars=bars,
        order=tuple(_DRAWN.values()),
    )
