"""Chart of the parts of a step."""

from __future__ import annotations

from ...charts.scale import Scale
from ...charts.spec import Bar, Bars
from ..analysis.devices.step_parts import PARTS, mean_parts
from ..record.profile import Profile


def steps_chart(profile: Profile) -> Bars | None:
    """Draw a bar for each device with the parts of its mean step; ``None`` without steps."""
    devices = [(each.device, mean_parts(each)) for each in profile.step_times if each.time_ns]
    if not devices:
        return None
    shown = [name for name, _ in PARTS if any(parts[name] for _, parts in devices)]
    bars = tuple(Bar(name=device, parts=tuple((name, parts[name]) for name in shown)) for device, parts in devices)
    high = max(sum(parts.values()) for _, parts in devices)
    return Bars(
        title="mean step by device",
        x=Scale(label="time", quantity="time", low=0.0, high=float(max(1.0, high))),
        bars=bars,
        order=tuple(name for name, _ in PARTS),
    )
