"""A profile as text: a listing with the time of each line, as ``%lprun`` shows one, and tables."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.profile_lines import Listed, Listing, line_times, listings
from ..analysis.profile_operations import over_devices
from ..model.profile import Profile
from . import device_words, profile_words, words
from .columns import more, sentences, table
from .inside_words import inside_of
from .kernel_words import kernel_table
from .step_words import about_steps, step_table
from .style import Style

#: Functions that are listed; the rest is in ``lines()``.
_MOST_LISTINGS = 5

#: The widths of the columns of numbers.
_WIDTHS = (9, 6, 10, 6)


def profile_report(record: Profile, style: Style, *, explain: bool) -> list[str]:
    """What stands below the headline."""
    lines = line_times(record)
    told = [*profile_words.about_error(record), *profile_words.about_bound(record), *about_steps(record)]
    told += [*profile_words.about_profiler(record), *profile_words.about_copy(record, style.digits)]
    found = sentences(told, style)
    listed = listings(record, lines)
    for each in listed[:_MOST_LISTINGS]:
        found += _listing(each, record, style)
    found += sentences(profile_words.about_unlisted(lines, listed[:_MOST_LISTINGS], record), style)
    found += sentences(profile_words.about_nowhere(lines, record), style)
    found += sentences(profile_words.about_labels(lines, record), style)
    operations = over_devices(record.operation_times)
    if operations:
        found += table(profile_words.operation_table(operations[: style.rows], record, narrow=True), style.width)
        found += more(len(operations), style.rows, "operation", "operations()")
        kernels, there_are = kernel_table(record, style.rows, narrow=True)
        found += table(kernels, style.width) if kernels else []
        found += more(there_are, style.rows, "kernel", "kernels()")
        found += sentences(profile_words.about_roof(record), style)
    if steps := step_table(record, style.rows):
        found += table(steps, style.width)
        found += more(len(record.step_times), style.rows, "device", "steps()")
    for rows, there_are, where in device_words.device_tables(record, style.rows):
        found += table(rows, style.width)
        found += more(there_are, style.rows, "row", where)
    found += sentences(device_words.about_devices(record), style)
    found += sentences(device_words.about_allocators(record), style)
    told = [*profile_words.about_warm_up(record), *profile_words.about_earlier(record)]
    told += [*profile_words.about_load(record), *profile_words.about_kept(record), *record.notes]
    found += sentences(told, style)
    return found + sentences(profile_words.EXPLANATION if explain else (), style)


def _listing(listing: Listing, record: Profile, style: Style) -> Iterator[str]:
    """A column that is empty in all lines leaves its room to the source."""
    cells = [_cells(each, record) for each in listing.lines]
    kept = [at for at in range(len(_WIDTHS)) if any(row[at] for row in cells)]
    rows = (profile_words.LINE_HEADS, *cells)
    heads, *numbers = ("  ".join(row[at].rjust(_WIDTHS[at]) for at in kept) for row in rows)
    yield f"{heads}  {words.printable(listing.place)}"
    for each, told in zip(listing.lines, numbers, strict=True):
        number = str(each.number or "").rjust(5)
        yield from _with_inside(f"{told} {number}  ", words.printable(each.text), each, style.width)


def _with_inside(before: str, text: str, listed: Listed, width: int) -> Iterator[str]:
    """The line, and the library functions that it called: behind it, or below it where there is no room."""
    called = words.printable(inside_of(listed.time)) if listed.time is not None else ""
    line = f"{before}{text}".rstrip()
    if called and len(line) + len(called) + 4 <= width:
        yield f"{line}  [{called}]"
        return
    yield line[:width].rstrip()
    if called:
        yield f"[{called}]".rjust(min(width, len(before) + len(called) + 2))[:width]


def _cells(listed: Listed, record: Profile) -> tuple[str, ...]:
    return ("",) * len(_WIDTHS) if listed.time is None else profile_words.line_cells(listed.time, record)
