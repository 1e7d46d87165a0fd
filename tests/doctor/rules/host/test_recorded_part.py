"""Where the recording has only a part of a run, what was counted and timed in it is a lower bound."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import pytest
from fabricate.profiling import MS

import jaxmagic
from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostWait
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules import unjudged
from jaxmagic.doctor.rules.examine import Examined, examine
from jaxmagic.doctor.rules.host import wait
from jaxmagic.doctor.rules.host.host_time import host_time, matters
from jaxmagic.memory_use.record.memory_profile import Executable
from jaxmagic.profiling.capture import profiler_session
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import Note, note
from jaxmagic.subjects import words_of_note

CUT = note("profiling.cut", complete_runs=0, runs=1, limit_ns=10**8, limit_events=0)
DAMAGED = note("profiling.damaged_times", events=3, lines="python")

#: 60 additions, before which the device is idle for 30 ms.
ADDED = Dispatch(name="add", count=60, host_ns=30 * MS, exposed_ns=30 * MS, busy_ns=1 * MS)


@pytest.fixture
def part(evidence: Any, executable: Callable[..., Executable]) -> Any:
    """A recording of 100 ms, of a run that takes some times as long."""

    def make(*notes: Note, times: int = 1, **changes: Any) -> Evidence:
        add = Program(executable=executable(name="jit_add"), module=None, function="add", location=None, eager=True)
        made = evidence((ADDED,), programs=(add,), **changes)
        longer = replace(made.observed, dispatch_ns=50 * MS * times, wait_ns=50 * MS * times)
        return replace(
            made, observed=longer, timed=(longer,), profile=replace(made.profile, notes=(CUT, *notes)[not notes :])
        )

    return make


def whole(evidence: Evidence) -> Evidence:
    assert evidence.profile is not None
    return replace(evidence, profile=replace(evidence.profile, notes=()))


def of_additions(examined: Examined) -> RuleFinding:
    (finding,) = (each for each in examined.findings if each.rule == "not-jitted")
    return finding


@pytest.mark.parametrize("lost", [CUT, DAMAGED])
def test_operations_in_a_part_of_a_run_are_at_least_as_many(lost: Note, part: Any) -> None:
    made = part(lost)
    found = of_additions(examine(made, only=("not-jitted",)))
    assert str(found.found) == "At least 60 operations per run are called one by one, outside of jit: add."
    assert found.basis == "at least"
    of_all = of_additions(examine(whole(made), only=("not-jitted",)))
    assert str(of_all.found) == "60 operations per run are called one by one, outside of jit: add."
    assert of_all.basis == "estimated"


def test_the_report_says_that_the_recording_has_a_part_of_the_run(part: Any) -> None:
    told = [str(each) for each in examine(part(CUT)).notes if each.kind == "doctor.recorded_part"]
    assert told == [
        "The profiler recorded 100 ms of a run, because recordings end at a limit to stay readable. Counts, and "
        "costs with ≥, are those of this part: the rest of the run may have more."
    ]
    for other in (examine(whole(part(CUT))), examine(part(CUT), only=("recompile",))):
        assert not [each for each in other.notes if each.kind == "doctor.recorded_part"]


def test_the_rest_of_a_run_is_not_taken_for_more_of_the_same(part: Any) -> None:
    """The rest may be the work of the device alone."""
    made = part(CUT, times=10)
    found = of_additions(examine(made, only=("not-jitted",)))
    assert found.cost_ns is not None
    assert found.cost_ns <= ADDED.exposed_ns
    time = host_time(made)
    assert time is not None
    assert time.scale == 1.0


def test_what_takes_much_of_the_recorded_part_is_found_in_a_long_run(part: Any) -> None:
    made = part(CUT, times=100)
    assert matters(6 * MS, made)
    assert not matters(4 * MS, made)
    assert not matters(6 * MS, whole(made))


def test_waits_are_not_measured_against_the_work_of_the_device_in_a_part(part: Any) -> None:
    """The device may work for all of the rest of the run, in which the code waits as well."""
    read = HostWait(
        line=Frame(function="train", file="train.py", line=5),
        function="_value",
        library=None,
        count=40,
        wait_ns=45 * MS,
    )
    made = part(CUT, waits=(read,))
    time, of_all = host_time(made), host_time(whole(made))
    assert time is not None
    assert of_all is not None
    assert time.latency_ns == 0
    assert of_all.latency_ns > 0
    assert not list(wait.look(made))


#: The facts that are texts.
TEXTS = {
    **dict.fromkeys(("names", "name", "function", "primitive", "shape", "array", "argument", "collective"), "x"),
    "module": "jit_x",
    "transform": "vmap",
    "now": "tf32",
    "converted": "f64",
}


@pytest.mark.parametrize("kind", sorted(unjudged._COUNTED - {"doctor.eager_on_device", "doctor.donation"}))
def test_each_count_and_time_from_the_recording_can_be_a_lower_bound(kind: str) -> None:
    words = words_of_note(kind)
    assert words is not None
    facts = {each: TEXTS.get(each, 2) for each in inspect.signature(words).parameters}
    assert "at least 2" in words(**facts | {"least": 1}).lower()
    assert "at least 2" not in words(**facts | {"least": 0}).lower()


def adds(x: Any) -> Any:
    """Call 80 operations outside of jit; a recording ends after half of them."""
    for number in range(40):
        x = x * 1.01 + 1
        if number == 19:
            for each in [each for each in profiler_session._recording if each._limit is not None]:
                each._limit._wait(0.0)
    return x


@pytest.mark.parametrize(("backend", "basis"), [("cpu", "estimated"), ("gpu", "at least")])
def test_what_waits_cost_on_a_cpu_is_no_lower_bound(part: Any, backend: str, basis: str) -> None:
    """Without them, the host and the device share the processors, and less may be gained than that."""
    made = part(CUT)
    environment = replace(made.first.environment, backend=backend)
    cost = RuleFinding(rule="host-wait", found=note("doctor.host_wait"), cost_ns=5.0, basis="estimated", per="run")
    (found,) = unjudged.as_lower_bounds([cost], replace(made, first=replace(made.first, environment=environment)))
    assert found.basis == basis


@pytest.mark.clock
@pytest.mark.usefixtures("at_any_cost")
def test_a_recording_that_ends_in_a_run_counts_at_least_its_operations() -> None:
    diagnosis = jaxmagic.diagnose(adds, jnp.ones(8), only="not-jitted")
    (found,) = diagnosis.findings
    count = found.found.facts["count"]
    assert isinstance(count, int)
    assert 30 <= count < 80
    assert str(found.found).startswith(f"At least {count} operations per run are called one by one")
    assert found.basis == "at least"
    assert "doctor.recorded_part" in [each.kind for each in diagnosis.notes]
