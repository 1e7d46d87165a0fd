"""Chart of allocated memory over time."""

from __future__ import annotations

from ...charts.curves import Curves, Series
from ...charts.scale import Scale
from ..record.profile import Profile

#: An allocator with a smaller share of the largest peak is not drawn.
_WORTH_A_CURVE = 0.01

#: Memory is handed out when a program is enqueued, and temporaries are taken back right after.
_WHEN = "follows dispatch, not execution"


def memory_chart(profile: Profile) -> Curves | None:
    """Draw the allocated memory of each allocator; ``None`` without allocator events."""
    most = max((each.peak_bytes for each in profile.allocator_uses), default=0)
    shown = [each for each in profile.allocator_uses if each.peak_bytes >= _WORTH_A_CURVE * most > 0]
    if not shown:
        return None
    low = float(min(each.time_ns[0] for each in shown))
    high = float(max(each.time_ns[-1] for each in shown))
    return Curves(
        title="allocated memory",
        x=Scale(label="time", quantity="time", low=low, high=max(high, low + 1)),
        y=Scale(label="memory", quantity="size", low=0.0, high=1.05 * most),
        series=tuple(
            Series(
                name=each.allocator,
                x=tuple(map(float, each.time_ns)),
                y=tuple(map(float, each.held_bytes)),
                hue=number,
                step=True,
            )
            for number, each in enumerate(shown)
        ),
        note=_WHEN,
    )
