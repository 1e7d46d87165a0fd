"""Operations on the roofline: what bounds them, and what is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import MS, fabricated, operation, use

from jaxmagic.drawing.plot import formatted
from jaxmagic.profiling.analysis.roofline import peaks_of, place, placed, without_place
from jaxmagic.profiling.charts.roofline import roofline_chart
from jaxmagic.profiling.record.profile import OperationTime, Profile
from jaxmagic.report.to_html import to_html

#: 100 GFLOP/s and 10 GB/s: what computes less than 10 operations a byte waits for the memory.
PEAKS: dict[str, Any] = {"peak_flops": 100e9, "peak_bytes": 10e9, "peaks_from": "recording"}


def profile(*operations: OperationTime) -> Profile:
    return replace(fabricated(), device_uses=(replace(use("CPU:0", 30 * MS), **PEAKS),), operation_times=operations)


#: 10 ms a run: 50 GFLOP/s at 100 operations a byte; 8 GB/s at a fourth of an operation a byte.
PRODUCT = operation("dot.1", 20 * MS, flops=500_000_000, accessed_bytes=5_000_000)
SUM = operation("add.2", 20 * MS, flops=20_000_000, accessed_bytes=80_000_000)
SORT = operation("sort.3", 10 * MS, flops=None)


def test_what_limits_an_operation_depends_on_what_it_computes_for_each_byte() -> None:
    product, total = placed(profile(PRODUCT, SUM, SORT))
    assert (product.operational_intensity, product.bound_by) == (100, "compute")
    assert (product.flops_per_s, product.roofline_efficiency) == (pytest.approx(50e9), pytest.approx(0.5))
    assert (total.operational_intensity, total.bound_by) == (0.25, "memory")
    assert (total.bytes_per_s, total.roofline_efficiency) == (pytest.approx(8e9), pytest.approx(0.8))


def test_layers_of_an_unrolled_loop_are_one_point_at_their_mean_rate() -> None:
    layers = [replace(PRODUCT, name=f"dot.{number}") for number in range(3)]
    chart = roofline_chart(profile(replace(layers[0], total_ns=60 * MS), *layers[1:], SUM))
    assert chart is not None
    (point,) = [each for each in chart.series if each.name == "3× dot (cell 3:2)"]
    assert [each.name for each in chart.series] == ["roof", point.name, "add.2 (cell 3:2)"]
    assert point.y == (pytest.approx(3 * 500e6 / (60e-3 + 20e-3 + 20e-3) * 2),)


def test_of_several_devices_the_mean_run_counts() -> None:
    both = profile(PRODUCT, replace(PRODUCT, device="CPU:1", total_ns=60 * MS))
    (found,) = placed(both)
    assert found.flops_per_s == pytest.approx(25e9)


@pytest.mark.parametrize(
    ("unknown", "missing"),
    [
        (replace(SORT, accessed_bytes=None), "FLOPs and bytes"),
        (replace(SORT, accessed_bytes=80), "FLOPs"),
        (replace(PRODUCT, accessed_bytes=None), "bytes"),
        (replace(PRODUCT, accessed_bytes=0), None),
        (replace(PRODUCT, total_ns=0), None),
        (replace(SUM, name="all-reduce.1", category="collective"), "roof"),
        (replace(SUM, name="copy-done.4", category="copy", flops=0), "roof"),
        (replace(SUM, name="copy-done.4", category="copy", flops=None, accessed_bytes=None), "roof"),
    ],
)
def test_what_is_not_known_has_no_rate(unknown: OperationTime, missing: str | None) -> None:
    made = profile(unknown, SUM)
    assert [each.operation.name for each in placed(made)] == ["add.2"]
    assert {what: [each.name for each in rest] for what, rest in without_place(made).items()} == (
        {missing: [unknown.name]} if missing else {}
    )
    assert made.operations()["of_roof"].isna().tolist() == [True, False]


def test_without_peaks_there_is_neither_a_rate_in_the_report_nor_a_picture() -> None:
    unknown = replace(profile(PRODUCT), device_uses=(use("CPU:0", 30 * MS),))
    assert peaks_of(unknown) is None
    assert place(PRODUCT, None) is None
    assert "of roof" not in str(unknown)
    with pytest.raises(ValueError, match="peak rates of the device"):
        unknown.figure("roofline")


def test_devices_that_differ_have_no_common_roof() -> None:
    slow = replace(use("CPU:1", 30 * MS), **{**PEAKS, "peak_flops": 50e9})
    made = profile(PRODUCT)
    assert peaks_of(replace(made, device_uses=(*made.device_uses, slow))) is None


def test_the_roof_rises_to_where_arithmetic_limits_and_is_level_from_there() -> None:
    chart = roofline_chart(profile(PRODUCT, SUM, SORT))
    assert chart is not None
    roof, *points = chart.series
    (low, ridge, high), rates = roof.x, roof.y
    assert (ridge, rates[1:]) == (10, (100e9, 100e9))
    assert low is not None
    assert rates[0] == pytest.approx(low * 10e9)
    assert chart.x.low == low < 0.25 < 100 < high == chart.x.high
    assert {each.label: (each.x[0], each.y[0]) for each in points} == {
        "dot.1": (100, pytest.approx(50e9)), "add.2": (0.25, pytest.approx(2e9)),
    }  # fmt: skip
    assert [each.name for each in points] == ["dot.1 (cell 3:2)", "add.2 (cell 3:2)"]
    assert chart.note == ""
    assert formatted(chart.y, 6_384_000_000) == "6.38 GFLOP/s"


def test_operations_of_one_name_are_told_apart_by_line_shape_or_number() -> None:
    def named(*operations: OperationTime) -> list[tuple[str, str]]:
        chart = roofline_chart(profile(*operations))
        assert chart is not None
        return [(each.name, each.label) for each in chart.series[1:]]

    wide = replace(PRODUCT, shape="f32[2,4]", module="jit_g")
    assert named(PRODUCT, replace(wide, source="cell 3:9")) == [
        ("dot.1 (cell 3:2)", "dot.1 cell 3:2"), ("dot.1 (cell 3:9)", "dot.1 cell 3:9"),
    ]  # fmt: skip
    assert named(replace(PRODUCT, shape="f32[8]"), wide) == [
        ("dot.1 (cell 3:2) f32[8]", "dot.1 f32[8]"), ("dot.1 (cell 3:2) f32[2,4]", "dot.1 f32[2,4]"),
    ]  # fmt: skip
    assert named(PRODUCT, replace(PRODUCT, module="jit_g")) == [
        ("dot.1 (cell 3:2) #1", "dot.1 #1"), ("dot.1 (cell 3:2) #2", "dot.1 #2"),
    ]  # fmt: skip


def test_a_point_above_the_roof_says_why() -> None:
    chart = roofline_chart(profile(replace(PRODUCT, flops=4 * (PRODUCT.flops or 0))))
    assert chart is not None
    assert chart.series[1].y[0] == pytest.approx(2 * 100e9)
    assert chart.note == "above the roof: data were in a cache, or the peak rate is too low"


def test_the_report_tells_rates_what_they_are_compared_with_and_what_is_missing() -> None:
    text = " ".join(str(profile(PRODUCT, SUM, replace(SORT, accessed_bytes=None))).split())
    assert "cell 3:2 50 %" in text
    assert "cell 3:2 80 %" in text
    assert "Roof: 100 GFLOP/s and 10.0 GB/s, as recorded." in text
    assert "FLOPs and bytes unknown for 33 % of the device time (sort.3)." in text
    copied = replace(SUM, name="copy-done.4", category="copy", flops=0)
    text = " ".join(str(profile(copied, replace(SORT, accessed_bytes=80))).split())
    assert "No roof for 67 % of the device time (copy-done.4): a bus, a network or the host limits it." in text
    assert "FLOPs unknown for 33 % of the device time (sort.3)." in text
    assert "bytes unknown" not in text.lower()
    html = to_html(profile(PRODUCT, SUM, SORT))
    assert all(each in html for each in ("50.0 GFLOP/s", "8.00 GB/s", "FLOP/s"))
    measured = profile(PRODUCT)
    (found,) = measured.device_uses
    measured = replace(measured, device_uses=(replace(found, peaks_from="measured"),))
    assert "measured here with float32" in " ".join(str(measured).split())


def test_a_gpu_tells_the_rate_of_its_memory_alone_so_rates_are_of_memory_and_there_is_no_picture() -> None:
    made = profile(PRODUCT, SUM)
    (found,) = made.device_uses
    gpu = replace(made, device_uses=(replace(found, peak_flops=None),))
    product, total = placed(gpu)
    assert (product.bound_by, product.roofline_efficiency) == ("memory", pytest.approx(0.05))
    assert total.roofline_efficiency == pytest.approx(0.8)
    assert roofline_chart(gpu) is None
    assert (
        "Roof: 10.0 GB/s of memory, as recorded; the peak FLOP/s is not known, so only memory bandwidth"
        in " ".join(str(gpu).split())
    )


def test_products_are_held_against_the_peak_of_what_they_multiply() -> None:
    by_type = {"bf16": 400e9, "tf32": 200e9, "f32": 100e9}
    made = profile(replace(PRODUCT, multiplied="bf16"), replace(PRODUCT, name="dot.2", multiplied="f32"), SUM)
    made = replace(
        made,
        device_uses=(
            replace(
                made.device_uses[0],
                peak_flops_by_type=by_type,
                peak_bytes=20e9,
                recorded_peak_bytes=10e9,
                peaks_from="data sheet",
                model="B 9",
            ),
        ),
    )
    assert [each.roofline_efficiency for each in placed(made)][:2] == [pytest.approx(1 / 8), pytest.approx(1 / 4)]
    text = " ".join(str(made).split())
    assert "Roof: 400 GFLOP/s for bf16, 200 GFLOP/s for f32 and 20.0 GB/s, from the data sheet of the B 9" in text
    assert "(the recording says 10.0 GB/s)" in text


def test_more_than_the_roof_is_never_a_number() -> None:
    """The data were in a cache, or the peak rate is too low, so there is no meaningful share."""
    cached, tiny = replace(SUM, accessed_bytes=172_000_000), replace(SUM, name="a", accessed_bytes=1000, flops=0)
    made = profile(PRODUCT, cached, tiny)
    text = " ".join(str(made).split())
    assert ">100 %" in text
    assert "172" not in text.replace("17.2", "")
    assert ">100 % of the roof: the data were in a cache, or the peak rate is too low." in text
    assert "<0.1 %" in text
    assert "172 %" not in to_html(made)
    assert made.operations()["of_roof"].isna().tolist() == [False, True, False]
    assert ">100 % of the roof" not in str(profile(PRODUCT, SUM))


def test_of_a_sort_is_said_that_it_has_no_flop() -> None:
    made = profile(PRODUCT, replace(SORT, flops=0, accessed_bytes=1000, category="sort"))
    assert "Sorts have no FLOPs; their rate counts one read and one write of the data." in " ".join(str(made).split())
    assert made.operations()["flops"].tolist() == [500_000_000, 0]
