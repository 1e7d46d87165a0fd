"""When operations of the CPU were done, in the order in which threads of real recordings begin and end them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from jaxmagic.analysis.completion import completed
from jaxmagic.model.recording import EventKind, Track

#: An event: its thread, its name, and its start and end in µs. What is marked with a star is the mark of an end.
Event = tuple[str, str, float, float]


def tracks(events: Iterable[Event], device: str = "CPU:0") -> tuple[list[Track], list[EventKind]]:
    names = list(dict.fromkeys(name for _, name, _, _ in events))
    kinds = [
        EventKind(f"end: {name[1:]}", {})
        if name[0] == "*"
        else EventKind(name, {"hlo_op": name, "hlo_module": "jit_f"})
        for name in names
    ]
    found = []
    for thread in dict.fromkeys(thread for thread, *_ in events):
        for is_mark in (False, True):
            mine = [each for each in events if each[0] == thread and (each[1][0] == "*") == is_mark]
            if mine:
                columns = (
                    [names.index(each[1]) for each in mine],
                    [each[2] for each in mine],
                    [each[3] for each in mine],
                )
                kind, start, end = (np.array(each, float) for each in columns)
                role, owner = ("host", None) if is_mark else ("operations", device)
                us = ((each * 1e6).astype(np.int64) for each in (start, end))
                found.append(Track(thread, owner, role, kind.astype(np.int64), *us))  # type: ignore[arg-type]
    return found, kinds


def ends(events: Iterable[Event]) -> dict[str, list[float]]:
    """When operations ended, in µs, by their names."""
    made, kinds = tracks(list(events))
    found: dict[str, list[float]] = {}
    for track in completed(made, kinds):
        if track.role == "operations":
            for kind, end in zip(track.kinds.tolist(), (track.end_ps / 1e6).tolist(), strict=True):
                found.setdefault(kinds[kind].name, []).append(end)
    return {name: sorted(each) for name, each in found.items()}


def test_a_product_goes_on_until_another_thread_begins_what_has_waited_for_it() -> None:
    """As JAX 0.10 records it: the mark comes when what it has begun is over."""
    found = ends([("main", "dot", 0, 200), ("pool", "tanh", 40_000, 40_500), ("pool", "*dot", 40_510, 40_511)])
    assert found == {"dot": [40_000], "tanh": [40_500]}


def test_the_last_operation_goes_on_until_its_mark() -> None:
    assert ends([("main", "dot", 0, 200), ("pool", "*dot", 40_000, 40_001)]) == {"dot": [40_000]}


def test_what_its_own_thread_has_finished_took_as_long_as_its_event() -> None:
    found = ends(
        [("main", "add", 0, 300), ("main", "*add", 299, 300), ("main", "mul", 301, 500), ("main", "*mul", 501, 502)]
    )
    assert found == {"add": [300], "mul": [500]}


def test_a_mark_that_comes_late_because_more_was_begun_before_changes_nothing() -> None:
    found = ends(
        [("main", "add", 0, 300), ("main", "mul", 300.5, 900), ("main", "*mul", 901, 901), ("main", "*add", 902, 902)]
    )
    assert found == {"add": [300], "mul": [900]}


def test_a_part_on_another_thread_may_end_later_than_the_event() -> None:
    """A kernel that is divided among threads: the thread that ended last begins the next one."""
    found = ends(
        [("main", "kernel", 0, 21_000), ("pool", "dot", 74_000, 74_300), ("pool", "*kernel", 74_310, 74_311)]
    )
    assert found == {"kernel": [74_000], "dot": [74_300]}


def test_what_ran_on_the_thread_before_is_not_what_it_has_begun() -> None:
    found = ends(
        [
            ("pool", "old", 0, 50),
            ("main", "dot", 100, 200),
            ("pool", "tanh", 5000, 5100),
            ("pool", "*dot", 5110, 5111),
        ]
    )
    assert found["dot"] == [5000]


def test_two_events_of_one_name_as_jax_0_10_records_a_sort() -> None:
    """The second one ends with its event; the mark of the first one comes last."""
    found = ends([
        ("a", "sort", 71_247, 71_404), ("b", "sort", 71_759, 132_350), ("b", "*sort", 132_347, 132_349),
        ("b", "dot", 132_354, 135_863), ("b", "*sort", 135_870, 135_871), ("a", "*dot", 136_007, 136_009),
    ])  # fmt: skip
    assert found["sort"] == [71_759, 132_354]


def test_two_events_of_one_name_as_jax_0_12_records_a_sort() -> None:
    """The second one goes on after its event; the mark of the first one comes as soon as it has begun."""
    found = ends([
        ("a", "sort", 57_130, 57_235), ("b", "sort", 57_321, 59_039), ("b", "*sort", 59_042, 59_043),
        ("b", "dot", 95_076, 97_597), ("b", "*dot", 97_592, 97_595), ("b", "*sort", 97_619, 97_619),
    ])  # fmt: skip
    assert found["sort"] == [57_321, 95_076]


def test_runs_of_an_operation_follow_each_other() -> None:
    events: list[Event] = []
    for run in range(3):
        at = run * 10_000
        events += [("main", "dot", at, at + 100), ("pool", "*dot", at + 4000, at + 4001)]
    assert ends(events) == {"dot": [4000, 14_000, 24_000]}


@pytest.mark.parametrize(
    "marks", [[], [("pool", "*dot", 4000, 4001), ("pool", "*dot", 5000, 5001)], [("pool", "*other", 4000, 4001)]]
)
def test_where_marks_do_not_fit_events_stay_as_they_are(marks: list[Event]) -> None:
    assert ends([("main", "dot", 0, 100), *marks]) == {"dot": [100]}


def test_a_mark_before_its_operation_began_is_none() -> None:
    assert ends([("main", "dot", 1000, 1100), ("pool", "*dot", 500, 501)]) == {"dot": [1100]}


def test_of_several_devices_nothing_is_changed_because_marks_do_not_say_whose_they_are() -> None:
    one, kinds = tracks([("main", "dot", 0, 100), ("pool", "*dot", 4000, 4001)])
    other = Track("more", "CPU:1", "operations", one[0].kinds, one[0].start_ps, one[0].end_ps)
    assert completed([*one, other], kinds) == (*one, other)


def test_devices_on_which_only_programs_of_ours_ran_do_not_count() -> None:
    one, kinds = tracks([("main", "dot", 0, 100), ("pool", "*dot", 4000, 4001)])
    kinds.append(EventKind("copy", {"hlo_op": "copy", "hlo_module": "jit_jaxmagic_fence"}))
    column = np.array([len(kinds) - 1]), np.array([0]), np.array([10**6])
    found = completed([*one, Track("more", "CPU:1", "operations", *column)], kinds)
    (dot,) = (each for each in found if each.name == "several threads")
    assert dot.end_ps.tolist() == [4000 * 10**6]


def test_accelerators_are_left_alone() -> None:
    made, kinds = tracks([("main", "dot", 0, 100), ("pool", "*dot", 4000, 4001)], device="GPU:0")
    assert completed(made, kinds) == tuple(made)
