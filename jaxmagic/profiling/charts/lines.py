"""Chart of the device time by source line."""

from __future__ import annotations

from ...charts.scale import Scale
from ...charts.spec import Bar, Bars
from ...records.cell_names import text_of
from ..analysis.operations import parts
from ..analysis.source_lines import LineTime, line_times
from ..record.profile import Profile

#: The lines with most time are drawn; the others are one bar.
_MOST_LINES = 12

_PART = "device time"


def lines_chart(profile: Profile) -> Bars | None:
    """Draw a bar for each source line, the one with most time first; ``None`` without time.

    Times are those of the listing: means over devices, or over runs.
    """
    lines = [each for each in line_times(profile) if each.time_ns]
    if not lines:
        return None
    named = [each for each in lines if each.frame is not None]
    shown, others = named[:_MOST_LINES], named[_MOST_LINES:]
    times = [(_name(each), each.time_ns) for each in shown]
    if others:
        times.append((f"{len(others)} other lines", sum(each.time_ns for each in others)))
    times += [("without a line", each.time_ns) for each in lines if each.frame is None]
    bars = [(name, time_ns / parts(profile)) for name, time_ns in times]
    high = max(time_ns for _, time_ns in bars)
    return Bars(
        title="device time by source line",
        x=Scale(label="time", quantity="time", low=0.0, high=high),
        bars=tuple(Bar(name=name, parts=((_PART, time_ns),)) for name, time_ns in bars),
    )


def _name(line: LineTime) -> str:
    """Return the place of a line and its text, if that can be read."""
    assert line.frame is not None
    place = line.frame.location.rpartition("/")[2]
    lines = text_of(line.frame.file)
    text = lines[line.frame.line - 1].strip() if 0 < line.frame.line <= len(lines) else ""
    return f"{place}  {text}".strip()
