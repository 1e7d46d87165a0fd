"""NaN inside loops and branches is followed to the operation and the line that made it, without the user's code."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from types import FrameType

import jax
import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.traced import loop_bodies
from jaxmagic.doctor.capture.failures.traced.first_nan import first_nan
from jaxmagic.doctor.record.not_finite import NotFinite


@pytest.fixture(autouse=True)
def whole_tracebacks() -> Iterator[None]:
    """Keep JAX's frames in tracebacks, as in IPython."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "off")
    yield
    jax.config.update("jax_traceback_filtering", before)


def failed(called: str, body: str = "y + jnp.log(y - 1)  # here", flag: str = "debug_nans") -> Cell:
    return Cell(f"""
        calls = []
        def body(y):
            calls.append(1)
            return {body}
        def f(x):
            return {called}
        with jax.{flag}(True):
            jax.jit(f)(jnp.float32(1.2))
    """)


def frames(cell: Cell) -> list[FrameType]:
    assert cell.error is not None
    found, traceback = [], cell.error.__traceback__
    while traceback is not None:
        found.append(traceback.tb_frame)
        traceback = traceback.tb_next
    return found


def told(of_error: list[FrameType]) -> NotFinite | None:
    return first_nan(of_error, of_error, infinite=False)


@pytest.mark.parametrize(
    ("called", "where"),
    [
        ("lax.scan(lambda c, y: (body(c), y), x, jnp.arange(3.0))[0]", "scan {}, and first occurs at index 1 of 3"),
        (
            "lax.scan(lambda c, y: (body(c), c), x, jnp.arange(5.0), reverse=True)[1]",
            "scan {}, and first occurs at index 3 of 5",
        ),
        ("lax.scan(lambda c, y: (body(c), y), x, length=4)[0]", "scan {}, and first occurs at index 1 of 4"),
        ("lax.map(lambda y: body(x - y), jnp.array([0.0, 0.1, 0.3]))", "map {}, and first occurs at index 2 of 3"),
        ("lax.fori_loop(0, 3, lambda i, c: body(c), x)", "fori_loop {}, and first occurs where the index that it"),
        (
            "lax.while_loop(lambda c: c < 3, body, x)",
            "while_loop {}, and first occurs in iteration 2, counted",
        ),
    ],
)
def test_the_operation_its_line_the_loop_and_the_step_are_named(called: str, where: str) -> None:
    cell = failed(called)
    assert cell.finding.line == cell.here
    assert cell.finding.source == "return y + jnp.log(y - 1)  # here"
    assert cell.said.startswith("log returned NaN")
    line = next(n for n, each in enumerate(cell.source.splitlines(), 1) if "return lax" in each)
    assert f"It is inside the {where.format(f'at {cell.file}:{line}')}" in cell.said
    assert "jnp.log(y - 1) needs a value that is positive." in cell.said


@pytest.mark.parametrize(
    ("bounds", "options"),
    [
        ("0, 5", ""),
        ("2, 6", ""),
        ("-7, 4", ""),
        ("2, 6", ", unroll=2"),
        ("jnp.int32(2), n", ""),  # bounds that are traced
        ("n - 4, n + 1", ""),
    ],
)
def test_a_fori_loop_has_the_index_that_its_body_gets(bounds: str, options: str) -> None:
    cell = Cell(f"""
        def body(i, y):
            return y + jnp.sqrt(2.5 - i)  # here
        def f(n, y):
            return lax.fori_loop({bounds}, body, y{options})
        with jax.debug_nans(True):
            jax.jit(f)(jnp.int32(6), jnp.float32(0))
    """)
    assert cell.finding.line == cell.here
    assert "where the index that it passes to its body is 3." in cell.said


@pytest.mark.parametrize(
    "called",
    [
        "lax.cond(x < 5, lambda y: body(y - 1), lambda y: y, x)",
        "lax.scan(lambda c, y: (lax.fori_loop(0, 2, lambda i, c: body(c), c), y), x, jnp.arange(3.0))[0]",
        "lax.scan(lambda c, y: (jax.checkpoint(jax.jit(body))(c), y), x, jnp.arange(3.0))[0]",
        "lax.scan(lambda c, y: (jax.nn.relu(body(c)), y), x, jnp.arange(3.0))[0]",
    ],
)
def test_branches_and_functions_inside_are_followed(called: str) -> None:
    cell = failed(called)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("log returned NaN")


def test_nan_that_where_leaves_out_is_not_the_cause() -> None:
    cell = failed(
        "lax.scan(lambda c, y: (body(c), y), x, jnp.arange(3.0))[0]",
        "(jnp.where(y > 0, y, jnp.log(-y)) * 0\n                + jnp.sqrt(-y))  # here",
    )
    assert cell.finding.line == cell.here
    assert cell.said.startswith("sqrt returned NaN")


def test_infinity_is_followed_as_well() -> None:
    called = "lax.scan(lambda c, y: (body(c), y), x, jnp.arange(3.0))[0]"
    cell = failed(called, "jnp.exp(100 * y)  # here", "debug_infs")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("exp returned infinity, which jax_debug_infs makes an error.")


def test_no_code_of_the_users_runs() -> None:
    cell = failed("lax.scan(lambda c, y: (body(c), y), x, jnp.arange(3.0))[0]")
    before = list(cell.names["calls"])
    assert cell.finding.line == cell.here
    assert cell.names["calls"] == before


@pytest.mark.parametrize(
    "body",
    [
        "jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct((), jnp.float32), jnp.log(y - 1))",
        "[jax.debug.callback(lambda: None), jnp.log(y - 1)][1]",
    ],
)
def test_a_body_that_calls_python_is_not_computed_again(body: str) -> None:
    cell = failed("lax.scan(lambda c, y: (body(c), y), x, jnp.arange(3.0))[0]", body)
    assert told(frames(cell)) is None
    assert "below `with jax.debug_nans(True), jax.disable_jit():`" in cell.said


def test_compiling_the_first_step_takes_no_time_from_the_others() -> None:
    of_cell = frames(failed("lax.scan(lambda c, y: (body(c), y), x, jnp.arange(3.0))[0]"))
    ticks = iter([10**12, 10**12 + 1])  # the clock is first read when the first step has ended
    assert first_nan(of_cell, of_cell, infinite=False, clock=lambda: next(ticks)) is not None


def test_nothing_is_told_where_nan_went_in() -> None:
    cell = failed("lax.scan(lambda c, y: (body(c), y), x, jnp.array([1.0, jnp.nan]))[1]")
    assert told(frames(cell)) is None


def test_long_loops_and_long_bodies_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    of_cell = frames(failed("lax.scan(lambda c, y: (body(c), y), x, jnp.arange(3.0))[0]"))
    ticks = itertools.count(step=10)
    inside = partial(loop_bodies.first_in_loop, of_cell, infinite=False, clock=lambda: next(ticks))
    assert inside(longest_ns=15) is not None
    assert inside(longest_ns=5) is None
    monkeypatch.setattr(loop_bodies, "_MOST_EQUATIONS", 1)
    assert told(of_cell) is None


def test_without_the_frames_of_jax_nothing_is_told() -> None:
    assert told([]) is None


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("c /= t - t", "c /= jnp.where(t - t != 0, t - t, 1)"),
        ("c = c + lax.log(t - 9)", "lax.log(jnp.where(t - 9 > 0, t - 9, 1))"),
        ("c = (t - t) / (c - c)", "(t - t) / jnp.where(c - c != 0, c - c, 1)"),
        ("c = t / 2 + (t - t) / (c - c)", "(t - t) / jnp.where(c - c != 0, c - c, 1)"),
        ("c = jnp.mean(t - t) / (c - c)", "jnp.mean(t - t) / jnp.where(c - c != 0, c - c, 1)"),
        ("c = (lambda a: jnp.log(a - 9))(t)", "jnp.log(jnp.where(a - 9 > 0, a - 9, 1))"),
        ("c = jnp.sqrt(jnp.sqrt(t) - 9)", None),
    ],
)
def test_the_operand_inside_a_loop_is_named_where_the_line_has_one(line: str, mended: str | None) -> None:
    cell = Cell(f"""
        def body(c, t):
            {line}  # here
            return c, t
        with jax.debug_nans(True):
            lax.scan(body, 0.0, jnp.arange(3.0))
    """)
    assert cell.finding.line == cell.here
    other = "put another number in its place before it, with jnp.where()"
    assert (
        other if mended is None else f"put another number in its place before the operation: {mended}."
    ) in cell.said


_STILL_CHECKED = """
import jax, jax.numpy as jnp
from jaxmagic.doctor.capture.failures.traced.first_nan import first_nan

jax.config.update("jax_traceback_filtering", "off")
jax.config.update("jax_debug_nans", True)
f = jax.jit(lambda x: jax.lax.scan(lambda c, _: (c - 0.5, (jnp.log(c), c * (1 + 2j))), x, length=5))
frames = []
try:
    f(jnp.ones(3))
except FloatingPointError as error:
    traceback = error.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
found = first_nan(frames, frames, infinite=False)
assert found is not None and (found.made.operation, found.step) == ("log", 4), found
jax.lax.log(jnp.full(7, 2.0))  # compiles, and keeps the program
try:
    jax.lax.log(jnp.full(7, -1.0))
except FloatingPointError:
    print("checked")
"""


def test_jax_looks_for_nan_as_before() -> None:
    ran = subprocess.run([sys.executable, "-c", _STILL_CHECKED], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "checked"
