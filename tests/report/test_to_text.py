"""Text, in goldens small enough to read."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pages import to_html

from jaxmagic import units
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.records.note import note
from jaxmagic.report.style import LAST, Style
from jaxmagic.report.to_text import to_text
from jaxmagic.session.history import History


def golden(text: str) -> str:
    return dedent(text).strip("\n")


def test_a_timing_on_a_busy_machine_says_so_below_its_answer(timing: Any) -> None:
    busy, quiet, unknown = (to_text(timing(other_load=load)).splitlines() for load in (1.5, 0.4, None))
    told = "Warning: Other processes kept 1.5 of 2 CPUs busy. Stop them, or measure when the machine is quiet."
    assert " ".join(map(str.strip, busy[1:3])) == told
    assert [busy[0], *busy[3:]] == quiet == unknown


def test_a_first_call(timing: Any, compilation: Any) -> None:
    assert to_text(timing(compilation())) == golden("""
        Wall time: 182 ms   compile 171 ms (94 %)   host 0.90 ms   wait 10.1 ms
          f   trace 3.70 ms   lower 8.30 ms   XLA 159 ms   first call
        CPU times: user 210 ms, sys: 12.0 ms, total: 222 ms
    """)


def test_a_warm_call(timing: Any) -> None:
    assert to_text(timing()) == golden("""
        Wall time: 11.0 ms   host 0.90 ms   wait 10.1 ms
          Nothing compiled.
        CPU times: user 210 ms, sys: 12.0 ms, total: 222 ms
    """)


def test_a_remedy_is_told_once_per_cause(timing: Any, compilation: Any) -> None:
    def varies(value: int, **changes: Any) -> Any:
        reason = f"static argument n has a different value: {value} now, {value - 1} before"
        cause = Cause(kind="static value", reason=reason, remedy="pass n as an array", argument="n")
        return compilation(cause=cause, **changes)

    made = varies(2), compilation(function="h"), varies(3), varies(4, function="g"), varies(5)
    assert to_text(timing(*made)) == golden("""
        Wall time: 866 ms   compile 855 ms (99 %)   host 0.90 ms   wait 10.1 ms
          f   trace 3.70 ms   lower 8.30 ms   XLA 159 ms
            static argument n has a different value: 2 now, 1 before
            → pass n as an array
          h   trace 3.70 ms   lower 8.30 ms   XLA 159 ms   first call
          f   trace 3.70 ms   lower 8.30 ms   XLA 159 ms
            static argument n has a different value: 3 now, 2 before
          g   trace 3.70 ms   lower 8.30 ms   XLA 159 ms
            static argument n has a different value: 4 now, 3 before
            → pass n as an array
          f   trace 3.70 ms   lower 8.30 ms   XLA 159 ms
            static argument n has a different value: 5 now, 4 before
        CPU times: user 210 ms, sys: 12.0 ms, total: 222 ms
    """)


def test_a_recompilation_with_its_cause_and_remedy(timing: Any, compilation: Any) -> None:
    cause = Cause(
        kind="shape",
        reason="argument x has a different shape: f32[4,4] now, f32[8,8] before",
        remedy="pad to a few fixed shapes, or expect one compilation a shape",
    )
    assert to_text(timing(compilation(cause=cause))) == golden("""
        Wall time: 182 ms   compile 171 ms (94 %)   host 0.90 ms   wait 10.1 ms
          f   trace 3.70 ms   lower 8.30 ms   XLA 159 ms
            argument x has a different shape: f32[4,4] now, f32[8,8] before
            → pad to a few fixed shapes, or expect one compilation a shape
        CPU times: user 210 ms, sys: 12.0 ms, total: 222 ms
    """)


def test_eager_operations_are_one_line(timing: Any, compilation: Any) -> None:
    eager = Cause(kind="eager", reason="an operation outside jax.jit", remedy="wrap the computation in jax.jit")
    operations = [
        compilation(function=name, cause=eager, compilation_ns=5_500_000, tracing_ns=0, lowering_ns=0)
        for name in ("add", "mul") * 6
    ]
    assert "12 eager operations compiled, 66.0 ms (add, mul): wrap the computation in\n    jax.jit." in to_text(
        timing(*operations)
    )


def test_the_persistent_cache_is_named(timing: Any, compilation: Any) -> None:
    hit = compilation(compilation_ns=0, cache_retrieval_ns=9_000_000, cache="hit", saved_ns=150_000_000)
    text = to_text(timing(hit))
    assert "cache 9.00 ms" in text
    assert "first call; from the persistent cache, which saved 150 ms" in text
    assert "not in the persistent cache" in to_text(timing(compilation(cache="miss")))


def test_what_else_is_said(timing: Any, compilation: Any) -> None:
    record = timing(
        compilation(thread="neighbour"),
        unreached_ns=9_000_000,
        fetch_ns=2_000_000,
        fetch_bytes=2**20,
        error="ValueError",
        notes=(note("text", text="A note."),),
    )
    text = " ".join(to_text(record).split())
    assert "9.00 ms of the wait was for discarded results" in text
    assert "Fetch: 2.00 ms to copy 1.00 MiB to the host, not included in the wall time." in text
    assert "The code ended with ValueError; these are the times so far." in text
    assert "1 program compiled by another thread meanwhile (neighbour), not included in these times." in text
    assert text.endswith("A note.")


def test_what_was_not_measured_is_said_to_be_unmeasured(timing: Any) -> None:
    assert "How much of the wait was for discarded results is unknown." in to_text(timing(unreached_ns=None))


def test_text_has_all_functions_in_their_order_and_a_short_one_the_costliest(timing: Any, compilation: Any) -> None:
    many = [
        compilation(function=f"f{n}", compilation_ns=n * 10**6, tracing_ns=0, lowering_ns=0) for n in range(1, 21)
    ]
    for functions in (many, many[::-1]):
        text = to_text(timing(*functions))
        assert re.findall(r"^  (f\d+) ", text, re.M) == [each.function for each in functions]
        assert "costliest" not in text
    text = to_text(timing(*many), Style(whole=False, whole_by=LAST))
    assert re.findall(r"^  (f\d+) ", text, re.M) == ["f20", "f19", "f18"]
    assert text.endswith("shows 18 more lines: 17 more causes, 20 functions compiled, …")


def cause(kind: Any, argument: str, sizes: str) -> Cause:
    return Cause(kind=kind, reason=f"argument {argument} has a different {kind}: {sizes}", argument=argument)


def test_a_short_text_has_each_cause_once_with_its_count_and_time_in_all(timing: Any, compilation: Any) -> None:
    shapes = [compilation(function="f", cause=cause("shape", "x", f"f32[{n}] now")) for n in range(9)]
    short = compilation(function="f", cause=cause("dtype", "x", "bf16[3] now"), compilation_ns=1)
    text = to_text(timing(*shapes, short), Style(whole=False))
    (total,) = re.findall(r"XLA (\S+ \w+)\n    9 times, first: argument x has a different shape: f32\[0\] now", text)
    assert total == units.time(9 * shapes[0].compilation_ns)
    assert "  f   trace" in text.partition("f32[0] now")[2]
    assert "argument x has a different dtype: bf16[3] now" in text
    assert text.count("different shape") == 1
    assert "cause" not in text
    assert text.splitlines()[-1].endswith(": 10 compilations of f")


def test_a_short_text_says_how_many_causes_it_has_no_room_for(timing: Any, compilation: Any) -> None:
    named = [(name, "word " * 80) for name in "wxyz"]
    many = [compilation(function="f", cause=cause("shape", *each)) for each in named]
    for count in (2, 4):
        text = to_text(timing(*many[:count]), Style(whole=False))
        assert re.findall(r"argument (\w) has", text) == ["w"]
        assert f": {units.count(count - 1, 'more cause')}" in text.splitlines()[-1]


def test_explain_adds_five_lines(timing: Any) -> None:
    lines = to_text(timing(), explain=True).splitlines()
    assert len(lines) == len(to_text(timing()).splitlines()) + 5
    assert [line.split(":")[0].strip() for line in lines[-5:]] == ["Wall", "Dispatch", "Compile", "Host", "How"]


def test_one_line_form(timing: Any, compilation: Any) -> None:
    assert "\n" not in to_text(timing(compilation()), Style(form="line"))


def test_digits_are_the_users(timing: Any) -> None:
    assert to_text(timing(), Style(digits=5)).startswith("Wall time: 11.000 ms   host 0.9000 ms")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.text(min_size=1, max_size=200),
    reason=st.text(min_size=1, max_size=300).filter(str.strip),
    times=st.lists(st.integers(0, 10**12), min_size=3, max_size=3),
    width=st.integers(60, 200),
)
def test_no_line_is_wider_than_the_terminal(
    timing: Any, compilation: Any, name: str, reason: str, times: list[int], width: int
) -> None:
    cause = Cause(kind="shape", reason=reason, remedy="x " * 60)
    record = timing(
        compilation(function=name, cause=cause, tracing_ns=times[0], lowering_ns=times[1], compilation_ns=times[2])
    )
    for line in to_text(record, Style(width=width)).splitlines():
        assert len(line) <= width


def test_a_history_shows_its_last_ten(timing: Any) -> None:
    history = History()
    for n in range(12):
        history.append(timing(code=f"f({n})"))
    text = to_text(history)
    assert text.startswith("12 records; the longest run took 11.0 ms: [0] f(0)\nThe last 10, newest first:\n  [11] ")
    assert "  [11]  11.0 ms  f(11)" in text
    assert "[1] " not in text


def test_the_columns_of_a_history_are_as_wide_as_what_is_in_them(timing: Any, memory_profile: Any) -> None:
    quick, slow = timing(code="f(x)"), timing(code="g(x)", dispatch_ns=1234 * 10**6, wait_ns=0)
    assert to_text(History.of_records([quick, slow])).splitlines()[-2:] == [
        "  [1]   1.23 s  g(x)",
        "  [0]  11.0 ms  f(x)",
    ]
    assert to_text(History.of_records([memory_profile()])).splitlines()[-1] == "  [0]  11.0 ms  +2.00 KiB  f(x)"


def test_the_longest_run_of_a_history_is_of_any_record_with_a_time(timing: Any, diagnosis: Any) -> None:
    longer = diagnosis(first=timing(dispatch_ns=512 * 10**6, wait_ns=0), warm=(), code="f(x)")
    lines = to_text(History.of_records([timing(code="f(x)"), longer, timing(code="g(x)")])).splitlines()
    assert lines[0] == "3 records; the longest run took 512 ms: [1] f(x)"
    assert lines[3] == "  [1]   512 ms  2 findings  f(x)"


def test_an_unknown_record_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="expected a record, got int"):
        to_text(3)


def test_a_name_moves_no_cursor(timing: Any, compilation: Any) -> None:
    record = timing(
        compilation(function="f\x1b[2J\x00\ng"),
        compilation(function="h\x1b", cause=Cause(kind="eager", reason="eager")),
    )
    for text in (to_text(record), to_html(record)):
        assert "\x1b" not in text
        assert "\x00" not in text
        assert "f�[2J��g" in text


def test_functions_with_long_names_can_be_told_apart(timing: Any, compilation: Any) -> None:
    names = [f"update_cross_section_jacobian_{each}" for each in ("forward", "reverse")]
    record = timing(*(compilation(function=name) for name in names))
    page = to_html(record).replace("<wbr>", "")
    for shown in (re.findall(r"^  (\S+) ", to_text(record), re.M), re.findall(r"<code[^>]*>(.*?)<", page)):
        assert len({each for each in shown if each.startswith("update_")}) == 2


def test_candidates_with_long_names_can_be_told_apart(named: Any) -> None:
    labels = [f"a_candidate_with_a_label_that_is_much_too_long_{each}" for each in ("one", "two", "three")]
    record = named(*labels, rounds=12)
    assert len(set(re.findall(r"^  (a_cand\S+)  ", to_text(record), re.M))) == 3
    assert len(set(re.findall(r"<code[^>]*>(.*?)</code>", to_html(record)))) == 3


def test_columns_are_aligned_in_the_characters_that_are_written(named: Any) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    lines = to_text(named("jit → vmap", "中", "plain"), stream=stream).splitlines()
    rows = [line for name in ("jit -> vmap", "\\u4e2d", "plain") for line in lines if line.startswith(f"  {name} ")]
    assert len(rows) == 3
    assert len({line.index(" ms") for line in rows}) == 1


def test_what_the_code_waits_for_itself_is_told_where_it_is_long_enough(timing: Any) -> None:
    sentence = "8.00 ms of the wait was inside the code: it, or a library that it calls, waits for results itself."
    assert sentence in " ".join(to_text(timing(code_wait_ns=8_000_000)).split())
    assert sentence in to_html(timing(code_wait_ns=8_000_000))
    for short in (None, 0, 200_000):
        assert "inside the code" not in to_text(timing(code_wait_ns=short))


def test_a_wait_inside_the_code_is_a_part_of_the_wait(timing: Any) -> None:
    with pytest.raises(ValueError, match="expected at most 5, as long as the wait, got 6"):
        timing(wait_ns=5, code_wait_ns=6)


@pytest.mark.parametrize(("backend", "said"), [("gpu", True), ("cpu", False), ("tpu", False), (None, False)])
def test_a_first_run_on_a_gpu_says_what_else_is_in_host(
    timing: Any, compilation: Any, backend: str | None, said: bool
) -> None:
    made = timing(compilation())
    first = replace(made, environment=replace(made.environment, backend=backend))
    assert ("also loads modules and initializes libraries" in to_text(first)) is said
    assert "also loads" not in to_text(replace(first, compilations=()))
