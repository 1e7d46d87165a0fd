"""What the host did while the device was idle, from a trace whose every number is known."""

from __future__ import annotations

import numpy as np
import pytest

from jaxmagic.doctor.capture.host_use import host_use_of
from jaxmagic.doctor.record.evidence import Dispatch
from jaxmagic.profiling.record.recording import EventMetadata, Role, Trace, TraceLine

KINDS = (
    "PjitFunction(f)",
    "PjitFunction(g)",
    "DevicePut",
    "jaxmagic: waited",
    "jit_f(1)",
    "jit_g(2)",
    "jit_jaxmagic_fence(3)",
    "PjitFunction(<lambda>)",
    "jit__lambda(4)",
    "PjitFunction(__call__)",
    "jit___call(5)",
    "DevicePutWithSharding",
)
US = 1_000_000


def line(role: Role, *events: tuple[str, int, int]) -> TraceLine:
    """A line of events, with times in microseconds."""
    return TraceLine(
        name="line",
        device=None if role == "host" else "GPU:0",
        role=role,
        kinds=np.array([KINDS.index(name) for name, _, _ in events], np.int64),
        start_ps=np.array([start * US for _, start, _ in events], np.int64),
        end_ps=np.array([end * US for _, _, end in events], np.int64),
    )


def trace(*lines: TraceLine) -> Trace:
    kinds = tuple(EventMetadata(name=name, stats={}) for name in KINDS)
    return Trace(tracks=lines, kinds=kinds, devices={}, modules={})


def test_idle_time_belongs_to_the_call_that_ends_it_or_to_the_wait_before() -> None:
    found = host_use_of(
        trace(
            line(
                "host", ("PjitFunction(f)", 100, 110), ("jaxmagic: waited", 154, 155), ("PjitFunction(f)", 200, 210)
            ),
            line("programs", ("jit_f(1)", 105, 150), ("jit_f(1)", 205, 250)),
        )
    )
    assert found is not None
    assert (found.idle_ns, found.waited_ns, found.waits) == (110_000, 55_000, 1)
    expected = Dispatch(name="f", count=2, host_ns=20_000, exposed_ns=55_000, after_wait_ns=55_000, busy_ns=90_000)
    assert found.dispatches == (expected,)


@pytest.mark.parametrize(("second", "waited_ns"), [((160, 170), 15_000), ((120, 130), 0), ((140, 156), 15_000)])
def test_no_idle_time_is_due_to_a_wait_if_the_next_program_was_called_before(
    second: tuple[int, int], waited_ns: int
) -> None:
    """As when several results are read after a loop: while the first is read, the next program is waiting."""
    found = host_use_of(
        trace(
            line("host", ("PjitFunction(f)", 100, 110), ("PjitFunction(f)", *second)),
            line("host", ("jaxmagic: waited", 154, 155)),
            line("programs", ("jit_f(1)", 105, 150), ("jit_f(1)", 165, 250)),
        )
    )
    assert found is not None
    assert (found.idle_ns, found.waited_ns) == (70_000, waited_ns)


def test_a_call_counts_at_most_50_us_before_it_and_nothing_before_the_last_call() -> None:
    found = host_use_of(
        trace(
            line("host", ("PjitFunction(f)", 100, 110), ("PjitFunction(g)", 130, 140), ("PjitFunction(f)", 900, 910)),
            line("programs", ("jit_f(1)", 110, 111), ("jit_g(2)", 140, 141), ("jit_f(1)", 910, 911)),
        )
    )
    assert found is not None
    exposed = {each.name: each.exposed_ns for each in found.dispatches}
    assert exposed == {"f": 60_000 + 60_000, "g": 29_000}


def test_a_copy_before_a_program_is_pending_and_calls_inside_a_call_do_not_count() -> None:
    found = host_use_of(
        trace(
            line("host", ("PjitFunction(f)", 100, 110), ("PjitFunction(f)", 101, 109), ("DevicePut", 102, 108)),
            line("programs", ("jit_f(1)", 500, 600)),
        )
    )
    assert found is not None
    (call,) = found.dispatches
    assert (call.count, call.puts, call.put_ns, call.pending_ns) == (1, 1, 6_000, 390_000)


def test_a_copy_inside_a_call_counts_whatever_jax_calls_it_and_also_beside_the_device() -> None:
    found = host_use_of(
        trace(
            line("host", ("PjitFunction(f)", 100, 110), ("PjitFunction(f)", 200, 220), ("DevicePut", 102, 108),
                 ("DevicePutWithSharding", 202, 212)),
            line("programs", ("jit_f(1)", 110, 206), ("jit_f(1)", 220, 230)),
        )
    )  # fmt: skip
    assert found is not None
    (call,) = found.dispatches
    assert (call.puts, call.put_ns, call.copied_ns, found.puts) == (2, 6_000 + 6_000, 6_000 + 10_000, 0)


def test_copies_between_the_calls_of_a_thread_are_counted_apart() -> None:
    copy = "DevicePutWithSharding"
    found = host_use_of(
        trace(
            line("host", (copy, 60, 90), ("PjitFunction(f)", 100, 110), (copy, 102, 108), (copy, 120, 125)),
            line("host", (copy, 0, 200)),  # a thread that calls nothing
            line("programs", ("jit_f(1)", 105, 150)),
        )
    )
    assert found is not None
    assert (found.puts, found.put_ns) == (2, 35_000)
    assert found.dispatches[0].puts == 1


@pytest.mark.parametrize(("name", "module"), [("<lambda>", "jit__lambda(4)"), ("__call__", "jit___call(5)")])
def test_a_program_is_that_of_a_call_although_xla_spells_its_name_in_another_way(name: str, module: str) -> None:
    found = host_use_of(
        trace(line("host", (f"PjitFunction({name})", 100, 110)), line("programs", (module, 105, 150)))
    )
    assert found is not None
    (call,) = found.dispatches
    assert (call.name, call.busy_ns) == (name, 45_000)


@pytest.mark.parametrize("programs", [(), (("jit_jaxmagic_fence(3)", 0, 1),)])
def test_without_a_program_nothing_is_known(programs: tuple[tuple[str, int, int], ...]) -> None:
    assert host_use_of(trace(line("host", ("PjitFunction(f)", 100, 110)), line("programs", *programs))) is None


def steps(lengths: list[int], busy: int = 1) -> Trace:
    """Calls that each last 10 us after a pause, with a program that begins when they return."""
    ends = np.cumsum([0, *lengths]).tolist()[1:]
    return trace(
        line("host", *(("PjitFunction(f)", 1000 + end - 10, 1000 + end) for end in ends)),
        line("programs", *(("jit_f(1)", 1000 + end, 1000 + end + busy) for end in ends)),
    )


def test_a_step_in_which_the_host_was_stopped_counts_as_usual() -> None:
    usual, disturbed = host_use_of(steps([40] * 20)), host_use_of(steps([40] * 9 + [5000] + [40] * 10))
    assert usual is not None
    assert disturbed is not None
    assert (usual.disturbed_ns, disturbed.disturbed_ns) == (0, 4_960_000)
    assert disturbed.idle_ns == usual.idle_ns
    (expected,), (found,) = usual.dispatches, disturbed.dispatches
    assert (found.count, found.host_ns) == (expected.count, expected.host_ns)
    assert found.exposed_ns == pytest.approx(expected.exposed_ns, rel=0.05)


@pytest.mark.parametrize(
    "lengths",
    [[40, 5000] * 10, [40, 40, 40, 5000], [40] * 9 + [500] + [40] * 10, [2000] * 9 + [5000] + [2000] * 10],
    ids=["recurs", "few", "briefly", "slightly"],
)
def test_other_long_steps_are_the_code_s_own(lengths: list[int]) -> None:
    found = host_use_of(steps(lengths))
    assert found is not None
    assert found.disturbed_ns == 0


def test_a_step_in_which_the_device_worked_is_not_disturbed() -> None:
    ends = [1000 + 40 * number for number in range(1, 11)] + [6440 + 40 * number for number in range(10)]
    calls = [("PjitFunction(f)", end - 10, end) for end in ends]
    programs = [("jit_f(1)", end, end + (5000 if end == 1400 else 1)) for end in ends]
    found = host_use_of(trace(line("host", *calls), line("programs", *programs)))
    assert found is not None
    assert found.disturbed_ns == 0
