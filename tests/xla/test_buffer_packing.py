"""Packing of buffers, and the lower bound of a program's memory, without the compiler's buffer assignment."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import fabricate.hlo

from jaxmagic.memory_use.analysis.buffer_map import live_bytes, memory_map
from jaxmagic.memory_use.record.memory_profile import Allocation
from jaxmagic.xla.buffer_packing import packed
from jaxmagic.xla.hlo import HloInstruction, HloModule, ShapeIndex, Subshape
from jaxmagic.xla.live_ranges import defined_parts
from jaxmagic.xla.schedule import flattened_schedule

_SHAPE = "f32[25]"
_BYTES = 100


def instruction(
    opcode: str, *operand_ids: int, parts: tuple[Subshape, ...] = (Subshape((), _SHAPE, 25, _BYTES),), **changes: Any
) -> HloInstruction:
    return fabricate.hlo.instruction(opcode, *operand_ids, elements=25, **{"subshapes": parts, **changes})


def program(*computations: list[HloInstruction], donated: dict[ShapeIndex, int] | None = None) -> HloModule:
    """Make a module; instructions are numbered consecutively, and the last computation is the entry."""
    ends = list(accumulate(map(len, computations), initial=0))
    order = {number: tuple(range(*ends)) for number, ends in enumerate(pairwise(ends))}
    return fabricate.hlo.module(
        *(each for computation in computations for each in computation),
        computations=order,
        schedule=order,
        root_ids={number: ids[-1] for number, ids in order.items()},
        entry_computation_id=len(computations) - 1,
        input_output_alias=donated or {},
    )


def curve(given: HloModule) -> tuple[list[int], tuple[Allocation, ...]]:
    table = flattened_schedule(given)
    allocations = memory_map(given, packed(given, table), table, estimated=True)
    return live_bytes(allocations, len(table.order)), allocations


def test_an_operand_counts_as_written_over_at_its_last_use() -> None:
    chain = [instruction("parameter"), *(instruction("sine", at) for at in range(4))]
    # 0 argument, 1 to 3 temporaries, each overwrites the one before, 4 output
    assert curve(program(chain))[0] == [100, 200, 200, 200, 200]


def test_the_states_of_a_loop_are_one_buffer() -> None:
    condition = [
        instruction("parameter"),
        instruction("compare", 0, shape="pred[]", parts=(Subshape((), "pred[]", 1, 1),)),
    ]
    body = [instruction("parameter"), instruction("sine", 2), instruction("cosine", 3)]
    entry = [
        instruction("parameter"),
        instruction("copy", 5),
        instruction("while", 6, called_computation_ids=(1, 0)),
        instruction("sine", 7),
    ]
    steps, allocations = curve(program(condition, body, entry))
    (temporary,) = (each for each in allocations if each.kind == "temporary")
    state = [each for each in temporary.buffers if each.instruction in ("copy", "cosine")]
    assert {(each.offset_bytes, each.size_bytes) for each in state} == {(0, _BYTES)}
    assert max(steps) == 201  # the argument, the state, and the result of the condition


def test_a_branch_can_write_over_what_the_next_one_reads() -> None:
    branches = [[instruction("parameter"), instruction("sine", at)] for at in (0, 2)]
    entry = [
        instruction("parameter"),
        instruction("compare", 4, shape="pred[]", parts=(Subshape((), "pred[]", 1, 1),)),
        instruction("copy", 4),
        instruction("conditional", 5, 6, 6, called_computation_ids=(0, 1)),
    ]
    # argument, truth value, copy; then the result of either branch in the buffer of the copy
    assert curve(program(*branches, entry))[0] == [100, 101, 201, 100, 200, 100, 200, 200]


def test_a_donated_argument_is_the_memory_of_the_result() -> None:
    steps, allocations = curve(program([instruction("parameter"), instruction("sine", 0)], donated={(): 0}))
    assert steps == [100, 100]
    assert [(each.kind, each.aliased) for each in allocations] == [("argument", True)]


def test_what_runs_on_the_stack_of_a_thread_takes_no_room() -> None:
    adder = [instruction("parameter"), instruction("add", 0)]
    entry = [instruction("parameter"), instruction("reduce", 2, called_computation_ids=(0,))]
    assert max(curve(program(adder, entry))[0]) == 200


def test_what_an_instruction_hands_on_is_not_its_own() -> None:
    pair = (Subshape((), "(a, b)", 0, 16), Subshape((0,), "a", 1, 4), Subshape((1,), "b", 1, 4))
    own = {
        opcode: [part.shape_index for part in defined_parts(instruction(opcode, parts=pair))]
        for opcode in ("fusion", "tuple", "copy-start", "all-gather-start", "while", "get-tuple-element", "copy-done")
    }
    assert own == {
        "fusion": [(), (0,), (1,)],
        "tuple": [()],
        "copy-start": [(), (0,)],
        "all-gather-start": [(), (1,)],
        "while": [],
        "get-tuple-element": [],
        "copy-done": [],
    }
