"""How often operations of the CPU ran: one run may be several events."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from recordings import module_of

import jaxmagic
from jaxmagic.profiling.analysis.devices.cpu_runs import runs_of_cpu
from jaxmagic.profiling.record.recording import EventMetadata

X = jax.random.normal(jax.random.key(0), (3000,))


def counts(function: Any, n: int) -> dict[str, list[int]]:
    f = jax.jit(function)
    f(X).block_until_ready()
    found: dict[str, list[int]] = {}
    for each in jaxmagic.profile(f, X, n=n).operation_times:
        found.setdefault(each.category, []).append(each.count)
    return found


@pytest.mark.parametrize("n", [1, 3])
def test_one_sort_is_one_run_though_it_copies_first(n: int) -> None:
    assert counts(jnp.sort, n) == {"sort": [n]}


def test_a_sort_of_several_operands_is_one_run() -> None:
    assert counts(lambda x: jax.lax.sort((x, x * 2, x + 1), num_keys=1)[2], 2)["sort"] == [2]


def test_in_a_loop_an_operation_runs_once_per_iteration() -> None:
    def body(x: Any, _: None) -> Any:
        return jnp.sort(x) + jnp.sort(x[::-1]), None

    assert counts(lambda x: jax.lax.scan(body, x, length=5)[0], 2)["sort"] == [10, 10]


def of(*events: tuple[str, int]) -> dict[str, int]:
    """Count events of a loop and what lies around it, each the name of an instruction and its execution."""
    module = module_of(lambda x: jax.lax.fori_loop(0, 3, lambda _, y: jnp.sort(y * 2), x) + 1, X)
    names = sorted({name for name, _ in events})
    kinds = [EventMetadata(each, {"hlo_op": names_of(module)[each], "program_id": 7}) for each in names]
    found = runs_of_cpu(
        np.array([names.index(name) for name, _ in events]),
        np.array([execution for _, execution in events]),
        kinds,
        {("", 7): module},
    )
    return {names[kind]: count for kind, count in found.items()}


def names_of(module: Any) -> dict[str, str]:
    """A sort and another operation in the body, and one of the entry computation."""
    body = next(
        members
        for members in module.computations.values()
        if any(module.instructions[each].opcode == "sort" for each in members)
    )
    found = {"while": "while", "sort": "sort"}
    names = {key: next(e.name for e in module.instructions.values() if e.opcode == key) for key in found}
    other = next(each for each in body if module.instructions[each].opcode in ("fusion", "add", "multiply"))
    return names | {"other": module.instructions[other].name}


def test_the_operation_of_a_computation_with_fewest_events_tells_how_often_it_runs() -> None:
    whole = [("while", 5), *[("sort", 5)] * 6, *[("other", 5)] * 3]
    assert of(*whole) == {"while": 1, "sort": 3, "other": 3}
    cut = [("while", 6), *[("sort", 6)] * 3, *[("other", 6)] * 2]
    assert of(*whole, *cut) == {"while": 2, "sort": 5, "other": 5}


def test_without_an_execution_or_a_module_nothing_is_said() -> None:
    assert of(("while", 0), ("while", 0), ("sort", 3), ("sort", 3), ("other", 3)) == {"sort": 1, "other": 1}
    assert runs_of_cpu(np.array([0, 0]), np.array([1, 1]), [EventMetadata("f", {"program_id": 7})], {}) == {}
