"""Operations summed over devices: nothing is lost, and nothing counts twice."""

from __future__ import annotations

from fabricate.hlo import instruction, module
from fabricate.profiling import MS, operation

from jaxmagic.profiling.analysis.attribution import CALLBACK, COPY
from jaxmagic.profiling.analysis.classify_ops import ClassifiedOp, classify
from jaxmagic.profiling.analysis.operations import over_devices
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


def test_a_host_callback_is_no_computation_and_what_a_gpu_copies_for_it_is_a_copy() -> None:
    target = "xla_ffi_python_gpu_callback"
    made = module(instruction("custom-call", name="pure_callback.1", custom_call_target=target))
    facts: dict[str, StatValue] = {"hlo_op": "pure_callback.1", "program_id": 1}

    def of(**more: StatValue) -> ClassifiedOp:
        return classify(EventMetadata("pure_callback.1", facts | more), {("", 1): made})

    assert (of().category, of().priority) == ("host callback", CALLBACK)
    assert of(memcpy_details="kind:D2H size:8").priority == COPY
