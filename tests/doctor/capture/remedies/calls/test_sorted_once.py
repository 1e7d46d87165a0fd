"""What sorts an argument runs once for each array in a run, and the rest of the function in each call."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxmagic.doctor.capture.remedies.all import REMEDIES
from jaxmagic.doctor.capture.remedies.remedy import Change, NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.capture.verify import Trial, verify
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.progress.record import SILENT
from jaxmagic.records.note import note


@jax.jit
def step(w: Any, data: Any) -> Any:
    return {"w": w + jnp.sort(2 * data)[:, ::10].mean() + data[0, 0]}


def finding(argument: str | None = "data", function: str = "step") -> RuleFinding:
    found = note("doctor.repeated_sort", array="x", function=function, count=2)
    return RuleFinding(rule="sort", found=found, remedy=note("text"), applies_to=argument)


def proposed(function: Any = step) -> tuple[Change, Any]:
    """Return a change, and what stands in place of a jitted function."""
    change = REMEDIES["sort"](finding(), TriedCode("step(w, x)", {"step": function}))
    assert isinstance(change, Change)
    return change, change.replacements[id(function)]


def values(*shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(0), shape)


def why_not(call: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(NotTried) as problem:
        call(*args, **kwargs)
    return problem.value.notes[0].kind.removeprefix("doctor.")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the program of each call sorts, in order."""
    calls: list[bool] = []
    jit = jax.jit

    def noted(function: Any, **options: Any) -> Any:
        made = jit(function, **options)

        def call(*args: Any) -> Any:
            calls.append("stablehlo.sort" in made.lower(*args).as_text())
            return made(*args)

        return call

    monkeypatch.setattr(jax, "jit", noted)
    return calls


def test_an_array_is_sorted_once_in_each_run(ran: list[bool]) -> None:
    change, call = proposed()
    x, w = values(5, 100), values(3)
    expected = step(w, x)["w"]
    for _ in range(2):
        with change.context():
            for again in (call(w, x), call(w, data=x), call(data=x, w=w)):
                np.testing.assert_allclose(again["w"], expected, rtol=1e-6)
    assert ran == 2 * [True, False, False, False]
    assert change.met()
    assert change.used()


def test_another_array_is_sorted_as_well(ran: list[bool]) -> None:
    change, call = proposed()
    w = values(3)
    with change.context():
        for x in (values(5, 100), values(5, 100) + 1, values(4, 200)):
            np.testing.assert_allclose(call(w, x)["w"], step(w, x)["w"], rtol=1e-6)
    assert ran == 3 * [True, False]
    assert change.met()
    assert not change.used()


def named(function: Any, **options: Any) -> Any:
    function.__name__ = "step"
    return jax.jit(function, **options)


INDICES = named(lambda w, data: w + jnp.argsort(-data)[:, ::9].sum())
PAYLOAD = named(lambda w, data: w * jax.lax.sort((data, data + 1), num_keys=1)[1].mean())
RESULT = named(lambda w, data: (jnp.sort(data), w))
TWO_SORTS = named(lambda w, data: w + jnp.sort(data * w[0]).mean() + jnp.sort(data)[0].mean())


@pytest.mark.parametrize("function", [INDICES, PAYLOAD, RESULT])
def test_the_rest_of_other_functions_sorts_nothing(function: Any, ran: list[bool]) -> None:
    change, call = proposed(function)
    w, x = values(3), values(5, 100)
    with change.context():
        jax.tree.map(np.testing.assert_allclose, call(w, x), function(w, x))
    assert ran == [True, False]


def test_a_sort_that_depends_on_the_state_stays_in_each_call(ran: list[bool]) -> None:
    change, call = proposed(TWO_SORTS)
    with change.context():
        call(values(3), values(5, 100))
    assert ran == [True, True]


def test_what_cannot_be_moved_out_is_not_tried() -> None:
    w, x = values(3), values(5, 100)
    inside = jax.jit(lambda w, data: (jnp.sort(data).mean() + w.sum(), data))
    for function in (
        named(lambda w, data: inside(w, data)[0]),
        named(lambda w, data: jnp.sort(data * w[0])),
        named(lambda w, data: (w + 1, jnp.sort(data)), donate_argnames="w"),
    ):
        assert why_not(proposed(function)[1], w, x) == "sort_unclear"
    _, call = proposed()
    assert why_not(call, w, np.asarray(x)) == "sort_unclear"
    assert why_not(call, 1.0, x) == "sort_unclear"
    everywhere = NamedSharding(Mesh(np.array(jax.devices()[:2]), "d"), PartitionSpec())
    if len(jax.devices()) > 1:
        assert why_not(call, *jax.device_put((w, x), everywhere)) == "sort_unclear"
    assert why_not(jax.vmap(call, (0, None)), w[:, None], x) == "sort_unclear"
    assert why_not(proposed(named(lambda w, other: jnp.sort(other) + w))[1], w, x) == "sort_unclear"


@pytest.mark.parametrize("given", [finding(None), finding(function="other")])
def test_without_an_argument_or_the_function_nothing_is_proposed(given: RuleFinding) -> None:
    assert why_not(REMEDIES["sort"], given, TriedCode("step(w, x)", {"step": step})) == "not_mechanical"


def verified(source: str, **variables: Any) -> Any:
    trial = Trial(TriedCode(source, {"step": step, **variables}), [], 10**7, 10**6, 20 * 10**9)
    (found,) = verify([finding()], trial, SILENT)
    return found.verified


def test_outputs_are_compared_and_the_way_is_told() -> None:
    def train(w: Any, x: Any) -> Any:
        for _ in range(2):
            w = step(w, x)["w"]
        return w

    found = verified("train(w, x)", train=train, w=values(3), x=values(5, 100))
    assert found.outputs_agree
    assert str(found.notes[0]) == (
        "Tried with data of step sorted once per run, before the first call, and the result passed to each call."
    )


def test_what_cannot_be_moved_out_is_told() -> None:
    found = verified("step(w, np.asarray(x))", w=values(3), x=values(5, 100), np=np)
    assert str(found.notes[0]).startswith("Not tried: what sorts data could not be moved out of step, which donates")


def test_an_array_that_is_sorted_in_one_call_only_gains_nothing() -> None:
    assert verified("step(w, x)", w=values(3), x=values(5, 100)).notes[0].kind == "doctor.not_used"
