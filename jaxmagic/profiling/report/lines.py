"""Sentences about source lines, and the cells of the listing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ... import units
from ...records.call_stack import is_users
from ...records.names import listed
from ...records.paths import short_source
from ...report.inside_words import inside_shares
from ...xla.lines.labels import BACKWARD
from ..analysis.operations import kind_of, named, parts
from ..analysis.source_lines import LineTime, Listing
from ..record.profile import Profile

#: At most this many lines are named outside the listing.
_MOST_UNLISTED = 5

#: Labels with a smaller share of the device time are not mentioned.
_WORTH_A_LABEL = 0.05

#: A backward pass is mentioned from this share of a line's time on, because most lines have some.
_ALL_BACKWARD = 0.95


def line_cells(line: LineTime, profile: Profile) -> tuple[str, str, str, str]:
    """Return time per run, share, time with calls if it is more, and count per run."""
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


def operations_of(line: LineTime, most: int = 3) -> str:
    """List the operations of a line, the kind with most time first; several of one kind by their number."""
    kinds: dict[str, list[str]] = {}
    for name in line.operations:
        kinds.setdefault(kind_of(name), []).append(name)
    times = {kind: sum(line.operations[name] for name in names) for kind, names in kinds.items()}
    names = [named(kinds[kind]) for kind in sorted(times, key=lambda kind: -times[kind])]
    return listed(names, most)


def about_costliest(lines: Sequence[LineTime], profile: Profile) -> list[str]:
    """Name the line with most device time; nothing if more of that has no line."""
    for each in sorted(lines, key=lambda each: -each.time_ns)[:1]:
        if each.frame is not None and each.time_ns:
            share = f"{'≈' if each.split else ''}{units.share(each.time_ns, profile.device_ns)}"
            return [f"The costliest line is {short(each.frame.location)}, with {share} of the device time."]
    return []


def about_nowhere(lines: Iterable[LineTime], profile: Profile) -> list[str]:
    """Describe the time without a line."""
    return [
        f"Without a line: {units.time(each.time_ns / parts(profile))} "
        f"({units.share(each.time_ns, profile.device_ns)}): {operations_of(each)}."
        for each in lines
        if each.frame is None
    ]


def about_labels(lines: Iterable[LineTime], profile: Profile) -> list[str]:
    """Describe work that the source of its lines does not show."""
    sentences = []
    for line in lines:
        where = "Without a line" if line.frame is None else short(line.frame.location)
        for label, time_ns in sorted(line.labels.items(), key=lambda each: -each[1]):
            if time_ns < _WORTH_A_LABEL * profile.device_ns:
                continue
            if label != BACKWARD or time_ns > _ALL_BACKWARD * line.time_ns:
                share = units.share(time_ns, profile.device_ns)
                sentences.append(f"{where}: {units.time(time_ns / parts(profile))} ({share}) is {label}.")
    return sentences[:_MOST_UNLISTED]


def about_unlisted(lines: Iterable[LineTime], listed: Iterable[Listing], profile: Profile) -> list[str]:
    """Name the lines with time that no listing shows: of libraries, or without available source."""
    shown = {id(each.time) for one in listed for each in one.lines}
    rest = [each for each in lines if each.frame and each.time_ns and id(each) not in shown]
    mine = [each for each in rest if each.frame and is_users(each.frame)]
    theirs = [each for each in rest if each.frame and not is_users(each.frame)]
    kinds = (
        ("Also" if shown else "By line", mine),
        ("Library lines (JAX recorded no line of yours for them)", theirs),
    )
    return [f"{title}: {_several(some, profile)}." for title, some in kinds if some]


def _several(lines: Sequence[LineTime], profile: Profile) -> str:
    shown = [
        f"{short(each.frame.location)} {units.time(each.time_ns / parts(profile))} "
        f"{inside_shares(each.inside, each.time_ns)}".rstrip()
        for each in lines[:_MOST_UNLISTED]
        if each.frame is not None
    ]
    more = f", and {len(lines) - len(shown)} more" if len(lines) > len(shown) else ""
    return f"{', '.join(shown)}{more}"


def short(place: str | None) -> str:
    """Format a place without its folder."""
    return "" if place is None else short_source(place.replace("\\", "/"))


def whole(count: int, parts: int) -> str:
    """Format a count per part, or the total if it does not divide evenly.

    >>> whole(6, 3), whole(7, 3)
    ('2', '7 in all')
    """
    return f"{count:,} in all" if count % parts else f"{count // parts:,}"
