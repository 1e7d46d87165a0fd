"""An unrolled loop is compiled with a third of its rounds, and as a loop of JAX; nothing runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.capture import verify
from jaxmagic.doctor.capture.remedies.compiled import afresh, shortened, unrolled_loop
from jaxmagic.doctor.capture.remedies.remedy import NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import unrolled_loop as rule
from jaxmagic.records.note import note

X = jnp.linspace(0.0, 1.0, 16).reshape(4, 4)
WS = [X + n for n in range(24)]
SCALE = 2.0


@pytest.fixture
def clock_of_equations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let compiling take 1 ms for each equation, and 20 ms besides."""
    counted: list[int] = []

    def compile_(function: Any, given: Any) -> None:
        counted.append(len(jax.make_jaxpr(function)(given).eqns))

    def readings() -> Iterator[int]:
        done = 0
        while True:
            yield sum(counted[:done]) * 10**6 + 20 * 10**6 * done
            done = len(counted)
            yield sum(counted[:done]) * 10**6 + 20 * 10**6 * done

    times = readings()
    monkeypatch.setattr(unrolled_loop, "compile_afresh", compile_)
    monkeypatch.setattr(unrolled_loop, "now_ns", lambda: next(times))
    return counted


def power(x: Any) -> Any:
    for _ in range(3, 63):
        x = jnp.sin(x) @ x
    return x


def layers(x: Any, ws: Any, scale: Any = 1.5) -> Any:
    for w in ws:
        h = x @ w
        x = jnp.tanh(h)
    return x.sum() * scale * SCALE


def indexed(x: Any) -> Any:
    for i in range(40):
        x = jnp.sin(x + i)
    return x


def ended(x: Any) -> Any:
    for i in range(40):
        x = jnp.sin(x)
        if i > 30:
            break
    return x


def counting(x: Any) -> Any:
    i = 0
    while i < 40:
        x = jnp.sin(x)
        i += 1
    return x


def finding(fn: Any, line: int, code: str | None = None) -> RuleFinding:
    place = f"{__file__}:{fn.__code__.co_firstlineno + line}"
    return RuleFinding(rule="unrolled-loop", found=note("text"), line=place, code=code, cost_ns=5e6)


def proposed(fn: Any, *args: Any, line: int = 2, code: str | None = None, jitted: Any = None) -> Any:
    """Return the builds that are proposed, or the notes that say why there are none."""
    variables = {"f": jitted or jax.jit(fn), **dict(zip(("x", "ws"), args, strict=False))}
    names = ", ".join(list(variables)[1:])
    try:
        return unrolled_loop.propose(finding(fn, line, code), TriedCode(f"f({names})", variables))
    except NotTried as problem:
        return [each.kind.removeprefix("doctor.") for each in problem.notes]


@pytest.mark.parametrize(
    ("fn", "source", "rounds", "per_round"),
    [(power, "f(x)", 60, 2), (layers, "f(x, ws)", 24, 2), (indexed, "f(x)", 40, 2)],
)
def test_what_the_rounds_cost_is_extrapolated_from_a_third_of_them(
    clock_of_equations: list[int], fn: Any, source: str, rounds: int, per_round: int
) -> None:
    with pytest.raises(NotTried) as problem:
        unrolled_loop.propose(finding(fn, 2), TriedCode(source, {"f": jax.jit(fn), "x": X, "ws": WS}))
    facts = problem.value.notes[0].facts
    assert (facts["rounds"], facts["third"]) == (rounds, rounds // 3)
    assert facts["cost_ns"] == pytest.approx(per_round * (rounds - 1) * 10**6)  # by hand: equations of these rounds
    every, third, *_ = clock_of_equations
    assert every - third == per_round * (rounds - rounds // 3)
    assert every == len(jax.make_jaxpr(fn)(*(X, WS)[: source.count(",") + 1]).eqns)


SCAN = """\
def body(x, w):
    h = x @ w
    x = jnp.tanh(h)
    return x, None

x, _ = jax.lax.scan(body, x, jax.tree.map(lambda *each: jnp.stack(each), *ws))"""


@pytest.mark.usefixtures("clock_of_equations")
@pytest.mark.parametrize("transformed", [lambda fn: fn, jax.grad])
def test_a_loop_of_jax_is_compiled_beside_the_unrolled_one(transformed: Any) -> None:
    builds = proposed(layers, X, WS, code=SCAN, jitted=jax.jit(transformed(layers)))
    assert [each.kind for each in builds.notes[1:]] == ["doctor.unrolled_rewritten", "doctor.tried_compile_time"]
    before, after = (jax.make_jaxpr(each.args[0])(*each.args[1:]) for each in (builds.before, builds.after))
    assert len(after.eqns) < len(before.eqns)
    given = {"x": X, "ws": WS}
    one, other = (each.args[0](given) for each in (builds.before, builds.after))
    np.testing.assert_allclose(one, other, rtol=1e-5)


def test_both_compile_times_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((rule, "_SHORT_NS", 0), (rule, "_LEAST_NS", 1), (verify, "_LEAST_RUNS", 0)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(verify, "_LONGEST_NS", 1)
    (found,) = jaxmagic.diagnose(jax.jit(power), X / 10, only=["unrolled-loop"], verify=True).findings
    assert found.verified is not None
    assert {"doctor.unrolled_third", "doctor.unrolled_rewritten"} <= {each.kind for each in found.verified.notes}
    assert found.verified.before_ns is not None
    assert found.verified.outputs_agree


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (indexed, ["unrolled_third", "tried_compile_time", "unrolled_by_hand"]),
        (ended, ["not_mechanical"]),
        (counting, ["not_mechanical"]),
    ],
)
@pytest.mark.usefixtures("clock_of_equations")
def test_what_is_not_mechanical_is_told(fn: Any, expected: list[str]) -> None:
    assert proposed(fn, X, line=3 if fn is counting else 2) == expected


def test_a_loop_of_jax_that_returns_other_types_is_not_compiled() -> None:
    call = unrolled_loop.Call(jax.jit(power), {"x": X})
    loop = shortened.find_loop(power, f"{__file__}:{power.__code__.co_firstlineno + 2}")
    assert loop is not None
    with pytest.raises(NotTried, match="returns other shapes or types"):
        unrolled_loop._builds(call, loop, lambda x: x.sum(), note("doctor.tried_compile_time"))


def test_a_copy_computes_what_the_function_does() -> None:
    factor = 3.0

    def closed(x: int, times: int = 4, *, more: int = 1) -> Any:
        found = [each * factor for each in accumulate(range(times))]
        for value in found:
            x += value + more
        return x

    line = f"{__file__}:{closed.__code__.co_firstlineno + 3}"
    loop = shortened.find_loop(closed, line)
    assert loop is not None
    every, third = (loop.with_rounds(shortened.Rounds(part)) for part in (1, 3))
    rewritten = loop.with_code("x = -x")
    assert every is not None
    assert third is not None
    assert rewritten is not None
    assert every(1) == closed(1) == 1 + 3.0 * (0 + 1 + 3 + 6) + 4
    assert every(1, 2, more=0) == closed(1, 2, more=0)
    assert third(1) == 1 + 0 + 1
    assert rewritten(1) == -1


def test_nothing_is_taken_from_jaxs_persistent_cache_and_nothing_is_kept_there(tmp_path: Path) -> None:
    compiled: list[str] = []
    jax.monitoring.register_event_listener(lambda event, **_: compiled.append(event))
    names = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"
    before = [getattr(jax.config, each) for each in names]
    try:
        for name, value in zip(names, (str(tmp_path), 0.0), strict=True):
            jax.config.update(name, value)
        for _ in range(2):
            afresh.compile_afresh(power, X)
        assert jax.config.jax_persistent_cache_min_compile_time_secs == 0.0
        assert not [each for each in compiled if each.endswith("cache_hits")]
        assert not [*tmp_path.iterdir()]
    finally:
        for name, value in zip(names, before, strict=True):
            jax.config.update(name, value)
        jax.monitoring.clear_event_listeners()


def test_each_trial_has_another_name() -> None:
    names: list[str] = []

    def named(x: Any) -> Any:
        names.append(str(np.shape(x)))
        return x

    afresh.compile_afresh(named, X)
    afresh.compile_afresh(named, X)
    assert names == ["(4, 4)"] * 2  # traced anew
