"""Events of a plane in columns: kinds, values and order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recordings import operation, space

from jaxmagic.profiling.capture.xspace import read_recording


def test_events_are_of_one_kind_where_all_that_is_wanted_is_the_same() -> None:
    events = [("dot.1", at * 10, 5, operation(run=at)) for at in range(1000)]
    events += [("dot.1", 10_000 + at, 1, [*operation(1), {"name": 5, "text": b"%d" % (at % 2)}]) for at in range(10)]
    found = read_recording([("", space({"name": "/host:CPU", "lines": {"thread": events}}))])
    assert all(each.stats.items() >= {"hlo_op": "dot.1", "device_ordinal": 0}.items() for each in found.kinds)
    (track,) = found.tracks
    counts = np.bincount(track.kinds).tolist()
    assert {each.stats.get("size"): counts[at] for at, each in enumerate(found.kinds)} == {None: 1000, "0": 5, "1": 5}


def test_values_of_all_types_are_read() -> None:
    stats = [
        {"name": 5, "number": int(np.float64(0.5).view(np.uint64))},
        {"name": 3, "signed": -7},
        {"name": 6, "text": "ä".encode()},
    ]
    found = read_recording([("", space({"name": "/host:CPU", "lines": {"thread": [("f", 0, 1, stats)]}}))])
    assert dict(found.kinds[0].stats) == {"size": 0.5, "device_ordinal": -7, "hlo_module": "ä"}


def test_events_are_in_order_and_the_longer_of_two_that_begin_at_once_comes_first() -> None:
    events = [("b", 5, 1, []), ("a", 0, 2, []), ("outer", 5, 9, [])]
    found = read_recording([("", space({"name": "/host:CPU", "lines": {"thread": events}}))])
    assert [found.kinds[each].name for each in found.tracks[0].kinds] == ["a", "outer", "b"]


def test_the_graph_of_a_kernel_is_a_fact_of_it_and_its_node_a_column() -> None:
    nodes = [(3 << 32) + 7, (3 << 32) + 9, 0]
    events = [
        ("k", at * 10, 5, [{"name": 11, "unsigned": 3}, {"name": 10, "unsigned": node}])
        for at, node in enumerate(nodes)
    ]
    found = read_recording([("", space({"name": "/device:GPU:0", "lines": {"Stream #1": events}}))])
    assert [dict(each.stats) for each in found.kinds] == [{"cuda_graph_id": 3}]
    (track,) = found.tracks
    assert track.graph_nodes is not None
    assert track.graph_nodes.tolist() == nodes


def own(offset: int, duration: int) -> list[dict[str, int]]:
    return [{"name": 12, "unsigned": offset}, {"name": 13, "unsigned": duration}]


def test_all_lines_of_a_device_are_by_its_own_clock_if_its_operations_have_times_by_it() -> None:
    """Programs take 100, their operations the first 80; the first is estimated to take 40 more, the next 40 less."""
    lines = {
        "XLA Modules": [("jit_f(7)", at, duration, []) for at, duration in ((10, 140), (150, 60), (210, 100))],
        "XLA Ops": [
            ("dot", 10, 120, own(510, 80)),
            ("dot", 150, 40, own(610, 80)),
            ("dot", 210, 80, own(710, 80)),
        ],
        "Async XLA Ops": [("copy-start", 150, 40, [])],
        "XLA TraceMe": [("barrier-cores", 5, 5, [])],
    }
    device = {"name": "/device:TPU:0", "lines": lines}
    other = {"name": "/device:TPU:1", "lines": {"XLA Modules": lines["XLA Modules"]}}
    host = {"name": "/host:CPU", "lines": {"python": [("f", 150, 50, [])]}}
    found = read_recording([("", space(device, other, host))])
    times = {
        (each.device, each.role): list(zip(each.start_ps.tolist(), each.end_ps.tolist(), strict=True))
        for each in found.tracks
    }
    assert times == {
        ("TPU:0", "programs"): [(10, 110), (110, 210), (210, 310)],
        ("TPU:0", "operations"): [(10, 90), (110, 190), (210, 290)],
        ("TPU:0", "asynchronous"): [(110, 190)],
        ("TPU:0", "waits"): [(5, 10)],
        ("TPU:1", "programs"): [(10, 150), (150, 210), (210, 310)],
        (None, "host"): [(150, 200)],
    }


def test_operations_without_times_by_the_devices_clock_are_moved_with_the_others() -> None:
    events = [("dot", at, 10, own(at % 50, 10)) for at in (100, 120)] + [("while", 100, 30, [])]
    events += [("dot", 200, 10, own(80, 10)), ("add", 200, 10, [])]
    found = read_recording([("", space({"name": "/device:TPU:0", "lines": {"XLA Ops": events}}))])
    (track,) = found.tracks
    names = [found.kinds[each].name for each in track.kinds]
    assert sorted(zip(names, track.start_ps.tolist(), strict=True)) == [
        ("add", 180), ("dot", 100), ("dot", 120), ("dot", 180), ("while", 100),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("damaged", "operations"),
    [
        (("dot", 2**60, 9, own(20, 9)), [100, 140]),
        (("dot", 120, 2**60, own(20, 9)), [100, 140]),
        (("dot", 120, 9, own(20, 2**60)), [100, 120, 140]),
    ],
    ids=["start", "duration", "own duration"],
)
def test_operations_with_a_damaged_time_do_not_move_others(damaged: Any, operations: list[int]) -> None:
    """Without the device's time that is damaged, the operation has its estimate."""
    lines = {
        "XLA Ops": [("dot", 100, 9, own(0, 9)), damaged, ("dot", 140, 9, own(40, 9))],
        "XLA Modules": [("jit_f(7)", at, 10, []) for at in (100, 120, 140, 160)],
    }
    found = read_recording([("", space({"name": "/device:TPU:0", "lines": lines}))])
    times = {each.role: each.start_ps.tolist() for each in found.tracks}
    assert times == {"operations": operations, "programs": [100, 120, 140, 160]}
