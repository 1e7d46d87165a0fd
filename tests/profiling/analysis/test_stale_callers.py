"""Callers that belong to an earlier call are no lines of this one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from fabricate.profiling import MS, operation, place
from shells import Session

import jaxmagic
from jaxmagic.profiling.analysis.stale_callers import without_stale_callers
from jaxmagic.records.call_stack import Frame

MODULE = Frame(function="<module>", file="/tmp/cell.py", line=1, cell="cell 2")
LAMBDA = replace(MODULE, function="<lambda>")
LIBRARY = Frame(function="call", file="/opt/lib/python3.11/site-packages/flax/core.py", line=1)
INSIDE = Frame(function="Model.step", file="/tmp/model.py", line=3)
TRAIN = Frame(function="train", file="/tmp/train.py", line=7)


@pytest.mark.parametrize(
    ("scope", "stack", "left"),
    [
        ("jit(step)/dot", (MODULE, INSIDE), (INSIDE,)),
        ("jit(step)/dot", (MODULE, TRAIN, INSIDE), (TRAIN, INSIDE)),
        ("jit(step)/dot", (INSIDE, MODULE), (INSIDE, MODULE)),
        ("jit(step)/dot", (LIBRARY, INSIDE), (LIBRARY, INSIDE)),
        ("jit(exp)/exp", (MODULE,), ()),
        ("jit(exp)/exp", (MODULE, INSIDE), ()),
        ("jit(exp)/exp", (MODULE, TRAIN), (TRAIN,)),
        ("jit(exp)/exp", (MODULE, TRAIN, INSIDE), (TRAIN, INSIDE)),
        ("jit(exp)/exp", (LIBRARY,), (LIBRARY,)),
        ("jit(<lambda>)/mul", (MODULE, LAMBDA), (LAMBDA,)),
        ("jit(<lambda>)/mul", (LAMBDA, MODULE, LAMBDA), (LAMBDA,)),  # the outer one is somebody else's
        ("while/body", (MODULE,), (MODULE,)),
        ("", (), ()),
    ],
)
def test_a_stack_begins_at_a_function_that_runs_now(
    scope: str, stack: tuple[Frame, ...], left: tuple[Frame, ...]
) -> None:
    given = place(MS, *stack, scope=scope)
    found = without_stale_callers([given], [], [], lambda frame: frame == TRAIN)
    assert found.places == (replace(given, stack=left),)
    program = scope.partition("/")[0].removeprefix("jit(").removesuffix(")")
    assert found.unknown == ((program,) if stack and not left else ())
    assert without_stale_callers([given], [], [program], lambda frame: False).places == (given,)


def test_the_unknown_program_that_took_longest_comes_first() -> None:
    times = ((3, "a"), (5, "b"), (4, "a"), (9, "c"))
    places = [place(ns, MODULE, scope=f"jit({name})/dot") for ns, name in times]
    assert without_stale_callers(places, [], [], lambda frame: False).unknown == ("c", "a", "b")
    assert without_stale_callers(places, [], ["a"], lambda frame: False).unknown == ("c", "b")


def test_an_operation_has_the_line_that_is_left_of_its_place() -> None:
    scope = "jit(exp)/exp"
    given = replace(place(MS, TRAIN, INSIDE, scope=scope), operations=("exp.1",))
    one = replace(operation("exp.1", MS), scope=scope, source=INSIDE.location)
    other = replace(one, name="exp.2")
    found = without_stale_callers([given], [one, other], [], lambda frame: False)
    assert [each.source for each in found.operations] == [None, INSIDE.location]
    kept = without_stale_callers([given], [one], [], lambda frame: frame == TRAIN)
    assert kept.operations == (one,)


def earlier(x: Any) -> Any:
    return x @ x


def later(x: Any) -> Any:
    return x @ x


def lines_of(profile: Any) -> set[str]:
    return {frame.function for each in profile.place_times for frame in each.stack}


def test_an_operation_outside_jit_is_not_at_the_line_of_an_earlier_call() -> None:
    x = jnp.ones((117, 117))
    earlier(x)
    found = jaxmagic.profile(later, x)
    assert found.device_uses
    assert not {"earlier", "later"} & lines_of(found)
    assert {each.source for each in found.operation_times} == {None}
    assert "Compiled by earlier calls: matmul." in str(found)


def test_a_program_of_the_same_name_that_is_compiled_now_hides_no_older_one() -> None:
    x = jnp.ones((121, 121))
    earlier(x)

    def both(x: Any) -> Any:
        return later(x), later(x[1:, 1:])

    found = jaxmagic.profile(both, x)
    assert "earlier" not in lines_of(found)
    assert "Compiled by earlier calls: matmul." in str(found)


def test_the_lines_of_the_cell_that_runs_stay(session: Session) -> None:
    """Also those of an operation of which an earlier cell compiled a program for another shape."""
    session.run("import jax.numpy as jnp\nsmall, large = jnp.ones((123, 123)), jnp.ones((345, 345))\nsmall @ small")
    found = session.run("%%jaxprof -o\nlarge @ large\nsmall @ small")
    lines = {each.source.partition(":")[2] for each in found.operation_times if each.source}
    assert lines == {"2"}
    assert "Compiled by earlier calls: matmul." in str(found)
    again = session.run("%%jaxprof -o\nlarge @ large")
    assert not [each for each in again.operation_times if each.source]  # the line of that product is in another cell


@pytest.mark.parametrize("jit", [lambda fn: fn, jax.jit])
def test_the_lines_of_the_profiled_function_stay_when_it_is_profiled_again(jit: Callable[..., Any]) -> None:
    x = jnp.ones((119, 119))

    def again(x: Any) -> Any:
        return x @ x

    first, second = (jaxmagic.profile(jit(again), x) for _ in range(2))
    for each in (first, second):
        assert any(name.endswith("again") for name in lines_of(each))
        assert "profiling.compiled_earlier" not in {note.kind for note in each.notes}
