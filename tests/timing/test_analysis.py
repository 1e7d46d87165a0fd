"""What is worth saying of a timing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.records.note import note
from jaxmagic.timing import analysis as report


def test_parts_add_up_to_the_wall_time(timing: Any, compilation: Any) -> None:
    record = timing(compilation(), compilation(cache_retrieval_ns=5_000))
    assert sum(part.time_ns for part in report.parts(record)) == record.wall_ns


def test_empty_parts_are_left_out_and_a_warm_host_keeps_its_name(timing: Any) -> None:
    assert [part.name for part in report.parts(timing())] == ["host", "wait"]


def test_compilations_are_sorted_for_telling(timing: Any, compilation: Any) -> None:
    cheap = compilation(function="cheap", compilation_ns=1)
    dear = compilation(function="dear")
    eager = compilation(function="add", cause=Cause(kind="eager", reason=""))
    beside = compilation(function="beside", thread="neighbour")
    told = report.compiled(timing(cheap, eager, dear, beside))
    assert [each.function for each in told.functions] == ["cheap", "dear"]  # as they were compiled
    assert told.eager == (eager,)
    assert told.elsewhere == (beside,)


def test_unreached_work_is_named_only_above_the_noise_of_the_fence(timing: Any) -> None:
    assert report.unreached_ns(timing(unreached_ns=200_000)) is None
    assert report.unreached_ns(timing(unreached_ns=10_000_000, wait_ns=10**9)) is None
    assert report.unreached_ns(timing(unreached_ns=5_000_000)) == 5_000_000
    assert report.unreached_ns(timing(unreached_ns=None)) is None


def test_doubts_about_a_small_share_of_the_wall_time_are_not_told(timing: Any) -> None:
    other = note("timing.deleted")
    for doubt in (note("timing.descheduled", aside_ns=1_999), note("timing.looked_late", late_ns=1_999)):
        record = timing(dispatch_ns=50_000, wait_ns=50_000, notes=(doubt, other))
        assert report.notes(record) == (other,)
        assert report.notes(replace(record, wait_ns=49_950)) == (doubt, other)
