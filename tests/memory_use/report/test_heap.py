"""Memory by call stack, in text, HTML and frames."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent
from typing import Any

import pandas as pd
import pytest
from pages import to_html

from jaxmagic.memory_use.record.heap import HeapDifference, HeapProfile, HeapSample
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import Note
from jaxmagic.report.style import Style
from jaxmagic.report.to_frame import to_frame
from jaxmagic.report.to_text import to_text

PLAIN = Style(picture=False)


def golden(text: str) -> str:
    return dedent(text).strip("\n")


def held(*samples: HeapSample, notes: tuple[Note, ...] = ()) -> HeapProfile:
    return HeapProfile(samples=samples, started_at=None, notes=notes)


def sample(size_bytes: int, *functions: str, **changes: Any) -> HeapSample:
    stack = tuple(Frame(function=name, file=f"/home/me/{name}.py", line=7) for name in functions)
    values: dict[str, Any] = {
        "size_bytes": size_bytes,
        "count": 1,
        "kind": "buffer",
        "device": "cpu:0",
        "stack": stack,
    }
    return HeapSample(**values | changes)


def test_what_is_held_by_stack_and_how_much_that_is_more(heap_difference: Any) -> None:
    assert to_text(heap_difference()) == golden("""
        By call stack: 3.00 KiB held, +2.00 KiB.
              held     change  allocated by
          2.00 KiB  +2.00 KiB  step (train.py:17) ← <module> (cell.py:3)
          1.00 KiB  unchanged  <module> (cell.py:3)
    """)


def test_a_profile_alone_has_no_change(heap_difference: Any) -> None:
    text = golden("""
        By call stack: 3.00 KiB held.
              held  allocated by
          2.00 KiB  step (train.py:17) ← <module> (cell.py:3)
          1.00 KiB  <module> (cell.py:3)
    """)
    assert to_text(heap_difference().after) == text
    assert to_text(heap_difference(before=None)) == text


def test_what_is_gone_and_what_nobody_knows_is_told() -> None:
    found = held(sample(4096)) - held(sample(1024, "f"))
    assert to_text(found) == golden("""
        By call stack: 4.00 KiB held, +3.00 KiB.
              held     change  allocated by
          4.00 KiB  +4.00 KiB  unknown
               0 B  -1.00 KiB  f (f.py:7)
    """)


@pytest.mark.parametrize("before", [None, held(), held(sample(0, "f", kind="executable"))])
def test_where_nothing_is_held_that_is_said(before: HeapProfile | None) -> None:
    found = HeapDifference(before=before, after=held(notes=(Note.of_text("No backend of JAX had been started."),)))
    assert to_text(found) == "By call stack: nothing held.\nNo backend of JAX had been started."
    assert "nothing held" in to_html(found)
    assert "<table" not in to_html(found)


def test_that_there_was_no_backend_before_is_no_news(heap_difference: Any) -> None:
    found = heap_difference(before=held(notes=(Note.of_text("No backend of JAX had been started."),)))
    assert "No backend" not in to_text(found) + to_html(found)


def test_a_line_is_its_first(heap_difference: Any) -> None:
    assert to_text(heap_difference(), Style(form="line")) == "By call stack: 3.00 KiB held, +2.00 KiB."


def test_programs_and_devices_are_told_where_there_are_several() -> None:
    after = held(
        sample(2048, "f"), sample(1024, "f", device="cpu:1"), sample(512, "f", kind="executable", device=None)
    )
    text = to_text(after)
    assert text.startswith("By call stack: 3.50 KiB held (buffer 3.00 KiB, executable 512 B).")
    assert text.endswith("By device: cpu:0 2.00 KiB, cpu:1 1.00 KiB.")
    assert text.count("f (f.py:7)") == 1


def test_a_deep_stack_is_told_by_its_innermost_calls() -> None:
    assert "e (e.py:7) ← d (d.py:7) ← c (c.py:7) ← …" in to_text(held(sample(1, *"abcde")))


def test_rows_beyond_the_wanted_ones_are_counted() -> None:
    after = held(*(sample(size, f"f{size}") for size in range(1, 8)))
    assert "… and 4 more stacks: see to_frame()" in to_text(after, Style(rows=3))
    assert "f7 (f7.py:7)" in to_text(after, Style(rows=3))
    assert "… and 4 more stacks: see to_frame()" in to_html(after, Style(rows=3))


@pytest.mark.parametrize("width", [60, 80, 118])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    after = held(sample(1023 * 2**20, *("a_function_with_a_long_name",) * 5))
    lines = to_text(after - held(), Style(width=width)).splitlines()
    assert max(map(len, lines)) <= width
    assert "1023 MiB  +1023 MiB" in lines[2]


def test_it_stands_in_the_report_of_a_run(memory_profile: Any, heap_difference: Any) -> None:
    found = memory_profile(heap=heap_difference())
    assert to_text(heap_difference()) in to_text(found)
    assert "By call stack" not in to_text(memory_profile())
    html = to_html(found).replace("<wbr>", "")
    assert html.count("<details open") == html.count("</details>") == 3
    assert html.count('<img alt="memory held, by call stack"') == 1
    assert ">By call stack: 3.00 KiB held, +2.00 KiB.<" in html
    assert "step (train.py:17) ← &lt;module&gt; (cell.py:3)" in html
    assert "<img" not in to_html(found, PLAIN)
    assert to_html(memory_profile()).count("<details") == 2


def test_everything_from_the_user_is_escaped(hostile: str) -> None:
    frame = Frame(function=hostile, file=hostile, line=1)
    one = replace(sample(8), kind=hostile, device=hostile, stack=(frame,))
    found = held(one, sample(9), notes=(Note.of_text(hostile),)) - held()
    html = to_html(found, PLAIN)
    assert set(re.findall(r"<(\w+)", html)) <= {"b", "details", "summary", "div", "table", "tr", "th", "td", "wbr"}
    assert not re.search(r"[\x00\u2028]", to_text(found) + html)
    to_html(found)


# --- frames ------------------------------------------------------------------------------------------------------


def test_one_row_a_stack_kind_and_device(memory_profile: Any, heap_difference: Any) -> None:
    frame = to_frame(memory_profile(heap=heap_difference()), "heap")
    assert list(frame["function"]) == ["step", "<module>"]
    assert list(frame["line"]) == [17, 3]
    assert list(frame["change_bytes"]) == [2048, 0]
    assert list(frame["after_bytes"]) == [2048, 1024]
    assert list(frame["before_count"]) == [0, 1]
    assert frame["stack"][0] == "<module> (/home/me/cell.py:3); step (/home/me/train.py:17)"
    assert to_frame(heap_difference()).equals(frame)


def test_what_is_not_known_is_missing_and_never_zero(heap_difference: Any) -> None:
    frame = to_frame(heap_difference().after)
    assert list(frame["after_bytes"]) == [2048, 1024]
    for column in ("before_bytes", "change_bytes", "before_count", "change_count"):
        assert all(each is pd.NA for each in frame[column])
    nobody = to_frame(held(sample(3, device=None)))
    assert all(nobody[column][0] is pd.NA for column in ("function", "file", "line", "cell", "device"))


def test_a_cell_is_told_beside_the_file_that_it_was_run_as() -> None:
    frame = Frame(function="f", file="/tmp/ipykernel_7/12.py", line=2, cell="cell 3")
    after = held(replace(sample(8), stack=(frame,)))
    assert "f (cell 3:2)" in to_text(after)
    row = to_frame(after).loc[0]
    assert (row["file"], row["cell"], row["line"]) == ("/tmp/ipykernel_7/12.py", "cell 3", 2)
    assert row["stack"] == "f (cell 3:2)"


def test_without_a_heap_profile_the_frame_is_empty_and_has_its_columns(
    memory_profile: Any, heap_difference: Any
) -> None:
    frame = to_frame(memory_profile(), "heap")
    assert len(frame) == 0
    assert frame.dtypes.equals(to_frame(heap_difference()).dtypes)


LINEAR = Frame(function="__call__", file="/opt/lib/python3.12/site-packages/flax/linen/linear.py", line=263)
JAXS = Frame(function="full", file="/opt/lib/python3.12/site-packages/jax/_src/lax/lax.py", line=3625)


def in_library() -> HeapDifference:
    dense, norm = "flax.linen.Dense", "flax.linen.BatchNorm"
    gone = held(sample(512, "old", inside="optax.chain"))
    return (
        held(
            sample(6144, "main", "step", inside=dense),
            sample(2048, "main", "step", inside=norm),
            sample(1024, stack=(LINEAR, JAXS), inside=dense),
            sample(256, stack=(JAXS,)),
        )
        - gone
    )


def test_the_library_function_stands_beside_the_users_line() -> None:
    assert to_text(in_library(), Style(width=118)) == golden("""
        By call stack: 9.25 KiB held, +8.75 KiB.
              held     change  allocated by
          8.00 KiB  +8.00 KiB  step (step.py:7) in flax.linen.Dense 75 %, flax.linen.BatchNorm 25 % ← main (main.py:7)
          1.00 KiB  +1.00 KiB  no line of yours: __call__ (linear.py:263) in flax.linen.Dense
               0 B     -512 B  old (old.py:7) in optax.chain
             256 B     +256 B  no line of yours: full (lax.py:3625)
    """)
    html = to_html(in_library()).replace("<wbr>", "")
    assert "step (step.py:7) in flax.linen.Dense 75 %" in html
    assert "no line of yours: __call__ (linear.py:263) in flax.linen.Dense" in html


def test_the_frame_has_the_library_function_and_its_line_where_no_line_is_the_users() -> None:
    frame = to_frame(in_library(), "heap")
    rows = [tuple(row) for row in frame[["function", "line", "inside"]].astype(object).itertuples(index=False)]
    assert rows == [
        ("step", 7, "flax.linen.Dense, flax.linen.BatchNorm"),
        ("__call__", 263, "flax.linen.Dense"),
        (pd.NA, pd.NA, pd.NA),
        ("old", 7, "optax.chain"),
    ]
