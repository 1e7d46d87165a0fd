"""Sentences, table and chart of steps."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate.profiling import MS, fabricated, use

from jaxmagic.profiling.analysis.devices.step_parts import PARTS, step_totals
from jaxmagic.profiling.charts.steps import steps_chart
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.profiling.record.steps import StepTimes
from jaxmagic.profiling.report.steps import step_table
from jaxmagic.records.storage import load, save
from jaxmagic.report.to_html import to_html


def steps(device: str = "GPU:0", known_by: Any = "program", **parts: int) -> StepTimes:
    """Three equal steps, except that the first one waits 1 ms longer for the host."""
    names = ("compute_ns", "collective_ns", "copy_ns", "input_ns", "host_ns", "idle_ns")
    columns = {name: (parts.get(name, 0) * MS,) * 3 for name in names}
    first, *rest = columns["host_ns"]
    columns["host_ns"] = (first + MS, *rest)
    times = tuple(sum(each) for each in zip(*columns.values(), strict=True))
    return StepTimes(
        device=device, name="jit_step", known_by=known_by, start_ns=(0, 11 * MS, 21 * MS), time_ns=times, **columns
    )


def recorded(*found: StepTimes, **changes: Any) -> Profile:
    return replace(fabricated(), **{"step_times": found, "runs": None, "whole_ns": 50 * MS, **changes})


def squeezed(profile: Profile) -> str:
    return " ".join(str(profile).split())


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (
            {"compute_ns": 95, "host_ns": 5},
            "95 % compute and 5.3 % host wait: bound by compute.",
        ),
        ({"compute_ns": 4, "copy_ns": 96}, "96 % memcpy: bound by exposed memcpy."),
        (
            {"compute_ns": 40, "collective_ns": 60},
            "60 % collectives and 40 % compute: bound by exposed collectives.",
        ),
        (
            {"compute_ns": 20, "input_ns": 80},
            "80 % input wait and 20 % compute: bound by input wait, because the host moves data or "
            "fetches the next item of an iterator meanwhile. The profiler slows the host down.",
        ),
        (
            {"compute_ns": 55, "host_ns": 45},
            "55 % compute and 45 % host wait; no single part bounds it.",
        ),
        (
            {"compute_ns": 30, "idle_ns": 70},
            "70 % unexplained wait and 30 % compute: bound by unexplained wait. The profiler slows the host down.",
        ),
    ],
)
def test_a_recording_begins_with_what_bounds_a_step_and_its_evidence(parts: dict[str, int], told: str) -> None:
    assert squeezed(recorded(steps(**parts))).startswith(f"A step of the device is {told}")


def test_steps_have_a_median_a_row_a_frame_and_a_bar() -> None:
    profile = recorded(steps(compute_ns=8, host_ns=2), steps("GPU:1", compute_ns=9, host_ns=1))
    text = squeezed(profile)
    assert "3 steps, from one execution of jit_step to the next: median 10.0 ms (10.0 ms to 11.0 ms)." in text
    assert "device steps median mean compute host wait GPU:0 3 10.0 ms 10.3 ms 8.00 ms 2.33 ms" in text
    frame = profile.steps()
    assert frame["time_ns"].tolist() == [11 * MS, 10 * MS, 10 * MS] * 2
    assert frame[["device", "step"]].values.tolist()[3] == ["GPU:1", 0]
    assert "mean step by device" in to_html(profile)
    assert [each.get_text() for each in profile.figure("steps").axes[0].get_yticklabels()][:1]


def test_sentence_table_and_chart_have_one_name_for_each_part() -> None:
    parts = dict(compute_ns=30, collective_ns=20, copy_ns=15, input_ns=14, host_ns=11, idle_ns=10)
    profile = recorded(steps(**parts))
    ((_, *heads), _) = step_table(profile, 5)
    chart = steps_chart(profile)
    assert chart is not None
    drawn = [name for bar in chart.bars for name, _ in bar.parts]
    assert drawn == heads[3:] == list(chart.order) == [name for name, _ in PARTS]
    told = squeezed(profile)
    assert re.findall(r"\d+ % ([a-z ]+?)(?:,| and|;)", told)[: len(parts)] == drawn


def test_the_longest_part_has_the_column_that_a_narrow_terminal_shows() -> None:
    profile = recorded(steps(compute_ns=20, copy_ns=5, input_ns=5, host_ns=10, idle_ns=60))
    ((_, _, _, _, *heads), _) = step_table(profile, 5)
    assert heads[:3] == ["unexplained wait", "compute", "host wait"]


@pytest.mark.parametrize("field", [field for _, field in PARTS])
def test_the_part_that_bounds_a_step_is_called_as_in_the_table(field: str) -> None:
    columns = {"host_ns": (0,) * 3, field: (10 * MS,) * 3}
    profile = recorded(replace(steps(), time_ns=(10 * MS,) * 3, **columns))
    ((*_, head), _) = step_table(profile, 5)
    assert re.search(rf": bound by (exposed )?{head}[.,]", squeezed(profile))


def test_figures_are_of_all_steps_where_only_the_first_are_kept(tmp_path: Path) -> None:
    kept = steps(compute_ns=8, host_ns=2)
    every = replace(
        step_totals(kept), steps=1500, median_ns=30 * MS, high_ns=50 * MS, time_ns=45_000 * MS,
        compute_ns=15_000 * MS, host_ns=30_000 * MS,
    )  # fmt: skip
    profile = recorded(replace(kept, all_steps=every))
    text = squeezed(profile)
    assert (
        "1500 steps, from one execution of jit_step to the next (the first 500 are in steps()): median 30.0 ms "
        "(10.0 ms to 50.0 ms)." in text
    )
    assert "67 % host wait and 33 % compute" in text
    assert load(save(profile, tmp_path / "profile.json")) == profile


def test_medians_that_differ_between_devices_are_both_told() -> None:
    profile = recorded(steps(compute_ns=8, host_ns=2), steps("GPU:1", compute_ns=9, host_ns=2))
    assert "medians of the devices 10.0 ms to 11.0 ms (10.0 ms to 12.0 ms)." in squeezed(profile)
    alike = replace(steps(compute_ns=8, host_ns=2), device="GPU:1")
    assert "median 10.0 ms (10.0 ms to 11.0 ms)." in squeezed(recorded(steps(compute_ns=8, host_ns=2), alike))


@pytest.mark.parametrize(
    ("known_by", "told"), [("steps", "marked by the profiler:"), ("annotation", "marked as jit_step:")]
)
def test_what_a_step_is_is_said(known_by: str, told: str) -> None:
    assert f"3 steps, {told}" in squeezed(recorded(steps(known_by=known_by, compute_ns=10)))


@pytest.mark.parametrize(
    ("known_by", "runs", "starts_ms", "told"),
    [
        ("annotation", None, (0, 20, 30), "cover 31.0 ms of the 40.0 ms from the first to the last, 78 %: the rest"),
        ("annotation", 1, (0, 20, 30), "cover 31.0 ms of the 40.0 ms from the first to the last, 78 %: the rest"),
        ("annotation", 1, (0, 11, 24), ""),
        ("annotation", 2, (0, 20, 30), ""),  # the runs may be that far apart
        ("program", 1, (0, 20, 30), ""),
    ],
)
def test_time_between_marked_steps_is_told(known_by: str, runs: Any, starts_ms: tuple[int, ...], told: str) -> None:
    marked = replace(steps(known_by=known_by, compute_ns=10), start_ns=tuple(each * MS for each in starts_ms))
    text = squeezed(recorded(marked, runs=runs))
    assert ("These steps cover " in text) == bool(told)
    assert told in text


@pytest.mark.parametrize(("host_ns", "is_told"), [(2, False), (4, True)])
def test_a_long_wait_for_the_host_is_said_to_include_a_loader(host_ns: int, is_told: bool) -> None:
    profile = recorded(steps(compute_ns=10, host_ns=host_ns), runs=1)
    assert ("Host wait includes Python code, such as a data loader's." in squeezed(profile)) is is_told


def test_other_marks_are_named() -> None:
    marked = replace(steps(known_by="annotation", compute_ns=10), other_names=("eval", "save"))
    assert "3 steps, marked as jit_step (other marks: eval, save): median 10.0 ms" in squeezed(recorded(marked))
    not_as_marked = replace(steps(compute_ns=10), other_names=("train",))
    assert (
        "3 steps, from one execution of jit_step to the next, not as marked (train), where less than half of the "
        "device's work lies: median 10.0 ms" in squeezed(recorded(not_as_marked))
    )
    many = replace(marked, other_names=tuple("abcdef"))
    assert "(other marks: a, b, c, d, …)" in squeezed(recorded(many))


@pytest.mark.parametrize(("busy_ms", "told"), [(30, ""), (33, ""), (60, "50 %")])
def test_work_that_lies_outside_of_marked_steps_is_told(busy_ms: int, told: str) -> None:
    """The marks may be around the dispatch alone; between runs of a program there is no outside."""
    busy = use("GPU:0", busy_ms * MS)
    marked = recorded(steps(known_by="annotation", compute_ns=10), device_uses=(busy,), recorded_ns=100 * MS)
    outside = "of the device's work lies outside of these steps"
    assert (f"{told} {outside}" if told else outside) in squeezed(marked) or not told
    assert (outside in squeezed(marked)) == bool(told)
    by_program = recorded(steps(compute_ns=10), device_uses=(busy,), recorded_ns=100 * MS)
    assert outside not in squeezed(by_program)


def test_a_profile_of_our_own_tells_the_parts_and_leaves_the_verdict_to_that_of_the_run() -> None:
    told = squeezed(recorded(steps(compute_ns=20, input_ns=80), runs=1, whole_ns=None))
    assert "A step of the device is 80 % input wait and 20 % compute." in told
    assert "bound by input" not in told


def test_without_steps_nothing_is_said_of_them() -> None:
    assert " steps" not in str(fabricated())
    assert fabricated().steps().empty
    with pytest.raises(ValueError, match="no steps are marked"):
        fabricated().figure("steps")
