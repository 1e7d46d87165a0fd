"""Says what the signs and the heads of tables mean, where they are shown."""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis.source_lines import line_times
from ..record.profile import Profile

#: A time that is marked so is partly computed.
SPLIT = "≈: partly the line's share of a fusion of several lines, by their work."

_OF_OPERATIONS = {
    "exposed": "Exposed: for asynchronous operations the time that no other operation hides, for others all.",
    # A narrow table has no spans, and the same times among the means.
    "span": "The mean time of an asynchronous operation is from its start to its end, while others may run.",
    "of roof": "Of roof: the rate, as a share of the peak FLOP/s or bandwidth that bounds the operation.",
}

_OF_DEVICES = "Exposed: the time that is not hidden behind computation, and for memcpy not behind collectives either."


def about_signs(profile: Profile) -> list[str]:
    """Say what ≈ means, if a line has it."""
    return [SPLIT] if any(each.split for each in line_times(profile)) else []


def about_operation_heads(heads: Iterable[str]) -> list[str]:
    """Say what heads of the table of operations mean."""
    return [_OF_OPERATIONS[each] for each in heads if each in _OF_OPERATIONS]


def about_device_heads(heads: Iterable[str]) -> list[str]:
    """Say what exposed time is, if a table of devices, steps or collectives has it."""
    return [_OF_DEVICES] if any(each.startswith("exposed") for each in heads) else []
