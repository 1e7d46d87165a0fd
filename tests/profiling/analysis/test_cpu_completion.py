"""Reconstructed ends of CPU operations, with events in the order of real traces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import fabricate.hlo
import numpy as np
import pytest

from jaxmagic.profiling.analysis.cpu_completion import completed
from jaxmagic.profiling.record.recording import EventMetadata, Role, TraceLine
from jaxmagic.xla.hlo import HloModule

#: An event: its thread, its name, and its start and end in µs. What is marked with a star is the mark of an end. Of
#: two events of one name the second has a number: ``"sort#2"``, as has its mark, ``"*sort#2"``.
Event = tuple[str, str, float, float]


def tracks(events: Iterable[Event], device: str = "CPU:0") -> tuple[list[TraceLine], list[EventMetadata]]:
    events = list(events)
    names = list(dict.fromkeys(name.partition("#")[0] for _, name, _, _ in events))
    kinds = [
        EventMetadata(f"end: {name[1:]}", {})
        if name[0] == "*"
        else EventMetadata(name, {"hlo_op": name, "hlo_module": "jit_f"})
        for name in names
    ]
    flows = list(dict.fromkeys(name.removeprefix("*") for _, name, _, _ in events))
    found = []
    for thread in dict.fromkeys(thread for thread, *_ in events):
        for is_mark in (False, True):
            mine = [each for each in events if each[0] == thread and (each[1][0] == "*") == is_mark]
            if mine:
                kind = np.array([names.index(name.partition("#")[0]) for _, name, *_ in mine])
                flow = np.array([flows.index(name.removeprefix("*")) + 1 for _, name, *_ in mine])
                start, end = (np.array([int(each[column] * 1e6) for each in mine]) for column in (2, 3))
                role: Role = "host" if is_mark else "operations"
                found.append(TraceLine(thread, None if is_mark else device, role, kind, start, end, flow))
    return found, kinds


def ends(events: Iterable[Event]) -> dict[str, list[float]]:
    """When operations ended, in µs, by their names."""
    made, kinds = tracks(list(events))
    found: dict[str, list[float]] = {}
    for track in completed(made, kinds, {}).tracks:
        if track.role == "operations":
            for kind, end in zip(track.kinds.tolist(), (track.end_ps / 1e6).tolist(), strict=True):
                found.setdefault(kinds[kind].name, []).append(end)
    return {name: sorted(each) for name, each in found.items()}


def test_a_product_goes_on_until_another_thread_begins_what_has_waited_for_it() -> None:
    """As JAX 0.10 records it: the marker comes when the operations that the thread started are over."""
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
    """A parallel kernel: the thread that ends last starts the next one."""
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


def test_what_another_thread_runs_is_not_what_the_marking_one_has_begun() -> None:
    found = ends([("main", "dot", 0, 200), ("other", "tanh", 30_000, 39_990), ("pool", "*dot", 40_000, 40_001)])
    assert found["dot"] == [40_000]


def test_an_operation_is_never_said_to_end_before_its_event() -> None:
    """Another thread starts the next operation while the first thread still returns from the kernel."""
    events = [("main", "sort", 0, 21_000), ("pool", "add", 20_000, 74_000), ("pool", "*sort", 74_010, 74_011)]
    assert ends(events)["sort"] == [21_000]
    made, kinds = tracks([*events[:1], ("other", "add", 20_000, 30_000), events[2]])
    kinds = [each._replace(stats={**each.stats, "program_id": 7}) for each in kinds]
    found = completed(made, kinds, {("", 7): chain("sort", "add")})
    assert not any(each.name == "several threads" for each in found.tracks)


def chain(*names: str) -> HloModule:
    """Operations that each use the result of the one before."""
    numbered = enumerate(names)
    return fabricate.hlo.module(
        *(fabricate.hlo.instruction(name, *((number - 1,) if number else ())) for number, name in numbered)
    )


def test_two_events_of_one_name_as_jax_0_10_records_a_sort() -> None:
    """The second event ends in time; the marker of the first one comes last."""
    found = ends([
        ("a", "sort", 71_247, 71_404), ("b", "sort#2", 71_759, 132_350), ("b", "*sort#2", 132_347, 132_349),
        ("b", "dot", 132_354, 135_863), ("b", "*sort", 135_870, 135_871), ("a", "*dot", 136_007, 136_009),
    ])  # fmt: skip
    assert found["sort"] == [71_759, 132_350]


def test_two_events_of_one_name_as_jax_0_12_records_a_sort() -> None:
    """The second one outlasts its event; the marker of the first one comes as soon as the second has started."""
    found = ends([
        ("a", "sort", 57_130, 57_235), ("b", "sort#2", 57_321, 59_039), ("b", "*sort", 59_042, 59_043),
        ("b", "dot", 95_076, 97_597), ("b", "*dot", 97_592, 97_595), ("b", "*sort#2", 97_619, 97_619),
    ])  # fmt: skip
    assert found["sort"] == [57_321, 95_076]


def test_runs_of_an_operation_follow_each_other() -> None:
    events: list[Event] = []
    for run in range(3):
        at = run * 10_000
        events += [("main", f"dot#{run}", at, at + 100), ("pool", f"*dot#{run}", at + 4000, at + 4001)]
    assert ends(events) == {"dot": [4000, 14_000, 24_000]}


@pytest.mark.parametrize(("executions", "end"), [((7, 7), 4000), ((7, 8), 9000), ((8, 7), 9000)])
def test_what_begins_in_another_execution_has_not_waited(executions: tuple[int, int], end: float) -> None:
    """Two threads call one function: its executions overlap."""
    made, kinds = tracks([("a", "dot", 0, 100), ("pool", "*dot", 9000, 9001), ("b", "dot#2", 4000, 4100)])
    first, marks, second = made
    first, second = (
        replace(each, executions=np.array([number])) for each, number in zip((first, second), executions, strict=True)
    )
    (apart,) = (
        each for each in completed([first, marks, second], kinds, {}).tracks if each.name == "several threads"
    )
    assert apart.end_ps.tolist() == [end * 10**6]


def test_what_takes_the_result_begins_when_it_is_there_even_if_the_thread_pauses_before_its_mark() -> None:
    """JAX 0.8 once recorded the end marker of a sort 0.1 ms after everything else: 70 ms too late."""
    events = [
        ("main", "sort", 0, 200),
        ("pool", "add", 1000, 1100),
        ("pool", "mul", 1300, 70_000),
        ("pool", "*sort", 70_200, 70_201),
    ]
    made, kinds = tracks(events)
    kinds = [each._replace(stats={**each.stats, "program_id": 7}) for each in kinds]
    module = chain("sort", "tuple", "add")
    for modules, end in (({}, 70_200), ({("", 7): module}, 1000)):
        (apart,) = (each for each in completed(made, kinds, modules).tracks if each.name == "several threads")
        assert apart.end_ps.tolist() == [end * 10**6]


@pytest.mark.parametrize("marks", [[], [("pool", "*other", 4000, 4001)], [("pool", "*dot#2", 4000, 4001)]])
def test_without_a_mark_of_its_own_an_event_stays_as_it_is(marks: list[Event]) -> None:
    assert ends([("main", "dot", 0, 100), *marks]) == {"dot": [100]}


def test_operations_without_a_mark_are_counted_but_ours() -> None:
    events = [("main", "dot", 0, 100), ("pool", "*dot", 400, 401), ("main", "add", 200, 300), ("main", "mul", 5, 6)]
    made, kinds = tracks(events)
    assert completed(made, kinds, {}).unknown == 2
    kinds[-1] = EventMetadata("mul", {"hlo_op": "mul", "hlo_module": "jit_jaxmagic_fence"})
    assert completed(made, kinds, {}).unknown == 1
    assert completed([replace(each, flows=None) for each in made], kinds, {}).unknown == 0
    assert completed([], [], {}).unknown == 0


def test_a_mark_before_its_operation_began_is_none() -> None:
    assert ends([("main", "dot", 1000, 1100), ("pool", "*dot", 500, 501)]) == {"dot": [1100]}


def test_where_the_profiler_ties_nothing_to_anything_nothing_is_changed() -> None:
    made, kinds = tracks([("main", "dot", 0, 100), ("pool", "*dot", 4000, 4001)])
    made = [replace(each, flows=None) for each in made]
    assert completed(made, kinds, {}).tracks == tuple(made)


def test_each_device_goes_on_with_its_own() -> None:
    """As JAX 0.12 records two devices: the thread that ends a product of one has just run ops of the other."""
    one, kinds = tracks([("a", "dot", 0, 200), ("pool", "tanh", 30_000, 39_990), ("pool", "*dot", 40_000, 40_001)])
    other, more = tracks(
        [("b", "dot", 0, 300), ("pool", "tanh", 20_000, 29_990), ("pool", "*dot", 50_000, 50_001)], "CPU:1"
    )
    moved = [replace(each, kinds=each.kinds + len(kinds), flows=each.flows + 10) for each in other]  # type: ignore[operator]
    found = completed([*one, *moved], [*kinds, *more], {}).tracks
    apart = {each.device: each.end_ps.tolist() for each in found if each.name == "several threads"}
    assert apart == {"CPU:0": [30_000 * 10**6], "CPU:1": [50_000 * 10**6]}
    assert sum(len(each.kinds) for each in found) == 6


def test_what_was_begun_is_of_the_same_device_as_what_it_has_waited_for() -> None:
    """Operations of another device right before the marker do not count."""
    one, kinds = tracks([("a", "dot", 0, 200), ("pool", "tanh", 30_000, 39_990), ("pool", "*dot", 40_000, 40_001)])
    other, more = tracks([("pool", "exp", 10_000, 29_990)], "CPU:1")
    moved = [replace(each, kinds=each.kinds + len(kinds), flows=each.flows + 10) for each in other]  # type: ignore[operator]
    found = completed([*one, *moved], [*kinds, *more], {}).tracks
    (apart,) = (each for each in found if each.name == "several threads")
    assert (apart.device, apart.end_ps.tolist()) == ("CPU:0", [30_000 * 10**6])
