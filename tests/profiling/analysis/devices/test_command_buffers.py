"""Kernels of CUDA graphs are matched to their ops by name and position."""

from __future__ import annotations

import fabricate.hlo
import numpy as np

from jaxmagic.profiling.analysis.classify_ops import classify
from jaxmagic.profiling.analysis.devices.command_buffers import (
    in_command_buffer,
    op_of_kernel,
    ran_in_graphs,
    with_ops_of_graphs,
)
from jaxmagic.profiling.record.recording import EventMetadata, Trace, TraceLine
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note
from jaxmagic.xla.hlo import HloModule


def module(*names: str) -> HloModule:
    lines = [(Frame(function="f", file="a.py", line=line),) for line in range(1, len(names) + 1)]
    return fabricate.hlo.module(
        *(
            fabricate.hlo.instruction("add", name=name, op_name="add", stack=stack)
            for name, stack in zip(names, lines, strict=True)
        )
    )


def kernel(name: str, hlo_op: str = "command_buffer.2", graph: int = 7) -> EventMetadata:
    return EventMetadata(name, {"hlo_op": hlo_op, "program_id": 1, "cuda_graph_id": graph, "hlo_module": "jit_f"})


def test_three_kernels_of_a_graph_are_three_operations_with_their_lines() -> None:
    program = {("", 1): module("loop_add_fusion.1", "loop_add_fusion", "copy-start.3")}
    found = [classify(kernel(each), program) for each in ("loop_add_fusion_1", "loop_add_fusion", "copy_start_3")]
    assert [each.name for each in found] == ["loop_add_fusion.1", "loop_add_fusion", "copy-start.3"]
    assert [each.source for each in found] == ["a.py:1", "a.py:2", "a.py:3"]


def test_a_kernel_of_a_library_keeps_its_name_and_has_no_line() -> None:
    found = classify(kernel("ampere_sgemm_128x64_tn"), {("", 1): module("dot.1")})
    assert (found.name, found.source, found.module) == ("ampere_sgemm_128x64_tn", None, "jit_f")


def test_where_two_operations_fit_none_is_chosen() -> None:
    assert op_of_kernel("add_1", module("add.1", "add-1")) == "add_1"


def test_an_event_that_names_its_operation_is_left_alone() -> None:
    found = classify(
        kernel("loop_add_fusion_1", "copy-start.3"), {("", 1): module("loop_add_fusion.1", "copy-start.3")}
    )
    assert found.name == "copy-start.3"
    assert not in_command_buffer(kernel("loop_add_fusion_1", "copy-start.3"))


def test_without_its_module_a_kernel_has_a_row_of_its_own() -> None:
    assert [classify(kernel(each), {}).name for each in ("add_1", "add_2", "add")] == ["add.1", "add.2", "add"]


def test_a_note_says_how_to_do_without_graphs_where_kernels_ran_in_them() -> None:
    assert not ran_in_graphs([kernel("a", "add")])
    assert ran_in_graphs([kernel("a", "add"), kernel("b"), kernel("c")])
    told = str(note("profiling.command_buffers"))
    assert "jaxmagic.profile(f, x, command_buffers=False)" in told
    assert "XLA_FLAGS to --xla_gpu_enable_command_buffer= before" in told
    assert '"' not in told  # quotes within quotes are lost on the way through a shell


def graph(*kernels: str, ops: tuple[str, ...]) -> list[str | None]:
    """Return the op of each kernel, for a schedule of these ops."""
    made = module(*ops)
    instructions = {
        number: each._replace(opcode="custom-call") if each.name.startswith("gemm") else each
        for number, each in made.instructions.items()
    }
    names = list(dict.fromkeys(kernels))
    start = np.arange(len(kernels)) * 10_000
    numbers = np.array([names.index(each) for each in kernels])
    track = TraceLine("Stream #1", "GPU:0", "operations", numbers, start, start + 5_000)
    recording = Trace((track,), tuple(map(kernel, names)), {}, {("", 1): made._replace(instructions=instructions)})
    found = with_ops_of_graphs(recording)
    return [str(found.kinds[number].stats["hlo_op"]) for number in found.tracks[0].kinds.tolist()]


def test_kernels_of_libraries_are_known_by_their_place_between_others() -> None:
    """A single call between two ops has all kernels there; as many calls as kernels have one kernel each."""
    ops = ("add.1", "gemm.1", "mul.2", "gemm.2", "gemm.3", "sub.3")
    buffer = "command_buffer.2"
    assert graph("add_1", "split", "sgemm", "mul_2", "sgemm", "sgemm", "sub_3", ops=ops) == [
        buffer, "gemm.1", "gemm.1", buffer, "gemm.2", "gemm.3", buffer,
    ]  # fmt: skip
    assert graph("add_1", "mul_2", "a", "b", "c", "sub_3", ops=ops)[2:5] == [buffer] * 3  # not certain which


def test_the_next_run_of_a_graph_begins_anew() -> None:
    ops = ("add.1", "gemm.1", "mul.2")
    buffer = "command_buffer.2"
    twice = ("add_1", "sgemm", "mul_2") * 2
    assert graph(*twice, ops=ops) == [buffer, "gemm.1", buffer] * 2
    assert graph("mul_2", "sgemm", "add_1", ops=ops)[1] == buffer


def test_kernels_that_are_known_by_place_have_their_line_and_the_note_stays() -> None:
    filed = kernel("sgemm")._replace(
        stats={"hlo_op": "gemm.1", "program_id": 1, "command_buffer": "command_buffer.2"}
    )
    assert classify(filed, {("", 1): module("add.1", "gemm.1")}).source == "a.py:2"
    assert ran_in_graphs([filed])
