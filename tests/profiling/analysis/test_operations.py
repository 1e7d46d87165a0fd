"""Operations summed over devices: nothing is lost, and nothing counts twice."""

from __future__ import annotations

from fabricate.profiling import MS, operation

from jaxmagic.profiling.analysis.operations import over_devices


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
