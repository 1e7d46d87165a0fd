"""The report of a profile: a listing with the time of each line, pictures, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ... import units
from ...records.names import shortened
from ...records.note import Note
from ...report.blocks import Block, Caution, Excerpt, Fold, Headline, Listing, Picture, Sentence, SourceLine, Table
from ...report.compose import Brief
from ...report.glance import notes_folded
from ...report.inside_words import inside_shares
from ...report.style import Style
from ...report.text_table import fits
from ..analysis.operations import OperationGroup, by_line
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
from .legend import about_device_heads, about_operation_heads, about_signs
from .notes import ABOUT_THE_ROOF, matters
from .notes import NOTES as NOTES
from .steps import about_step_bound, about_steps, step_table

#: At most this many functions are listed, and those of the costliest lines; the rest is in ``lines()``.
_MOST_LISTINGS = 5

#: A listing with at most this many rows is shown whole, with its heads.
_FEW_LINES = 7

#: At most this many lines of other ones are shown, and rows with their heads, which fit a narrow page also where no
#: script runs.
_MOST_LINES = 4
_MOST_ROWS = 6

#: A smaller share of the time takes no row of a listing that is not shown whole.
_LEAST_SHARE = 0.01

#: From this many columns on, text has room for all columns of a table.
_WIDE = 120


def report(profile: Profile, style: Style, explain: bool) -> Iterator[Block]:
    """Compose the bound and the slow lines; operations, devices, pictures and how it was recorded are folded."""
    yield from _verdict(profile)
    yield Picture(chart=lambda: steps_chart(profile))
    yield from _listed(profile, style)
    again = words.about_warm_up(profile) if profile.compilations else []
    yield from _sentences(again, words.about_copy(profile, style.digits))
    yield from _sentences(
        words.about_kept(profile), (str(each) for each in _notes(profile) if matters(each, profile))
    )
    yield from (Caution(text=each) for each in words.about_load(profile))
    yield _operations(profile, style)
    yield Fold(
        title="Pictures: flame graph and timeline",
        blocks=(
            Picture(chart=lambda: profile_flame(profile)),
            Picture(chart=lambda: profile_timeline_chart(profile)),
        ),
    )
    if profile.device_uses or profile.allocator_uses:
        yield _devices(profile, style)
    else:
        yield from _sentences(device_words.about_devices(profile), faint=True)
    yield from notes_folded(
        (
            *words.about_unknown(profile),
            *words.about_profiler(profile),
            *([] if again else words.about_warm_up(profile)),
            *([] if explain else about_signs(profile)),
            *(str(each) for each in _notes(profile) if not matters(each, profile)),
        )
    )
    yield from _sentences(words.EXPLANATION if explain else (), faint=True)


def _notes(profile: Profile) -> list[Note]:
    """Return the notes that are neither the headline nor about the peak rates."""
    apart = {ABOUT_THE_ROOF} if profile.device_uses else {ABOUT_THE_ROOF, *words.WHY_NOTHING}
    return [each for each in profile.notes if each.kind not in apart]


def _sentences(*about: Iterable[str], faint: bool = False) -> Iterator[Sentence]:
    return (Sentence(text=each, faint=faint) for sentences in about for each in sentences)


def _verdict(profile: Profile) -> Iterator[Block]:
    """Say what bounds a run or a step, and how long the devices worked.

    If the bound is unknown, the line with most device time is the answer, and why it is unknown comes after it.
    """
    slowest = line_words.about_costliest(line_times(profile), profile) if words.about_unknown(profile) else []
    bounds = [*words.about_bound(profile), *about_step_bound(profile)]
    first, *others = [*slowest, *bounds, words.headline(profile)]
    yield Headline(text=first)
    yield from _sentences(words.about_error(profile), others, about_steps(profile), words.about_host(profile))


def _listed(profile: Profile, style: Style) -> Iterator[Block]:
    """List the lines that take most time; all others, and what no line shows, are in the whole listing.

    If most of the time has no line, this comes first, as the lines below are only a small part.
    """
    lines = line_times(profile)
    nowhere = [each for each in lines if each.frame is None]
    if 2 * sum(each.time_ns for each in nowhere) > profile.device_ns:
        yield from _sentences(line_words.about_nowhere(nowhere, profile))
        nowhere = []
    costliest = {id(each) for each in lines[:_MOST_LINES]}
    listed = [
        each
        for at, each in enumerate(listings(profile, lines))
        if at < _MOST_LISTINGS or any(id(line.time) in costliest for line in each.lines)
    ]
    whole = tuple(_listing(each, profile) for each in listed)
    beside = tuple(
        _sentences(
            line_words.about_unlisted(lines, listed, profile),
            line_words.about_nowhere(nowhere, profile),
            line_words.about_labels(lines, profile),
        )
    )
    part = tuple(_slowest(whole, style.rows))
    if part == whole and len(beside) < 2:
        yield from whole
        yield from beside
    elif not whole:
        yield from beside
    else:
        count = sum(line.number is not None for each in whole for line in each.lines)
        places = shortened([whole[0].place], 40)[0] if len(whole) == 1 else f"{len(whole)} cells or files"
        shares = [line.share for each in part for line in each.lines if line.share]
        more = [each for each in lines if each.time_ns > min(shares, default=0) * profile.device_ns]
        costlier = _sentences(
            line_words.about_unlisted(more, listed, profile),
            line_words.about_nowhere((each for each in nowhere if each in more), profile),
        )
        yield Excerpt(
            title=f"Whole listing: {units.count(count, 'line')} of {places}",
            part=(*part, *costlier),
            whole=(*whole, *beside),
        )


def _slowest(whole: Sequence[Listing], most: int) -> Iterator[Listing]:
    """Keep the lines that take most time and those that only call as much, at most so many, in their order.

    No line is left out that takes more time than one that is kept, in whichever function it is. A line that only
    calls others is kept for their time.
    """
    timed = [line for each in whole for line in each.lines if any(line.cells)]
    if sum(len(each.lines) + 1 for each in whole) <= _FEW_LINES and len(timed) <= most:
        yield from whole
        return
    taken = [line for line in timed if (line.share or line.with_calls) >= _LEAST_SHARE] or timed
    place_of = {id(line): at for at, each in enumerate(whole) for line in each.lines}
    kept: set[int] = set()
    for line in sorted(taken, key=lambda line: (-line.share, -line.with_calls))[: min(_MOST_LINES, most)]:
        heads = {place_of[each] for each in (*kept, id(line))}
        if len(kept) + 1 + len(heads) > _MOST_ROWS:
            break
        kept.add(id(line))
    for each in whole:
        lines = tuple(line for line in each.lines if id(line) in kept)
        if lines:
            yield each._replace(lines=lines)


def _operations(profile: Profile, style: Style) -> Fold:
    groups = by_line(profile.operation_times)
    count = sum(len(each.operations) for each in groups)
    shown = groups[: style.rows]
    table = Table(
        rows=roof.operation_table(shown, profile),
        there_are=len(groups),
        noun="operation" if len(groups) == count else "row",
        where="operations()",
        narrow=() if style.width >= _WIDE else _narrow(shown, profile, style.width),
        code=("operation", "line", "inside"),
    )
    rows, there_are = kernel_table(profile, style.rows)
    narrow = () if style.width >= _WIDE else kernel_table(profile, style.rows, narrow=True)[0]
    code = ("kernel", "of")
    kernels = [Table(rows=rows, there_are=there_are, noun="kernel", where="kernels()", narrow=narrow, code=code)]
    inside = sum(len(each.operations) for each in shown)
    some = f"{inside} of " if inside < count else ""
    top = ""
    if groups:
        share = units.share(groups[0].total.time_ns, max(profile.device_ns, 1))
        top = f", top: {shortened([groups[0].total.name], 40)[0]} {share}"
    return Fold(
        title=f"{some}{units.count(count, 'operation')}{top}",
        blocks=(
            *([table] if groups else []),
            *_sentences(roof.about_groups(shown), faint=True),
            *(kernels if rows else []),
            *_sentences(about_operation_heads(table.rows[0] if groups else ()), faint=True),
            *_sentences(roof.about_roof(profile), faint=True),
            *_sentences(words.about_measured_roof(profile), faint=True),
            Picture(chart=lambda: roofline_chart(profile)),
        ),
    )


def _narrow(shown: Sequence[OperationGroup], profile: Profile, width: int) -> list[tuple[str, ...]]:
    """Tabulate operations for a terminal, where the category is the last column."""
    rows = roof.operation_table(shown, profile, narrow=True)
    return rows if fits(rows, width) else roof.operation_table(shown, profile, narrow=True, narrower=True)


def _devices(profile: Profile, style: Style) -> Fold:
    steps = step_table(profile, style.rows)
    table = Table(rows=steps, there_are=len(profile.step_times), noun="device", where="steps()")
    tables = [*([table] if steps else []), *device_words.device_tables(profile, style.rows)]
    heads = [head for each in tables for head in each.rows[0]]
    uses = sorted(profile.device_uses, key=lambda each: -each.busy_ns)
    busy = units.share(uses[0].busy_ns, max(profile.recorded_ns, 1)) if uses else ""
    most = f", {uses[0].device} busy for {busy} of {units.time(profile.recorded_ns)}" if uses else ""
    return Fold(
        title=f"{units.count(len(uses), 'device')}{most}",
        blocks=(
            *tables,
            *_sentences(about_device_heads(heads), faint=True),
            *_sentences(device_words.about_devices(profile), device_words.about_allocators(profile)),
            Picture(chart=lambda: memory_chart(profile)),
        ),
    )


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
        share=time.time_ns / max(profile.device_ns, 1),
        inside=inside_shares(time.inside, time.time_ns),
        operations=line_words.operations_of(time, 8),
        with_calls=time.total_ns / max(profile.device_ns, 1),
    )


def brief(profile: Profile) -> Brief:
    """Describe the profile in one row: its code and wall time."""
    return Brief(profile.code, profile.wall_ns, "profiled")


BRIEFS = {Profile: brief}


REPORTS = {Profile: report}
