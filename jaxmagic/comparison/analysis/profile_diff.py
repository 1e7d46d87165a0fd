"""Two profiles side by side: what got slower, what appeared and what vanished, by line and by operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal as OneOf

from ...profiling.analysis.source_lines import line_times
from ...profiling.record.profile import Code, Profile
from ...records.paths import short_source
from ..record.comparison import Comparison

#: What two profiles are compared by.
By = OneOf["line", "operation"]

#: What became of a line or an operation.
Change = OneOf["slower", "faster", "the same", "appeared", "vanished"]

#: Three calls under the profiler do not tell a smaller difference.
_NOTICEABLE = 0.1

#: Time that reaches no line.
_NOWHERE = "(without a line)"


@dataclass(frozen=True, slots=True)
class Difference:
    """A line or an operation in two profiles.

    Attributes:
        name: the line as it is written, or where it is if its source is not there; the name of the operation without
            its number, with the shape of its result.
        before_ns: its time in a call on a device, in the mean; 0 if it is not there.
        after_ns: the same in the other profile.
    """

    name: str
    before_ns: float
    after_ns: float

    @property
    def change_ns(self) -> float:
        """By how much it is more."""
        return self.after_ns - self.before_ns

    @property
    def change(self) -> Change:
        """What became of it."""
        if not self.before_ns or not self.after_ns:
            return "vanished" if self.before_ns else "appeared"
        if abs(self.change_ns) < _NOTICEABLE * max(self.before_ns, self.after_ns):
            return "the same"
        return "slower" if self.change_ns > 0 else "faster"


def differences(before: Profile, after: Profile, by: By) -> list[Difference]:
    """All lines or operations of both, what changed most first.

    Lines are the same that are written the same, wherever that is; operations that have the same name but for its
    number, and the same shape.
    """
    one, other = (_TIMES[by](each) for each in (before, after))
    found = [Difference(name, one.get(name, 0.0), other.get(name, 0.0)) for name in dict.fromkeys([*one, *other])]
    return sorted((each for each in found if each.before_ns or each.after_ns), key=lambda each: -abs(each.change_ns))


def profiled(comparison: Comparison) -> list[tuple[str, Profile]]:
    """The candidates whose devices' time is known, with their labels; the baseline is the first of them."""
    found = [
        (each.label, each.profile) for each in comparison.candidates if each.profile and each.profile.device_uses
    ]
    return sorted(found, key=lambda each: each[0] != comparison.baseline)


def call_ns(profile: Profile) -> float:
    """Device time of a call on a device, in the mean."""
    return profile.device_ns / _parts(profile)


def _lines(profile: Profile) -> Mapping[str, float]:
    texts = {place: text for code in profile.codes for place, text in _texts(code)}
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


def _texts(code: Code) -> Iterable[tuple[tuple[str, int], str]]:
    return (((code.file, number), line.strip()) for number, line in enumerate(code.lines, code.first))


def _operations(profile: Profile) -> Mapping[str, float]:
    rows = ((f"{_unnumbered(each.name)} {each.shape}".strip(), each.time_ns) for each in profile.operation_times)
    return _summed(rows, profile)


def _unnumbered(name: str) -> str:
    """The name of an instruction without what only tells it from others of its kind.

    >>> _unnumbered("fusion.12"), _unnumbered("sort")
    ('fusion', 'sort')
    """
    return re.sub(r"(\.\d+)+$", "", name)


def _summed(rows: Iterable[tuple[str, int]], profile: Profile) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for name, time_ns in rows:
        found[name] = found.get(name, 0.0) + time_ns / _parts(profile)
    return found


def _parts(profile: Profile) -> int:
    return (profile.runs or 1) * max(len(profile.device_uses), 1)


_TIMES: Mapping[By, Callable[[Profile], Mapping[str, float]]] = {"line": _lines, "operation": _operations}
