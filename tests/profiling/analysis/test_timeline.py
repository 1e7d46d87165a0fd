"""The timeline: which events are kept, their labels, and the chart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabricate.profiling import fabricated
from recordings import recording_of

from jaxmagic.profiling.analysis import timeline as profile_timeline
from jaxmagic.profiling.analysis.run_windows import Window
from jaxmagic.profiling.analysis.summarize import summarize
from jaxmagic.profiling.charts.timeline import profile_timeline_chart
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.profiling.record.recording import EventMetadata, Role, Trace, TraceLine
from jaxmagic.profiling.record.timeline import EventLabel, EventTrack, ProfileTimeline

DOT, COPY, CALL, COMPILE, NOISE, OURS, RUN = range(7)
KINDS = (
    EventMetadata("dot", {"hlo_op": "dot", "hlo_category": "convolution fusion"}),
    EventMetadata("copy-done", {"hlo_op": "copy-done", "hlo_category": "copy-done"}),
    EventMetadata("PjitFunction(f)", {}),
    EventMetadata("TfrtTpuCompiler::Compile", {}),
    EventMetadata("ThreadpoolListener::Record", {}),
    EventMetadata("PjitFunction(jit(jaxmagic_fence))", {}),
    EventMetadata("jaxmagic: run", {}),
)


def track(name: str, device: str | None, *events: tuple[int, int, int], role: Role = "operations") -> TraceLine:
    """Events as their kind, start and end in nanoseconds."""
    kinds, start, end = np.array(events, np.int64).T
    return TraceLine(name, device, "host" if device is None else role, kinds, start * 1000, end * 1000)


def timeline(*tracks: TraceLine, windows: list[tuple[int, int]] | None = None) -> ProfileTimeline:
    wanted = None if windows is None else [Window(low * 1000, high * 1000) for low, high in windows]
    found = summarize(Trace(tracks, KINDS, {}, {}), wanted).timeline
    assert found is not None
    return found


def events(found: ProfileTimeline, shows: str) -> list[tuple[str, int, int]]:
    """Their names, starts and lengths."""
    return [
        (found.labels[label].name, start, length)
        for each in found.tracks
        if each.shows == shows
        for label, start, length in zip(each.labels, each.start_ns, each.length_ns, strict=True)
    ]


DEVICE = track("Stream #1", "GPU:0", (DOT, 100, 140), (COPY, 140, 160), (DOT, 190, 200))


def test_times_count_from_the_first_run_and_events_are_cut_at_the_ends() -> None:
    found = timeline(DEVICE, windows=[(110, 150), (180, 195)])
    assert found.end_ns == 85
    assert events(found, "runs") == [("run 1", 0, 40), ("run 2", 70, 15)]
    assert events(found, "operations") == [("dot", 0, 30), ("copy-done", 30, 20), ("dot", 80, 5)]


def test_gaps_say_what_the_device_waits_for_and_what_the_host_did() -> None:
    host = track("python", None, (CALL, 100, 185), (COMPILE, 162, 180))
    found = timeline(DEVICE, host, windows=[(100, 200)])
    assert events(found, "gaps") == [
        ("copying", 40, 20),
        ("waiting for the host", 60, 2),
        ("waiting for the host, which compiles", 62, 18),
        ("waiting for the host", 80, 10),
    ]
    told = {each.detail for each in found.labels if each.name.endswith("which compiles")}
    assert told == {"the host meanwhile: PjitFunction(f), for 18 ns of it"}


def test_bookkeeping_and_what_is_ours_is_not_shown() -> None:
    host = track("python", None, (RUN, 90, 210), (CALL, 100, 150), (NOISE, 110, 120), (OURS, 150, 190))
    found = timeline(DEVICE, host, windows=[(100, 200)])
    assert events(found, "host") == [("PjitFunction(f)", 0, 50)]


def test_of_very_many_events_the_longest_are_kept_and_that_is_said(monkeypatch: Any) -> None:
    many = track("s", "GPU:0", *((DOT, 10 * n, 10 * n + 1 + n % 5) for n in range(50)))
    monkeypatch.setattr(profile_timeline.make_timeline, "__defaults__", (20,))
    found = summarize(Trace((many,), KINDS, {}, {})).timeline
    assert found is not None
    lengths = [length for _, _, length in events(found, "operations")]
    assert sorted(lengths) == [4] * 10 + [5] * 10
    assert (found.left_out, found.shortest_ns) == (30, 4)
    chart = profile_timeline_chart(shown(found))
    assert chart is not None
    assert chart.note == "30 events of 4 ns or less not drawn"


def test_of_events_that_are_equally_long_as_many_are_kept_as_have_room(monkeypatch: Any) -> None:
    same = track("s", "GPU:0", *((DOT, 10 * n, 10 * n + 5) for n in range(50)))
    monkeypatch.setattr(profile_timeline.make_timeline, "__defaults__", (20,))
    found = summarize(Trace((same,), KINDS, {}, {})).timeline
    assert found is not None
    assert (len(events(found, "operations")), found.left_out, found.shortest_ns) == (20, 30, 5)


def test_gaps_beyond_some_thousand_are_left_out_and_that_is_said(monkeypatch: Any) -> None:
    monkeypatch.setattr(profile_timeline, "_MOST_GAPS", 3)
    found = timeline(track("s", "GPU:0", *((DOT, 10 * n, 10 * n + 5) for n in range(9))))
    assert (len(events(found, "gaps")), found.gaps_left_out) == (3, 5)
    chart = profile_timeline_chart(shown(found))
    assert chart is not None
    assert chart.note == "5 shorter gaps not drawn"


def test_threads_of_a_pool_that_take_turns_for_one_device_are_one_row() -> None:
    pool = [
        track("tf_XLAPjRtCpuClient/-15", "CPU:0", (DOT, 0, 10)),
        track("tf_XLAPjRtCpuClient/7", "CPU:0", (DOT, 10, 30)),
    ]
    found = timeline(*reversed(pool))
    assert [(each.name, each.start_ns) for each in found.tracks if each.shows == "operations"] == [
        ("XLAPjRtCpuClient", (0, 10))
    ]


def test_threads_of_the_host_that_did_least_are_left_out_but_pythons_is_first(monkeypatch: Any) -> None:
    monkeypatch.setattr(profile_timeline, "_MOST_THREADS", 2)
    threads = [track(f"pool/{n}", None, (CALL if n == 9 else COMPILE, 100, 110 + n)) for n in range(10)]
    threads.append(track("python", None, (CALL, 100, 101)))
    found = timeline(DEVICE, *threads)
    hosts = [(each.name, each.length_ns) for each in found.tracks if each.shows == "host"]
    assert hosts == [("pool", (19,)), ("python", (1,))]
    assert found.threads_left_out == 9


def test_names_beyond_some_thousand_are_what_they_stand_for(monkeypatch: Any) -> None:
    monkeypatch.setattr(profile_timeline, "_MOST_NAMES", 1)
    assert [name for name, _, _ in events(timeline(DEVICE), "operations")] == ["dot", "(copy)", "dot"]


def test_without_a_device_there_is_none() -> None:
    assert summarize(Trace((), (), {}, {})).timeline is None
    assert profile_timeline_chart(fabricated()) is None


def shown(found: ProfileTimeline) -> Profile:
    return Profile(recorded_ns=found.end_ns, device_uses=(), operation_times=(), place_times=(), timeline=found)


def made(*calls: tuple[int, int]) -> ProfileTimeline:
    """A host thread with calls, given by starts and lengths."""
    starts, lengths = zip(*calls, strict=True)
    label = EventLabel(name="f", activity="host")
    thread = EventTrack(
        name="python", device=None, shows="host", labels=(0,) * len(calls), start_ns=starts, length_ns=lengths
    )
    return ProfileTimeline(end_ns=100, labels=(label,), tracks=(thread,))


def test_what_lies_within_another_call_lies_below_it() -> None:
    chart = profile_timeline_chart(shown(made((0, 50), (0, 20), (5, 5), (30, 10), (60, 1))))
    assert chart is not None
    (lane,) = chart.lanes
    assert (lane.rows, lane.row) == (3, (0, 1, 2, 1, 0))
    assert (lane.owner, lane.name, chart.note) == ("host", "python", "")


def test_calls_very_deep_within_others_are_not_drawn_and_that_is_said() -> None:
    chart = profile_timeline_chart(shown(made(*((n, 100 - 2 * n) for n in range(20)))))
    assert chart is not None
    assert chart.lanes[0].rows == len(chart.lanes[0].start) == 12
    assert chart.note == "8 deeply nested calls not drawn"


def test_a_timeline_whose_columns_do_not_fit_is_refused() -> None:
    label = EventLabel(name="f", activity="host")
    with pytest.raises(ValueError, match="a label, a start and a length"):
        EventTrack(name="", device=None, shows="host", labels=(0,), start_ns=(), length_ns=())
    thread = EventTrack(name="", device=None, shows="host", labels=(1,), start_ns=(0,), length_ns=(1,))
    with pytest.raises(ValueError, match="one of the labels of the timeline"):
        ProfileTimeline(end_ns=1, labels=(label,), tracks=(thread,))


@pytest.mark.parametrize("name", ["gpu_mi300_8dev_conv", "tpu_v6e_4dev_inference"])
def test_of_real_recordings_gaps_and_computation_are_all_of_the_time(name: str) -> None:
    times = summarize(recording_of(name))
    assert times.timeline is not None
    for use in times.device_uses:
        waits = use.exposed_collective_ns + use.exposed_copy_ns + use.idle_ns
        assert use.compute_ns + waits == pytest.approx(times.recorded_ns, rel=1e-4)
        shown = sum(
            sum(each.length_ns)
            for each in times.timeline.tracks
            if each.device == use.device and each.shows == "gaps"
        )
        assert shown == pytest.approx(waits, rel=1e-3)
        assert use.compile_idle_ns + use.transfer_idle_ns <= use.idle_ns
