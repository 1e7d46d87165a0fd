"""Tables for a terminal."""

from __future__ import annotations

import re

import pytest

from jaxmagic.report import html_parts
from jaxmagic.report.style import Style
from jaxmagic.report.text_table import fits, table, wrapped


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a_long_name_of_a_file.py:1234", "a_long_na…:1234"),
        ("multiply_subtract_fusion.12", "multiply_su….12"),
        ("a_long_name_without_a_number", "a_long_name_wi…"),
        ("short.py:1", "short.py:1"),
    ],
)
def test_a_cell_is_cut_so_that_its_number_stays(text: str, cut: str) -> None:
    _, row = table([("heads", "b"), (text, "1")], widest=15)
    assert row.split() == [cut, "1"]


def test_cells_of_one_column_stay_different_and_aligned() -> None:
    names = [f"update_cross_section_{each}_with_the_same_end" for each in ("jacobian", "jacobi", "hessian")]
    _, *rows = table([("name", "time"), *((name, "1 ms") for name in names)], most=30)
    assert len({row.split()[0] for row in rows}) == 3
    assert len({row.index("1 ms") for row in rows}) == 1
    assert max(map(len, rows)) <= 30


def test_names_that_only_length_tells_apart_take_the_room_that_they_need() -> None:
    _, one, two = table([("name", "time"), ("x" * 20, "1 ms"), ("x" * 21, "2 ms")], widest=11)
    assert one.split()[0] != two.split()[0]
    assert one.index("1 ms") == two.index("2 ms")


def test_a_column_with_room_is_kept_where_cells_cannot_stay_different() -> None:
    stacks = ["step ← " + "f ← " * calls + "main" for calls in (20, 21, 22)]
    head, *rows = table([("held", "allocated by"), *(("1 KiB", each) for each in stacks)], most=40)
    assert head.split() == ["held", "allocated", "by"]
    assert all("step" in row and len(row) <= 40 for row in rows)


def test_a_column_that_is_left_out_takes_no_room_from_the_others() -> None:
    rows = [
        ("name", "file", "kind"),
        ("multiply_subtract_fusion", "train.py:1234", "elementwise"),
        ("dot", "a.py:1", ""),
    ]
    assert table(rows, most=38) == [
        "  name                file           …",
        "  multiply_subtract…  train.py:1234  …",
        "  dot                 a.py:1         …",
    ]


def test_columns_without_room_follow_below_with_the_first_one_again() -> None:
    rows = [
        ("device", "busy", "compute", "memcpy", "idle"),
        *((f"TPU:{n}", "1min 3s", "2.40 s", "", "9 s") for n in (0, 1)),
    ]
    assert table(rows, most=30, continued=True) == [
        "  device     busy  compute",
        "  TPU:0   1min 3s   2.40 s",
        "  TPU:1   1min 3s   2.40 s",
        "  device  memcpy  idle",
        "  TPU:0            9 s",
        "  TPU:1            9 s",
    ]
    assert table(rows, most=80, continued=True) == table(rows, most=80)
    assert [fits(rows, most) for most in (37, 47)] == [False, True]


def test_columns_of_one_name_stay_behind_what_they_are_of() -> None:
    rows = [("device", "collectives", "exposed", "memcpy", "exposed"), ("TPU:0", "365 ms", "20 ms", "4 s", "1 s")]
    heads = [line.split() for line in table(rows, most=40, continued=True)[::2]]
    assert heads == [["device", "collectives", "exposed"], ["device", "memcpy", "exposed"]]


ROWS = (("name", "time", "count"), ("dot.1", "1.00 ms", "12"), ("sort", "≈340 µs", "7 in all"), ("copy", "", "1,000"))


def test_quantities_are_not_cut_but_follow_below_with_what_tells_rows_apart() -> None:
    cells = ("220 µs*, 1.36x to 1.46x faster", "2.95 ms, 10.6x to 12.4x slower")
    rows = [("dtype", "n", "window", "linear"), ("f32", "256", *cells), ("f32", "512", *cells)]
    assert len(table(rows, most=80, numbers=True, keys=2)) == 3
    for width in (75, 50):
        lines = table(rows, most=width, numbers=True, keys=2)
        assert max(map(len, lines)) <= width
        assert [line.split()[:3] for line in lines[::3]] == [["dtype", "n", "window"], ["dtype", "n", "linear"]]
        assert [line.endswith(("faster", "slower")) for line in lines] == [False, True, True] * 2
        assert all(line.split()[:2] == ["f32", "512"] for line in lines[2::3])


def test_the_head_of_quantities_is_cut_instead() -> None:
    head, row = table([("n", "a_name_of_a_candidate"), ("8", "220 µs")], most=16, numbers=True)
    assert head.split() == ["n", "a_name_of_…"]
    assert row.split() == ["8", "220", "µs"]


def test_quantities_are_aligned_at_their_right_and_names_at_their_left() -> None:
    assert table(ROWS) == [
        "  name      time     count",
        "  dot.1  1.00 ms        12",
        "  sort   ≈340 µs  7 in all",
        "  copy               1,000",
    ]


def test_html_aligns_the_same_columns_and_writes_names_from_code_as_code() -> None:
    page = html_parts.table(ROWS, 3, code=("name",))
    sides = [re.findall(r"text-align:(\w+)", row) for row in page.split("<tr>")[1:]]
    assert sides == [["left", "right", "right"]] * 4
    assert page.count("monospace") == 3


def test_html_has_a_gap_between_cells_of_several_numbers_and_words() -> None:
    rows = [("n", "window", "linear"), ("256", "220 µs, 1.36x faster", "2.95 ms, 10.6x slower")]
    apart = "padding:2px 14px 2px 2px;text-align:right"
    assert html_parts.table(rows, 1, numbers=True).count(apart) == 6
    assert apart not in html_parts.table(rows, 1)


def test_a_column_without_a_name_has_no_head() -> None:
    assert html_parts.head("", html_parts.CELL) == "<td></td>"
    assert html_parts.head("time", html_parts.CELL).startswith("<th")


def test_no_line_ends_between_a_number_and_what_belongs_to_it() -> None:
    texts = (
        "the function was called at cell 12:4",
        "the function was running for 12 ms",
        "the whole run took 1min 12s",
        "the product reached about 12 TFLOP/s",
    )
    for text in texts:
        for width in range(40, 60):
            lines = wrapped("." * 20 + " " + text, Style(width=width), "")
            assert not [line for line in lines if line.endswith(("cell", "12", "min"))]
