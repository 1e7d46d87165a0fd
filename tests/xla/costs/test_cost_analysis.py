"""Categories and estimated work of instructions of real modules."""

from __future__ import annotations

from typing import Any

import fabricate.hlo
import jax
import jax.numpy as jnp
import pytest
from recordings import all_of, module_of

from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.costs.cost_analysis import category, flops, multiplied, work
from jaxmagic.xla.hlo import HloInstruction, HloModule

HERE = Frame(function="f", file="a.py", line=1)


def instruction(opcode: str, elements: int = 10, operand_ids: tuple[int, ...] = (), **changes: Any) -> HloInstruction:
    fields = {"op_name": opcode, "stack": (HERE,), **changes}
    return fabricate.hlo.instruction(opcode, *operand_ids, elements=elements, **fields)


def module(*instructions: HloInstruction, inside: tuple[int, ...] = ()) -> HloModule:
    return fabricate.hlo.module(*instructions, computations={7: inside})


@pytest.mark.parametrize(
    ("opcode", "target", "kind"),
    [
        ("dot", "", "matmul"),
        ("convolution", "", "convolution"),
        ("all-reduce-start", "", "collective"),
        ("copy-done", "", "copy"),
        ("while", "", "control flow"),
        ("tanh", "", "elementwise"),
        ("parameter", "", "other"),
        ("custom-call", "__cublas$gemm", "matmul"),
        ("custom-call", "__cudnn$convForward", "convolution"),
        ("custom-call", "xla_python_cpu_callback", "host callback"),
        ("custom-call", "lapack_sgetrf_ffi", "custom call"),
    ],
)
def test_instructions_are_sorted_by_what_they_do(opcode: str, target: str, kind: str) -> None:
    assert category(module(), instruction(opcode, custom_call_target=target)) == kind


def test_a_copy_that_changes_the_layout_is_no_memcpy() -> None:
    copy = instruction("copy")
    assert category(module(), copy) == "copy"
    assert category(module(), copy._replace(changes_layout=True)) == "layout change"
    x = jnp.ones((4, 4, 8, 8))
    made = module_of(lambda x: jax.lax.conv(x, x, (1, 1), "SAME"), x)  # XLA wants the features last
    found = [category(made, each) for each in all_of(made, "copy") + all_of(made, "fusion")]
    assert set(found) == {"layout change"}


def test_a_fusion_is_what_most_of_its_work_is() -> None:
    fusion = instruction("fusion", called_computation_ids=(7,))
    dot, add = instruction("dot", flops=2000), instruction("add")
    assert category(module(dot, add, inside=(0, 1)), fusion) == "matmul"
    assert category(module(add, inside=(0,)), fusion) == "elementwise fusion"


def test_what_is_called_outside_xla_has_no_count() -> None:
    assert flops(module(), instruction("custom-call")) is None
    assert flops(module(), instruction("while")) is None


def test_products_count_twice_and_an_exponential_once() -> None:
    found = module_of(lambda x, w: x @ w, jnp.ones((3, 5)), jnp.ones((5, 7)))
    total = [flops(found, each) for each in found.instructions.values() if each.opcode == "dot"]
    assert total == [2 * 3 * 5 * 7]
    assert flops(module(), instruction("exponential", elements=10)) == 10
    assert work(module(), instruction("exponential", elements=10)) == 80
    assert flops(module(), instruction("remainder", elements=10, shape="f32[10]")) == 10


def test_a_remainder_of_integers_is_not_that_of_others() -> None:
    of_integers, of_others = (work(module(), instruction("remainder", shape=each)) for each in ("s32[10]", "f32[10]"))
    assert 10 * of_integers < of_others


@pytest.mark.parametrize("opcode", ["gather", "scatter"])
def test_places_cost_as_many_as_there_are_and_more_in_a_large_table(opcode: str) -> None:
    """A row costs one random access, which is expensive if the table does not fit in the caches."""

    def cost(table: int, indices: int, elements: int) -> float:
        operands = [instruction("parameter", each) for each in (table, indices, elements)]
        taken = (0, 1) if opcode == "gather" else (0, 1, 2)
        return work(module(*operands), instruction(opcode, elements, taken))

    singly, by_row = cost(10**6, 64_000, 64_000), cost(10**6, 1000, 64_000)
    assert singly > 4 * by_row >= 4 * 64_000
    assert cost(10**8, 64_000, 64_000) > 5 * singly
    assert cost(10**8, 1000, 64_000) < 4 * by_row


@pytest.mark.parametrize("opcode", ["scatter", "gather", "dynamic-update-slice", "reduce", "dynamic-slice", "fusion"])
def test_a_broken_instruction_without_operands_costs_nothing(opcode: str) -> None:
    found = instruction(opcode, elements=0)
    assert work(module(), found) == 0
    assert flops(module(), found) == 0


def test_what_sorts_has_no_flop_and_what_adds_at_places_has_one_for_each_element() -> None:
    def found(function: Any, opcode: str, *arguments: Any) -> list[int | None]:
        made = module_of(function, *arguments)
        return [flops(made, each) for each in made.instructions.values() if each.opcode == opcode]

    assert found(jnp.sort, "sort", jnp.ones(1000)) == [0]
    places, rows = jnp.array([1, 3, 3]), jnp.ones((3, 4))
    assert found(lambda x, i, y: x.at[i].add(y), "scatter", jnp.ones((9, 4)), places, rows) == [12]
    assert found(lambda x, i, y: x.at[i].set(y), "scatter", jnp.ones((9, 4)), places, rows) == [0]


def test_the_type_that_is_multiplied_is_that_of_what_a_product_takes() -> None:
    made = module_of(lambda x, w: x @ w, jnp.ones((3, 5), jnp.bfloat16), jnp.ones((5, 7), jnp.bfloat16))
    dots = [each for each in made.instructions.values() if each.opcode == "dot"]
    assert {multiplied(made, each) for each in dots} <= {"bf16", "f32"}  # the CPU may convert before
    assert multiplied(module(), instruction("add")) == ""
