"""Operand utilization of real fusions and of malformed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fabricate.hlo
import jax.numpy as jnp
import pytest
from recordings import module_of

from jaxmagic.xla.costs.cost_analysis import flops
from jaxmagic.xla.costs.operand_utilization import parts_of, read_by
from jaxmagic.xla.hlo import HloInstruction, HloModule

TABLE, WHERE = jnp.ones((50_000, 64)), jnp.arange(128)


def computed(function: Callable[..., Any], *args: Any) -> int:
    """Count the floating-point operations of all instructions that are not part of another."""
    found = module_of(function, *args)
    called = {one for each in found.instructions.values() for one in each.called_computation_ids}
    inside = {number for each in called for number in found.computations[each]}
    return sum(flops(found, each) or 0 for number, each in found.instructions.items() if number not in inside)


@pytest.mark.parametrize(
    ("function", "least", "most"),
    [
        (lambda table, where: table * 2, TABLE.size, TABLE.size),
        (lambda table, where: (table * 2)[where], 128 * 64, 4 * 128 * 64),
        (lambda table, where: jnp.exp(table)[-4:], 4 * 64, 4 * 64),
        (lambda table, where: (jnp.exp(table)[where] * 3).sum(), 2 * 128 * 64, 8 * 128 * 64),
    ],
    ids=["all", "rows", "slice", "rows that are added up"],
)
def test_only_what_the_result_needs_is_computed(function: Any, least: int, most: int) -> None:
    assert least <= computed(function, TABLE, WHERE) <= most


def instruction(opcode: str, elements: int, *operand_ids: int, **changes: Any) -> HloInstruction:
    return fabricate.hlo.instruction(opcode, *operand_ids, elements=elements, **changes)


def fusion(*inside: HloInstruction) -> tuple[HloModule, HloInstruction]:
    """Make a fusion of an operand with 1000 elements; its first instruction is the parameter."""
    made = instruction("fusion", inside[-1].elements, 0, called_computation_ids=(7,))
    numbers = range(1, 1 + len(inside))
    every = (instruction("parameter", 1000), *inside)
    return fabricate.hlo.module(*every, computations={7: tuple(numbers)}), made


PARAMETER = instruction("parameter", 1000)


@pytest.mark.parametrize(
    ("inside", "shares"),
    [
        ((instruction("exp", 1000, 1), instruction("slice", 10, 2)), [0.01, 0.01, 1]),
        ((instruction("exp", 1000, 1), instruction("slice", 10, 2), instruction("tuple", 1010, 2, 3)), [1] * 4),
        ((instruction("reduce", 100, 1), instruction("slice", 10, 2)), [0.1, 0.1, 1]),
        ((instruction("sort", 1000, 1), instruction("slice", 10, 2)), [1, 0.01, 1]),
        ((instruction("broadcast", 5000, 1), instruction("slice", 10, 2)), [0.002, 0.002, 1]),
        ((instruction("concatenate", 2000, 1, 1), instruction("slice", 10, 2)), [0.02, 0.005, 1]),
    ],
    ids=["one by one", "needed otherwise", "added up", "sorted", "repeated", "put together"],
)
def test_what_is_cut_out_is_needed_alone(inside: tuple[HloInstruction, ...], shares: list[float]) -> None:
    assert [share for _, share in parts_of(*fusion(PARAMETER, *inside))] == pytest.approx(shares)


def test_what_a_fusion_in_a_fusion_needs_is_what_is_wanted_of_it() -> None:
    found, made = fusion(
        PARAMETER, instruction("fusion", 1000, 1, called_computation_ids=(8,)), instruction("slice", 10, 2)
    )
    within = {10: PARAMETER, 11: instruction("exp", 1000, 10)}
    found = found._replace(
        instructions={**found.instructions, **within}, computations={**found.computations, 8: (10, 11)}
    )
    assert [(each.opcode, share) for each, share in parts_of(found, made)] == [
        ("parameter", 0.01), ("parameter", 0.01), ("exp", 0.01), ("slice", 1),
    ]  # fmt: skip
    assert read_by(found, made, 10) == {0: 10}


@pytest.mark.parametrize("operands", [(2,), (3, 2), ()])
def test_broken_fusions_are_no_endless_search(operands: tuple[int, ...]) -> None:
    circle = (
        instruction("add", 10, *operands),
        instruction("fusion", 10, 1, 2, called_computation_ids=(7,)),
        instruction("add", 9, 2),
    )
    found, made = fusion(PARAMETER, *circle)
    assert len(list(parts_of(found, made))) >= 3
    assert read_by(found, made, 9)[0] <= 1000
