"""Events of a plane in columns: kinds, values and order."""

from __future__ import annotations

import numpy as np
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
