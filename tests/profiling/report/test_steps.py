"""Sentences, table and chart of steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import MS, fabricated

from jaxmagic.profiling.record.profile import Profile
from jaxmagic.profiling.record.steps import StepTimes
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
            "computes for 95 % and waits for the host for 5.3 %: bound by computation.",
        ),
        ({"compute_ns": 4, "copy_ns": 96}, "copies for 96 %: bound by exposed memcpy."),
        (
            {"compute_ns": 40, "collective_ns": 60},
            "communicates for 60 % and computes for 40 %: bound by exposed communication.",
        ),
        (
            {"compute_ns": 20, "input_ns": 80},
            "waits for input for 80 % and computes for 20 %: bound by its input, because the host moves data or "
            "fetches the next item of an iterator meanwhile. The profiler slows the host down.",
        ),
        (
            {"compute_ns": 55, "host_ns": 45},
            "computes for 55 % and waits for the host for 45 %; no single part bounds it.",
        ),
        (
            {"compute_ns": 30, "idle_ns": 70},
            "waits for unknown causes for 70 % and computes for 30 %: bound by waits of unknown cause. The profiler "
            "slows the host down.",
        ),
    ],
)
def test_the_part_that_bounds_a_step_is_named_with_its_evidence(parts: dict[str, int], told: str) -> None:
    assert f"In a step the device {told}" in squeezed(recorded(steps(**parts)))


def test_steps_have_a_median_a_row_a_frame_and_a_bar() -> None:
    profile = recorded(steps(compute_ns=8, host_ns=2), steps("GPU:1", compute_ns=9, host_ns=1))
    text = squeezed(profile)
    assert "3 steps, from one execution of jit_step to the next: median 10.0 ms (10.0 ms to 11.0 ms)." in text
    assert "device steps median mean compute host GPU:0 3 10.0 ms 10.3 ms 8.00 ms 2.33 ms" in text
    frame = profile.steps()
    assert frame["time_ns"].tolist() == [11 * MS, 10 * MS, 10 * MS] * 2
    assert frame[["device", "step"]].values.tolist()[3] == ["GPU:1", 0]
    assert "mean step by device" in to_html(profile)
    assert [each.get_text() for each in profile.figure("steps").axes[0].get_yticklabels()][:1]


@pytest.mark.parametrize(
    ("known_by", "told"), [("steps", "as the profiler marks them"), ("annotation", "as jit_step")]
)
def test_what_a_step_is_is_said(known_by: str, told: str) -> None:
    assert f"3 steps, {told}" in squeezed(recorded(steps(known_by=known_by, compute_ns=10)))


def test_a_profile_of_our_own_tells_the_parts_and_leaves_the_verdict_to_that_of_the_run() -> None:
    told = squeezed(recorded(steps(compute_ns=20, input_ns=80), runs=1, whole_ns=None))
    assert "In a step the device waits for input for 80 % and computes for 20 %." in told
    assert "bound by its input" not in told


def test_without_steps_nothing_is_said_of_them() -> None:
    assert " steps" not in str(fabricated())
    assert fabricated().steps().empty
    with pytest.raises(ValueError, match="no steps are marked"):
        fabricated().figure("steps")
