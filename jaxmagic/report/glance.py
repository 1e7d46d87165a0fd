"""Chooses the lines of a report that are read at a glance, and says what the others hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from .. import units
from ..terminal import printable
from .blocks import Block, Caution, Entries, Entry, Excerpt, Fold, Listing, Sentence

#: At most this many lines are warnings, and at most half of a short report.
_MOST_CAUTIONS = 6

#: The name of what is left out and has no name of its own.
_THE_REST = "the rest of the above"

#: Writes blocks as lines.
Write = Callable[[Iterable[Block]], list[str]]


class _Shown(NamedTuple):
    """The lines of a block that are not folded, and the block."""

    lines: list[str]
    block: Block


def notes_folded(sentences: Iterable[str]) -> Iterator[Block]:
    """Yield a fold of notes whose title has the first sentence of the first one; a single note needs no fold."""
    notes = tuple(Sentence(text=each, faint=True) for each in sentences)
    if len(notes) > 1:
        first, *_ = re.split(r"\.\s+(?![a-z])", notes[0].text)
        yield Fold(title=f"{len(notes)} notes: {first.rstrip('.')}", blocks=notes, repeats=True)
    else:
        yield from notes


def and_more(rest: int, noun: str) -> Iterator[Sentence]:
    """Yield a sentence below the first rows of many that counts the others; none if there are no others."""
    if rest > 0:
        yield Sentence(text=f"… and {units.count(rest, f'more {noun}')}", faint=True, inner=True)


def glance(
    blocks: Iterable[Block], write: Write, width: int, whole_by: str, lines_in_all: Callable[[], int], most: int
) -> list[str]:
    """Return the whole report if it is short, or its most important lines and what the others hold.

    Folds are left out, excerpts stand for what they are from. If that is still too long, it is cut at the end, but
    sentences, entries and code stay whole, a listing keeps the lines with the largest shares, and no warnings are
    left out as long as there are few. The details of an entry are left out before its advice and its code.

    Args:
        blocks: the report.
        write: writes blocks as lines.
        width: the number of columns.
        whole_by: how a reader gets the whole report.
        lines_in_all: counts the lines of the whole report.
        most: a short report has at most this many lines, the last one of which may say what is left out.
    """
    blocks = list(blocks)
    whole = write(blocks)
    if len(whole) <= most:
        return whole
    shown, titles = _unfolded(blocks, write)
    kept, left_out = _fitting(shown, write, most - 1)
    names = sorted(dict.fromkeys([*left_out, *titles]), key=lambda name: name == _THE_REST)
    return [*kept, _rest(lines_in_all() - len(kept), names, width, whole_by)]


def _unfolded(blocks: Iterable[Block], write: Write) -> tuple[list[_Shown], list[str]]:
    """Return the blocks that are not folded, and the titles of the others."""
    shown: list[_Shown] = []
    titles = []
    for block in blocks:
        match block:
            case Fold(title=title):
                titles += [title] if write([block]) else []
            case Excerpt(title=title, part=part):
                shown += [_Shown(write([each]), each) for each in part]
                titles.append(title)
            case _:
                shown.append(_Shown(write([block]), block))
    return shown, titles


def _fitting(shown: Sequence[_Shown], write: Write, most: int) -> tuple[list[str], list[str]]:
    """Cut at the end until there are at most `most` lines, and name what is cut; warnings are left out last."""
    for_cautions = sum(len(each.lines) for each in shown if isinstance(each.block, Caution))
    for_cautions = min(for_cautions, _MOST_CAUTIONS, most // 2)
    room = {True: for_cautions, False: most - for_cautions}
    kept: list[str] = []
    left_out: list[str] = []
    for blocks in _with_listings_together(shown):
        lines = [line for each in blocks for line in each.lines]
        first = blocks[0].block
        left = room[isinstance(first, Caution)]
        rest = [_THE_REST] if len(lines) > left else []
        if isinstance(first, Entries):
            rows = _rows_within(first, write, left)
            lines = write([first._replace(rows=rows)])[:left] if rows else []
            more = (first.there_are or len(first.rows)) - len(rows)
            rest = [units.count(more, f"more {first.noun}")] if first.noun and more else rest
        elif rest:
            lines = _cut(lines, [each.block for each in blocks], write, left)
        kept += lines
        left_out += rest
        room[isinstance(first, Caution)] = 0 if rest else left - len(lines)
    return kept, left_out


def _rows_within(block: Entries, write: Write, room: int) -> tuple[Entry, ...]:
    """Return as many of the first rows as there is room for; at least a part of the first one."""

    def fits(rows: tuple[Entry, ...]) -> bool:
        return len(write([block._replace(rows=rows)])) <= room

    counts = range(len(block.rows), 0, -1)
    fitting = (block.rows[:count] for count in counts if fits(block.rows[:count]))
    shorter = ((each,) for each in _shortened(block.rows[0]) if fits((each,)))
    return next(fitting, None) or next(shorter, block.rows[: min(room, 1)])


def _shortened(row: Entry) -> Iterator[Entry]:
    """Yield a row without its last details, then also without code, of which a part would be of no use."""
    for code in (row.code, ()):
        for count in range(len(row.details), 0, -1):
            yield row._replace(details=row.details[:count], code=code)


def _with_listings_together(shown: Iterable[_Shown]) -> Iterator[list[_Shown]]:
    """Yield each block by itself, but neighbouring listings at once: a later one may have the costliest line."""
    for are_listings, some in groupby(shown, lambda each: isinstance(each.block, Listing)):
        together = list(some)
        yield from [together] if are_listings else ([each] for each in together)


def _cut(lines: list[str], blocks: Sequence[Block], write: Write, room: int) -> list[str]:
    """Return what there is room for of the lines of a block, or of several listings."""
    listings = [each for each in blocks if isinstance(each, Listing)]
    if not listings:
        return [] if isinstance(blocks[0], Sentence | Caution) else lines[:room]
    places = [(at, number) for at, each in enumerate(listings) for number in range(len(each.lines))]
    most_first = sorted(places, key=lambda place: -listings[place[0]].lines[place[1]].share)
    for count in range(len(most_first) - 1, 0, -1):
        kept = {*most_first[:count]}
        cut = [
            each._replace(lines=tuple(line for number, line in enumerate(each.lines) if (at, number) in kept))
            for at, each in enumerate(listings)
        ]
        lines = write(each for each in cut if each.lines)
        if len(lines) <= room:
            return lines
    return []


def _rest(lines: int, titles: Sequence[str], width: int, whole_by: str) -> str:
    """Say how many lines are left out, and what they are about, in one line.

    >>> _rest(38, ["52 operations, top: dot 28 %", "Roof: 1 TB/s"], 80, "%jaxmagic last")
    '… %jaxmagic last shows 38 more lines: 52 operations, roof'
    >>> _rest(38, ["52 operations, top: dot 28 %", "Roof: 1 TB/s"], 56, "%jaxmagic last")
    '… %jaxmagic last shows 38 more lines: 52 operations, …'
    """
    start = f"… {whole_by} shows {units.count(lines, 'more line')}"
    names = [_lowered(re.split("[,:]", printable(title))[0]) for title in titles]
    for count in range(len(names), 0, -1):
        line = f"{start}: {', '.join([*names[:count], *['…'] * (count < len(names))])}"
        if len(line) <= width:
            return line
    return start


def _lowered(name: str) -> str:
    """Begin a name in lower case unless it is an abbreviation or has only one letter."""
    return name[:1].lower() + name[1:] if name[1:2].islower() else name
