"""Correction of call stacks cached from another caller: as JAX's versions write them, and from real programs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import fabricate.hlo
import jax
import jax.numpy as jnp
import pytest
from recordings import module_of

from jaxmagic.records.call_stack import Frame, Stack
from jaxmagic.xla.hlo import HloInstruction
from jaxmagic.xla.lines.callers import with_own_callers, without_callers
from jaxmagic.xla.lines.origins import Origins

LIBRARY = "jit(second)/jit(_threefry_split)/first/while/body/add"


def stack(*calls: str) -> Stack:
    """Make a stack of calls such as ``"second:7"``."""
    parts = (each.split(":") for each in calls)
    return tuple(Frame(function=name, file="a.py", line=int(line)) for name, line in parts)


def instruction(op_name: str, *calls: str) -> HloInstruction:
    return fabricate.hlo.instruction("add", op_name=op_name, stack=stack(*calls))


def corrected(*instructions: HloInstruction) -> list[HloInstruction]:
    made = fabricate.hlo.module(*instructions, name="jit_second")
    return list(with_own_callers(made).instructions.values())


@pytest.mark.parametrize(
    ("op_name", "calls", "left"),
    [
        ("jit(second)/tanh", ["main:1", "second:6", "g:8"], ["second:6", "g:8"]),
        ("jit(second)/tanh", ["main:1", "run.<locals>.second:6", "g:8"], ["run.<locals>.second:6", "g:8"]),
        ("jit(matmul)/dot_general", ["main:1", "f:3"], []),  # an eager operation
        ("", ["main:1", "second:6"], ["second:6"]),  # as the other instructions
        ("jit(<unnamed function>)/tanh", ["main:1", "Model.__call__:4"], ["Model.__call__:4"]),
        ("jit(second)/tanh", [":6"], [":6"]),  # before JAX 0.10
        ("jit(second)/tanh", [], []),
    ],
)
def test_the_calls_that_led_to_a_program_are_left_out(op_name: str, calls: list[str], left: list[str]) -> None:
    made = fabricate.hlo.module(instruction(op_name, *calls), instruction("jit(second)/add", "second:6"))
    assert without_callers(made).instructions[0].stack == stack(*left)


OWN = instruction("jit(second)/tanh", "main:1", "second:6")


@pytest.mark.parametrize(
    ("op_name", "calls", "right"),
    [
        (LIBRARY, ["main:1", "second:7", "second:7", "first:3", "first:3", "first:3"], ["main:1", "second:7"]),
        (LIBRARY, ["main:1", "second:7", "second:7", "first:3"], ["main:1", "second:7"]),
        ("jit(second)/jvp()/while/body/eval_jaxpr/mul", ["main:1", "second:7", "second:7", "body:3", "body:3"],
         ["main:1", "second:7", "body:3"]),
        ("jit(second)/jit(_bits)/add", ["main:1", "second:9", "second:9", "second:7", "second:7"],
         ["main:1", "second:9"]),
        ("jit(second)/while/body/closed_call/jit(g)/sin",
         ["main:1", "second:7", "second:7", "second:7", "body:11", "g:8", "g:8", "h:4"],
         ["main:1", "second:7", "body:11", "g:8", "h:4"]),
        ("jit(second)/jit(g)/sin", ["main:1", "second:7", "g:8"], ["main:1", "second:7", "g:8"]),
        ("jit(second)/tanh", ["main:1"], ["main:1"]),
        ("jit(second)/while/body/closed_call/sin",
         ["run:1", "call:2", "run:1", "call:2", "run:1", "second:7", "second:7", "body:3"],
         ["run:1", "call:2", "run:1", "call:2", "run:1", "second:7", "body:3"]),
        ("jit(second)/jit(g)/sin", ["main:1", "second:7", "a:1", "b:2", "a:1", "b:2", "a:1", "b:2", "g:8"],
         ["main:1", "second:7", "a:1", "b:2", "g:8"]),
    ],
    ids=["named in the path", "said once", "body", "another line of the same", "loop", "jitted", "no function",
         "recursion before", "recursion"],
)  # fmt: skip
def test_the_first_caller_is_taken_away_behind_the_one_that_runs(
    op_name: str, calls: list[str], right: list[str]
) -> None:
    _, found = corrected(OWN, instruction(op_name, *calls))
    assert found.stack == stack(*right)
    assert found.traced_for == ""


def test_a_first_caller_that_one_path_names_is_taken_away_everywhere() -> None:
    calls = ("main:1", "second:7", "second:7", "first:3")
    found = corrected(OWN, instruction(LIBRARY, *calls), instruction("jit(second)/jit(_split)/slice", *calls))
    assert [each.stack for each in found[1:]] == [stack("main:1", "second:7")] * 2


IN_BODY = "jit(second)/while/body/closed_call/jit(_threefry_split)/body/while/body/add"


@pytest.mark.parametrize(
    ("calls", "right"),
    [
        (["body:11", "body:11"], ["body:11"]),
        (["body:12", "body:11", "body:11"], ["body:12"]),
        (["body:12", "g:20", "g:20", "body:11"], ["body:12", "g:20"]),
    ],
    ids=["its own", "another line of the body", "a function of the body"],
)
def test_a_first_caller_in_the_same_program_is_taken_away_where_another_line_calls(
    calls: list[str], right: list[str]
) -> None:
    begin = ["main:1", "second:7", "second:7"]
    own = instruction("jit(second)/while/body/closed_call/mul", *begin, "body:13")
    also = [instruction(IN_BODY, *begin, *each) for each in (["body:11"], ["body:12", "body:11"])]
    found = corrected(OWN, own, *also, instruction(IN_BODY, *begin, *calls))
    assert found[-1].stack == stack("main:1", "second:7", *right)


@pytest.mark.parametrize(
    ("op_name", "calls", "right"),
    [
        ("jit(second)/jit(_threefry_split)/slice", ["main:2", "first:3"], []),
        (LIBRARY, ["main:1", "first:3"], []),
        ("reduce_window_sum", ["main:2", "first:3"], []),
        ("jit(second)/jit(g)/sin", ["main:2", "first:3", "g:8", "h:4"], ["g:8", "h:4"]),
    ],
    ids=["library", "named in the path", "without a path", "the user's own"],
)
def test_the_line_of_a_first_caller_alone_is_not_known(op_name: str, calls: list[str], right: list[str]) -> None:
    _, found = corrected(OWN, instruction(op_name, *calls))
    assert found.stack == stack(*right)
    assert found.traced_for == "first"


def test_a_line_that_is_not_known_is_not_that_of_a_neighbour() -> None:
    stale = instruction("jit(second)/jit(_split)/slice", "main:2", "first:3")
    taker = instruction("jit(second)/mul", "main:1", "second:8")._replace(operand_ids=(0,))
    made = fabricate.hlo.module(stale, taker, name="jit_second")
    found = with_own_callers(made)
    assert list(Origins(found).shares(found.instructions[0])) == [((), "jit(second)/jit(_split)/slice")]


def test_a_program_that_only_calls_jitted_functions_is_known_by_its_name() -> None:
    (own,) = corrected(instruction("jit(second)/jit(_split)/slice", "main:2", "second:3"))
    assert own.stack == stack("main:2", "second:3")
    (other,) = corrected(instruction("jit(second)/jit(_split)/slice", "main:2", "first:3"))
    assert (other.stack, other.traced_for) == ((), "first")
    (unnamed,) = corrected(instruction("jit(<unnamed function>)/jit(_split)/slice", "main:2", "first:3"))
    assert unnamed.stack == stack("main:2", "first:3")


def library(stack: Stack) -> Stack:
    """Make a stack in which functions with capitalized names are a library's."""
    return tuple(
        replace(each, file="/opt/site-packages/l.py") if each.function[0].isupper() else each for each in stack
    )


@pytest.mark.parametrize(
    ("op_name", "calls", "right"),
    [
        ("jit(second)/jit(Root)/while/body/jit(Solve)/lu",
         ["second:7", "Jit:2", "Root:5", "Loop:9", "Jit:2", "Solve:8"],
         ["second:7", "Jit:2", "Root:5", "Loop:9", "Jit:2", "Solve:8"]),
        ("jit(second)/jit(loss)/jit(Solve)/lu", ["second:7", "Jit:2", "loss:5", "help:9", "Jit:2", "Solve:8"],
         ["second:7", "Jit:2", "loss:5", "help:9", "Jit:2", "Solve:8"]),
        ("jit(second)/jit(Solve)/first/lu", ["second:7", "Jit:2", "first:5", "Jit:2", "Solve:8"],
         ["second:7", "Jit:2", "Solve:8"]),
        ("jit(second)/jvp()/while/body/dot",
         ["second:7", "Grad:2", "loss:5", "Grad:2", "Scan:4",
          "second:7", "Grad:2", "loss:5", "Grad:2", "Scan:4", "Cell:9"],
         ["second:7", "Grad:2", "loss:5", "Grad:2", "Scan:4", "Cell:9"]),
        ("jit(second)/dot", ["second:7", "timed:2", "middle:5", "timed:2", "inner:9"],
         ["second:7", "timed:2", "middle:5", "timed:2", "inner:9"]),
        ("jit(second)/jit(Solve)/while/body/lu", ["second:7", "Jit:2", "Solve:5", "Jit:2", "Solve:5", "Step:8"],
         ["second:7", "Jit:2", "Solve:5", "Step:8"]),
        ("jit(second)/jit(loss)/jit(Solve)/while/body/lu",
         ["second:7", "Jit:2", "loss:5", "Jit:2", "Solve:8", "Jit:2", "Solve:8", "Step:9"],
         ["second:7", "Jit:2", "loss:5", "Jit:2", "Solve:8", "Step:9"]),
    ],
    ids=["a library's", "the user's between", "another caller's between", "a loop's body", "the user's own wrapper",
         "said again",
         "nested and said again"],
)  # fmt: skip
def test_a_library_that_calls_itself_is_said_twice(op_name: str, calls: list[str], right: list[str]) -> None:
    own = OWN._replace(stack=stack("second:6"))
    _, found = corrected(own, instruction(op_name)._replace(stack=library(stack(*calls))))
    assert found.stack == library(stack(*right))


def first(key: Any) -> Any:
    return jax.random.split(key, 4000)


def second(key: Any, x: Any) -> Any:
    y = jnp.tanh(x)
    return jax.random.split(key, 4000), y


def test_no_real_program_has_the_line_of_another_one() -> None:
    key, x = jax.random.key(0), jnp.ones((10, 10))
    module_of(first, key)
    found = with_own_callers(module_of(second, key, x))
    lines = [
        each.stack[-1].line - second.__code__.co_firstlineno for each in found.instructions.values() if each.stack
    ]
    assert set(lines) <= {1, 2}
    assert any(each.traced_for for each in found.instructions.values()) or 2 in lines


def body(counts: Any, key: Any) -> Any:
    one, other = jax.random.split(key)
    drawn = jax.random.poisson(one, counts)
    noise = jax.random.normal(other, counts.shape)
    return counts + 0.1 * drawn + noise, None


def scanned(key: Any, counts: Any) -> Any:
    return jax.lax.scan(body, counts, jax.random.split(key, 10))[0]


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="has the line of the first call alone")
def test_what_a_loop_draws_has_the_line_that_draws_it() -> None:
    found = with_own_callers(module_of(scanned, jax.random.key(0), jnp.full(300, 8.0)))
    lines: dict[str, set[int]] = {"_threefry_split": set(), "_poisson": set(), "_normal": set()}
    for each in found.instructions.values():
        path = each.op_name.partition("/while/body/")[2]
        name = next((one for one in lines if re.match(rf"(\w+/)?jit\({one}\)", path)), None)
        if name is not None and each.stack:
            lines[name].add(each.stack[-1].line - body.__code__.co_firstlineno)
    assert lines == {"_threefry_split": {1}, "_poisson": {2}, "_normal": {3}}
