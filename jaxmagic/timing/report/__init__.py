"""The report of a timing."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...compilation.record.compilation import Compilation
from ...report.blocks import Block, Entries, Entry, Part, Sentence, Split
from ...report.compose import Brief
from ...report.style import Style
from .. import analysis as chosen
from ..record import Timing
from . import sentences as words

#: Functions that have a row of their own; of more than these, the costliest have one.
MOST_FUNCTIONS = 5


def report(timing: Timing, style: Style, explain: bool) -> Iterator[Block]:
    """Tell the wall time and its parts, then what compiled and why."""
    yield _split(timing, style)
    yield from (Sentence(text=each, inner=True) for each in words.about_time(timing, style.digits))
    shown, rest = chosen.costliest(chosen.compiled(timing).functions, MOST_FUNCTIONS)
    if shown:
        yield _functions(shown, style)
    about = words.about_compilations(timing, len(rest), chosen.total_ns(rest), style.digits)
    yield from (Sentence(text=each, inner=True) for each in about)
    user, system = timing.cpu_user_ns, timing.cpu_system_ns
    cpu = [units.time(each, style.digits) for each in (user, system, user + system)]
    yield Sentence(text=f"CPU times: user {cpu[0]}, sys: {cpu[1]}, total: {cpu[2]}", faint=True)
    yield from (Sentence(text=each) for each in words.notes(timing, style.digits))
    yield from (Sentence(text=each, faint=True, inner=True) for each in (words.EXPLANATION if explain else ()))


def _split(timing: Timing, style: Style) -> Split:
    unit = units.time_unit(timing.wall_ns)

    def told(time_ns: int) -> str:
        return units.time_in(time_ns, unit, style.digits)

    share = units.share(timing.compile_ns, timing.wall_ns) if timing.compile_ns else ""
    summary = [f"compile {told(timing.compile_ns)} ({share})"] if share else []
    summary += [f"{'host' if share else 'dispatch'} {told(timing.host_ns)}", f"wait {told(timing.wait_ns)}"]
    parts = (
        Part(name=each.name, told=told(each.time_ns), share=each.time_ns / timing.wall_ns)
        for each in chosen.parts(timing)
    )
    return Split(
        label="Wall time",
        total=units.time(timing.wall_ns, style.digits),
        remark=f"{share} of it compiling" if share else "",
        parts=tuple(parts),
        summary=tuple(summary),
    )


def _functions(shown: tuple[Compilation, ...], style: Style) -> Entries:
    unit = units.time_unit(max(each.total_ns for each in shown))
    stages = [(label, field) for label, field in words.STAGES if any(getattr(each, field) for each in shown)]

    def cell(time_ns: int) -> str:
        return units.time_in(time_ns, unit, style.digits) if time_ns else ""

    rows = (
        Entry(
            name=each.function,
            cells=tuple(cell(getattr(each, field)) for _, field in stages),
            remark=words.reason(each, style.digits),
            advice=each.cause.remedy or "",
            place=each.location or "",
        )
        for each in shown
    )
    return Entries(rows=tuple(rows), heads=("compiled", *(label for label, _ in stages), "why"))


def brief(timing: Timing, digits: int) -> Brief:
    """Tell how long it took, and how much of that was compiling."""
    compiled = f"{units.share(timing.compile_ns, timing.wall_ns)} compile" if timing.compile_ns else ""
    return Brief(timing.code, units.time(timing.wall_ns, digits), compiled)


BRIEFS = {Timing: brief}


REPORTS = {Timing: report}
