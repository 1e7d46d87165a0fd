"""The file for Perfetto: it has every event of the trace, and the user's text stays text."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest
from recordings import operation, space

from jaxmagic.profiling.capture.xspace import read_recording
from jaxmagic.profiling.record.recording import EventMetadata, Trace, TraceLine
from jaxmagic.profiling.report.perfetto import perfetto


def recording(name: str = "%dot.1 = f32[3] dot(a, b)") -> Trace:
    def track(device: str | None, kind: int) -> TraceLine:
        columns = (
            np.array(each, np.int64) for each in ([kind, kind], [1_000_000, 4_500_000], [3_000_000, 4_500_000])
        )
        return TraceLine("Stream 1" if device else "python", device, "operations" if device else "host", *columns)

    kinds = (EventMetadata(name, {"hlo_op": "dot.1", "data": b"x"}), EventMetadata("f", {}))
    return Trace((track("GPU:0", 0), track(None, 1)), kinds, {"GPU:0": {}}, {})


def events(data: bytes) -> list[dict[str, Any]]:
    found = json.loads(data)["traceEvents"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("compressed", [True, False])
def test_events_have_their_device_and_track_and_times_in_microseconds(compressed: bool) -> None:
    data = perfetto(recording(), compressed=compressed)
    found = events(gzip.decompress(data) if compressed else data)
    names = {each["pid"]: each["args"]["name"] for each in found if each["name"] == "process_name"}
    spans = [(names[each["pid"]], each["name"], each["ts"], each["dur"]) for each in found if each["ph"] == "X"]
    assert spans == [
        ("GPU:0", "dot.1", 1.0, 2.0),
        ("GPU:0", "dot.1", 4.5, 0.0),
        ("host", "f", 1.0, 2.0),
        ("host", "f", 4.5, 0.0),
    ]
    (arguments, *_) = [each["args"] for each in found if each["name"] == "dot.1"]
    assert arguments == {"hlo_op": "dot.1"}


def test_events_are_as_recorded_and_reconstructed_ends_lie_on_a_thread_that_says_so() -> None:
    begun = [("dot.1", 10**6, 2 * 10**6, [*operation(1), {"name": 8, "signed": 2**32}])]
    ended = [("end: dot.1", 500 * 10**6, 0, [{"name": 9, "signed": 2**32}])]
    recorded = read_recording([("", space({"name": "/host:CPU", "lines": {"a": begun, "b": ended}}))])
    found = events(perfetto(recorded))
    threads = {each["tid"]: each["args"]["name"] for each in found if each["name"] == "thread_name"}
    spans = [(threads[each["tid"]], each["name"], each["ts"], each["dur"]) for each in found if each["ph"] == "X"]
    assert spans == [
        ("a", "dot.1", 1.0, 2.0),
        ("b", "end: dot.1", 500.0, 0.0),
        ("reconstructed by jaxmagic: operations until they were done", "dot.1", 1.0, 499.0),
    ]


def test_names_stay_text(hostile: str) -> None:
    assert any(each["name"] == hostile.split(" = ")[0] for each in events(perfetto(recording(hostile))))


def test_the_same_recording_makes_the_same_file() -> None:
    assert perfetto(recording(), compressed=True) == perfetto(recording(), compressed=True)
