"""A profile as HTML: a listing with heat in its margin, a flame graph, and tables."""

from __future__ import annotations

from ..analysis.allocators import memory_chart
from ..analysis.profile_lines import Listed, Listing, line_times, listings
from ..analysis.profile_operations import over_devices
from ..analysis.profile_timeline_chart import profile_timeline_chart
from ..analysis.profile_tree import profile_flame
from ..analysis.roofline import roofline_chart
from ..analysis.step_parts import steps_chart
from ..model.profile import Profile
from . import device_words, profile_words, tags
from .inside_words import inside_of
from .kernel_words import kernel_table
from .step_words import about_steps, step_table
from .style import Style
from .tags import FAINT, NUMBER, chart_to_html, safe, short

#: Functions that are listed; the rest is in ``lines()``.
_MOST_LISTINGS = 5

_LETTERS = "font-family:monospace;white-space:pre;text-align:left;padding-left:9px"


def profile_report(record: Profile, style: Style, *, explain: bool) -> str:
    """All of it."""
    pieces = [f"<div><b>{safe(profile_words.headline(record))}</b></div>"]
    told = [*profile_words.about_error(record), *profile_words.about_bound(record), *about_steps(record)]
    pieces += [tags.line(each) for each in told]
    if style.picture and (bars := steps_chart(record)) is not None:
        pieces.append(chart_to_html(bars))
    lines = line_times(record)
    listed = listings(record, lines)[:_MOST_LISTINGS]
    pieces += [_listing(each, record, style) for each in listed]
    pieces += [tags.line(each) for each in profile_words.about_unlisted(lines, listed, record)]
    pieces += [tags.line(each) for each in profile_words.about_nowhere(lines, record)]
    pieces += [tags.line(each) for each in profile_words.about_labels(lines, record)]
    if style.picture and (drawn := profile_flame(record)) is not None:
        pieces.append(chart_to_html(drawn))
    if style.picture and (shown := profile_timeline_chart(record)) is not None:
        pieces.append(chart_to_html(shown))
    operations = over_devices(record.operation_times)
    rows = profile_words.operation_table(operations[: style.rows], record)
    pieces.append(tags.table(rows, len(operations), "operations()"))
    kernels, there_are = kernel_table(record, style.rows)
    if kernels:
        pieces.append(tags.table(kernels, there_are, "kernels()"))
    pieces += [tags.line(each, FAINT) for each in profile_words.about_roof(record)]
    if style.picture and (roof := roofline_chart(record)) is not None:
        pieces.append(chart_to_html(roof))
    if steps := step_table(record, style.rows):
        pieces.append(tags.table(steps, len(record.step_times), "steps()"))
    pieces += [tags.table(*each) for each in device_words.device_tables(record, style.rows)]
    pieces += [tags.line(each) for each in device_words.about_devices(record)]
    pieces += [tags.line(each) for each in device_words.about_allocators(record)]
    if style.picture and (memory := memory_chart(record)) is not None:
        pieces.append(chart_to_html(memory))
    told = [*profile_words.about_profiler(record), *profile_words.about_copy(record, style.digits)]
    told += [*profile_words.about_warm_up(record), *profile_words.about_earlier(record)]
    told += [*profile_words.about_load(record), *profile_words.about_kept(record), *record.notes]
    pieces += [tags.line(each, FAINT) for each in (*told, *(profile_words.EXPLANATION if explain else ()))]
    return f'<div style="line-height:1.5;max-width:60em;overflow-wrap:break-word">{"".join(pieces)}</div>'


def _listing(listing: Listing, record: Profile, style: Style) -> str:
    heads = "".join(tags.head(name, NUMBER) for name in profile_words.LINE_HEADS)
    place = tags.head(safe(short(listing.place, 80)), "padding-left:9px;text-align:left")
    rows = "".join(_row(each, record, style) for each in listing.lines)
    return (
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:4px 0">'
        f"<tr>{heads}<th></th>{place}</tr>{rows}</table></div>"
    )


def _row(listed: Listed, record: Profile, style: Style) -> str:
    """A line; the more time it took, the stronger the colour of its margin."""
    cells = profile_words.line_cells(listed.time, record) if listed.time is not None else ("",) * 4
    share = listed.time.time_ns / record.device_ns if listed.time is not None and record.device_ns else 0
    hue = "214,90,60" if style.colour else "128,128,128"
    heat = f";background:rgba({hue},{0.08 + 0.6 * share:.2f})" if share else ""
    what = f' title="{safe(profile_words.operations_of(listed.time, 8))}"' if share and listed.time else ""
    numbers = "".join(f'<td style="{NUMBER};white-space:nowrap{heat}">{safe(each)}</td>' for each in cells)
    number = f'<td style="{NUMBER};{FAINT};padding-left:9px">{listed.number or ""}</td>'
    called = inside_of(listed.time) if listed.time is not None else ""
    library = f'<span style="{FAINT};padding-left:18px">{safe(short(called, 160))}</span>' if called else ""
    return f'<tr{what}>{numbers}{number}<td style="{_LETTERS}">{safe(short(listed.text, 160))}{library}</td></tr>'
