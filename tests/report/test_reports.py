"""A report is composed once: text and HTML say the same about every record, in the same order."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from pages import breakable, displayable

import jaxmagic
from jaxmagic.report import blocks
from jaxmagic.report import to_html as html
from jaxmagic.report import to_text as text
from jaxmagic.report.compose import compose
from jaxmagic.report.displayable import Displayable
from jaxmagic.report.style import LAST, Style
from jaxmagic.report.to_html import to_html
from jaxmagic.report.to_text import to_text

GOLDEN = Path(__file__).parent / "golden"
GLANCE = Path(__file__).parent / "golden_glance"

#: Wide enough that nothing is cut, and without pictures, which contain text of their own.
WIDE = Style(width=4000, picture=False)


def told(block: blocks.Block) -> Iterator[str]:
    """List what a block says, in the order in which it is read."""
    match block:
        case blocks.Headline() | blocks.Sentence() | blocks.Caution():
            yield block.text
        case blocks.Split():
            yield block.total
            yield from (each.told for each in block.parts if each.name in ("wait", "host"))
        case blocks.Entries():
            for row in block.rows:
                yield from (row.name, *row.cells, row.remark, *row.details, row.advice, *row.code)
        case blocks.Table():
            yield from (cell for row in (block.narrow or block.rows)[1:] for cell in row)
        case blocks.Listing():
            yield block.place
            for line in block.lines:
                yield from (line.text.strip(), line.inside)
        case blocks.Lines():
            yield from block.lines
        case blocks.Fold():
            inside = [each for inner in block.blocks for each in told(inner)]
            if inside and not block.repeats:
                yield block.title
            yield from inside
        case blocks.Excerpt():
            for each in block.whole:
                yield from told(each)


def words(written: str) -> str:
    """Reduce a report to its words, without HTML tags."""
    return " ".join(written.split())


def without_tags(page: str) -> str:
    """Keep the visible text of a page."""
    return unescape(re.sub(r"<[^>]*>", " ", breakable(page).replace("<wbr>", "")))


def test_every_record_that_shows_itself_is_tried_here(records: dict[str, Any]) -> None:
    assert {each.__name__ for each in displayable(Displayable)} - {"Record"} == set(records), "add it to `records`"


@pytest.mark.parametrize("explain", [False, True])
def test_text_and_html_say_all_that_a_report_says_and_in_its_order(records: dict[str, Any], explain: bool) -> None:
    for kind, record in records.items():
        for written in (to_text(record, WIDE, explain=explain), without_tags(to_html(record, WIDE, explain=explain))):
            page, at = words(written), 0
            for block in compose(record, WIDE, explain=explain):
                begins = at
                for each in filter(None, map(words, told(block))):
                    found = page.find(each[:300], begins)
                    assert found >= 0, f"{kind}: {each!r} is not behind {page[max(begins - 80, 0) : begins]!r}"
                    at = max(at, found) if not isinstance(block, blocks.Table | blocks.Listing) else at


def test_reports_read_as_the_ones_that_were_approved(records: dict[str, Any]) -> None:
    """Each kind of record has its report in two files, to be read as a whole when words change."""
    differ = []
    whole = {
        GOLDEN / f"{kind}.txt": to_text(record, Style(width=100), explain=True) for kind, record in records.items()
    }
    short = {
        GLANCE / f"{kind}.txt": to_text(record, Style(whole=False, whole_by=LAST)) for kind, record in records.items()
    }
    for path, report in (whole | short).items():
        written = f"{report}\n"
        if os.environ.get("JAXMAGIC_GOLDENS") == "write":
            path.write_text(written, encoding="utf-8")
        if not path.exists() or path.read_text(encoding="utf-8") != written:
            differ.append(path)
    assert differ == [], "read the reports, then: JAXMAGIC_GOLDENS=write make test ONLY=report, and read the diff"
    assert {*GOLDEN.iterdir(), *GLANCE.iterdir()} == {*whole, *short}


@pytest.mark.parametrize("width", [80, 100])
def test_no_report_is_wider_where_an_encoding_lacks_characters(records: dict[str, Any], width: int) -> None:
    """Columns stay aligned: cut cells keep their width, and other characters have others of the same width."""
    stream, cut = io.TextIOWrapper(io.BytesIO(), "ascii"), 0
    for kind, record in records.items():
        for style in (Style(width=width), Style(width=width, whole=False, whole_by=LAST)):
            rich, plain = to_text(record, style), to_text(record, style, stream=stream)
            assert plain.isascii()
            assert max(map(len, plain.splitlines())) <= max(width, *map(len, rich.splitlines())), kind
            for there, here in zip(rich.splitlines(), plain.splitlines(), strict=True):
                if re.search(r"\w…", there):
                    cut += 1
                    assert re.sub(r"…", "~", there).translate(str.maketrans("µ–·", "u-.")) == here
    assert cut


def test_a_line_is_the_first_of_the_report(records: dict[str, Any]) -> None:
    for record in records.values():
        (line,) = to_text(record, Style(form="line", width=4000)).splitlines()
        assert words(to_text(record, WIDE)).startswith(words(line).rstrip("."))


def test_no_picture_is_drawn_for_text(records: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Any:
        raise AssertionError("drawn")

    def without_pictures(record: object, style: Style, *, explain: bool = False) -> Iterator[blocks.Block]:
        for block in compose(record, style, explain=explain):
            yield block._replace(chart=refuse) if isinstance(block, blocks.Picture) else block

    monkeypatch.setattr(text, "compose", without_pictures)
    monkeypatch.setattr(html, "compose", without_pictures)
    for record in records.values():
        to_text(record)
        to_html(record, Style(picture=False))
    with pytest.raises(AssertionError, match="drawn"):
        to_html(records["Comparison"])


def test_a_notebook_of_twenty_reports_takes_less_than_a_megabyte(records: dict[str, Any]) -> None:
    """Four reports of each magic; a profile of a training script on two GPUs is the largest."""
    shown = ("Timing", "Benchmark", "Comparison", "MemoryProfile", "Profile")
    outputs = [records[each]._repr_mimebundle_() for each in shown] * 4
    assert all({"text/plain", "text/html"} == set(each) for each in outputs)
    assert len(json.dumps(outputs).encode()) < 1_000_000


def test_every_kind_of_block_has_a_writer_in_both_media() -> None:
    kinds = set(blocks.Block.__args__)
    assert set(text._WRITERS) == set(html._WRITERS) == kinds


@pytest.mark.parametrize("write", [to_text, to_html])
@pytest.mark.parametrize("other", [3, "text", None, Style(), jaxmagic.Finding])
def test_what_is_no_record_has_no_report(write: Callable[[object], str], other: object) -> None:
    with pytest.raises(TypeError, match="expected a record, got"):
        write(other)


def test_the_writers_know_no_record() -> None:
    for module in (text, html, blocks):
        source = Path(module.__file__ or "").read_text(encoding="utf-8")
        imported = re.findall(r"^(?:from|import) (\S*)", source, re.M)
        rooms = {each.removeprefix("..").partition(".")[0] for each in imported if each.startswith("..")}
        assert rooms <= {"records", "terminal", "drawing", "charts"}


def test_the_report_of_a_timing_imports_that_of_no_other_record() -> None:
    program = (
        "import sys, jaxmagic\n"
        "with jaxmagic.stopwatch() as t: pass\n"
        "str(t.timing), t.timing._repr_mimebundle_()\n"
        "print(*(each for each in sys.modules if '.record' in each or '.report' in each))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "jaxmagic.timing.report" in found
    others = ("benchmark", "comparison", "memory", "profile", "sweep", "chart")
    assert not [each for each in found if each.rpartition(".")[2] in others]
