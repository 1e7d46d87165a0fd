"""Updates outside of jit that copy a large array each are found where they replace the array, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate.profiling import operation, use
from gathered_evidence import evidence_of

from jaxmagic.doctor.capture.remedies.all import REMEDIES
from jaxmagic.doctor.capture.remedies.remedy import NotTried
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules import donation
from jaxmagic.profiling.record.profile import Profile

ROWS, SIZE_BYTES = 5000, 5000 * 64 * 4


def zeros() -> jax.Array:
    return jnp.zeros((ROWS, 64))


def of_a_variable(i: int) -> tuple[jax.Array]:
    x = zeros()
    x = x.at[i].set(1.0)
    return (x,)


def of_an_attribute(i: int) -> jax.Array:
    buffer = SimpleNamespace(rows=zeros())
    buffer.rows = buffer.rows.at[i, 3].add(2.0)
    return buffer.rows


def of_an_item(i: int) -> jax.Array:
    state = {"rows": zeros()}
    state["rows"] = jax.lax.dynamic_update_slice(state["rows"], jnp.ones((1, 64)), (i, 0))
    return state["rows"]


def _written(rows: jax.Array, i: int) -> jax.Array:
    return rows.at[i].set(1.0)


def _added(state: dict[str, jax.Array], *, i: int) -> dict[str, jax.Array]:
    return {**state, "rows": state["rows"].at[i].add(1.0)}


def in_a_function(i: int) -> tuple[jax.Array]:
    x = zeros()
    x = _written(x, i)
    return (x,)


def in_a_function_of_states(i: int) -> jax.Array:
    state = {"rows": zeros()}
    state = _added(state, i=i)
    return state["rows"]


def in_a_function_for_another_variable(i: int) -> tuple[jax.Array, jax.Array]:
    x = zeros()
    y = _written(x, i)
    return x, y


def of_another_variable(i: int) -> tuple[jax.Array, jax.Array]:
    x = zeros()
    y = x.at[i].set(1.0)  # the copy is wanted
    return x, y


def that_returns(i: int) -> jax.Array:
    x = zeros()
    return x.at[i].set(1.0)


def of_a_small_array(i: int) -> tuple[jax.Array]:
    x = jnp.zeros(100)
    x = x.at[i].set(1.0)
    return (x,)


@jax.jit
def _jitted(x: jax.Array, i: int) -> tuple[jax.Array]:
    x = x.at[i].set(1.0)
    return (x,)


def inside_jit(i: int) -> tuple[jax.Array]:
    return _jitted(zeros(), i)


def evidence(function: Callable[[int], Any], *, count: int = 6, share: float = 0.5) -> Evidence:
    """Evidence of a call, with a recording of two runs in which copies take this share of the time."""
    found = replace(evidence_of(function, 7), profile=None)
    copies = tuple(
        operation(
            each.name,
            round(2 * share * found.run_ns),
            module=program.executable.name,
            shape=each.shape,
            category="copy",
            count=count,
        )
        for program in found.programs or ()
        if program.module is not None
        for each in program.module.instructions.values()
        if each.opcode == "copy"
    )
    profile = Profile(
        runs=2,
        recorded_ns=2 * found.run_ns,
        device_uses=(use("CPU:0", 1),),
        operation_times=copies,
        place_times=(),
    )
    return replace(found, profile=profile)


def updates(found: Evidence) -> list[RuleFinding]:
    return [each for each in donation.RULE.look(found) if each.found.kind == "doctor.eager_updates"]


@pytest.mark.parametrize(
    ("function", "array", "source", "jitted"),
    [
        (
            of_a_variable,
            "x",
            "x = x.at[i].set(1.0)",
            "jax.jit(lambda array, i, value: array.at[i].set(value), donate_argnums=0)",
        ),
        (
            of_an_attribute,
            "buffer.rows",
            "buffer.rows = buffer.rows.at[i, 3].add(2.0)",
            "jax.jit(lambda array, i, value: array.at[i].add(value), donate_argnums=0)",
        ),
        (
            of_an_item,
            "state['rows']",
            'state["rows"] = jax.lax.dynamic_update_slice(state["rows"], jnp.ones((1, 64)), (i, 0))',
            "jax.jit(jax.lax.dynamic_update_slice, donate_argnums=0)",
        ),
        (
            in_a_function,
            "rows",
            "return rows.at[i].set(1.0)",
            "jax.jit(lambda array, i, value: array.at[i].set(value), donate_argnums=0)",
        ),
        (
            in_a_function_of_states,
            "state['rows']",
            'return {**state, "rows": state["rows"].at[i].add(1.0)}',
            "jax.jit(lambda array, i, value: array.at[i].add(value), donate_argnums=0)",
        ),
    ],
)
def test_updates_that_replace_an_array_are_found_with_what_they_copy(
    function: Callable[[int], Any], array: str, source: str, jitted: str
) -> None:
    known = evidence(function)
    (found,) = updates(known)
    assert found.source == source
    assert found.found.facts == {
        "array": array,
        "count": 3,
        "size_bytes": SIZE_BYTES,
        "moved_bytes": 3 * SIZE_BYTES,
    }
    assert (found.cost_ns, found.basis, found.code) == (pytest.approx(0.5 * known.run_ns, abs=1), "estimated", None)
    assert f"such as {jitted}: XLA" in str(found.remedy)


@pytest.mark.parametrize(
    "function", [of_another_variable, that_returns, in_a_function_for_another_variable, of_a_small_array, inside_jit]
)
def test_other_updates_are_no_finding(function: Callable[[int], Any]) -> None:
    assert updates(evidence(function)) == []


def test_few_or_short_copies_are_no_finding() -> None:
    assert len(updates(evidence(of_a_variable, share=0.03))) == 1
    assert updates(evidence(of_a_variable, share=0.01)) == []
    assert updates(evidence(of_a_variable, count=4)) == []
    assert updates(replace(evidence(of_a_variable), profile=None)) == []


def test_the_jitted_function_that_is_advised_computes_the_same_in_place() -> None:
    (found,) = updates(evidence(of_a_variable))
    advised = eval(str(found.remedy).partition("such as ")[2].partition(": XLA")[0], {"jax": jax})
    given = zeros()
    address = given.unsafe_buffer_pointer()
    result = advised(given, 7, 1.0)
    np.testing.assert_array_equal(result, of_a_variable(7)[0])
    assert result.unsafe_buffer_pointer() == address
    assert given.is_deleted()


def test_an_update_outside_of_jit_is_not_tried_with_a_function_that_is_jitted() -> None:
    (found,) = updates(evidence(of_a_variable))
    with pytest.raises(NotTried):
        REMEDIES["donation"](found, None)  # type: ignore[arg-type]
