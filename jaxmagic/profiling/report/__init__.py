"""The report of a profile: a listing with the time of each line, pictures, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ... import units
from ...report.blocks import Block, Headline, Listing, Picture, Sentence, SourceLine, Table
from ...report.compose import Brief
from ...report.inside_words import inside_shares
from ...report.style import Style
from ..analysis.operations import over_devices
from ..analysis.source_lines import Listed, line_times, listings
from ..analysis.source_lines import Listing as Lines
from ..charts.flame import profile_flame
from ..charts.memory import memory_chart
from ..charts.roofline import roofline_chart
from ..charts.steps import steps_chart
from ..charts.timeline import profile_timeline_chart
from ..record.profile import Profile
from . import devices as device_words
from . import lines as line_words
from . import roof
from . import sentences as words
from .kernels import kernel_table
from .notes import NOTES as NOTES
from .steps import about_steps, step_table

#: At most this many functions are listed; the rest is in ``lines()``.
_MOST_LISTINGS = 5


def report(profile: Profile, style: Style, explain: bool) -> Iterator[Block]:
    """Compose the bound and the slow lines, then operations, devices and memory."""
    yield Headline(text=words.headline(profile))
    yield from _sentences(words.about_error(profile), words.about_bound(profile), about_steps(profile))
    yield Picture(chart=lambda: steps_chart(profile))
    lines = line_times(profile)
    listed = listings(profile, lines)[:_MOST_LISTINGS]
    yield from (_listing(each, profile) for each in listed)
    yield from _sentences(line_words.about_unlisted(lines, listed, profile), line_words.about_nowhere(lines, profile))
    yield from _sentences(line_words.about_labels(lines, profile))
    yield Picture(chart=lambda: profile_flame(profile))
    yield Picture(chart=lambda: profile_timeline_chart(profile))
    yield from _operations(profile, style)
    yield from _sentences(roof.about_roof(profile), faint=True)
    yield Picture(chart=lambda: roofline_chart(profile))
    if steps := step_table(profile, style.rows):
        yield Table(rows=steps, there_are=len(profile.step_times), noun="device", where="steps()")
    yield from device_words.device_tables(profile, style.rows)
    yield from _sentences(device_words.about_devices(profile), device_words.about_allocators(profile))
    yield Picture(chart=lambda: memory_chart(profile))
    yield from _sentences(
        words.about_profiler(profile),
        words.about_copy(profile, style.digits),
        words.about_warm_up(profile),
        words.about_earlier(profile),
        words.about_load(profile),
        words.about_kept(profile),
        (str(each) for each in profile.notes if each.kind not in words.WHY_NOTHING or profile.device_uses),
        words.EXPLANATION if explain else (),
        faint=True,
    )


def _sentences(*about: Iterable[str], faint: bool = False) -> Iterator[Sentence]:
    return (Sentence(text=each, faint=faint) for sentences in about for each in sentences)


def _operations(profile: Profile, style: Style) -> Iterator[Table]:
    operations = over_devices(profile.operation_times)
    shown = operations[: style.rows]
    yield Table(
        rows=roof.operation_table(shown, profile),
        there_are=len(operations),
        noun="operation",
        where="operations()",
        narrow=roof.operation_table(shown, profile, narrow=True),
    )
    rows, there_are = kernel_table(profile, style.rows)
    if rows:
        narrow, _ = kernel_table(profile, style.rows, narrow=True)
        yield Table(rows=rows, there_are=there_are, noun="kernel", where="kernels()", narrow=narrow)


def _listing(listing: Lines, profile: Profile) -> Listing:
    lines = tuple(_line(each, profile) for each in listing.lines)
    return Listing(place=listing.place, heads=words.LINE_HEADS, lines=lines)


def _line(listed: Listed, profile: Profile) -> SourceLine:
    time = listed.time
    if time is None:
        return SourceLine(
            number=listed.number, text=listed.text, cells=("",) * len(words.LINE_HEADS),
            share=0.0, inside="", operations="",
        )  # fmt: skip
    return SourceLine(
        number=listed.number,
        text=listed.text,
        cells=line_words.line_cells(time, profile),
        share=time.time_ns / profile.device_ns if profile.device_ns else 0.0,
        inside=inside_shares(time.inside, time.time_ns),
        operations=line_words.operations_of(time, 8),
    )


def brief(profile: Profile, digits: int) -> Brief:
    """Describe the profile in one row: its code and wall time."""
    return Brief(profile.code, "" if profile.wall_ns is None else units.time(profile.wall_ns, digits), "profiled")


BRIEFS = {Profile: brief}


REPORTS = {Profile: report}
