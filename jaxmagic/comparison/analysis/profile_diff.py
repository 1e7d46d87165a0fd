"""Compares two profiles: what got slower, appeared or vanished, by source line and by operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal as OneOf

from ...profiling.analysis.operations import parts
from ...profiling.analysis.source_lines import line_times
from ...profiling.record.profile import Profile
from ...records.paths import short_source
from ..record.comparison import Comparison

#: The unit by which two profiles are compared.
By = OneOf["line", "operation"]

#: How a line or an operation changed.
Change = OneOf["slower", "faster", "the same", "appeared", "vanished"]

#: Three calls under the profiler cannot show a smaller difference.
NOTICEABLE = 0.1

#: The name for time that belongs to no source line.
_NOWHERE = "(without a line)"


@dataclass(frozen=True, slots=True)
class Difference:
    """A line or an operation in two profiles.

    Attributes:
        name: the text of the line, or its location if the source is missing; or the name of the operation without its
            number, and the shape of its result.
        before_ns: its mean time per call and device in the first profile; 0 if it does not occur.
        after_ns: the same in the second profile.
    """

    name: str
    before_ns: float
    after_ns: float

    @property
    def change_ns(self) -> float:
        """The increase in time."""
        return self.after_ns - self.before_ns

    @property
    def change(self) -> Change:
        """The kind of change."""
        if not self.before_ns or not self.after_ns:
            return "vanished" if self.before_ns else "appeared"
        if abs(self.change_ns) < NOTICEABLE * max(self.before_ns, self.after_ns):
            return "the same"
        return "slower" if self.change_ns > 0 else "faster"


def differences(before: Profile, after: Profile, by: By) -> list[Difference]:
    """Compare all lines or operations of two profiles, sorted by the largest change.

    Lines match if they have the same text, wherever they are. Operations match if they have the same name without its
    number, and the same shape.
    """
    one, other = (_TIMES[by](each) for each in (before, after))
    rows = [Difference(name, one.get(name, 0.0), other.get(name, 0.0)) for name in dict.fromkeys([*one, *other])]
    return sorted((each for each in rows if each.before_ns or each.after_ns), key=lambda each: -abs(each.change_ns))


def profiled(comparison: Comparison) -> list[tuple[str, Profile]]:
    """Return the label and profile of each candidate with known device time, the baseline first."""
    profiles = [
        (each.label, each.profile) for each in comparison.candidates if each.profile and each.profile.device_uses
    ]
    return sorted(profiles, key=lambda each: each[0] != comparison.baseline)


def call_ns(profile: Profile) -> float:
    """Return the mean device time per call and device."""
    return profile.device_ns / parts(profile)


def _lines(profile: Profile) -> Mapping[str, float]:
    texts = {
        (code.file, number): line.strip()
        for code in profile.codes
        for number, line in enumerate(code.lines, code.first)
    }
    rows = (
        (
            _NOWHERE
            if each.frame is None
            else texts.get((each.frame.file, each.frame.line)) or short_source(each.frame.location),
            each.time_ns,
        )
        for each in line_times(profile)
    )
    return _summed(rows, profile)


def _operations(profile: Profile) -> Mapping[str, float]:
    rows = ((f"{_unnumbered(each.name)} {each.shape}".strip(), each.time_ns) for each in profile.operation_times)
    return _summed(rows, profile)


def _unnumbered(name: str) -> str:
    """Return the name of an instruction without its number.

    >>> _unnumbered("fusion.12"), _unnumbered("sort")
    ('fusion', 'sort')
    """
    return re.sub(r"(\.\d+)+$", "", name)


def _summed(rows: Iterable[tuple[str, int]], profile: Profile) -> Mapping[str, float]:
    times: dict[str, float] = {}
    for name, time_ns in rows:
        times[name] = times.get(name, 0.0) + time_ns / parts(profile)
    return times


_TIMES: Mapping[By, Callable[[Profile], Mapping[str, float]]] = {"line": _lines, "operation": _operations}
