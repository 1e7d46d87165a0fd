"""Records as text, in the columns of a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from .. import units
from ..analysis import report
from ..analysis.heap import stacks
from ..analysis.names import shortened
from ..model.arrays import HeldArray, LiveArrays
from ..model.benchmark import Benchmark
from ..model.comparison import Comparison
from ..model.compilation import Compilation
from ..model.heap import HeapDifference, HeapProfile
from ..model.history import History, Record
from ..model.memory import Executable, MemoryProfile
from ..model.profile import Profile
from ..model.sweep import Sweep
from ..model.timing import Timing
from ..terminal import printable_lines
from . import (
    benchmark_words,
    comparison_words,
    heap_words,
    memory_words,
    profile_comparison_words,
    profile_words,
    sweep_words,
    words,
)
from .columns import more, sentences, table, wrapped
from .profile_text import profile_report
from .style import DEFAULT, Style

#: Functions that have a row of their own; of more than these, the costliest have one.
MOST_FUNCTIONS = 8


def to_text(record: object, style: Style = DEFAULT, *, explain: bool = False) -> str:
    """`record` as plain text of at most ``style.width`` columns, without any control characters."""
    return printable_lines(_text(record, style, explain=explain))


@singledispatch
def _text(record: object, style: Style = DEFAULT, *, explain: bool = False) -> str:
    raise TypeError(f"to_text() knows records; found a {type(record).__name__}")


@_text.register
def _(record: Timing, style: Style = DEFAULT, *, explain: bool = False) -> str:
    lines = [_headline(record, style)]
    if style.form == "line":
        return lines[0]
    for sentence in words.about_time(record, style.digits):
        lines += wrapped(sentence, style, "  ")
    lines += _compilations(record, style)
    lines.append(_cpu_times(record, style))
    for note in words.notes(record, style.digits):
        lines += wrapped(note, style, "")
    if explain:
        for line in words.EXPLANATION:
            lines += wrapped(line, style, "  ")
    return "\n".join(lines)


@_text.register
def _(record: Benchmark, style: Style = DEFAULT, *, explain: bool = False) -> str:
    lines = [benchmark_words.headline(record, style.digits)]
    if style.form == "line":
        return lines[0]
    for sentence in benchmark_words.about_samples(record, style.digits):
        lines += wrapped(sentence, style, "  ", "    ")
    if line := benchmark_words.histogram(record, style.digits):
        lines.append(f"  {line}")
    lines += wrapped(benchmark_words.about_pipelined(record, style.digits), style, "  ", "    ")
    if device := benchmark_words.about_device(record, style.digits):
        lines += wrapped(device, style, "  ", "    ")
    lines += wrapped(benchmark_words.about_first_call(record, style.digits), style, "  ", "    ")
    lines += wrapped(benchmark_words.about_end(record, style.digits), style, "")
    for finding in record.warnings:
        lines += wrapped(f"Warning: {finding}", style, "", "  ")
    return "\n".join(lines)


@_text.register
def _(record: Comparison, style: Style = DEFAULT, *, explain: bool = False) -> str:
    first = words.printable(comparison_words.headline(record))
    if style.form == "line":
        return first
    lines = [first]
    labels = shortened([words.printable(label) for label in record], 24)
    widest = max(map(len, labels))
    times = {each.label: comparison_words.call_time(each, style.digits) for each in record.candidates}
    aligned = max(map(len, times.values()))
    for each, label in zip(record.candidates, labels, strict=True):
        verdict = comparison_words.row(record, each)
        lines.append(f"  {label.ljust(widest)}  {times[each.label].rjust(aligned)}  {verdict}")
        details = comparison_words.details(record, each, style.digits)
        lines += wrapped(details, style, "    " + " " * widest)
    lines += wrapped(words.printable(comparison_words.cut(comparison_words.about_rounds(record), record)), style, "")
    for sentence in comparison_words.about_outputs(record):
        lines += wrapped(words.printable(comparison_words.cut(sentence, record)), style, "", "  ")
    lines += sentences(profile_comparison_words.about_profiles(record), style)
    for rows, there_are in profile_comparison_words.profile_tables(record, style.rows):
        lines += [*table(rows, style.width), *more(there_are, len(rows) - 1, "row")]
    for finding in record.warnings:
        lines += wrapped(words.printable(f"Warning: {finding}"), style, "", "  ")
    return "\n".join(lines)


@_text.register
def _(record: Sweep, style: Style = DEFAULT, *, explain: bool = False) -> str:
    first = words.printable(sweep_words.headline(record))
    if style.form == "line":
        return first
    shown = record.points[: sweep_words.MOST_POINTS]
    rows = [sweep_words.heads(record), *(sweep_words.cells(record, point, style.digits) for point in shown)]
    lines = [first, *table(rows, style.width)]
    if len(shown) < len(record.points):
        lines.append(f"  … and {units.count(len(record.points) - len(shown), 'more point')}: see to_frame()")
    if scaled := profile_comparison_words.scaling_table(record):
        lines += table(scaled, style.width)
    for sentence in (
        *sweep_words.about_outputs(record),
        *sweep_words.about_work(record),
        *sweep_words.about_growth(record),
        *sweep_words.about_crossings(record),
        *sweep_words.about_compiling(record, style.digits),
        *sweep_words.about_end(record, style.digits),
        *(f"Warning: {each}" for each in sweep_words.about_conditions(record)),
    ):
        lines += wrapped(words.printable(comparison_words.cut(sentence, record)), style, "", "  ")
    return "\n".join(lines)


@_text.register
def _(record: MemoryProfile, style: Style = DEFAULT, *, explain: bool = False) -> str:
    first = words.printable(memory_words.headline(record))
    if style.form == "line":
        return first
    lines = wrapped(first, style, "", "  ")
    told = [*memory_words.about_devices(record), memory_words.about_made(record)]
    made, programs = record.arrays.made, record.executables
    lines += sentences(told, style) + _arrays(made, style)
    lines += sentences(
        [*memory_words.about_unfound(record), *memory_words.about_deleted(record.arrays.deleted)], style
    )
    if programs:
        lines += table(memory_words.program_table(programs[: style.rows]), style.width)
        lines += more(len(programs), style.rows, "program")
        lines += sentences(memory_words.about_constants(programs[: style.rows]), style)
        lines += sentences([*memory_words.about_peak(programs[0]), *memory_words.about_limit(programs[0])], style)
    if record.heap is not None:
        lines += to_text(record.heap, style).splitlines()
    lines += sentences(memory_words.about_timeline(record.timeline) if record.timeline else [], style)
    lines += sentences([f"Warning: {each}" for each in memory_words.about_suspects(record.suspects)], style)
    if record.timing.fetch_ns is not None:
        lines += sentences([words.about_fetch(record.timing, style.digits)], style)
    lines += sentences(memory_words.notes(record), style)
    return "\n".join(lines + sentences(memory_words.EXPLANATION if explain else (), style))


@_text.register
def _(record: Profile, style: Style = DEFAULT, *, explain: bool = False) -> str:
    first = words.printable(profile_words.headline(record))
    if style.form == "line":
        return first
    return "\n".join([*wrapped(first, style, "", "  "), *profile_report(record, style, explain=explain)])


@_text.register
def _(record: LiveArrays, style: Style = DEFAULT, *, explain: bool = False) -> str:
    lines = [memory_words.live_headline(record)]
    if style.form == "line":
        return lines[0]
    return "\n".join(lines + _arrays(record.arrays, style) + sentences(record.notes, style))


@_text.register
def _(record: HeapDifference, style: Style = DEFAULT, *, explain: bool = False) -> str:
    first = heap_words.headline(record)
    if style.form == "line":
        return first
    rows = stacks(record)
    lines = sentences([f"{first}{':' if rows else '.'}"], style)
    if rows:
        lines += table(heap_words.stack_table(rows[: style.rows]), style.width, widest=style.width)
        lines += more(len(rows), style.rows, "stack")
    return "\n".join(lines + sentences([*heap_words.about_devices(record), *record.after.notes], style))


@_text.register
def _(record: HeapProfile, style: Style = DEFAULT, *, explain: bool = False) -> str:
    return to_text(HeapDifference(before=None, after=record), style)


@_text.register
def _(record: Executable, style: Style = DEFAULT, *, explain: bool = False) -> str:
    told = [*memory_words.about_constants([record]), *memory_words.about_peak(record)]
    told += [*memory_words.about_limit(record), *record.notes]
    return "\n".join(table(memory_words.program_table([record]), style.width) + sentences(told, style))


def _arrays(arrays: Sequence[HeldArray], style: Style) -> list[str]:
    if not arrays:
        return []
    rows = table(memory_words.array_table(arrays[: style.rows]), style.width)
    return rows + more(len(arrays), style.rows, "array")


@_text.register
def _(record: History, style: Style = DEFAULT, *, explain: bool = False) -> str:
    if not record:
        return "No records yet: run %jaxtime or jaxmagic.stopwatch()."
    newest = list(record)[-10:]
    first = len(record) - len(newest)
    lines = [f"{units.count(len(record), 'record')}" + (f", the last {len(newest)}:" if first else ":")]
    for index, timing in enumerate(newest, first):
        code = " ".join((timing.code or _labels(timing)).split())
        time, remark = _in_history(timing, style)
        number = f"[{index}]".rjust(len(f"[{len(record) - 1}]"))
        lines.append(f"  {number} {time:>9}  {remark:13}  {code}"[: style.width].rstrip())
    return "\n".join(lines)


def _labels(record: Record) -> str:
    return ", ".join(record) if isinstance(record, Comparison | Sweep) else ""


def _in_history(record: Record, style: Style) -> tuple[str, str]:
    if isinstance(record, Benchmark):
        return units.time(record.median_ns, style.digits), "per call"
    if isinstance(record, Comparison):
        return "", f"{len(record)} compared"
    if isinstance(record, Sweep):
        return "", units.count(len(record), "point")
    if isinstance(record, MemoryProfile):
        return "", units.size_change(sum(record.delta_bytes.values()))
    if isinstance(record, Profile):
        return "" if record.wall_ns is None else units.time(record.wall_ns, style.digits), "profiled"
    compiled = f"{units.share(record.compile_ns, record.wall_ns)} compile" if record.compile_ns else ""
    return units.time(record.wall_ns, style.digits), compiled


def _headline(timing: Timing, style: Style) -> str:
    unit = units.time_unit(timing.wall_ns)
    parts = [f"Wall time: {units.time(timing.wall_ns, style.digits)}"]
    if timing.compile_ns:
        share = units.share(timing.compile_ns, timing.wall_ns)
        parts.append(f"compile {units.time_in(timing.compile_ns, unit, style.digits)} ({share})")
    host = "host" if timing.compile_ns else "dispatch"
    parts.append(f"{host} {units.time_in(timing.host_ns, unit, style.digits)}")
    parts.append(f"wait {units.time_in(timing.wait_ns, unit, style.digits)}")
    return "   ".join(parts)


def _compilations(timing: Timing, style: Style) -> list[str]:
    compiled = report.compiled(timing)
    lines: list[str] = []
    shown, rest = report.costliest(compiled.functions, MOST_FUNCTIONS)
    names = shortened([words.printable(each.function) for each in shown], 24)
    widest = max(map(len, names), default=0)
    unit = units.time_unit(max((each.total_ns for each in shown), default=0))
    for each, name in zip(shown, names, strict=True):
        lines += _function(each, name.ljust(widest), unit, style)
    for sentence in words.about_compilations(timing, len(rest), report.total_ns(rest), style.digits):
        lines += wrapped(sentence, style, "  ")
    return lines


def _function(each: Compilation, name: str, unit: str, style: Style) -> list[str]:
    cells = [f"{label} {units.time_in(time_ns, unit, style.digits)}" for label, time_ns in words.stages(each)]
    first = f"  {name}   " + "   ".join(cells)
    reason, remedy = words.reason(each, style.digits), each.cause.remedy
    if len(first) + 3 + len(reason) <= style.width and remedy is None:
        return [f"{first}   {reason}"]
    lines = [first, *wrapped(reason, style, "    ")]
    if remedy:
        lines += wrapped(f"→ {remedy}", style, "    ", "      ")
    return lines


def _cpu_times(timing: Timing, style: Style) -> str:
    user, system = timing.cpu_user_ns, timing.cpu_system_ns
    shown = [units.time(each, style.digits) for each in (user, system, user + system)]
    return f"CPU times: user {shown[0]}, sys: {shown[1]}, total: {shown[2]}"
