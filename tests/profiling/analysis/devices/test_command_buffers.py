"""Kernels of CUDA graphs are matched to their ops by name and position."""

from __future__ import annotations

from dataclasses import replace

import fabricate.hlo
import numpy as np
import pytest
from recordings import trace

from jaxmagic.profiling.analysis.classify_ops import classify
from jaxmagic.profiling.analysis.devices.command_buffers import (
    in_command_buffer,
    ran_in_graphs,
    with_ops_of_graphs,
)
from jaxmagic.profiling.analysis.devices.graph_kernels import GraphKernel, op_of_kernel, ops_of_kernels
from jaxmagic.profiling.capture.xspace import read_recording
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


def opcode_of(name: str) -> str:
    return "custom-call" if name.startswith("gemm") else "fusion" if "fusion" in name else "add"


def graph(
    *kernels: str, ops: tuple[str, ...], nodes: tuple[int, ...] = (), launches: tuple[int, ...] = ()
) -> list[str | None]:
    """Return the op of each kernel, for a schedule of these ops."""
    made = module(*ops)
    instructions = {number: each._replace(opcode=opcode_of(each.name)) for number, each in made.instructions.items()}
    names = list(dict.fromkeys(kernels))
    start = np.arange(len(kernels)) * 10_000
    numbers = np.array([names.index(each) for each in kernels])
    columns = {"graph_nodes": np.array(nodes), "launches": np.array(launches or [0] * len(nodes))} if nodes else {}
    track = TraceLine("Stream #1", "GPU:0", "operations", numbers, start, start + 5_000, **columns)
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


BUFFER = "command_buffer.2"


@pytest.mark.parametrize(
    ("nodes", "launches", "found"),
    [
        # The first launch began before the recording.
        ((9, 5, 7, 9, 5, 7, 9), (1, 2, 2, 2, 3, 3, 3), ("dot.2", "dot", "dot.1", "dot.2", "dot", "dot.1", "dot.2")),
        ((5, 5, 5, 5, 5, 5, 5), (1, 2, 2, 2, 3, 3, 3), ("",) * 7),  # one node: one of three, and not known which
        ((9, 5, 7, 9, 5, 7, 9), (0,) * 7, ("",) * 7),  # nobody knows where a launch begins
        ((), (), ("",) * 7),
    ],
)
def test_equal_fusions_that_share_a_kernel_are_told_apart_by_its_nodes(
    nodes: tuple[int, ...], launches: tuple[int, ...], found: tuple[str, ...]
) -> None:
    """XLA compiles equal fusions once, and names the kernel after one of them, which need not be the first."""
    ops = tuple(
        f"{each}_fusion" if "." not in each else each.replace(".", "_fusion.") for each in ("dot", "dot.1", "dot.2")
    )
    told = graph(*["dot_fusion_1"] * 7, ops=ops, nodes=nodes, launches=launches)
    assert told == [each.replace("dot", "dot_fusion") for each in found]


def test_a_kernel_that_may_be_of_several_fusions_has_no_line_and_keeps_others_from_being_placed_beside_it() -> None:
    ops = ("add.1", "dot_fusion", "gemm.1", "dot_fusion.1", "gemm.2", "sub.3")
    kernels = ("add_1", "dot_fusion", "sgemm", "dot_fusion", "sgemm", "sub_3")
    assert graph(*kernels, ops=ops) == [BUFFER, "", BUFFER, "", BUFFER, BUFFER]
    unsure = kernel("dot_fusion")._replace(stats={"hlo_op": "", "program_id": 1, "command_buffer": BUFFER})
    found = classify(unsure, {("", 1): module(*ops)})
    assert (found.name, found.module, found.source) == ("dot_fusion", "jit_f", None)
    assert graph(*kernels, ops=ops, nodes=(1, 2, 3, 4, 5, 6), launches=(8,) * 6) == [
        BUFFER, "dot_fusion", "gemm.1", "dot_fusion.1", "gemm.2", BUFFER,
    ]  # fmt: skip


def test_what_one_run_shows_of_a_node_holds_for_a_run_whose_beginning_is_missing() -> None:
    ops = ("add.1", "gemm.1", "gemm.2", "mul.2", "gemm.3", "sub.3")
    whole = ("add_1", "a", "a", "mul_2", "a", "sub_3")
    nodes = (1, 2, 3, 4, 5, 6)
    found = graph(*whole[2:], *whole, ops=ops, nodes=nodes[2:] + nodes)
    assert found == ["gemm.2", BUFFER, "gemm.3", BUFFER, BUFFER, "gemm.1", "gemm.2", BUFFER, "gemm.3", BUFFER]
    assert graph(*whole[2:], *whole, ops=ops)[0] == BUFFER  # without nodes


def test_ops_that_a_call_runs_have_their_place_at_the_call() -> None:
    """Older versions of XLA move the ops of a command buffer into a computation of their own."""
    made = module("add.1", "command_buffer", "sub.3", "mul.2", "gemm.1", "neg.4")
    opcodes = {1: "call", 4: "custom-call"}
    instructions = {
        at: each._replace(opcode=opcodes.get(at, "add"), called_computation_ids=(7,) if at == 1 else ())
        for at, each in made.instructions.items()
    }
    order = {0: (0, 1, 2), 7: (3, 4, 5)}
    inside = made._replace(
        instructions=instructions, computations=order, schedule=order, entry_computation_id=0, root_ids={0: 2, 7: 5}
    )
    kernels = [GraphKernel(each) for each in ("mul_2", "sgemm", "neg_4")]
    assert ops_of_kernels(kernels, inside, ()) == [None, "gemm.1", None]


def with_ops_hidden(recording: Trace) -> Trace:
    """Let all kernels have run in one graph of their program, whose nodes are known, as on an NVIDIA GPU."""
    kinds, hidden, tracks = list(recording.kinds), dict[int, int](), []
    for track in recording.tracks:
        if track.role == "operations":
            numbers, nodes, launches = track.kinds.copy(), np.zeros_like(track.kinds), np.zeros_like(track.kinds)
            first, before, launch = dict[object, object](), None, 0
            for at, number in enumerate(track.kinds.tolist()):
                kind = recording.kinds[number]
                if kind.program in recording.modules:
                    op = kind.stats["hlo_op"]
                    launch += first.setdefault(kind.program, op) == op and before != (kind.program, op)
                    before = kind.program, op
                    launches[at], nodes[at] = launch, 1 + number
                    if number not in hidden:
                        hidden[number] = len(kinds)
                        more = {"hlo_op": "command_buffer", "cuda_graph_id": 3}
                        kinds.append(kind._replace(stats={**kind.stats, **more}))
                    numbers[at] = hidden[number]
            track = replace(track, kinds=numbers, graph_nodes=nodes, launches=launches)
        tracks.append(track)
    return replace(recording, tracks=tuple(tracks), kinds=tuple(kinds))


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("gpu_gfx950_te_attention", 0.5),  # between two known ops lie three calls with eleven kernels
        ("gpu_mi300_8dev_conv", 1.0),
        ("gpu_mi300_attention", 1.0),
        ("gpu_mi300_elementwise", 1.0),
        ("gpu_mi300_gemm", 0.99),
    ],
)
def test_the_ops_of_real_kernels_are_found_again_or_said_to_be_unknown(name: str, least: float) -> None:
    recording = read_recording([("", trace(name).read_bytes())])
    found = with_ops_of_graphs(with_ops_hidden(recording))
    right = total = 0
    for before, after in zip(recording.tracks, found.tracks, strict=True):
        for one, other, start, end in zip(before.kinds, after.kinds, before.start_ps, before.end_ps, strict=True):
            kind = recording.kinds[one]
            if before.role == "operations" and kind.program in recording.modules:
                expected, told = classify(kind, recording.modules), classify(found.kinds[other], found.modules)
                assert told.source is None or told.name == expected.name
                right += (end - start) * (told.name == expected.name)
                total += end - start
    assert right >= least * total
