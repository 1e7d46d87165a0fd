"""Operations summed over devices: nothing is lost, and nothing counts twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.hlo import instruction, module
from fabricate.profiling import MS, operation

from jaxmagic.profiling.analysis.attribution import CALLBACK, COPY
from jaxmagic.profiling.analysis.classify_ops import ClassifiedOp, classify
from jaxmagic.profiling.analysis.operations import by_line, over_devices
from jaxmagic.profiling.record.recording import EventMetadata, StatValue


def test_an_operation_of_several_devices_is_one_and_what_took_most_is_first() -> None:
    rows = [
        operation("add", 3 * MS, device="GPU:0"),
        operation("sort", 2 * MS, device="GPU:0"),
        operation("sort", 2 * MS, device="GPU:1"),
    ]
    first, second = over_devices(rows)
    assert (first.name, first.device, first.count, first.time_ns, first.total_ns) == (
        "sort",
        "all",
        4,
        4 * MS,
        4 * MS,
    )
    assert second == rows[0]


def test_operations_of_different_programs_are_different() -> None:
    rows = [operation("add", MS, module="jit_f"), operation("add", MS, module="jit_g")]
    assert over_devices(rows) == rows


def test_layers_of_an_unrolled_loop_are_one_group_whose_numbers_add_up() -> None:
    layers = [operation(f"dot.{number}", number * MS, shape="f32[8,8]") for number in (1, 2, 3)]
    (group,) = by_line(layers)
    assert [each.name for each in group.operations] == ["dot.3", "dot.2", "dot.1"]
    assert group.total.name == "3× dot"
    assert (group.total.count, group.total.time_ns, group.total.total_ns) == (6, 6 * MS, 6 * MS)
    assert group.total.mean_ns == MS


@pytest.mark.parametrize(
    "other",
    [
        {"source": "cell 3:4"},
        {"module": "jit_g"},
        {"inside": "flax.linen.Dense"},
        {"category": "matmul"},
        {"shape": "f32[9]"},
        {"flops": 7},
        {"accessed_bytes": 7},
        {"multiplied": "bf16"},
        {"asynchronous": True},
        {"name": "add.2"},
        {"name": "dot.2.remat"},
    ],
)
def test_operations_that_differ_in_more_than_their_number_are_not_grouped(other: dict[str, Any]) -> None:
    rows = [operation("dot.1", 2 * MS), replace(operation("dot.2", MS), **other)]
    assert [each.total for each in by_line(rows)] == rows


def test_operations_without_a_line_are_not_grouped_and_devices_are_summed_first() -> None:
    nowhere = [operation("copy.1", 9 * MS, source=None), operation("copy.2", 8 * MS, source=None)]
    devices = [operation("dot.1", MS, device=device) for device in ("GPU:0", "GPU:1")]
    *first, last = by_line([*nowhere, *devices, operation("dot.2", MS, device="GPU:0")])
    assert [each.total for each in first] == nowhere
    assert (last.total.name, last.total.device, last.total.count) == ("2× dot", "all", 6)


def test_a_host_callback_is_no_computation_and_what_a_gpu_copies_for_it_is_a_copy() -> None:
    target = "xla_ffi_python_gpu_callback"
    made = module(instruction("custom-call", name="pure_callback.1", custom_call_target=target))
    facts: dict[str, StatValue] = {"hlo_op": "pure_callback.1", "program_id": 1}

    def of(**more: StatValue) -> ClassifiedOp:
        return classify(EventMetadata("pure_callback.1", facts | more), {("", 1): made})

    assert (of().category, of().priority) == ("host callback", CALLBACK)
    assert of(memcpy_details="kind:D2H size:8").priority == COPY
