"""A timeline has no empty row: each lane has events, and each of its rows one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import jaxmagic
from jaxmagic.charts.lane_thinning import longest
from jaxmagic.charts.lanes import Lanes
from jaxmagic.profiling.charts.timeline import profile_timeline_chart

_ROOT = Path(__file__).parents[3]
RECORDINGS = sorted(
    file
    for folder in ("tests/recorded", "docs/recordings", "notebooks/recordings")
    for file in (_ROOT / folder).glob("*.xplane.pb")
)


def empty_rows(chart: Lanes) -> Iterator[tuple[str, int]]:
    """Yield the rows without an event, by the name of their lane; -1 for a lane without rows."""
    for lane in chart.lanes:
        if not lane.rows:
            yield lane.name, -1
        yield from ((lane.name, row) for row in range(lane.rows) if row not in lane.row)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name.partition(".")[0])
def test_no_row_of_a_real_recording_is_empty(path: Path) -> None:
    profile = jaxmagic.read_profile(path)
    chart = profile_timeline_chart(profile)
    assert chart is not None
    assert profile.timeline is not None
    assert chart.lanes
    for drawn in (chart, longest(chart, 0.5), longest(chart, 0.05)):  # as on a page that has to stay small
        assert list(empty_rows(drawn)) == []


def test_there_are_recordings_of_each_kind_of_device() -> None:
    assert len(RECORDINGS) >= 12
    assert {each.name.partition("_")[0] for each in RECORDINGS} >= {"gpu", "tpu"}


def test_a_track_without_events_is_no_lane() -> None:
    profile = jaxmagic.read_profile(_ROOT / "tests" / "recorded" / "gpu_mi300_gemm.xplane.pb")
    timeline = profile.timeline
    assert timeline is not None
    first, *others = timeline.tracks
    idle = replace(first, name="idle", start_ns=(), length_ns=(), labels=())
    chart = profile_timeline_chart(replace(profile, timeline=replace(timeline, tracks=(idle, first, *others))))
    assert chart is not None
    assert len(chart.lanes) == len(timeline.tracks)
    assert list(empty_rows(chart)) == []


def test_lanes_of_equal_names_are_numbered() -> None:
    profile = jaxmagic.read_profile(_ROOT / "tests" / "recorded" / "gpu_mi300_gemm.xplane.pb")
    timeline = profile.timeline
    assert timeline is not None
    thread = replace(timeline.tracks[-1], name="pool", shows="host", device=None)
    tracks = (replace(thread, device="GPU:0"), thread, replace(thread, name="python"), thread)
    chart = profile_timeline_chart(replace(profile, timeline=replace(timeline, tracks=tracks)))
    assert chart is not None
    assert [(each.owner, each.name) for each in chart.lanes] == [
        ("GPU:0", "pool"), ("host", "pool #1"), ("host", "python"), ("host", "pool #2"),
    ]  # fmt: skip
