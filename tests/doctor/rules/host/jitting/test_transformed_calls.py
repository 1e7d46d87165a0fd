"""Calls of ``jax.vmap(f)`` and ``jax.grad(f)`` outside of jit: found if planted, and silent where jitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding

pytestmark = pytest.mark.clock

planted = pytest.mark.usefixtures("at_any_cost")

X = jnp.linspace(0.0, 1.0, 256).reshape(4, 8, 8)


@jax.jit
def score(x: Any) -> Any:
    return jnp.tanh(x @ x).sum()


def plain(x: Any) -> Any:
    return jnp.tanh(x @ x).sum() * 2


def plain_of_rows(x: Any) -> Any:
    return jnp.tanh(x @ x).sum() * 3


def plain_of_held(x: Any) -> Any:
    return jnp.tanh(x @ x).sum() * 7


def plain_in_names(x: Any) -> Any:
    return jnp.tanh(x @ x).sum() * 4


lambda_mapped = jax.vmap(jax.jit(lambda x: jnp.tanh(x @ x).sum() * 5))
held = jax.jit(lambda x: jnp.tanh(x @ x).sum() * 6)
fast = jax.jit(plain_of_held)
mapped = jax.vmap(score)
slope_of_rows = jax.grad(plain_in_names)
rows_mapped = jax.vmap(slope_of_rows)
mapped_once = jax.jit(jax.vmap(score))
graded_once = jax.jit(jax.grad(score))
plain_once = jax.jit(jax.vmap(plain))


def found_in(run: Callable[..., Any], *args: Any, **options: Any) -> list[RuleFinding]:
    return list(jaxmagic.diagnose(run, *args, only="not-jitted", **options).findings)


@planted
def test_each_call_of_vmap_around_a_jitted_function_is_found_and_jitting_it_helps() -> None:
    def run(x: Any) -> Any:
        for _ in range(50):
            y = jax.vmap(score)(x)
        return y

    (found,) = found_in(run, X, verify=True, budget_s=600)
    assert found.found.kind == "doctor.transformed_calls"
    assert found.found.facts == {"function": "score", "count": 50, "transform": "vmap", "backward": 0}
    assert found.source == "y = jax.vmap(score)(x)"
    assert found.code == "score_vmap = jax.jit(jax.vmap(score))"
    assert found.cost_ns is not None
    assert found.verified is not None
    assert found.verified.outputs_agree
    assert found.verified.survives


@planted
def test_a_function_mapped_before_the_loop_is_found_at_its_call() -> None:
    def run(x: Any) -> Any:
        return [mapped(x) for _ in range(50)]

    (found,) = found_in(run, X, verify=True, budget_s=600)
    assert found.verified is not None
    assert found.verified.survives
    assert found.verified.outputs_agree
    assert found.source == "return [mapped(x) for _ in range(50)]"
    assert found.code == "mapped = jax.jit(jax.vmap(score))"


def run_mapped(x: Any) -> Any:
    return [lambda_mapped(x) for _ in range(50)]


def run_held(x: Any) -> Any:
    for _ in range(50):
        y = jax.vmap(held)(x)
    return y


def run_fast(x: Any) -> Any:
    for _ in range(50):
        y = jax.vmap(fast)(x)
    return y


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (run_mapped, "lambda_mapped = jax.jit(jax.vmap(jax.jit(lambda x: jnp.tanh(x @ x).sum() * 5)))"),
        (run_held, "held_vmap = jax.jit(jax.vmap(held))"),
        (run_fast, "fast_vmap = jax.jit(jax.vmap(fast))"),
    ],
)
@planted
def test_jitted_functions_without_a_name_of_their_own_are_found(run: Callable[[Any], Any], code: str) -> None:
    (found,) = found_in(run, X)
    assert found.found.facts["transform"] == "vmap"
    assert found.code == code
    assert found.basis == "at least"


@planted
def test_gradients_count_their_backward_passes() -> None:
    def run(x: Any) -> Any:
        for _ in range(50):
            y = jax.grad(score)(x)
        return y

    found = next(each for each in found_in(run, X[0]) if each.found.kind == "doctor.transformed_calls")
    assert found.found.facts == {"function": "score", "count": 100, "transform": "grad", "backward": 1}
    assert found.code == "score_grad = jax.jit(jax.grad(score))"


@planted
def test_of_several_lines_each_is_named() -> None:
    def run(x: Any) -> Any:
        for _ in range(50):
            y = jax.vmap(score)(x)
            z = jax.vmap(jax.grad(score))(x)
        return y, z

    found = next(each for each in found_in(run, X) if each.found.kind == "doctor.transformed_calls")
    lines = ["y = jax.vmap(score)(x)", "z = jax.vmap(jax.grad(score))(x)"]
    assert found.source in lines
    assert found.code is None
    assert found.line is not None
    file, _, number = found.line.rpartition(":")
    other = f"{file}:{int(number) + (1 if found.source == lines[0] else -1)}"
    assert str(found.evidence[0]) == f"It is also called at {other}, and each of them needs that."


@planted
def test_operations_inside_vmap_are_to_be_jitted_outside_of_it() -> None:
    def run(x: Any) -> Any:
        for _ in range(50):
            y = jax.vmap(plain, in_axes=0)(x)
        return y

    (found,) = found_in(run, X, verify=True, budget_s=600)
    assert found.found.facts["count"] == 200
    assert found.remedy is not None
    assert (found.remedy.facts["way"], found.remedy.facts["function"]) == ("outermost", "plain")
    assert found.verified is not None
    assert found.verified.outputs_agree
    assert found.verified.survives


@planted
def test_of_nested_transformations_the_outermost_is_jitted() -> None:
    def run(x: Any) -> Any:
        for _ in range(50):
            y = jax.vmap(jax.grad(plain_of_rows))(x)
        return y

    (found,) = found_in(run, X)
    assert found.code == "plain_of_rows_grad_vmap = jax.jit(jax.vmap(jax.grad(plain_of_rows)))"


@planted
def test_a_name_that_is_transformed_further_is_not_jitted_itself() -> None:
    def run(x: Any) -> Any:
        return [rows_mapped(x) for _ in range(50)]

    (found,) = found_in(run, X)
    assert found.code == "rows_mapped = jax.jit(jax.vmap(slope_of_rows))"


@planted
def test_options_that_vary_are_not_taken_out_of_the_loop() -> None:
    def run(x: Any) -> Any:
        for axis in (0, 1, 2) * 10:
            y = jax.vmap(score, in_axes=axis)(x)
        return y

    (found,) = found_in(run, jnp.ones((8, 8, 8)))
    assert found.found.facts["transform"] == "vmap"
    assert found.code is None


def once(x: Any) -> Any:
    return jax.vmap(score)(x)


def jitted_before(x: Any) -> Any:
    return [mapped_once(x) for _ in range(50)]


def graded_before(x: Any) -> Any:
    return [graded_once(x[0]) for _ in range(50)]


def plain_before(x: Any) -> Any:
    return [plain_once(x) for _ in range(50)]


@jax.jit
def inside(x: Any) -> Any:
    return sum(jax.vmap(score)(x + each) for each in range(50))


def untransformed(x: Any) -> Any:
    return [score(x[0]) for _ in range(5)]


def few(x: Any) -> Any:
    return [jax.vmap(score)(x) for _ in range(2)]


@pytest.mark.parametrize(
    "run",
    [once, jitted_before, graded_before, plain_before, inside, untransformed, few],
    ids=lambda each: each.__name__,
)
def test_what_is_jitted_outermost_or_rare_is_clean(run: Callable[..., Any]) -> None:
    assert not [each for each in found_in(run, X) if each.found.kind == "doctor.transformed_calls"]


def test_a_few_calls_are_a_finding_only_if_they_take_much_of_the_run(
    run_of: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from jaxmagic.doctor.rules.host.host_time import host_time
    from jaxmagic.doctor.rules.host.jitting import transformed_calls

    for count, share, expected in ((2, 0.0, 0), (3, 0.0, 1), (9, 1.1, 0), (10, 1.1, 1)):
        monkeypatch.setattr(transformed_calls, "LARGE_SHARE", share)
        evidence = run_of(count)
        time = host_time(evidence)
        assert time is not None
        assert len([*transformed_calls.transformed_calls("not-jitted", evidence, time)]) == expected


@pytest.fixture
def run_of() -> Callable[[int], Any]:
    """Return evidence in which ``jax.vmap(f)`` is called so many times."""
    from jaxmagic.doctor.capture.runs.gathered import Gathered
    from jaxmagic.doctor.record.evidence import Evidence

    kept: list[Evidence] = []
    real = Gathered.evidence

    def evidence(self: Gathered, **options: Any) -> Evidence:
        kept.append(real(self, **options))
        return kept[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gathered, "evidence", evidence)
        jaxmagic.diagnose(lambda x: [jax.vmap(score)(x) for _ in range(50)], X, only="not-jitted")
    (found,) = kept
    assert found.host_use is not None
    use = found.host_use

    def with_count(count: int) -> Evidence:
        calls = tuple(replace(each, count=count if each.name == "score" else 0) for each in use.dispatches)
        return replace(found, host_use=replace(use, dispatches=calls))

    return with_count
