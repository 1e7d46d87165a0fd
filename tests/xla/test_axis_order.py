"""The order of an argument's axes in memory is followed, and is unknown where axes are split, merged or computed."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.xla.axis_order import stored_order
from jaxmagic.xla.hlo import HloInstruction, HloModule

KEYS = ("parameter", "f32[2,64,8,32]", (3, 2, 1, 0))


def instruction(opcode: str, shape: str, minor_to_major: tuple[int, ...], operands: tuple[int, ...]) -> Any:
    zeros: Any = dict.fromkeys(("elements", "size_bytes", "num_replica_groups"), 0)
    texts: Any = dict.fromkeys(("name", "custom_call_target", "op_name"), "")
    return HloInstruction(
        opcode=opcode,
        shape=shape,
        operand_ids=operands,
        called_computation_ids=(),
        flops=None,
        stack=(),
        minor_to_major=minor_to_major,
        **zeros,
        **texts,
    )


def module(*chain: Any, fused: int = 0) -> HloModule:
    """A chain of instructions, each with opcode, shape, layout and perhaps dimensions; the last ones in a fusion."""
    made = [
        instruction(*each[:3], (number - 1,) if number else ())._replace(dimensions=(*each[3:4], ())[0])
        for number, each in enumerate(chain)
    ]
    instructions, outside = dict(enumerate(made)), list(range(len(made)))
    if fused:
        first, last = len(made) - fused, len(made) - 1
        outside = [*range(first), 100]
        instructions[100] = made[last]._replace(
            opcode="fusion", operand_ids=(first - 1,), called_computation_ids=(1,)
        )
        instructions[101] = made[first - 1]._replace(opcode="parameter", operand_ids=())
        instructions[first] = made[first]._replace(operand_ids=(101,))
    inside = tuple(each for each in instructions if each not in outside)
    return HloModule(
        name="m",
        instructions=instructions,
        computations={0: tuple(outside), 1: inside},
        instruction_ids={},
        root_ids={0: outside[-1], 1: len(made) - 1},
    )


#: Ways to write the same reordering, as XLA for CPUs and for GPUs has them.
TO_0231 = [
    [("transpose", "f32[2,8,32,64]", (3, 2, 1, 0), (0, 2, 3, 1))],
    [("transpose", "f32[2,8,32,64]", (2, 1, 3, 0), (0, 2, 3, 1)), ("copy", "f32[2,8,32,64]", (3, 2, 1, 0))],
    [("copy", "f32[2,64,8,32]", (1, 3, 2, 0))],
    [("bitcast", "f32[2,8,32,64]", (2, 1, 3, 0)), ("copy", "f32[2,8,32,64]", (3, 2, 1, 0))],
    [
        ("transpose", "f32[2,8,64,32]", (3, 1, 2, 0), (0, 2, 1, 3)),
        ("transpose", "f32[2,8,32,64]", (3, 2, 1, 0), (0, 1, 3, 2)),
    ],
]


@pytest.mark.parametrize("steps", TO_0231)
def test_the_same_order_is_found_however_it_is_written(steps: Any) -> None:
    assert stored_order(module(KEYS, *steps), len(steps)) == (0, 2, 3, 1)
    assert stored_order(module(KEYS, *steps, fused=len(steps)), 100) == (0, 2, 3, 1)


def test_axes_merged_after_the_last_copy_do_not_matter() -> None:
    steps = [("copy", "f32[2,64,8,32]", (3, 1, 2, 0)), ("bitcast", "f32[16,2048]", (1, 0))]
    assert stored_order(module(KEYS, *steps, fused=2), 100) == (0, 2, 1, 3)


def test_axes_of_one_element_may_come_and_go() -> None:
    keys = ("parameter", "f32[1,64,8,32]", (3, 2, 1, 0))
    dropped = [("bitcast", "f32[64,8,32]", (2, 1, 0)), ("transpose", "f32[8,32,64]", (2, 1, 0), (1, 2, 0))]
    assert stored_order(module(keys, *dropped), 2) == (0, 2, 3, 1)
    added = [("bitcast", "f32[2,64,8,32,1]", (4, 3, 2, 1, 0)), ("copy", "f32[2,64,8,32,1]", (4, 1, 3, 2, 0))]
    assert stored_order(module(KEYS, *added), 2) == (0, 2, 3, 1)


@pytest.mark.parametrize(
    "steps",
    [
        [("reshape", "f32[128,8,32]", (2, 1, 0)), ("transpose", "f32[8,128,32]", (2, 1, 0), (1, 0, 2))],
        [("bitcast", "f32[128,8,32]", (2, 1, 0)), ("transpose", "f32[8,128,32]", (2, 1, 0), (1, 0, 2))],
        [("convert", "f32[2,64,8,32]", (3, 2, 1, 0)), ("copy", "f32[2,64,8,32]", (1, 3, 2, 0))],
        [("copy", "f32[2,64,8,32]", (3, 2, 1, 0))],
        [("copy", "(f32[2,64,8,32])", ())],
        [("transpose", "f32[2,64,8,32]", (3, 2, 1, 0), ())],
        [("transpose", "f32[2,64,8,32]", (3, 2, 1, 0), (0, 2, 3, 7))],
        [],
    ],
)
def test_no_order_is_known_where_axes_change_or_stay(steps: Any) -> None:
    assert stored_order(module(KEYS, *steps), len(steps)) is None


def test_moving_only_an_axis_of_one_element_is_no_reordering() -> None:
    keys = ("parameter", "f32[2,1,8]", (2, 1, 0))
    assert stored_order(module(keys, ("transpose", "f32[1,2,8]", (2, 1, 0), (1, 0, 2))), 1) is None


def test_arguments_in_another_order_than_the_default_one_have_none() -> None:
    keys = ("parameter", "f32[2,64,8,32]", (1, 2, 3, 0))
    assert stored_order(module(keys, ("copy", "f32[2,64,8,32]", (1, 3, 2, 0))), 1) is None


def test_cycles_of_a_malformed_module_end() -> None:
    broken = module(KEYS, ("copy", "f32[2,64,8,32]", (1, 3, 2, 0)))
    looped = {**broken.instructions, 0: broken.instructions[1]._replace(operand_ids=(1,))}
    assert stored_order(broken._replace(instructions=looped), 1) is None
