"""The user's line on a stack, and samples of it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from shells import Session

import jaxmagic
from jaxmagic.compilation.record.events import Span
from jaxmagic.doctor.capture.host_lines import (
    LineSampler,
    functions_of,
    in_jax_of,
    lines_of,
    loading_of,
    outwards,
    place_of,
)
from jaxmagic.doctor.capture.host_waits import WaitPlaces
from jaxmagic.records.call_stack import Frame

HERE = Path(__file__)


def line_with(text: str) -> int:
    """The number of the line of this file that contains a text."""
    lines = HERE.read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line and "line_with" not in line)


def taken(sampler: LineSampler) -> int:
    """How many samples it took, also of what is left out."""
    return sum(map(len, list(sampler._ended_ns.values())))


def test_the_place_is_the_line_of_the_user_s_that_called_a_library() -> None:
    found: list[Any] = []

    def noted(x: Any) -> Any:
        found.append(place_of(outwards(sys._getframe(0).f_back)))
        return x

    jax.tree_util.tree_map(noted, [1])  # here
    ((line, called),) = found
    assert line is not None
    assert (line.file, line.line) == (str(HERE), line_with("# here"))
    assert called.startswith("jax.")


def test_a_function_of_jax_is_found_below_another_library() -> None:
    found: list[str] = []
    module: dict[str, Any] = {"__name__": "flax.core", "jax": jax}
    source = "def call(noted):\n    return jax.tree_util.tree_map(noted, [1])"
    exec(compile(source, "/site-packages/flax/core.py", "exec"), module)
    inner: dict[str, Any] = {
        "__name__": "flax.inner",
        "found": found,
        "sys": sys,
        "of": in_jax_of,
        "outwards": outwards,
    }
    source = "def noted(x):\n    found.append(of(outwards(sys._getframe(0))))"
    exec(compile(source, "/site-packages/flax/inner.py", "exec"), inner)
    module["call"](inner["noted"])
    inner["noted"](1)
    assert found[0].startswith("jax.")
    assert found[0].endswith("tree_map")
    assert found[1:] == [""]


def test_a_stack_without_the_user_has_no_line() -> None:
    assert place_of([]) == (None, "")


class Rows:
    """A data set: a loader asks it for rows."""

    def __init__(self) -> None:
        self.seen: list[tuple[tuple[str, int], ...]] = []

    def __getitem__(self, index: int) -> int:
        stack = loading_of(outwards(sys._getframe(0)))
        self.seen.append(tuple((each.function, each.line) for each in stack))
        return index

    def batches(self) -> Iterator[list[int]]:
        for start in range(100):
            yield [self[start], self[start + 1]]  # a row


def test_the_loop_that_waits_for_its_next_item_is_found_through_generators() -> None:
    rows = Rows()
    for _ in rows.batches():  # the loop
        rows[0]  # its body
    of_batches = [each for each in rows.seen if each]
    assert len(of_batches) == 200
    for row, batch, loop in of_batches:
        assert row[0] == "__getitem__"
        assert batch == ("batches", line_with("# a row"))
        assert loop[1] == line_with("# the loop")


def test_the_switch_interval_is_restored() -> None:
    before_s = sys.getswitchinterval()
    sampler = LineSampler()
    sampler.start()
    assert sys.getswitchinterval() <= 2e-5  # loading a batch takes longer
    sampler.stop()
    assert sys.getswitchinterval() == before_s
    sampler.stop()
    assert sys.getswitchinterval() == before_s


@pytest.mark.clock
def test_samples_fall_on_the_line_that_runs() -> None:
    sampler, seen = LineSampler(interval_ns=1), 0
    sampler.start()
    sampler.paused = False
    while seen < 10:
        seen = sum(map(len, list(sampler._ended_ns.values())))  # this line
    found = sampler.stop()
    assert sampler.stop() == found
    assert {each.line.line for each in found if each.line} <= set(
        range(line_with("sampler.start"), line_with("found = "))
    )
    assert not [each for each in threading.enumerate() if each.name == "jaxmagic-lines"]


def test_waits_are_told_by_line_and_by_function() -> None:
    x = jax.jit(lambda x: x + 1)(jnp.zeros(3))
    places = WaitPlaces()
    places.start()
    float(x[0])  # not yet
    places.paused = False
    try:
        for _ in range(3):
            float(x[0])  # a float
        x.block_until_ready()  # a wait
    finally:
        waits = places.stop()
    assert waits is not None
    found = {(each.line.line, each.function): each.count for each in waits if each.line}
    assert found[line_with("# a float"), "__float__"] == 3
    assert found[line_with("# a wait"), "block_until_ready"] == 1
    assert all(each.library is None for each in waits)
    assert all(each.stack and each.stack[0] == each.line for each in waits)


def test_a_jit_that_waits_has_its_public_name() -> None:
    module = {"__name__": "equinox._jit"}
    code = compile("def call(x):\n    return x.block_until_ready()", "/site-packages/equinox/_jit.py", "exec")
    exec(code, module)
    places = WaitPlaces()
    places.start()
    places.paused = False
    try:
        module["call"](jnp.zeros(3))  # type: ignore[operator]  # a call
    finally:
        waits = places.stop()
    assert [(each.line.line, each.library) for each in waits or () if each.line] == [
        (line_with("# a call"), "equinox.filter_jit")
    ]


def test_nothing_is_recorded_after_the_end() -> None:
    places = WaitPlaces()
    places.start()
    places.paused = False
    places.paused = True
    float(jnp.zeros(()))
    before = places.stop()
    float(jnp.zeros(()))
    assert places.stop() == before == ()


def test_the_functions_on_a_stack_are_known_by_their_first_lines() -> None:
    def inner() -> set[tuple[str, int]]:  # inner
        found = functions_of(outwards(sys._getframe(0)))
        return {(each.function, each.line) for each in found if each.file == str(HERE)}

    def outer() -> Any:  # outer
        return jax.tree_util.tree_map(lambda _: [inner()], 1)[0]

    found = outer()
    assert {("inner", line_with("# inner")), ("outer", line_with("# outer"))} < found
    assert functions_of([]) == set()


def test_the_functions_that_called_jaxmagic_are_not_among_those_of_the_code() -> None:
    def caller() -> Any:
        return jaxmagic.profile(inside)

    def inside() -> None:
        stacks.append(functions_of(outwards(sys._getframe(0))))
        stacks.append({*lines_of(outwards(sys._getframe(0)))})

    stacks: list[set[Frame]] = []
    caller()
    assert [{each.function for each in stack} for stack in stacks[:2]] == [{"inside"}] * 2


@pytest.mark.parametrize("called", [True, False])
def test_what_is_around_a_magic_is_not_of_the_code(called: bool, session: Session) -> None:
    stacks: list[list[str]] = []

    def inside() -> None:
        stacks.append([each.function for each in lines_of(outwards(sys._getframe(0)))])

    session.shell.user_ns["inside"] = inside
    if called:
        session.shell.run_line_magic("jaxdoctor", "-q inside()")
    else:
        session.run("%jaxdoctor -q inside()")
    assert stacks[0] == ["inside", "<module>"]


def test_code_without_a_line_of_the_user_s_has_none() -> None:
    places: list[Any] = []
    names: dict[str, Any] = {"found": places, "place_of": place_of, "outwards": outwards, "sys": sys}
    source = "def library():\n    found.append(place_of(outwards(sys._getframe(0))))\n"
    exec(compile(source, "/lib/python3.11/site-packages/library.py", "exec"), names)
    jaxmagic.profile(names["library"])
    assert [line for line, _ in places[:1]] == [None]


@pytest.mark.clock
def test_a_listener_of_jaxmagic_that_jax_calls_hides_no_function() -> None:
    names: dict[str, Any] = {"functions_of": functions_of, "outwards": outwards, "sys": sys}
    source = "def listener():\n    return functions_of(outwards(sys._getframe(0)))\n"
    exec(compile(source, str(Path(jaxmagic.__file__).with_name("listener.py")), "exec"), names)

    def user() -> Any:
        return names["listener"]()

    assert "user" in {each.function.rpartition(".")[2] for each in user()}


def test_the_time_of_a_function_is_that_between_its_samples() -> None:
    ticks = iter(range(0, 10**9, 1000))
    sampler, seen = LineSampler(interval_ns=1, clock=lambda: next(ticks)), 0
    sampler.start()
    sampler.paused = False
    while seen < 10:
        seen = taken(sampler)
    sampler.stop()
    own = sys._getframe(0).f_code.co_firstlineno
    mine = [each for each in sampler.functions() if (each.function.file, each.function.line) == (str(HERE), own)]
    samples = sum(each.samples for each in mine)
    assert samples == taken(sampler)
    assert sum(each.time_ns for each in mine) == (samples - 1) * 1000 + 1  # the first one counts as planned


def test_samples_while_something_is_compiled_are_left_out() -> None:
    """They would be those of the line that calls it, which compiles nothing when it runs again."""
    now_ns = 0
    sampler = LineSampler(interval_ns=1, clock=lambda: now_ns)
    sampler.start()
    sampler.paused = False

    def sampled(time_ns: int) -> None:
        nonlocal now_ns
        now_ns = time_ns
        before = taken(sampler)
        while taken(sampler) < before + 10:
            pass

    sampled(1_000)
    sampled(5_000)
    sampled(9_000)
    own = threading.get_ident()
    span = Span(stage="tracing", function="f", start_ns=2_000, end_ns=6_000, thread=own, thread_name="main")
    sampler._compiling._log.noted.append((span, 6_000))
    found = sampler.stop()
    ended = [each for times in sampler._ended_ns.values() for each in times]
    assert ended.count(5_000) >= 9
    assert sum(each.samples for each in found) == sum(each != 5_000 for each in ended)
    mine = [each for each in sampler.functions() if each.function.function == "sampled"]
    assert sum(each.time_ns for each in mine) <= 1_000 + 3_000


@pytest.mark.clock
def test_a_line_that_compiles_has_the_samples_of_its_other_rounds() -> None:
    sampler = LineSampler(interval_ns=100_000)
    x = jnp.ones(7)
    jax.clear_caches()
    sampler.start()
    sampler.paused = False
    jax.block_until_ready(jnp.tanh(x))  # compiles
    sampler.paused = True
    found = sampler.stop()
    assert taken(sampler) > 20
    assert sum(each.samples for each in found) < taken(sampler) / 2
