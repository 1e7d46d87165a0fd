"""Attribution of instructions that XLA added: by their computation, constants, users or operands."""

from __future__ import annotations

from typing import Any

import fabricate.hlo
import jax
import jax.numpy as jnp
import pytest
from recordings import module_of

from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.costs.cost_analysis import category
from jaxmagic.xla.hlo import HloInstruction, HloModule
from jaxmagic.xla.lines.inherited import without_inherited
from jaxmagic.xla.lines.origins import Origins

HERE, THERE, ELSEWHERE = (Frame(function="f", file="a.py", line=line) for line in (1, 2, 3))


def instruction(opcode: str, elements: int = 10, operand_ids: tuple[int, ...] = (), **changes: Any) -> HloInstruction:
    fields = {"op_name": f"jit(f)/{opcode}", "stack": (HERE,), **changes}
    return fabricate.hlo.instruction(opcode, *operand_ids, elements=elements, **fields)


def added(opcode: str, operand_ids: tuple[int, ...] = (), **changes: Any) -> HloInstruction:
    """Make an instruction without metadata."""
    return instruction(opcode, operand_ids=operand_ids, **({"stack": (), "op_name": ""} | changes))


def module(*instructions: HloInstruction, **computations: tuple[int, ...]) -> HloModule:
    """Make a module of instructions by id; keywords such as ``c7`` are computations by id."""
    inside = {int(name[1:]): numbers for name, numbers in computations.items()}
    taken = {number for numbers in inside.values() for number in numbers}
    inside[0] = tuple(number for number in range(len(instructions)) if number not in taken)
    return fabricate.hlo.module(*instructions, computations=inside)


def lines(found: HloModule, number: int) -> dict[int | None, float]:
    """Return the share of each line."""
    shares = Origins(found).shares(found.instructions[number])
    return {stack[-1].line if stack else None: share for (stack, _), share in shares.items()}


def test_a_fusion_is_divided_among_its_lines_by_their_work() -> None:
    fusion = instruction("fusion", called_computation_ids=(7,))
    add, tanh = instruction("add"), instruction("tanh", stack=(THERE,))
    found = Origins(module(add, tanh, fusion, c7=(0, 1))).shares(fusion)
    assert {stack: share for (stack, _), share in found.items()} == {(HERE,): 1 / 9, (THERE,): 8 / 9}


def test_of_a_line_counts_what_of_its_work_the_result_needs() -> None:
    """Ten of a thousand sums are sliced out and multiplied."""
    operand = instruction("parameter", 1000)
    add, cut = instruction("add", 1000, (0, 0)), instruction("slice", 10, (1,), stack=())
    multiply = instruction("multiply", 10, (2, 2), stack=(THERE,))
    fusion = instruction("fusion", 10, called_computation_ids=(7,))
    found = Origins(module(operand, add, cut, multiply, fusion, c7=(0, 1, 2, 3))).shares(fusion)
    assert {stack: share for (stack, _), share in found.items()} == {
        (HERE,): pytest.approx(1 / 3),
        (THERE,): pytest.approx(2 / 3),
    }


def test_an_added_instruction_belongs_to_what_takes_its_result() -> None:
    written, iota = instruction("add"), added("iota")
    between = added("get-tuple-element", (1,))
    taker = instruction("scatter", operand_ids=(0, 2), stack=(THERE,))
    found = module(written, iota, between, taker)
    assert lines(found, 1) == lines(found, 2) == {2: 1.0}
    assert lines(module(written, added("copy", (0,)), instruction("dot", operand_ids=(1,), stack=(THERE,))), 1) == {
        2: 1.0
    }


def test_it_is_divided_where_several_lines_take_its_result() -> None:
    takers = [instruction("add", operand_ids=(0,), stack=(frame,)) for frame in (HERE, HERE, THERE, ELSEWHERE)]
    assert lines(module(added("copy"), *takers), 0) == {1: 0.5, 2: 0.25, 3: 0.25}


def test_what_takes_a_result_is_looked_up_in_fusions() -> None:
    """The fusion has one instruction per operand; only the one that reads the looked-up operand counts."""
    inside = [instruction("parameter", parameter_number=at, stack=(), op_name="") for at in (0, 1)]
    first, second = (
        instruction("exponential", operand_ids=(0,)),
        instruction("add", operand_ids=(1, 2), stack=(THERE,)),
    )
    fusion = instruction("fusion", operand_ids=(4, 5), called_computation_ids=(7,), stack=(THERE,))
    found = module(*inside, first, second, added("copy"), added("copy"), fusion, c7=(0, 1, 2, 3))
    assert lines(found, 4) == {1: 1.0}
    assert lines(found, 5) == {2: 1.0}


def test_an_added_instruction_of_a_fusion_belongs_to_what_takes_the_fusion() -> None:
    fusion = added("fusion", called_computation_ids=(7,))
    taker = instruction("scatter", operand_ids=(1,), stack=(THERE,))
    assert lines(module(added("iota"), fusion, taker, c7=(0,)), 1) == {2: 1.0}


def test_it_belongs_to_where_its_operands_come_from_if_nothing_takes_it() -> None:
    written, between = instruction("add", stack=(THERE,)), added("bitcast", (0,))
    assert lines(module(written, between, added("copy", (1,))), 2) == {2: 1.0}
    assert lines(module(added("copy")), 0) == {}


def test_it_belongs_to_the_loop_that_runs_it_if_nothing_else_is_known() -> None:
    loop = instruction("while", called_computation_ids=(7,), stack=(THERE,))
    assert lines(module(added("parameter"), added("copy", (0,)), loop, c7=(0, 1)), 1) == {2: 1.0}


def test_it_belongs_to_the_function_that_it_combines_numbers_with() -> None:
    maximum, taker = instruction("maximum", stack=(THERE,)), instruction("add", operand_ids=(1,))
    window = added("reduce-window", called_computation_ids=(7,))
    assert lines(module(maximum, window, taker, c7=(0,)), 1) == {2: 1.0}
    other = instruction("reduce", called_computation_ids=(7,))  # XLA merges equal computations
    assert lines(module(maximum, window, taker, other, c7=(0,)), 1) == {1: 1.0}


def test_it_belongs_to_the_operation_whose_constant_it_takes() -> None:
    zero, operand = instruction("constant", 1), instruction("tanh", stack=(THERE,))
    window = added("reduce-window", (1, 0))
    taker = instruction("multiply", operand_ids=(2,), stack=(ELSEWHERE,))
    assert lines(module(zero, operand, window, taker), 2) == {1: 1.0}
    other = instruction("pad", operand_ids=(1, 0), stack=(ELSEWHERE,))
    assert lines(module(zero, operand, window, taker, other), 2) == {3: 1.0}


def test_an_operation_that_has_lost_its_line_is_not_given_that_of_a_neighbour() -> None:
    """Only the first of two cumulative sums has a constant with a line; the helper belongs to the second."""
    zero, operand = instruction("constant", 1), instruction("tanh")
    first = added("reduce-window", (1, 0), op_name="reduce_window_sum")
    between = instruction("sine", operand_ids=(2,), stack=(THERE,))
    helper = added("reduce-window", (3, 0))
    second = added("add", (4,), op_name="reduce_window_sum")
    taker = instruction("multiply", operand_ids=(5,), stack=(ELSEWHERE,))
    found = module(zero, operand, first, between, helper, second, taker)
    assert lines(found, 2) == {1: 1.0}
    assert lines(found, 4) == lines(found, 5) == {None: 1.0}


def test_a_loop_that_is_one_kernel_is_divided_among_the_lines_of_its_body() -> None:
    """The kernel has two loops, one with a trip count of ten and one with an unknown trip count."""
    add, tanh = instruction("add"), instruction("add", stack=(THERE,))
    loop, unknown = (
        instruction("while", called_computation_ids=(7,), known_trip_count=10),
        instruction("while", called_computation_ids=(8,)),
    )
    call = instruction("call", called_computation_ids=(9,), one_kernel=True, stack=(ELSEWHERE,))
    found = module(add, tanh, loop, unknown, call, c7=(0,), c8=(1,), c9=(2, 3))
    assert lines(found, 4) == {1: pytest.approx(10 / 11), 2: pytest.approx(1 / 11)}
    whole = call._replace(one_kernel=False)
    assert lines(module(add, tanh, loop, unknown, whole, c7=(0,), c8=(1,), c9=(2, 3)), 4) == {3: 1.0}
    assert category(found, call) == "elementwise fusion"


def test_what_has_its_line_from_the_loop_around_it_belongs_to_what_takes_its_result() -> None:
    dot, tanh = instruction("dot", op_name="jit(f)/while"), instruction("tanh", operand_ids=(0,), stack=(THERE,))
    loop = instruction("while", called_computation_ids=(7,), op_name="jit(f)/while")
    found = without_inherited(module(dot, tanh, loop, c7=(0, 1)))
    assert lines(found, 0) == {2: 1.0}
    assert lines(found, 2) == {1: 1.0}
    own = module(dot._replace(op_name="jit(f)/while/body/dot_general"), tanh, loop, c7=(0, 1))
    assert without_inherited(own) == own


def test_how_often_a_loop_runs_is_read_from_its_module() -> None:
    def looped(x: Any) -> Any:
        return jax.lax.fori_loop(0, 20_000, lambda _, y: jnp.tanh(y) * 2, x)

    found = module_of(looped, jnp.ones(16))
    assert [each.known_trip_count for each in found.instructions.values() if each.opcode == "while"] == [20_000]
    calls = [each for each in found.instructions.values() if each.opcode == "call"]
    assert all(each.one_kernel for each in calls)


def test_a_circle_of_operands_is_no_endless_search() -> None:
    assert lines(module(*(added("copy", (number,)) for number in (1, 0))), 0) == {}


def pooled(x: Any) -> Any:
    y = jax.nn.relu(x)
    z = jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    return (z * z).sum()


def summed(x: Any) -> Any:
    y = jnp.tanh(x)
    z = jnp.cumsum(y, axis=1)
    return z * 2


@pytest.mark.parametrize(
    ("function", "shape", "opcode"),
    [(jax.grad(pooled), (2, 56, 56, 16), "reduce-window"), (summed, (64, 2048), "reduce-window")],
    ids=["gradient of max_pool", "cumsum"],
)
def test_windows_that_xla_has_made_belong_to_the_line_that_needs_them(function: Any, shape: Any, opcode: str) -> None:
    """Both operations are on the third line of their function, and so are the iotas for the first."""
    found = module_of(function, jnp.ones(shape))
    origins, where = Origins(found), getattr(function, "__wrapped__", function).__code__.co_firstlineno + 2
    made = [each for each in found.instructions.values() if each.opcode == opcode and not each.stack]
    made += [each for each in found.instructions.values() if each.opcode == "iota" and not each.stack]
    for each in made:
        assert [stack[-1].line for stack, _ in origins.shares(each)] == [where]


def test_an_operation_that_has_lost_its_line_has_that_of_its_expansion() -> None:
    """The windows of a cumulative sum take its initial value; the instruction that adds them up has its name."""
    zero, operand = instruction("constant", 1), instruction("tanh", stack=(THERE,))
    window = added("reduce-window", (1, 0))
    total = added("add", (2,), op_name="reduce_window_sum")
    taker = instruction("multiply", operand_ids=(3,), stack=(ELSEWHERE,))
    assert lines(module(zero, operand, window, total, taker), 3) == {1: 1.0}
