"""Ten programs of the ecosystem under every magic: all that is said is what JAX says when it is asked by hand."""

from __future__ import annotations

import os
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import jax
import pytest

from .measured import Measured, measure
from .percent import programs

#: Without their libraries there is nothing to run; in the nox session that is there for them that is a failure.
LEFT_OUT = [each for each in programs() if not all(find_spec(name.partition(".")[0]) for name in each.imports)]
RUN = [each for each in programs() if each not in LEFT_OUT]


@pytest.fixture(scope="module", params=RUN, ids=lambda program: program.name)
def records(request: pytest.FixtureRequest) -> dict[int, Measured | Exception]:
    """What has been measured of a program, or why it was not, by how often its test was run."""
    return {}


@pytest.fixture
def measured(request: pytest.FixtureRequest, records: dict[int, Measured | Exception], tmp_path: Path) -> Measured:
    """The records that all tests of a program share; measured anew for a test that is run again."""
    attempt = getattr(request.node, "execution_count", 1)
    if attempt not in records:
        try:
            records[attempt] = measure(request.node.callspec.params["records"], tmp_path)
        except Exception as error:
            records[attempt] = error
    found = records[attempt]
    if isinstance(found, Exception):
        raise found
    return found


pytestmark = [pytest.mark.slow, pytest.mark.clock]


def test_no_program_is_left_out() -> None:
    names = [each.name for each in LEFT_OUT]
    if names and "JAXMAGIC_ECOSYSTEM" not in os.environ:
        pytest.skip(f"the nox session 'ecosystem' has the libraries of {', '.join(names)}")
    assert names == []


def test_each_cell_compiles_as_many_programs_as_jax_says(measured: Measured) -> None:
    told = [
        Counter(each.function for each in timing.compilations if each.compilation_ns) for timing in measured.timings
    ]
    assert told == list(measured.by_hand.compilations)


def test_the_step_compiles(measured: Measured) -> None:
    assert measured.by_hand.compilations[-2].total() >= 1


def test_times_of_a_cell_add_up(measured: Measured) -> None:
    for timing in measured.timings:
        parts = timing.tracing_ns + timing.lowering_ns + timing.compilation_ns + timing.cache_retrieval_ns
        assert timing.wall_ns == parts + timing.host_ns + timing.wait_ns


def test_samples_wait_for_all_work(measured: Measured) -> None:
    fastest_ns = measured.by_hand.fastest_ns or 0
    assert (
        min(measured.benchmark.samples_ns) > fastest_ns / 16
    )  # a repeat may be one step of four; to begin takes a hundredth
    again = measured.by_hand.compilations[-1].total()
    assert sum(each.compilation_ns > 0 for each in measured.benchmark.first_call.compilations) == again


def test_what_was_planted_is_never_the_faster_one(measured: Measured) -> None:
    assert list(measured.comparison) == ["planted", "quicker"]
    assert measured.comparison["quicker"].verdict in ("faster", "too noisy to tell", "too few rounds to tell")
    check = measured.comparison.candidate("quicker").check
    assert check is None or check.passed


def test_programs_need_what_the_compiler_says(measured: Measured) -> None:
    told = {
        (each.name, (each.argument_bytes, each.output_bytes, each.temporary_bytes, each.alias_bytes))
        for each in measured.memory.executables
    }
    assert told
    assert told <= measured.loaded
    if measured.needed is not None:
        assert measured.needed in {needed for _, needed in told} or len(told) > 1  # eager: the whole is no program


def test_arrays_are_those_that_jax_holds(measured: Measured) -> None:
    assert measured.memory.after_bytes == measured.held_bytes


def test_lines_and_operations_add_up_to_the_device_time(measured: Measured) -> None:
    profile = measured.profile
    assert profile.lines()["time_ns"].sum() == profile.device_ns
    assert profile.operations()["time_ns"].sum() == profile.device_ns
    assert profile.device_ns <= profile.recorded_ns * jax.device_count()


def test_the_profile_has_what_was_recorded(measured: Measured) -> None:
    """No event is missing, and operations that go on in other threads end later than their events.

    A sort is several events on the CPU, for one execution: a copy of each operand, and the sort.
    """
    told: Counter[tuple[str, str]] = Counter()
    for each in measured.profile.operation_times:  # programs of one name for several shapes are several
        told[each.module, each.name] += each.count
    events = measured.recorded.counts
    sorts = {key for key in events if key[1].startswith("sort")}
    assert {key: told[key] for key in told if key not in sorts} == {
        key: events[key] for key in events if key not in sorts
    }
    assert sorts == {key for key in told if key[1].startswith("sort")}
    assert all(told[key] > 0 and events[key] % told[key] == 0 for key in sorts)
    assert measured.profile.device_ns >= measured.recorded.busy_ns * 0.999


def test_the_planted_line_is_among_the_first_two(measured: Measured) -> None:
    """Programs that share few processors with other work may be slow elsewhere too."""
    lines = {
        code.lines[first["line"] - code.first].strip()
        for _, first in measured.profile.lines().iloc[:2].iterrows()
        for code in measured.profile.codes
        if code.cell == first["cell"] and 0 <= first["line"] - code.first < len(code.lines)
    }
    assert measured.program.planted in lines


def test_each_magic_has_reported(measured: Measured) -> None:
    assert len(measured.reports) == len(measured.timings) + 3
    assert all("jaxmagic could not" not in each for each in measured.reports)
