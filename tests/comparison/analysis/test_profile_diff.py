"""Two profiles side by side: what is the same in both, what is not, and by how much."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import CALLER, HELPER, MS, OTHER, fabricated, operation, place, use

from jaxmagic.comparison.analysis.profile_diff import Difference, call_ns, differences, profiled
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.profiling.record.profile import Code, Profile
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note


def by_name(before: Profile, after: Profile, by: Any) -> dict[str, tuple[float, float, str]]:
    return {each.name: (each.before_ns, each.after_ns, each.change) for each in differences(before, after, by)}


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (10, 12, "slower"),
        (12, 10, "faster"),
        (100, 105, "the same"),
        (100, 95, "the same"),
        (0, 3, "appeared"),
        (3, 0, "vanished"),
    ],
)
def test_what_became_of_it(before: float, after: float, change: str) -> None:
    assert Difference("f", before, after).change == change


def elsewhere() -> Profile:
    """The fabricated program, written anew in another cell: its helper sorts no more, and something is new."""
    moved = Frame(function="g", file="/tmp/other.py", line=2, cell="cell 9")
    new = Frame(function="g", file="/tmp/other.py", line=3, cell="cell 9")
    return replace(
        fabricated(),
        device_uses=(use("CPU:0", 10 * MS),),
        operation_times=(operation("fusion.7", 8 * MS), operation("dot.1", 2 * MS, shape="f32[3]")),
        place_times=(place(8 * MS, moved, name="fusion.7"), place(2 * MS, new, name="dot.1")),
        codes=(Code(file="/tmp/other.py", cell="cell 9", first=1, lines=("def g(x):", "  return y", "  z = x @ x")),),
    )


def test_lines_are_the_same_that_are_written_the_same_and_times_are_those_of_a_call() -> None:
    assert by_name(fabricated(), elsewhere(), "line") == {
        "return jnp.sort(x)": (10 * MS, 0, "vanished"),
        "return y": (4 * MS, 4 * MS, "the same"),
        "z = x @ x": (0, 1 * MS, "appeared"),
        "(without a line)": (1 * MS, 0, "vanished"),
    }


def test_operations_are_the_same_but_for_their_number() -> None:
    assert by_name(fabricated(), elsewhere(), "operation") == {
        "sort": (10 * MS, 0, "vanished"),
        "fusion": (5 * MS, 4 * MS, "faster"),
        "dot f32[3]": (0, 1 * MS, "appeared"),
    }


def test_what_changed_most_is_first_and_all_is_told() -> None:
    found = differences(fabricated(), elsewhere(), "line")
    assert [abs(each.change_ns) for each in found] == sorted((abs(each.change_ns) for each in found), reverse=True)
    assert sum(each.before_ns for each in found) == call_ns(fabricated())
    assert sum(each.after_ns for each in found) == call_ns(elsewhere())


def test_without_its_source_a_line_is_where_it_is() -> None:
    assert set(by_name(replace(fabricated(), codes=()), elsewhere(), "line")) >= {"cell 3:2", "cell 3:6"}
    assert {CALLER.location, HELPER.location, OTHER.location} == {"cell 3:5", "cell 3:2", "cell 3:6"}


def test_of_several_devices_the_mean_counts() -> None:
    two = replace(fabricated(), device_uses=(use("CPU:0", 30 * MS), use("CPU:1", 30 * MS)))
    assert by_name(two, two, "operation")["sort"][:2] == (5 * MS, 5 * MS)


def with_profiles(comparison: Comparison, *profiles: Profile | None) -> Comparison:
    pairs = zip(comparison.candidates, profiles, strict=True)
    return replace(comparison, candidates=tuple(replace(each, profile=profile) for each, profile in pairs))


def test_the_baseline_is_the_first_that_was_profiled(comparison: Comparison) -> None:
    both = with_profiles(comparison, fabricated(), elsewhere())
    assert [label for label, _ in profiled(replace(both, baseline="jit"))] == ["jit", "numpy"]
    empty = Profile(recorded_ns=0, device_uses=(), operation_times=(), place_times=(), notes=("In use.",))
    assert [label for label, _ in profiled(with_profiles(comparison, fabricated(), empty))] == ["numpy"]
    assert profiled(comparison) == []


def test_the_report_tells_lines_and_operations_and_why_something_is_missing(comparison: Comparison) -> None:
    text = " ".join(str(with_profiles(comparison, fabricated(), elsewhere())).split())
    assert (
        "Device time per call, under the profiler: numpy 15.0 ms, jit 5.00 ms. The verdict is about the wall" in text
    )
    assert "opposite" not in text
    other = " ".join(str(with_profiles(comparison, elsewhere(), fabricated())).split())
    assert (
        "The verdict is about the wall time without the profiler, and is the opposite for jit: wall time includes"
        in other
    )
    assert "line numpy jit change return jnp.sort(x) 10.0 ms – vanished" in text
    assert "return y 4.00 ms 4.00 ms less than 10 %" in text
    assert "operation numpy jit change sort 10.0 ms – vanished fusion 5.00 ms 4.00 ms 1.00 ms faster" in text
    empty = Profile(
        recorded_ns=0, device_uses=(), operation_times=(), place_times=(), notes=(note("profiling.profiler_in_use"),)
    )
    text = str(with_profiles(comparison, fabricated(), empty))
    assert "jit: The JAX profiler is running already" in text
    assert "operation" not in text
    assert "profiler" not in str(comparison)


def test_the_report_names_programs_whose_calling_lines_are_unknown(comparison: Comparison) -> None:
    earlier = replace(elsewhere(), notes=(note("profiling.compiled_earlier", functions="matmul"),))
    text = " ".join(str(with_profiles(comparison, fabricated(), earlier)).split())
    assert "jit: Compiled by earlier calls: matmul. JAX records the lines of those calls, so" in text


def test_frames_have_all_of_it(comparison: Comparison) -> None:
    both = with_profiles(comparison, fabricated(), elsewhere())
    lines = both.to_frame("lines")
    assert lines[["label", "baseline"]].drop_duplicates().values.tolist() == [["jit", "numpy"]]
    assert lines.set_index("line")["change_ns"]["return jnp.sort(x)"] == -10 * MS
    assert set(both.to_frame("operations")["change"]) == {"vanished", "faster", "appeared"}
    assert len(comparison.to_frame("lines")) == 0
