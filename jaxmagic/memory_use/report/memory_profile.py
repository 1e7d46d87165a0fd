"""Reports memory profiles and compiled programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...report.blocks import Block, Caution, Excerpt, Fold, Headline, Picture, Sentence, Table
from ...report.glance import and_more, notes_folded
from ...report.style import Style
from ...timing.report import about_fetch
from ..charts.buffer_map import MOST_IN_REPORT, map_chart, mapped
from ..charts.usage import timeline_chart
from ..record.memory_profile import Executable, MemoryProfile
from . import heap
from . import program_sentences as program_words
from . import sentences as words

#: This many of many arrays are seen at once. If only one more would be left out, it takes the place of the count.
_FEW_ARRAYS = 3


def report(profile: MemoryProfile, style: Style, explain: bool) -> Iterator[Block]:
    """Report what programs need, their peak, and who holds the arrays; programs and the use over time are folded."""
    programs = profile.executables
    yield Headline(text=words.headline(profile))
    if profile.timing.error is not None:
        yield Sentence(text=words.about_error(profile.timing.error))
    if programs:
        yield from _peak(programs[0])
        yield from _sentences(program_words.about_limit(programs[0]))
    if (program := mapped(profile)) is not None:
        yield _map(program)
    if profile.heap is not None:  # it was asked for
        yield from heap.inside(profile.heap, style)
    yield from _sentences(words.about_made(profile))
    yield from _arrays(profile, style)
    yield from _sentences(words.about_unfound(profile), words.about_deleted(profile.arrays.deleted))
    yield from (Caution(text=each) for each in words.about_suspects(profile.suspects))
    if profile.timing.fetch_ns is not None:
        yield Sentence(text=about_fetch(profile.timing, style.digits), faint=True)
    if programs:
        table = Table(
            rows=program_words.program_table(programs[: style.rows]),
            there_are=len(programs),
            noun="program",
            code=("program",),
        )
        constants = _sentences(program_words.about_constants(programs[: style.rows]))
        yield Fold(title=program_words.programs_title(programs), blocks=(table, *constants))
    yield Fold(
        title=words.usage_title(profile),
        blocks=(
            Picture(chart=lambda: timeline_chart(profile)),
            *_sentences(words.about_devices(profile)),
            *_sentences(words.about_timeline(profile.timeline) if profile.timeline else (), faint=True),
        ),
    )
    yield from _sentences(words.notes(profile, aside=False))
    yield from notes_folded(words.notes(profile, aside=True))
    yield from _sentences(words.EXPLANATION if explain else (), faint=True)


def _sentences(*about: Iterable[str], faint: bool = False) -> Iterator[Sentence]:
    return (Sentence(text=each, faint=faint) for sentences in about for each in sentences)


def _peak(program: Executable) -> Iterator[Block]:
    """Say when most memory is live, and what the largest buffer is; the next ones are in the whole sentence."""
    whole, part = (
        tuple(_sentences(program_words.about_peak(program))),
        tuple(_sentences(program_words.about_peak(program, most=1))),
    )
    if whole == part:
        yield from whole
    else:
        yield Excerpt(title=f"Peak, the {program_words.MOST_BUFFERS} largest buffers", part=part, whole=whole)


def _arrays(profile: MemoryProfile, style: Style) -> Iterator[Block]:
    """List the arrays that were made, with the names that hold them."""
    made = profile.arrays.made
    code = ("array", "held by")
    whole = Table(rows=words.array_table(made[: style.rows]), there_are=len(made), noun="array", code=code)
    if min(len(made), style.rows) <= _FEW_ARRAYS + 1:
        yield whole
        return
    part = Table(rows=words.array_table(made[:_FEW_ARRAYS]), there_are=_FEW_ARRAYS, noun="array", code=code)
    more = and_more(len(made) - _FEW_ARRAYS, "array")
    yield Excerpt(title=words.arrays_title(made), part=(part, *more), whole=(whole,))


def executable(program: Executable, style: Style, explain: bool) -> Iterator[Block]:
    """Report the memory that a program needs, and the buffers at its peak."""
    yield Headline(text=program_words.program_headline(program))
    yield Sentence(text=program_words.about_parts(program), inner=True)
    yield _map(program)
    sentences = (
        *program_words.about_constants([program]),
        *program_words.about_peak(program),
        *program_words.about_limit(program),
    )
    yield from (Sentence(text=each) for each in (*sentences, *map(str, program.notes)))


def _map(program: Executable) -> Picture:
    return Picture(chart=lambda: map_chart(program, most=MOST_IN_REPORT))
