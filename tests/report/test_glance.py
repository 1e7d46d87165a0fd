"""A report is read at a glance: a few lines with the answer; the rest is folded under titles that say what it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from pages import to_html

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import Note, note
from jaxmagic.report import to_html as html
from jaxmagic.report import to_text as text
from jaxmagic.report.blocks import (
    Block,
    Caution,
    Entries,
    Entry,
    Excerpt,
    Fold,
    Headline,
    Listing,
    Picture,
    Sentence,
    SourceLine,
)
from jaxmagic.report.glance import notes_folded
from jaxmagic.report.html_parts import _SHADOW
from jaxmagic.report.style import AT_A_GLANCE, LAST, Style
from jaxmagic.report.to_text import to_text
from jaxmagic.session.history import History

MOST_LINES = Style().lines

MAGIC = Style(whole=False, whole_by=LAST)


def rows(count: int) -> Entries:
    return Entries(rows=tuple(Entry(name=f"row{at}", cells=("1 s",), remark="told") for at in range(count)))


LONG = (
    Headline(text="The answer"),
    Excerpt(title="Details: all rows", part=(rows(2),), whole=(rows(9),)),
    Fold(title="52 operations, top: dot 28 %", blocks=(rows(20),)),
    Fold(title="Roof: 1 TB/s", blocks=(Sentence(text="one"), Sentence(text="two"))),
    Fold(title="Pictures", blocks=(Picture(chart=lambda: None),)),
    Caution(text="the machine was busy"),
)


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make every report consist of given blocks."""

    def compose(*blocks: Block) -> None:
        def of(record: object, style: Style, *, explain: bool = False) -> Iterator[Block]:
            return iter(blocks)

        monkeypatch.setattr(text, "compose", of)
        monkeypatch.setattr(html, "compose", of)

    return compose


def test_the_last_line_says_what_is_left_out_and_how_to_get_it(composed: Any) -> None:
    composed(*LONG)
    assert to_text(None, MAGIC).splitlines() == [
        "The answer",
        "  row0  1 s  told",
        "  row1  1 s  told",
        "Warning: the machine was busy",
        "… %jaxmagic last shows 31 more lines: details, 52 operations, roof",
    ]
    assert len(to_text(None).splitlines()) == 4 + 31


def test_the_whole_report_has_all_of_it_once(composed: Any) -> None:
    composed(*LONG)
    whole = to_text(None).splitlines()
    assert whole[:3] == ["The answer", "  row0  1 s  told", "  row1  1 s  told"]
    assert sum(line.startswith("  row8 ") for line in whole) == 2  # of the rows, and of the operations
    assert "52 operations, top: dot 28 %." in whole
    assert "Pictures." not in whole


def test_a_report_that_is_short_is_whole(composed: Any) -> None:
    composed(Headline(text="The answer"), Fold(title="12 lines", blocks=(rows(12),)))
    assert len(to_text(None, MAGIC).splitlines()) == MOST_LINES
    assert to_text(None, MAGIC) == to_text(None)
    composed(Headline(text="The answer"), Fold(title="13 lines", blocks=(rows(13),)))
    assert to_text(None, MAGIC).splitlines() == ["The answer", "… %jaxmagic last shows 14 more lines: 13 lines"]


def test_a_sentence_is_shown_whole_or_not_at_all(composed: Any) -> None:
    composed(rows(11), Sentence(text="word " * 40), Sentence(text="end"), rows(9))
    lines = to_text(None, MAGIC).splitlines()
    assert lines[-2].startswith("  row10")
    assert lines[-1] == "… %jaxmagic last shows 13 more lines: the rest of the above"


def entry(details: int, code: int) -> Entries:
    told = tuple(f"detail {at}" for at in range(details))
    written = tuple(f"code_{at} = 0" for at in range(code))
    return Entries(rows=(Entry(name="rule", cells=("1 s",), remark="told", details=told, advice="do", code=written),))


@pytest.mark.parametrize(
    ("details", "code", "shown_details", "shown_code"), [(1, 8, 1, 8), (9, 8, 1, 8), (3, 14, 3, 0)]
)
def test_code_is_shown_whole_or_not_at_all_and_details_make_room_for_it(
    composed: Any, details: int, code: int, shown_details: int, shown_code: int
) -> None:
    composed(Headline(text="The answer"), entry(details, code), rows(9))
    lines = to_text(None, MAGIC).splitlines()
    assert len(lines) <= MOST_LINES
    assert sum("detail" in each for each in lines) == shown_details
    assert sum("code_" in each for each in lines) == shown_code
    assert any("→ do" in each for each in lines)


@pytest.mark.parametrize("width", [40, 80])
def test_a_listing_without_room_keeps_the_lines_that_take_most(composed: Any, width: int) -> None:
    lines = tuple(
        SourceLine(number, f"line {number}", ("1 ms",), share, "flax.nnx.Linear" * (number > 4), "")
        for number, share in enumerate([0.0, 0.01, 0.0, 0.02, 0.3, 0.1, 0.5, 0.0], 1)
    )
    listing = Listing(place="cell 1", heads=("time",), lines=lines)
    cautions = [Caution(text=f"beware {number}") for number in range(6)]
    composed(Headline(text="one"), Sentence(text="two"), Sentence(text="three"), listing, *cautions)
    written = to_text(None, replace(MAGIC, width=width))
    assert len(written.splitlines()) <= MOST_LINES
    assert "line 7" in written
    assert "line 5" in written or width == 40  # where what it calls takes a line of its own
    assert "line 1\n" not in written
    assert "beware 5" in written


def test_listings_without_room_keep_the_lines_that_take_most_of_all_of_them(composed: Any) -> None:
    def listing(place: str, *shares: float) -> Listing:
        lines = (SourceLine(at, f"{place} line {at}", ("1 ms",), share, "", "") for at, share in enumerate(shares, 1))
        return Listing(place=place, heads=("time",), lines=tuple(lines))

    listings = (listing("a", *[0.02] * 7), listing("b", *[0.01] * 4), listing("c", 0.01, 0.5, 0.02))
    composed(Headline(text="one"), *listings, Sentence(text="end"))
    written = to_text(None, MAGIC)
    assert len(written.splitlines()) <= MOST_LINES
    assert re.findall(r"[abc] line \d", written)[-2:] == ["c line 2", "c line 3"]
    assert written.count("a line") == 7
    assert "b line" not in written


@pytest.mark.parametrize("cautions", [0, 1, 6, 7, 30])
def test_a_report_without_folds_is_cut_but_not_its_warnings(composed: Any, cautions: int) -> None:
    composed(Headline(text="The answer"), rows(30), *[Caution(text="careful")] * cautions)
    lines = to_text(None, MAGIC).splitlines()
    assert len(lines) == MOST_LINES
    assert lines[0] == "The answer"
    assert lines.count("Warning: careful") == min(cautions, 6)
    assert lines[-1] == f"… %jaxmagic last shows {31 + cautions - 13} more lines: the rest of the above"


def test_the_last_line_keeps_to_the_width(composed: Any) -> None:
    composed(*(Fold(title=f"{at} things of a kind: x", blocks=(rows(5),)) for at in range(9)))
    for width in (40, 60, 80, 160):
        (line,) = to_text(None, replace(MAGIC, width=width)).splitlines()
        assert line.startswith("… %jaxmagic last shows 54 more lines")
        assert len(line) <= width
        assert line.endswith("…") == (0 < line.count("things") < 9)


def test_html_folds_the_same_and_opens_it_where_all_is_shown(composed: Any) -> None:
    composed(*LONG)
    short, whole = to_html(None, AT_A_GLANCE), to_html(None)
    titles = ["Details: all rows", "52 operations, top: dot 28 %", "Roof: 1 TB/s"]
    assert re.findall("<details><summary>(.*?)</summary>", short) == titles
    assert "<details open" not in short
    assert re.findall("<details open><summary>(.*?)</summary>", whole) == titles[1:]
    assert short.count("<script") == 1
    assert "data-fold" not in whole
    assert "<script" not in whole  # nothing more is folded where all is shown
    before, _, after = short.partition("<details>")
    assert "row1" in before
    assert "row8" not in before
    assert "row8" in after


def test_a_title_is_escaped(composed: Any, hostile: str) -> None:
    composed(Fold(title=hostile, blocks=(rows(20),)))
    assert "<script" not in to_html(None, AT_A_GLANCE).removesuffix("</script>").rpartition("<script>")[0]
    assert not re.search(r"[\x00\u2028]", to_text(None, MAGIC))


# --- the reports of all subjects ---------------------------------------------------------------------------------


def grown(made: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    """Add records that have more than fits."""
    compilation = request.getfixturevalue("compilation")
    long = Cause(kind="shape", reason="x: f32[3] after f32[2] " * 9, remedy="pad to a few fixed shapes " * 9)
    many = (compilation(function=f"function_{at}" * 9, cause=long) for at in range(30))
    diagnosis, finding = request.getfixturevalue("diagnosis"), request.getfixturevalue("rule_finding")
    labels = [f"candidate_{at}" for at in range(30)]
    arrays = request.getfixturevalue("live_arrays")(*((4 * at + 4, (f"x{at}",)) for at in range(40)))
    made_arrays = tuple(replace(each, made=True) for each in arrays.arrays)
    stacks = made["HeapProfile"].samples
    frames = (Frame(function=f"f{at}", file="/home/me/f.py", line=at) for at in range(40))
    heap = replace(made["HeapProfile"], samples=tuple(replace(stacks[0], stack=(each,)) for each in frames))
    profile, profiled = made["MemoryProfile"], made["Profile"]
    place = "/home/me/experiments/with_a_long_name/" * 3 + "train_steps.py"
    return {
        "a long file name": replace(
            profiled,
            codes=tuple(replace(each, file=place, cell=None) for each in profiled.codes),
            place_times=tuple(
                replace(each, stack=tuple(replace(f, file=place, cell=None) for f in each.stack))
                for each in profiled.place_times
            ),
        ),
        "many functions": request.getfixturevalue("timing")(*many, notes=(Note.of_text("a note " * 30),) * 5),
        "many candidates": request.getfixturevalue("named")(*labels, rounds=12),
        "many findings": diagnosis(findings=(finding(),) * 30),
        "many arrays": arrays,
        "many stacks": heap,
        "memory of much": replace(
            profile, arrays=replace(arrays, arrays=made_arrays), executables=profile.executables * 9
        ),
    }


@pytest.fixture
def all_records(records: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    return {**records, **grown(records, request)}


def test_text_of_every_record_has_at_most_fourteen_lines(all_records: dict[str, Any]) -> None:
    for kind, record in all_records.items():
        lines = to_text(record, MAGIC).splitlines()
        whole = to_text(record, replace(MAGIC, whole=True, rows=sys.maxsize)).splitlines()
        assert len(lines) <= MOST_LINES, kind
        assert max(map(len, lines)) <= MAGIC.width, kind
        if more := re.match(r"… %jaxmagic last shows (\d+) more lines?", lines[-1]):
            assert int(more[1]) == len(whole) - len(lines) + 1, kind
        else:
            cut = [line for line in lines if line.endswith(": see %jaxmagic last")]
            assert len(lines) == len(whole) or cut, kind


@pytest.mark.parametrize("width", [60, 100, 160])
@pytest.mark.parametrize("whole", [False, True])
def test_no_line_of_a_report_is_wider_than_the_terminal(all_records: dict[str, Any], width: int, whole: bool) -> None:
    for kind, record in all_records.items():
        for line in to_text(record, replace(MAGIC, width=width, whole=whole)).splitlines():
            assert len(line) <= width, kind


def test_html_of_every_record_has_few_lines_that_are_not_folded(all_records: dict[str, Any]) -> None:
    """What a browser shows has a test of its own; a row or sentence takes at least 21 pixels."""
    for kind, record in all_records.items():
        page = to_html(record, replace(AT_A_GLANCE, picture=False))
        while (inner := re.sub(r"<details>(?:(?!<details>).)*?</details>", "<br>", page, flags=re.S)) != page:
            page = inner
        lines = page.replace('<div style="max-width:60em">', "").replace(_SHADOW, "")  # around lines
        assert len(re.findall("<tr|<div|<br", lines)) <= 27, kind


def test_no_table_has_an_empty_head(all_records: dict[str, Any]) -> None:
    for kind, record in all_records.items():
        assert not re.findall("<th[^>]*></th>", to_html(record)), kind


STEP = """\
import jax, jax.numpy as jnp
def layer(w, x):
    h = x @ w
    h = jnp.tanh(h)
    return h - h.mean()
def loss(ws, x):
    for w in ws:
        x = layer(w, x)
    return (jnp.sort(x) ** 2).sum()
@jax.jit
def step(ws, x):
    return [w - g for w, g in zip(ws, jax.grad(loss)(ws, x))]
ws, x = [jnp.eye(32)] * 4, jnp.ones((32, 32))"""


@pytest.mark.parametrize(
    "cell",
    [
        "%jaxtime{} loss(ws, x);",
        "%jaxtimeit{} -r 4 step(ws, x)",
        "%jaxmem{} --pprof new = step(ws, x)",
        "%jaxprof{} step(ws, x);",
        "%%jaxcompare{} -r 4 --profile\none: loss(ws, x)\ntwo: jax.jit(loss)(ws, x)",
        "%%jaxcompare{} -r 3 --sweep n=2,4,6,8,10,12\none: jnp.ones(n)\ntwo: jnp.ones((n, n))",
        "%%jaxdoctor{}\nfor _ in range(3):\n    y = jax.jit(lambda x: x + 1)(x)",
        "%jaxmem{} --before",
    ],
)
def test_the_text_of_every_magic_has_at_most_fourteen_lines(session: Any, cell: str) -> None:
    session.run(STEP)
    session.run(cell.format(""))
    short = session.report.splitlines()
    assert len(short) <= MOST_LINES
    assert max(map(len, short)) <= MAGIC.width
    session.run(cell.format(" --all"))
    whole = session.report.splitlines()
    assert not any("%jaxmagic last shows" in line for line in whole)


def test_the_title_of_notes_is_the_first_sentence_of_the_first() -> None:
    (fold,) = notes_folded(("Not listed: 4 arrays of jax.live_arrays() e.g. x. Their memory is counted.", "More."))
    assert isinstance(fold, Fold)
    assert fold.title == "2 notes: Not listed: 4 arrays of jax.live_arrays() e.g. x"
    assert list(notes_folded(("One. Two.",))) == [Sentence(text="One. Two.", faint=True)]


def busied(record: Any) -> Any:
    """Return a record as a busy machine would have made it: each of its parts, and the peak rates."""
    if isinstance(record, tuple) and not hasattr(record, "_fields"):
        return tuple(map(busied, record))
    if isinstance(record, dict):
        return {name: busied(each) for name, each in record.items()}
    if not is_dataclass(record) or isinstance(record, type):
        return record
    changed = {each.name: busied(getattr(record, each.name)) for each in fields(record) if each.init}
    changed |= {name: value for name, value in (("other_load", 1.6), ("cpu_count", 2)) if name in changed}
    if isinstance(record, jaxmagic.Profile):
        changed["notes"] = (*changed["notes"], note("profiling.peaks_under_load"))
    if isinstance(record, jaxmagic.Diagnosis):
        changed["notes"] = (*changed["notes"], note("doctor.host_unjudged", rules="a", count=1, times=2.0))
    return replace(record, **changed)


#: Words of a sentence about a machine that other processes keep busy, and not about a device and its own work.
_BUSY = re.compile(r"(CPUs?|machine( is| was)?( less)?) busy|busy machine|slowed by other processes", re.I)


def test_one_sentence_in_all_is_about_a_busy_machine(records: dict[str, Any], environment: Any) -> None:
    told = set()
    for kind, record in records.items():
        if kind == "Profile":
            record = replace(record, environment=environment)
        busy = History.of_records(map(busied, record)) if kind == "History" else busied(record)
        for written in (text.to_text(busy, Style(width=4000)), re.sub(r"<[^>]*>", " ", to_html(busy))):
            count = len(_BUSY.findall(written))
            assert count <= 1, kind
            told |= {kind} if count else set()
    assert told >= {"Benchmark", "Comparison", "Sweep", "Profile", "Diagnosis"}


def test_peak_rates_of_a_busy_machine_are_told_where_nothing_else_says_that_it_was_busy(records: Any) -> None:
    profile = replace(records["Profile"], notes=(note("profiling.peaks_under_load"),))
    assert "Peak rates were measured on a busy machine and may be too low" in text.to_text(profile, Style(width=4000))
