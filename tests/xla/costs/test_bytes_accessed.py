"""Bytes accessed by instructions of real modules and of malformed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fabricate.hlo
import jax
import jax.numpy as jnp
import pytest
from recordings import module_of

from jaxmagic.xla.costs.bytes_accessed import bytes_accessed, payload_bytes
from jaxmagic.xla.hlo import HloInstruction, HloModule

TABLE = jnp.ones((50_000, 64))
HALF = TABLE.astype(jnp.bfloat16)
WHERE = jnp.arange(128)
ROWS = 128 * 64 * 4
ROW = 64 * 4


def instruction(
    opcode: str, size_bytes: int = 40, operand_ids: tuple[int, ...] = (), **changes: Any
) -> HloInstruction:
    return fabricate.hlo.instruction(opcode, *operand_ids, elements=size_bytes // 4, **changes)


def module(*instructions: HloInstruction, inside: tuple[int, ...] = ()) -> HloModule:
    return fabricate.hlo.module(*instructions, computations={7: inside})


def moved(function: Callable[..., Any], *args: Any) -> int:
    """Sum the bytes of all instructions that are not in a fusion, without loops and their operands."""
    found = module_of(function, *args)
    fused = {
        number
        for each in found.instructions.values()
        if each.opcode not in ("while", "conditional", "call")
        for called in each.called_computation_ids
        for number in found.computations[called]
    }
    none = ("parameter", "tuple", "get-tuple-element", "constant", "bitcast", "while")
    return sum(
        bytes_accessed(found, each) or 0
        for number, each in found.instructions.items()
        if number not in fused and each.opcode not in none
    )


def over_rows(table: Any, where: Any) -> Any:
    return jax.lax.scan(lambda total, at: (total + table[at].sum(), None), 0.0, where)[0]


def stacked(x: Any) -> Any:
    return jax.lax.scan(lambda c, _: (c * 1.01, jnp.sin(c)), x, None, length=1000)[1]


@pytest.mark.parametrize(
    ("function", "args", "least", "most"),
    [
        (lambda table: table * 2, (TABLE,), 2 * TABLE.nbytes, 2 * TABLE.nbytes),
        (lambda table: table + table.T.T, (TABLE,), 2 * TABLE.nbytes, 2 * TABLE.nbytes),
        (lambda table, where: table[where] * 2, (TABLE, WHERE), 2 * ROWS, 8 * ROWS),
        (lambda table, where: table[where].sum(), (TABLE, WHERE), ROWS, 8 * ROWS),
        (lambda table: table[7:9] + 1, (TABLE,), 4 * ROW, 4 * ROW),
        (lambda table, where: (table * 2 + 1)[where], (TABLE, WHERE), 2 * ROWS, 8 * ROWS),
        (lambda table: jnp.exp(table)[-4:], (TABLE,), 8 * ROW, 8 * ROW),
        (lambda table, where: table.astype(jnp.float32)[where], (HALF, WHERE), 3 * ROWS // 2, 8 * ROWS),
        (lambda table, where: table.at[where].add(1.0), (TABLE, WHERE), 2 * ROWS, 2 * TABLE.nbytes + 8 * ROWS),
        (over_rows, (TABLE, WHERE), ROW, 40 * ROW),
        (stacked, (jnp.ones(64),), 1000 * ROW, 1080 * ROW),  # the initial value is as large as all rows
    ],
    ids=[
        "elementwise",
        "twice",
        "look up",
        "look up and add up",
        "slice",
        "compute and look up",
        "compute and slice",
        "convert and look up",
        "add to rows",
        "slices in a loop",
        "updates in a loop",
    ],
)
def test_what_is_touched_counts_once(function: Any, args: Any, least: int, most: int) -> None:
    assert least <= moved(function, *args) <= most


def test_what_is_looked_up_and_needed_as_a_whole_counts_as_a_whole() -> None:
    assert moved(lambda table, where: (table[where], table * 2), TABLE, WHERE) >= 2 * TABLE.nbytes


def fusion(*inside: HloInstruction, operands: tuple[int, ...], size_bytes: int) -> tuple[HloModule, HloInstruction]:
    """Make a fusion in a module with two parameters, of 4000 bytes and of 4."""
    outside = (instruction("parameter", 4000), instruction("parameter", 4, parameter_number=1))
    made = instruction("fusion", size_bytes, operands, called_computation_ids=(7,))
    numbers = tuple(range(2, 2 + len(inside)))
    return module(*outside, *inside, inside=numbers), made


FIRST, SECOND = instruction("parameter", 4000), instruction("parameter", 4, parameter_number=1)


@pytest.mark.parametrize(
    ("inside", "size_bytes", "moved_bytes"),
    [
        ((FIRST, SECOND, instruction("dynamic-slice", 40, (2, 3))), 40, 40 + 4 + 40),
        ((FIRST, SECOND, instruction("bitcast", 4000, (2,)), instruction("gather", 40, (4, 3))), 40, 40 + 4 + 40),
        ((SECOND, FIRST, instruction("dynamic-slice", 40, (3, 2))), 40, 40 + 4 + 40),
        ((FIRST, SECOND, instruction("add", 4000, (2, 2))), 4000, 4000 + 4 + 4000),
        (
            (FIRST, SECOND, instruction("sine", 4, (3,)), instruction("dynamic-update-slice", 4000, (2, 4, 3))),
            4000,
            0 + 4 + 4,
        ),
        (
            (FIRST, SECOND, instruction("sine", 4000, (2,)), instruction("dynamic-update-slice", 4000, (4, 3, 3))),
            4000,
            4000 + 4 + 4000,
        ),
        (
            (FIRST, SECOND, instruction("dynamic-update-slice", 4000, (2, 3, 3)), instruction("exp", 4000, (4,))),
            4000,
            4000 + 4 + 4000,
        ),
        ((FIRST, SECOND, instruction("exp", 4000, (2,)), instruction("dynamic-slice", 40, (4, 3))), 40, 40 + 4 + 40),
        (
            (FIRST, SECOND, instruction("concatenate", 4004, (2, 3)), instruction("slice", 40, (4,))),
            40,
            40 + 4 + 40,
        ),
        ((FIRST, SECOND, instruction("reduce", 400, (2, 3)), instruction("slice", 40, (4,))), 40, 400 + 4 + 40),
        ((FIRST, SECOND, instruction("dot", 400, (2, 3)), instruction("slice", 40, (4,))), 40, 4000 + 4 + 40),
        (
            (
                FIRST,
                SECOND,
                instruction("bitcast", 4000, (2,)),
                instruction("dynamic-update-slice", 4000, (4, 3, 3)),
                instruction("bitcast", 4000, (5,)),
                instruction("tuple", 4000, (6,)),
            ),
            4000,
            0 + 4 + 4,
        ),
    ],
    ids=[
        "slice",
        "in another shape",
        "in another order",
        "twice",
        "update in place",
        "update of what is computed",
        "update that goes on",
        "computed and sliced",
        "concatenated and sliced",
        "added up and sliced",
        "product",
        "update in another shape",
    ],
)
def test_a_fusion_reads_what_is_taken_of_its_operands(
    inside: tuple[HloInstruction, ...], size_bytes: int, moved_bytes: int
) -> None:
    assert bytes_accessed(*fusion(*inside, operands=(0, 1), size_bytes=size_bytes)) == moved_bytes


@pytest.mark.parametrize(("combines", "moved_bytes"), [("parameter", 8 + 40 + 40), ("add", 8 + 40 + 40 + 40)])
def test_what_is_added_to_rows_reads_them_before(combines: str, moved_bytes: int) -> None:
    operands = instruction("parameter", 4000), instruction("parameter", 8), instruction("parameter", 40)
    combine = instruction("parameter", 4), instruction("parameter", 4), instruction(combines, 4)
    found = module(*operands, *combine, inside=(3, 4, 5))
    assert bytes_accessed(found, instruction("scatter", 4000, (0, 1, 2), called_computation_ids=(7,))) == moved_bytes


def test_a_scatter_of_several_arrays_writes_the_update_of_each() -> None:
    sizes = (4000, 4000, 8, 40, 80)
    found = module(*(instruction("parameter", each) for each in sizes))
    assert bytes_accessed(found, instruction("scatter", 8000, (0, 1, 2, 3, 4))) == 8 + 40 + 80 + 40 + 80


def test_a_fusion_in_a_fusion_is_looked_into() -> None:
    inner = instruction("fusion", 40, (2, 3), called_computation_ids=(8,))
    found, made = fusion(FIRST, SECOND, inner, operands=(0, 1), size_bytes=40)
    within = {10: FIRST, 11: SECOND, 12: instruction("dynamic-slice", 40, (10, 11))}
    found = found._replace(
        instructions={**found.instructions, **within}, computations={**found.computations, 8: tuple(within)}
    )
    assert bytes_accessed(found, made) == 40 + 4 + 40


@pytest.mark.parametrize("opcode", ["scatter", "dynamic-update-slice", "gather", "slice", "fusion"])
def test_a_broken_instruction_without_operands_moves_what_it_gives(opcode: str) -> None:
    assert bytes_accessed(module(), instruction(opcode, 8, called_computation_ids=(3,))) == 8
    assert bytes_accessed(module(), instruction(opcode, 8, operand_ids=(5,), called_computation_ids=(7,))) == 8


def test_a_fusion_that_contains_itself_is_no_endless_search() -> None:
    circle = instruction("fusion", 40, (0, 1), called_computation_ids=(7,))
    found, _ = fusion(FIRST, SECOND, circle, operands=(0, 1), size_bytes=40)
    assert bytes_accessed(found, circle) is not None


def test_loops_are_not_counted() -> None:
    assert bytes_accessed(module(), instruction("while")) is None


@pytest.mark.parametrize(
    ("opcode", "taken", "given", "payload"),
    [
        ("all-reduce", 10, 10, 40),
        ("all-gather", 10, 40, 160),
        ("reduce-scatter", 40, 10, 160),
        ("all-gather-start", 10, 50, 160),
    ],
)
def test_what_is_exchanged_is_the_larger_of_what_goes_in_and_comes_out(
    opcode: str, taken: int, given: int, payload: int
) -> None:
    inside = module(instruction("parameter", 4 * taken), exchange := instruction(opcode, 4 * given, (0,)))
    assert payload_bytes(inside, exchange) == payload
