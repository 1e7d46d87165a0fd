"""Arguments that each call converts: found by their variables, and silent where a cast is free or needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from gathered_evidence import evidence_of

from jaxmagic.doctor.capture.remedies import precision as remedy
from jaxmagic.doctor.capture.remedies.remedy import NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.device.casts import LEAST_OF_CASTS
from jaxmagic.doctor.rules.precision import RULE

pytestmark = pytest.mark.skipif(jax.default_backend() != "cpu", reason="XLA converts other arrays on other devices")

BF16 = jnp.bfloat16


@jax.jit
def widened(x: Any, w: Any) -> Any:
    return jnp.sort(w.astype(jnp.float32), axis=0)[: x.shape[0]] + x


@jax.jit
def narrowed(x: Any, w: Any) -> Any:
    return jnp.sort(w.astype(jnp.float16), axis=0)[: x.shape[0]] + x.astype(jnp.float16)


@jax.jit
def rounded(x: Any, w: Any) -> Any:
    return x @ w.astype(BF16)


@jax.jit
def of_counts(x: Any, w: Any) -> Any:
    return jnp.sort(w.astype(jnp.float32), axis=1) @ x


@jax.jit
def also_used(x: Any, w: Any) -> Any:
    return jnp.sort(w.astype(jnp.float16), axis=0)[: x.shape[0]] + x.astype(jnp.float16), jnp.sort(w, axis=0)


@jax.jit
def scaled(x: Any, w: Any) -> Any:
    return jnp.sort(w.astype(jnp.float32) / 255, axis=0)[: x.shape[0]] + x


@jax.jit
def computed(x: Any, w: Any) -> Any:
    return jnp.sort(jnp.sort(w, axis=1).astype(jnp.float32), axis=0)[: x.shape[0]] + x


@jax.jit
def of_dictionary(x: Any, params: Any) -> Any:
    return jnp.sort(params["w"].astype(jnp.float32), axis=0)[: x.shape[0]] + x


def array(dtype: Any, *shape: int) -> jax.Array:
    return jnp.arange(shape[0] * shape[1]).reshape(shape).astype(dtype)


def calling(function: Any, x: Any, w: Any) -> Evidence:
    name = "params" if isinstance(w, dict) else "w"
    return evidence_of(function, x, w, names={"x": x, name: w})


def found_in(evidence: Evidence, share: float = 0.5) -> list[RuleFinding]:
    """Apply the rule to a run of which the operations that convert all of `w` take a share, and others nothing."""
    profile, times = evidence.profile, {"dispatch_ns": 8_000_000, "wait_ns": 0, "cpu_user_ns": 8_000_000}
    timed = replace(evidence.typical, **times, cpu_system_ns=0, code_wait_ns=None, compilations=())
    assert profile is not None
    own = [
        each
        for each in profile.operation_times
        if "[96,32]" in each.shape and each.category.startswith("elementwise")
    ]
    each_ns = round(share * timed.wall_ns) * (profile.runs or 1) // max(len(own), 1)
    profile = replace(
        profile,
        operation_times=tuple(replace(each, time_ns=each_ns) for each in own),
        device_uses=(),
        recorded_ns=timed.wall_ns * (profile.runs or 1),
    )
    seen = replace(evidence, observed=timed, timed=(timed,), profile=profile)
    return [each for each in RULE.look(seen) if each.found.kind == "doctor.cast"]


@pytest.mark.parametrize(
    ("function", "given", "to"),
    [(widened, "bfloat16", "float32"), (narrowed, "float32", "float16"), (of_counts, "uint8", "float32")],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_a_variable_that_each_call_converts(function: Any, given: str, to: str) -> None:
    x, w = array("float32", 32, 32), array(given, 96, 32)
    (found,) = found_in(calling(function, x, w))
    assert found.found.facts["name"] == "w"
    assert (found.found.facts["given"], found.found.facts["through"], found.found.facts["to"]) == (given, "", to)
    assert (found.code, found.applies_to) == (f"w = w.astype(jnp.{to})", "w")
    assert (found.cost_ns, found.basis) == (pytest.approx(4_000_000, rel=1e-3), "estimated")
    assert "w.astype" in str(found.source)
    larger = {"bfloat16": "2 times the memory", "uint8": "4 times the memory"}.get(given)
    assert ("times the memory" in str(found.remedy)) == bool(larger)
    assert (larger or "") in str(found.remedy)


def test_a_cast_there_and_back() -> None:
    """XLA computes some products of bfloat16 in float32 on the CPU, which ones depends on its version."""
    w = array("float32", 96, 32)
    casts = [each for rows in (1, 32) for each in found_in(calling(rounded, array(BF16, rows, 96), w))]
    found = next(each for each in casts if each.found.facts["through"])
    assert {each: found.found.facts[each] for each in ("given", "through", "to")} == {
        "given": "float32", "through": "bfloat16", "to": "float32",
    }  # fmt: skip
    assert found.code is None
    assert str(found.found) == (
        "rounded converts w, f32[96,32], to bfloat16 and back to float32 in each call, for 50 % of the run."
    )
    assert str(found.remedy).startswith("The program computes with float32 all the same. Leave the cast out;")


def test_an_array_in_a_dictionary_has_no_code() -> None:
    (found,) = found_in(calling(of_dictionary, array("float32", 32, 32), {"w": array(BF16, 96, 32)}))
    assert found.found.facts["name"] == "params['w']"
    assert found.code is None


@pytest.mark.parametrize("function", [also_used, scaled, computed], ids=lambda each: each.__name__)
def test_what_is_used_as_it_is_or_not_only_converted_is_clean(function: Callable[..., Any]) -> None:
    given = "float32" if function is also_used else "float16"
    assert found_in(calling(function, array("float32", 32, 32), array(given, 96, 32))) == []


def test_what_changes_or_is_one_of_several_is_clean() -> None:
    evidence = calling(widened, array("float32", 32, 32), array(BF16, 96, 32))
    assert len(found_in(replace(evidence, code="y = widened(x, w)"))) == 1
    assert found_in(replace(evidence, code="for w in ws:\n    y = widened(x, w)")) == []
    (w,) = (each for each in evidence.inputs if each.path == "w")
    assert found_in(replace(evidence, inputs=(*evidence.inputs, replace(w, path="v")))) == []
    assert found_in(replace(evidence, inputs=tuple(each for each in evidence.inputs if each is not w))) == []


def test_short_casts_are_clean() -> None:
    evidence = calling(widened, array("float32", 32, 32), array(BF16, 96, 32))
    assert len(found_in(evidence, LEAST_OF_CASTS + 0.001)) == 1
    assert found_in(evidence, LEAST_OF_CASTS - 0.001) == []


def test_the_remedy_gives_the_converted_array() -> None:
    x, w = array("float32", 32, 32), array(BF16, 96, 32)
    (found,) = found_in(calling(widened, x, w))
    change = remedy.propose(found, TriedCode("widened(x, w)", {"widened": widened, "x": x, "w": w}))
    assert [each.dtype for each in change.replacements.values()] == [jnp.float32]
    assert list(change.replacements) == [id(w)]
    with pytest.raises(NotTried):
        remedy.propose(found, TriedCode("widened(x, w)", {"widened": widened, "x": x, "w": 1}))


def test_a_layer_of_flax_that_computes_in_another_type() -> None:
    linen = pytest.importorskip("flax.linen")
    layer = linen.Dense(32, use_bias=False, dtype=BF16)
    params = layer.init(jax.random.key(0), jnp.ones((1, 96)))
    applied = jax.jit(lambda x, params: layer.apply(params, x))
    x = array("float32", 32, 96)
    (found,) = found_in(evidence_of(applied, x, params, names={"x": x, "params": params}))
    assert found.found.facts["name"] == "params['params']['kernel']"
    assert "bfloat16" in (found.found.facts["through"], found.found.facts["to"])
