"""Source lines and their time, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ... import units
from ...records.call_stack import is_users
from ...records.paths import short_source
from ...report.inside_words import inside_shares
from ...xla.lines.labels import BACKWARD
from ..analysis.source_lines import LineTime, Listing
from ..record.profile import Profile

#: Lines that are told without their text.
_MOST_UNLISTED = 5

#: Shares of all the time from which on is said what it is, and of a line's for a backward pass, which most have.
_WORTH_A_LABEL = 0.05

_ALL_BACKWARD = 0.95


def line_cells(line: LineTime, profile: Profile) -> tuple[str, str, str, str]:
    """Time per run, share, time with calls where it is more, and count per run."""
    runs = parts(profile)
    own = line.time_ns > 0
    about = "≈" if line.split else ""
    more = line.total_ns > 1.005 * line.time_ns
    return (
        f"{about}{units.time(line.time_ns / runs)}" if own else "",
        units.share(line.time_ns, profile.device_ns) if own else "",
        units.time(line.total_ns / runs) if more else "",
        whole(line.count, profile.runs or 1) if own else "",
    )


def parts(profile: Profile) -> int:
    """Count the runs and devices that all times are the sum of: reports show the mean per run and device."""
    return (profile.runs or 1) * max(len(profile.device_uses), 1)


def operations_of(line: LineTime, most: int = 3) -> str:
    """The operations of a line, the one that took longest first."""
    names = sorted(line.operations, key=lambda each: -line.operations[each])
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def about_nowhere(lines: Iterable[LineTime], profile: Profile) -> list[str]:
    """The time that reaches no line."""
    return [
        f"Without a line: {units.time(each.time_ns / parts(profile))} "
        f"({units.share(each.time_ns, profile.device_ns)}): {operations_of(each)}."
        for each in lines
        if each.frame is None
    ]


def about_labels(lines: Iterable[LineTime], profile: Profile) -> list[str]:
    """Return what the time of lines is, where their source does not show it."""
    told = []
    for line in lines:
        where = "Without a line" if line.frame is None else short(line.frame.location)
        for label, time_ns in sorted(line.labels.items(), key=lambda each: -each[1]):
            if time_ns < _WORTH_A_LABEL * profile.device_ns:
                continue
            if label != BACKWARD or time_ns > _ALL_BACKWARD * line.time_ns:
                share = units.share(time_ns, profile.device_ns)
                told.append(f"{where}: {units.time(time_ns / parts(profile))} ({share}) is {label}.")
    return told[:_MOST_UNLISTED]


def about_unlisted(lines: Iterable[LineTime], listed: Iterable[Listing], profile: Profile) -> list[str]:
    """Lines with time of their own that stand in no listing: of libraries, or whose source is not there."""
    shown = {id(each.time) for one in listed for each in one.lines}
    rest = [each for each in lines if each.frame and each.time_ns and id(each) not in shown]
    mine = [each for each in rest if each.frame and is_users(each.frame)]
    theirs = [each for each in rest if each.frame and not is_users(each.frame)]
    kinds = (("Also", mine), ("Library lines (JAX recorded no line of yours for them)", theirs))
    return [f"{what}: {_several(some, profile)}." for what, some in kinds if some]


def _several(lines: Sequence[LineTime], profile: Profile) -> str:
    told = [
        f"{short(each.frame.location)} {units.time(each.time_ns / parts(profile))} "
        f"{inside_shares(each.inside, each.time_ns)}".rstrip()
        for each in lines[:_MOST_UNLISTED]
        if each.frame is not None
    ]
    more = f", and {len(lines) - len(told)} more" if len(lines) > len(told) else ""
    return f"{', '.join(told)}{more}"


def short(place: str | None) -> str:
    """A place without its folder."""
    return "" if place is None else short_source(place.replace("\\", "/"))


def whole(count: int, parts: int) -> str:
    """Format a count per part, or the total if it does not divide evenly.

    >>> whole(6, 3), whole(7, 3)
    ('2', '7 in all')
    """
    return f"{count:,} in all" if count % parts else f"{count // parts:,}"
