"""Labels of a line's time: a collective for an argument, a backward pass, a loop itself, another caller's trace."""

from __future__ import annotations

from typing import Any

import fabricate.hlo
import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.profiling.analysis.source_lines import line_times
from jaxmagic.profiling.record.profile import DeviceUse, PlaceTime, Profile
from jaxmagic.profiling.report.lines import about_labels
from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.hlo import HloInstruction, HloModule, Sharded
from jaxmagic.xla.lines.labels import BACKWARD, LOOP, RECOMPUTED, label_of_instruction, label_of_scope

HERE = (Frame(function="f", file="a.py", line=7),)


def instruction(opcode: str, *operand_ids: int, **changes: Any) -> HloInstruction:
    fields = {"op_name": f"jit(f)/{opcode}", "stack": HERE, **changes}
    return fabricate.hlo.instruction(opcode, *operand_ids, elements=8, **fields)


def module(*instructions: HloInstruction, pieces: tuple[int, ...] | None = (4, 1)) -> HloModule:
    inputs = (Sharded(name="params['w']", shape="f32[8,8]", pieces=pieces),)
    return fabricate.hlo.module(*instructions, inputs=inputs)


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ((4, 1), "all-gather of argument params['w'], which is sharded 4 ways on axis 0"),
        ((2, 4), "all-gather of argument params['w'], which is sharded 2 ways on axis 0 and 4 ways on axis 1"),
        (None, "all-gather of argument params['w']"),
    ],
)
def test_an_exchange_that_a_sharding_causes_names_the_argument(pieces: Any, said: str) -> None:
    argument, copy = instruction("parameter", op_name="params['w']", stack=()), instruction("copy", 0)
    gather = instruction("all-gather-start", 1, op_name="params['w']", stack=())
    assert label_of_instruction(module(argument, copy, gather, pieces=pieces), gather) == said


def test_an_exchange_that_the_line_asks_for_needs_no_label() -> None:
    argument = instruction("parameter", op_name="params['w']", stack=())
    gather = instruction("all-gather", 0, op_name="jit(f)/shard_map/all_gather")
    assert label_of_instruction(module(argument, gather), gather) == ""
    other = instruction("all-gather", 1)
    assert label_of_instruction(module(argument, instruction("dot", 0), other), other) == ""


def test_what_was_traced_for_another_caller_names_it() -> None:
    found = instruction("sort", stack=(), traced_for="first")
    said = label_of_instruction(module(found), found)
    assert said == "traced for an earlier caller, first; JAX did not record this caller"
    assert label_of_instruction(module(found), found._replace(stack=HERE)) == ""


@pytest.mark.parametrize(
    ("scope", "label"),
    [
        ("jit(f)/transpose(jvp(jit(sort)))/sort", BACKWARD),
        ("jit(f)/jvp()/while", LOOP),
        ("jit(f)/while/body/sort", ""),
        ("jit(f)/my_while", ""),
    ],
)
def test_a_path_tells_a_backward_pass_and_a_loop(scope: str, label: str) -> None:
    assert label_of_scope(scope) == label


def place(scope: str, time_ns: int, stack: Any = HERE, **changes: Any) -> PlaceTime:
    return PlaceTime(stack=stack, scope=scope, time_ns=time_ns, count=1, operations=("sort",), **changes)


def test_lines_say_what_they_are_from_a_share_on_and_backward_passes_where_nothing_else_is_in_a_line() -> None:
    use = DeviceUse(
        device="CPU:0", busy_ns=1000, compute_ns=1000, copy_ns=0, collective_ns=0, exposed_copy_ns=0,
        exposed_collective_ns=0, idle_ns=0,
    )  # fmt: skip

    def said(*places: PlaceTime) -> list[str]:
        found = Profile(recorded_ns=1000, device_uses=(use,), operation_times=(), place_times=places)
        return about_labels(line_times(found), found)

    assert said(place("transpose(jvp())/sort", 1000)) == [f"a.py:7: 1.00 µs (100 %) is {BACKWARD}."]
    assert said(place("transpose(jvp())/sort", 600), place("jvp()/sort", 400)) == []
    assert said(place("f/while", 60), place("f/while/body/add", 940)) == [f"a.py:7: 60 ns (6 %) is {LOOP}."]
    assert said(place("f/while", 40), place("f/while/body/add", 960)) == []
    (unknown,) = said(place("f/jit(sort)/sort", 1000, stack=(), about="traced for an earlier caller, first"))
    assert unknown == "Without a line: 1.00 µs (100 %) is traced for an earlier caller, first."


@pytest.mark.parametrize(
    ("scope", "label"),
    [
        ("jit(f)/transpose(jvp())/checkpoint/rematted_computation/dot_general", RECOMPUTED),
        ("jit(f)/transpose(jvp())/while/body/closed_call/checkpoint/rematted_computation/jvp()/tanh", RECOMPUTED),
        ("jit(f)/transpose(jvp())/checkpoint/rematted_computation/transpose(jvp())/mul", BACKWARD),
        ("jit(f)/transpose(jvp())/checkpoint/transpose", BACKWARD),
        ("jit(f)/jvp()/checkpoint/dot_general", ""),
    ],
)
def test_what_a_checkpoint_computes_again_is_no_backward_pass(scope: str, label: str) -> None:
    assert label_of_scope(scope) == label


def test_what_a_checkpoint_computes_again_is_told_of_a_real_program() -> None:
    x = jnp.ones((300, 300))
    block = jax.checkpoint(lambda w: jnp.tanh(jnp.tanh(w @ x) @ x))
    record = jaxmagic.profile(jax.jit(jax.grad(lambda w: block(w).sum())), x)
    told = {label_of_scope(scope) for scope in record.operations()["scope"]}
    assert {RECOMPUTED, BACKWARD} <= told
