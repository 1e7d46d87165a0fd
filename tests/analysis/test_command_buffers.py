"""Kernels of CUDA graphs are the operations that their names tell."""

from __future__ import annotations

from typing import Any

from jaxmagic.analysis.command_buffers import about_graphs, in_command_buffer, op_of_kernel
from jaxmagic.analysis.recorded import recorded
from jaxmagic.model.frame import Frame
from jaxmagic.model.hlo import HloInstruction, Module
from jaxmagic.model.recording import EventKind


def module(*names: str) -> Module:
    def instruction(name: str, line: int) -> HloInstruction:
        empty: dict[str, Any] = {"operands": (), "called": (), "target": "", "flops": None, "groups": 0}
        stack = (Frame(function="f", file="a.py", line=line),)
        return HloInstruction(
            name=name, opcode="add", shape="f32[8]", elements=8, size_bytes=32, op_name="add", stack=stack, **empty
        )

    numbered = dict(enumerate(names))
    return Module(
        name="jit_f",
        instructions={number: instruction(name, number + 1) for number, name in numbered.items()},
        computations={0: tuple(numbered)},
        named={name: number for number, name in numbered.items()},
    )


def kernel(name: str, hlo_op: str = "command_buffer.2", graph: int = 7) -> EventKind:
    return EventKind(name, {"hlo_op": hlo_op, "program_id": 1, "cuda_graph_id": graph, "hlo_module": "jit_f"})


def test_three_kernels_of_a_graph_are_three_operations_with_their_lines() -> None:
    program = {("", 1): module("loop_add_fusion.1", "loop_add_fusion", "copy-start.3")}
    found = [recorded(kernel(each), program) for each in ("loop_add_fusion_1", "loop_add_fusion", "copy_start_3")]
    assert [each.name for each in found] == ["loop_add_fusion.1", "loop_add_fusion", "copy-start.3"]
    assert [each.source for each in found] == ["a.py:1", "a.py:2", "a.py:3"]


def test_a_kernel_of_a_library_keeps_its_name_and_has_no_line() -> None:
    found = recorded(kernel("ampere_sgemm_128x64_tn"), {("", 1): module("dot.1")})
    assert (found.name, found.source, found.module) == ("ampere_sgemm_128x64_tn", None, "jit_f")


def test_where_two_operations_fit_none_is_chosen() -> None:
    assert op_of_kernel("add_1", module("add.1", "add-1")) == "add_1"


def test_an_event_that_names_its_operation_is_left_alone() -> None:
    found = recorded(
        kernel("loop_add_fusion_1", "copy-start.3"), {("", 1): module("loop_add_fusion.1", "copy-start.3")}
    )
    assert found.name == "copy-start.3"
    assert not in_command_buffer(kernel("loop_add_fusion_1", "copy-start.3"))


def test_without_its_module_a_kernel_has_a_row_of_its_own() -> None:
    assert [recorded(kernel(each), {}).name for each in ("add_1", "add_2", "add")] == ["add.1", "add.2", "add"]


def test_the_graph_is_kept_and_a_note_says_how_to_do_without() -> None:
    assert about_graphs([kernel("a", "add")]) == []
    (note,) = about_graphs([kernel("a", "add"), kernel("b"), kernel("c")])
    assert "XLA_FLAGS=--xla_gpu_enable_command_buffer=" in note
