"""A static number is traced in a trial of the code, which compiles as before afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.doctor.capture.remedies.all import REMEDIES
from jaxmagic.doctor.capture.remedies.remedy import Change, NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import recompile
from jaxmagic.records.note import note

RATES = 0.25, 0.5, 0.75


@partial(jax.jit, static_argnames=("rate", "kind"))
def update(w: Any, rate: float, kind: str = "a") -> Any:
    return (w - rate * jnp.cos(w)) * (1 if kind == "a" else 2)


def finding(
    code: str = "update = jax.jit(update.__wrapped__, static_argnames='kind')", **changes: Any
) -> RuleFinding:
    values: dict[str, Any] = {
        "found": note(
            "doctor.recompile", function="update", cause="static value", programs=3, every_run=1, reason=""
        ),
        "remedy": note("doctor.recompile_traced", function="update", argument="rate"),
        "per": "run",
    }
    return RuleFinding(rule="recompile", code=code, **(values | changes))


def proposed(one: RuleFinding, **variables: Any) -> Change:
    change = REMEDIES["recompile"](one, TriedCode("update(w, 0.1)", variables))
    assert isinstance(change, Change)
    return change


def compiled(run: Callable[[], Any]) -> list[str]:
    """Return the functions that some code compiles."""
    with jaxmagic.stopwatch() as watch:
        run()
    return [each.function for each in watch.timing.compilations if not each.eager]


def test_one_program_serves_all_values_and_the_function_itself_keeps_none_of_it() -> None:
    change = proposed(finding(), update=update)
    called, w = change.replacements[id(update)], jnp.ones(7)
    assert not change.met()
    results = list[Any]()
    assert compiled(lambda: results.extend(called(w, rate=each, kind="b") for each in RATES)) == ["update"]
    assert change.met()
    for rate, result in zip(RATES, results, strict=True):
        assert jnp.allclose(result, update(w, rate=rate, kind="b"))
    mended = jax.jit(update.__wrapped__, static_argnames="kind")
    assert compiled(lambda: mended(w, RATES[0], kind="b")) == ["update"]


@pytest.mark.parametrize(
    ("one", "variables"),
    [
        (finding(per="first run"), {"update": update}),
        (finding(), {}),
        (finding("update = jax.jit(update.__wrapped__, donate_argnums=PLACES)"), {"update": update}),
    ],
)
def test_what_is_not_tried(one: RuleFinding, variables: dict[str, Any]) -> None:
    with pytest.raises(NotTried):
        proposed(one, **variables)


@pytest.mark.clock
def test_a_number_that_differs_in_each_run_is_traced_in_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)

    def train(w: Any) -> Any:
        for _ in range(3):
            w = update(w, 1e-15 * time.monotonic_ns())
        return w

    (found,) = jaxmagic.diagnose(train, jnp.ones(50), only=["recompile"], verify=True, budget_s=20).findings
    assert found.code == 'update = jax.jit(update.__wrapped__, static_argnames="kind")'
    assert str(found.remedy) == (
        "update only computes with rate, so one program serves all values: leave rate out of its static arguments."
    )
    assert found.verified is not None
    assert found.verified.survives is True
