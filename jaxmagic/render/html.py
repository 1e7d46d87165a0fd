"""Records as HTML, put together of the pieces in ``tags``.

What is drawn here is saved in notebooks, reopened without a kernel and untrusted, and shown in light and dark.
So there is no ``<style>``, no class and no outside address: only inline styles that JupyterLab's sanitiser keeps, no
colour of the text's own, and hues of middle lightness that read on white and on black. Beside a picture there is a
script that makes it live; whatever removes the script leaves the picture.
"""

from __future__ import annotations

from functools import singledispatch
from html import escape

from .. import units
from ..analysis import report
from ..analysis.arrays_chart import arrays_chart
from ..analysis.charts import chart
from ..analysis.flame_chart import heap_flame
from ..analysis.heap import stacks
from ..analysis.memory_chart import MOST_IN_REPORT, map_chart, mapped
from ..analysis.names import shortened
from ..analysis.runs import runs
from ..analysis.timeline_chart import timeline_chart
from ..analysis.tradeoff import is_worth_a_picture, tradeoff
from ..model.arrays import LiveArrays
from ..model.benchmark import Benchmark
from ..model.comparison import Comparison
from ..model.compilation import Compilation
from ..model.heap import HeapDifference, HeapProfile
from ..model.history import History
from ..model.memory import Executable, MemoryProfile
from ..model.profile import Profile
from ..model.sweep import Sweep
from ..model.timing import Timing
from . import (
    benchmark_words,
    comparison_words,
    heap_words,
    memory_words,
    profile_comparison_words,
    sweep_words,
    tags,
    words,
)
from .charts import draw
from .colours import GREY_PARTS, PARTS
from .profile_html import profile_report
from .style import DEFAULT, Style
from .tags import CELL, FAINT, NUMBER, chart_to_html, safe, short
from .text import to_text

#: Functions in the table; of more than these, the costliest are in it. Keeps the saved notebook small.
MOST_FUNCTIONS = 5


@singledispatch
def to_html(record: object, style: Style = DEFAULT, *, explain: bool = False) -> str:
    """`record` as HTML that needs no kernel and no network, and loses nothing but liveliness without scripts."""
    raise TypeError(f"to_html() knows records; found a {type(record).__name__}")


@to_html.register
def _(record: Timing, style: Style = DEFAULT, *, explain: bool = False) -> str:
    pieces = [_headline(record, style), _bar(record, style)]
    pieces += [tags.line(sentence) for sentence in words.about_time(record, style.digits)]
    pieces.append(_table(record, style))
    user, system = record.cpu_user_ns, record.cpu_system_ns
    cpu = [units.time(each, style.digits) for each in (user, system, user + system)]
    pieces.append(tags.line(f"CPU times: user {cpu[0]}, sys {cpu[1]}, total {cpu[2]}", FAINT))
    pieces += [tags.line(note) for note in words.notes(record, style.digits)]
    if explain:
        pieces += [tags.line(line, FAINT) for line in words.EXPLANATION]
    return f'<div style="line-height:1.5;max-width:52em">{"".join(pieces)}</div>'


@to_html.register
def _(record: Benchmark, style: Style = DEFAULT, *, explain: bool = False) -> str:
    digits = style.digits
    headline = benchmark_words.headline(record, digits)
    pieces = [f"<div><b>{safe(headline)}</b></div>"]
    if style.picture and len(record.samples_ns) > 1:
        pieces.append(tags.picture(draw(chart(record)), headline))
    pieces += [tags.line(each) for each in benchmark_words.about_samples(record, digits)]
    told = (
        benchmark_words.about_pipelined(record, digits),
        benchmark_words.about_device(record, digits),
        benchmark_words.about_first_call(record, digits),
        benchmark_words.about_end(record, digits),
    )
    pieces += [tags.line(sentence) for sentence in told if sentence]
    pieces += [tags.line(f"⚠ {finding}") for finding in record.warnings]
    return f'<div style="line-height:1.5;max-width:52em">{"".join(pieces)}</div>'


@to_html.register
def _(record: Comparison, style: Style = DEFAULT, *, explain: bool = False) -> str:
    rows = []
    labels = shortened(list(record), 40)
    for each, label in zip(record.candidates, labels, strict=True):
        details = comparison_words.details(record, each, style.digits)
        rows.append(
            f'<tr style="vertical-align:top"><td style="{CELL}"><code>{safe(label)}</code></td>'
            f'<td style="{NUMBER};white-space:nowrap">{safe(comparison_words.call_time(each, style.digits))}</td>'
            f'<td style="{CELL}">{safe(comparison_words.row(record, each))}'
            f'<br><span style="{FAINT}">{safe(details)}</span></td></tr>'
        )
    headline = comparison_words.headline(record)
    pieces = [
        f"<div><b>{safe(headline)}</b></div>",
        tags.picture(draw(chart(record)), headline) if style.picture else "",
        f'<table style="border-collapse:collapse;margin:4px 0">{"".join(rows)}</table>',
        _tradeoff(record) if style.picture and is_worth_a_picture(record) else "",
        tags.line(comparison_words.cut(comparison_words.about_rounds(record), record), FAINT),
        *(tags.line(comparison_words.cut(each, record)) for each in comparison_words.about_outputs(record)),
        *(tags.line(sentence) for sentence in profile_comparison_words.about_profiles(record)),
        *(tags.table(found, there) for found, there in profile_comparison_words.profile_tables(record, style.rows)),
        *(tags.line(f"⚠ {finding}") for finding in record.warnings),
    ]
    return f'<div style="line-height:1.5;max-width:52em">{"".join(pieces)}</div>'


@to_html.register
def _(record: Sweep, style: Style = DEFAULT, *, explain: bool = False) -> str:
    headline = short(sweep_words.headline(record), 400)
    shown = record.points[: sweep_words.MOST_POINTS]
    heads = sweep_words.heads(record)
    rows = [f"<tr>{''.join(tags.head(safe(each), NUMBER) for each in heads)}</tr>"]
    for point in shown:
        cells = sweep_words.cells(record, point, style.digits)
        row = "".join(f'<td style="{NUMBER};white-space:nowrap">{safe(short(each, 60))}</td>' for each in cells)
        rows.append(f"<tr>{row}</tr>")
    pieces = [
        f"<div><b>{safe(headline)}</b></div>",
        tags.picture(draw(chart(record)), headline) if style.picture and record.curves else "",
        f'<table style="border-collapse:collapse;margin:4px 0">{"".join(rows)}</table>',
        _tradeoff(record) if style.picture and is_worth_a_picture(record) else "",
    ]
    if scaled := profile_comparison_words.scaling_table(record):
        pieces.append(tags.table(scaled, len(scaled) - 1))
    if len(shown) < len(record.points):
        more = units.count(len(record.points) - len(shown), "more point")
        pieces.append(tags.line(f"… and {more}: see to_frame()", FAINT))
    pieces += [tags.line(each, FAINT) for each in sweep_words.about_work(record)]
    told = (sweep_words.about_outputs, sweep_words.about_growth, sweep_words.about_crossings)
    pieces += [tags.line(comparison_words.cut(each, record)) for about in told for each in about(record)]
    compiling = sweep_words.about_compiling(record, style.digits)
    pieces += [tags.line(comparison_words.cut(each, record), FAINT) for each in compiling]
    ended = (*sweep_words.about_end(record, style.digits), *sweep_words.about_conditions(record))
    pieces += [tags.line(f"⚠ {comparison_words.cut(each, record)}") for each in ended]
    return f'<div style="line-height:1.5;max-width:52em">{"".join(pieces)}</div>'


@to_html.register
def _(record: MemoryProfile, style: Style = DEFAULT, *, explain: bool = False) -> str:
    pieces = [f"<div><b>{safe(memory_words.headline(record))}</b></div>"]
    pieces += [tags.line(each) for each in (*memory_words.about_devices(record), memory_words.about_made(record))]
    made, programs = record.arrays.made, record.executables
    pieces.append(tags.table(memory_words.array_table(made[: style.rows]), len(made)))
    told = (*memory_words.about_unfound(record), *memory_words.about_deleted(record.arrays.deleted))
    pieces += [tags.line(each) for each in told]
    pieces.append(tags.table(memory_words.program_table(programs[: style.rows]), len(programs)))
    if style.picture:
        program = mapped(record)
        drawn = None if program is None else map_chart(program, most=MOST_IN_REPORT)
        pieces += [chart_to_html(each) for each in (drawn, timeline_chart(record)) if each is not None]
    pieces += [tags.line(each) for each in memory_words.about_constants(programs[: style.rows])]
    if programs:
        told = (*memory_words.about_peak(programs[0]), *memory_words.about_limit(programs[0]))
        pieces += [tags.line(each) for each in told]
    if record.heap is not None:
        pieces.append(to_html(record.heap, style))
    if record.timeline is not None:
        pieces += [tags.line(each, FAINT) for each in memory_words.about_timeline(record.timeline)]
    pieces += [tags.line(f"⚠ {each}") for each in memory_words.about_suspects(record.suspects)]
    told_last = memory_words.notes(record)
    if record.timing.fetch_ns is not None:
        told_last = [words.about_fetch(record.timing, style.digits), *told_last]
    pieces += [tags.line(each, FAINT) for each in (*told_last, *(memory_words.EXPLANATION if explain else ()))]
    return f'<div style="line-height:1.5;max-width:60em;overflow-wrap:break-word">{"".join(pieces)}</div>'


@to_html.register
def _(record: Profile, style: Style = DEFAULT, *, explain: bool = False) -> str:
    return profile_report(record, style, explain=explain)


@to_html.register
def _(record: LiveArrays, style: Style = DEFAULT, *, explain: bool = False) -> str:
    table = tags.table(memory_words.array_table(record.arrays[: style.rows]), len(record.arrays))
    told = "".join(tags.line(each, FAINT) for each in record.notes)
    if style.picture and len(record.arrays) > 1 and (drawn := arrays_chart(record)) is not None:
        table = chart_to_html(drawn) + table
    return f'<div style="line-height:1.5"><b>{safe(memory_words.live_headline(record))}</b>{table}{told}</div>'


@to_html.register
def _(record: HeapDifference, style: Style = DEFAULT, *, explain: bool = False) -> str:
    rows = stacks(record)
    drawn = heap_flame(record) if style.picture else None
    told = (*heap_words.about_devices(record), *record.after.notes)
    pieces = [
        f"<summary>{safe(heap_words.headline(record))}</summary>",
        "" if drawn is None else chart_to_html(drawn),
        tags.table(heap_words.stack_table(rows[: style.rows]), len(rows)),
        *(tags.line(each, FAINT) for each in told),
    ]
    return f'<details open style="line-height:1.5">{"".join(pieces)}</details>'


@to_html.register
def _(record: HeapProfile, style: Style = DEFAULT, *, explain: bool = False) -> str:
    return to_html(HeapDifference(before=None, after=record), style)


@to_html.register
def _(record: Executable, style: Style = DEFAULT, *, explain: bool = False) -> str:
    told = (
        *memory_words.about_constants([record]),
        *memory_words.about_peak(record),
        *memory_words.about_limit(record),
        *record.notes,
    )
    table = tags.table(memory_words.program_table([record]), 1)
    if style.picture and (drawn := map_chart(record, most=MOST_IN_REPORT)) is not None:
        table += chart_to_html(drawn)
    return f'<div style="line-height:1.5">{table}{"".join(tags.line(each) for each in told)}</div>'


@to_html.register
def _(record: History, style: Style = DEFAULT, *, explain: bool = False) -> str:
    picture = tags.picture(draw(chart(record)), "where the time of the last runs went") if runs(list(record)) else ""
    return f"{picture}<pre>{escape(to_text(record, style))}</pre>"


def _tradeoff(record: Comparison | Sweep) -> str:
    found = tradeoff(record)
    return "" if found is None else chart_to_html(found)


def _headline(timing: Timing, style: Style) -> str:
    wall = f"<b>{safe(units.time(timing.wall_ns, style.digits))}</b> wall time"
    if timing.compile_ns:
        wall += f", {safe(units.share(timing.compile_ns, timing.wall_ns))} of it compiling"
    return f"<div>{wall}</div>"


def _bar(timing: Timing, style: Style) -> str:
    """A stacked bar of the parts, and a legend that gives their numbers: the bar alone measures nothing."""
    colours = PARTS if style.colour else GREY_PARTS
    unit = units.time_unit(timing.wall_ns)
    segments, legend = [], []
    for part in report.parts(timing):
        share = 100 * part.time_ns / timing.wall_ns
        label = f"{part.name} {units.time_in(part.time_ns, unit, style.digits)}"
        colour = colours[part.name]
        segments.append(
            f'<div title="{safe(label)}" style="width:{share:.2f}%;background:{colour};height:12px"></div>'
        )
        swatch = f'<span style="color:{colour}">&#9632;</span>'
        legend.append(f'<span style="margin-right:1.2em;white-space:nowrap">{swatch} {safe(label)}</span>')
    return f'<div style="display:flex;width:100%;margin:3px 0">{"".join(segments)}</div><div>{" ".join(legend)}</div>'


def _table(timing: Timing, style: Style) -> str:
    shown, rest = report.costliest(report.compiled(timing).functions, MOST_FUNCTIONS)
    table = ""
    if shown:
        unit = units.time_unit(max(each.total_ns for each in shown))
        stages = [(label, field) for label, field in words.STAGES if any(getattr(each, field) for each in shown)]
        heads = "".join(tags.head(label, NUMBER) for label, _ in stages)
        head = f"<tr>{tags.head('compiled', CELL)}{heads}{tags.head('why', CELL)}</tr>"
        names = shortened([words.printable(each.function) for each in shown], 40)
        fields = [field for _, field in stages]
        rows = "".join(_row(each, name, fields, unit, style) for each, name in zip(shown, names, strict=True))
        table = f'<table style="border-collapse:collapse;margin:4px 0">{head}{rows}</table>'
    sentences = words.about_compilations(timing, len(rest), report.total_ns(rest), style.digits)
    return table + "".join(tags.line(sentence) for sentence in sentences)


def _row(each: Compilation, name: str, stages: list[str], unit: str, style: Style) -> str:
    numbers = "".join(f'<td style="{NUMBER}">{_number(getattr(each, stage), unit, style)}</td>' for stage in stages)
    why = safe(short(words.reason(each, style.digits), 130))
    if each.cause.remedy:
        why += f'<br><span style="{FAINT}">→ {safe(each.cause.remedy)}</span>'
    where = f' title="{safe(short(each.location, 80))}"' if each.location else ""
    code = f"<code{where}>{safe(name)}</code>"
    return f'<tr style="vertical-align:top"><td style="{CELL}">{code}</td>{numbers}<td style="{CELL}">{why}</td></tr>'


def _number(time_ns: int, unit: str, style: Style) -> str:
    """A time that is not broken at its space, or nothing where there was none."""
    return safe(units.time_in(time_ns, unit, style.digits)).replace(" ", "&nbsp;") if time_ns else ""
