"""Reports memory profiles and compiled programs."""

from __future__ import annotations

from collections.abc import Iterator

from ...report.blocks import Block, Caution, Headline, Picture, Sentence, Table
from ...report.style import Style
from ...timing.report import about_fetch
from ..charts.buffer_map import MOST_IN_REPORT, map_chart, mapped
from ..charts.usage import timeline_chart
from ..record.memory_profile import Executable, MemoryProfile
from . import heap
from . import sentences as words


def report(profile: MemoryProfile, style: Style, explain: bool) -> Iterator[Block]:
    """Report the memory of arrays, the memory that programs need, and the use over time."""
    yield Headline(text=words.headline(profile))
    yield from (Sentence(text=each) for each in (*words.about_devices(profile), words.about_made(profile)))
    made, programs = profile.arrays.made, profile.executables
    yield Table(rows=words.array_table(made[: style.rows]), there_are=len(made), noun="array")
    sentences = (*words.about_unfound(profile), *words.about_deleted(profile.arrays.deleted))
    yield from (Sentence(text=each) for each in sentences)
    yield Table(rows=words.program_table(programs[: style.rows]), there_are=len(programs), noun="program")
    if (program := mapped(profile)) is not None:
        yield _map(program)
    yield Picture(chart=lambda: timeline_chart(profile))
    yield from (Sentence(text=each) for each in words.about_constants(programs[: style.rows]))
    if programs:
        sentences = (*words.about_peak(programs[0]), *words.about_limit(programs[0]))
        yield from (Sentence(text=each) for each in sentences)
    if profile.heap is not None:
        yield from heap.difference(profile.heap, style, explain)
    if profile.timeline is not None:
        yield from (Sentence(text=each, faint=True) for each in words.about_timeline(profile.timeline))
    yield from (Caution(text=each) for each in words.about_suspects(profile.suspects))
    if profile.timing.fetch_ns is not None:
        yield Sentence(text=about_fetch(profile.timing, style.digits), faint=True)
    yield from (Sentence(text=each, faint=True) for each in words.notes(profile))
    yield from (Sentence(text=each, faint=True) for each in (words.EXPLANATION if explain else ()))


def executable(program: Executable, style: Style, explain: bool) -> Iterator[Block]:
    """Report the memory that a program needs, and the buffers at its peak."""
    yield Headline(text=words.program_headline(program))
    yield Table(rows=words.program_table([program]), there_are=1, noun="program")
    yield _map(program)
    sentences = (*words.about_constants([program]), *words.about_peak(program), *words.about_limit(program))
    yield from (Sentence(text=each) for each in (*sentences, *map(str, program.notes)))


def _map(program: Executable) -> Picture:
    return Picture(chart=lambda: map_chart(program, most=MOST_IN_REPORT))
