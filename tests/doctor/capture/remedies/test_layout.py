"""Arguments are transposed once, and the program that takes them so reorders nothing."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.changes import Changed
from jaxmagic.doctor.capture.remedies import layout
from jaxmagic.doctor.capture.remedies.remedy import NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.capture.verify import Trial, verify
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.progress.record import SILENT
from jaxmagic.records.note import note

CODE = "keys = jnp.transpose(keys, (0, 2, 3, 1))"


@jax.jit
def attend(query: Any, keys: Any) -> Any:
    return jnp.einsum("bhd,bthd->bht", query, keys)


def values(*shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(0), shape)


@pytest.fixture
def query() -> jax.Array:
    return values(2, 8, 16)


@pytest.fixture
def keys() -> jax.Array:
    return values(2, 64, 8, 16)


def finding(code: str | None = CODE, function: str = "attend") -> RuleFinding:
    return RuleFinding(rule="layout", found=note("text"), remedy=note("text"), code=code, applies_to=function)


def instead_of(function: Any, code: str = CODE, **variables: Any) -> Any:
    """Return what stands in place of a jitted function."""
    change = layout.propose(finding(code), TriedCode("attend(query, keys)", {"attend": function, **variables}))
    return change.replacements[id(function)]


def why_not(call: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(NotTried) as problem:
        call(*args, **kwargs)
    return problem.value.notes[0].kind.removeprefix("doctor.")


@pytest.fixture
def jitted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, tuple[Any, ...]]]:
    """The functions that are jitted meanwhile, with the arguments of each call."""
    calls: list[tuple[Any, tuple[Any, ...]]] = []
    jit = jax.jit

    def noted(function: Any, **options: Any) -> Any:
        made = jit(function, **options)

        def call(*args: Any, **kwargs: Any) -> Any:
            calls.append((partial(made.lower, **kwargs), args))
            return made(*args, **kwargs)

        return call

    monkeypatch.setattr(jax, "jit", noted)
    return calls


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="XLA reorders other arrays on other devices")
def test_the_compiled_program_reorders_nothing(query: Any, keys: Any, jitted: Any) -> None:
    assert "transpose(" in attend.lower(query, keys).compile().as_text()
    found = instead_of(attend, query=query, keys=keys)(query, keys)
    ((lower, args),) = jitted
    assert [each.shape for each in args] == [(2, 8, 16), (2, 8, 16, 64)]
    text = lower(*args).compile().as_text()
    assert "transpose(" not in text
    assert "copy(" not in text
    np.testing.assert_allclose(found, attend(query, keys), rtol=1e-5)


def test_an_array_is_transposed_once(query: Any, keys: Any, jitted: Any) -> None:
    call = instead_of(attend, query=query, keys=keys)
    call(query, keys)
    call(query, keys=keys)
    call(keys=keys, query=query)
    call(query, keys)
    (_, first), (by_name, _), (both, _), (_, last) = jitted
    assert first[1] is by_name.keywords["keys"] is both.keywords["keys"] is last[1]


def test_the_same_array_may_be_needed_in_two_orders(keys: Any) -> None:
    function = jax.jit(lambda keys, values: jnp.einsum("bthd,bshd->bhts", keys, values))
    function.__name__ = "attend"
    code = f"{CODE}\nvalues = jnp.transpose(values, (0, 2, 1, 3))"
    call = instead_of(function, code, keys=keys)
    np.testing.assert_allclose(call(keys, keys), function(keys, keys), rtol=1e-4, atol=1e-4)


def test_arrays_in_containers_are_held_by_a_variable(query: Any, keys: Any) -> None:
    call = instead_of(attend, query=query, cache=[{"keys": keys}])
    assert why_not(call, query, keys) == "transposed_anew"  # the code does not read the cache
    change = layout.propose(finding(), TriedCode("attend(query, cache[0])", {"attend": attend, "cache": [keys]}))
    np.testing.assert_allclose(change.replacements[id(attend)](query, keys), attend(query, keys), rtol=1e-5)
    assert change.used()


def test_arrays_made_anew_are_not_tried(query: Any, keys: Any) -> None:
    call = instead_of(attend, query=query, keys=keys)
    assert why_not(call, query, keys * 2) == "transposed_anew"
    assert why_not(jax.vmap(call), query[None], keys[None]) == "transposed_anew"


def test_static_and_donated_arguments_are_not_tried(query: Any, keys: Any) -> None:
    static = jax.jit(lambda query, keys, n: attend(query, keys) * n, static_argnames="n")
    donating = jax.jit(lambda query, keys: (attend(query, keys), query + 1), donate_argnames="query")
    numbers = jax.jit(lambda query, keys, n: attend(query, keys) * n)
    without = jax.jit(lambda query, keys=keys: attend(query, keys))
    for function, args in ((static, (2,)), (donating, ()), (numbers, (2,))):
        function.__name__ = "attend"
        assert why_not(instead_of(function, query=query, keys=keys), query, keys, *args) == "transposed_unclear"
    without.__name__ = "attend"
    assert why_not(instead_of(without, query=query, keys=keys), query) == "transposed_unclear"
    assert why_not(instead_of(attend, query=query), query, np.asarray(keys)) == "transposed_unclear"


def test_large_arrays_are_not_kept_twice(query: Any, keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MOST_BYTES", keys.nbytes - 1)
    assert why_not(instead_of(attend, query=query, keys=keys), query, keys) == "not_tried_size"


@pytest.mark.parametrize("given", [finding(None), finding(function="other"), finding("keys = jnp.transpose(keys)")])
def test_without_an_order_or_the_function_nothing_is_proposed(given: RuleFinding) -> None:
    assert why_not(layout.propose, given, TriedCode("attend(query, keys)", {"attend": attend})) == "not_mechanical"


def verified(source: str, *changed: str, **variables: Any) -> Any:
    trial = Trial(TriedCode(source, variables), [Changed(each) for each in changed], 10**7, 10**6, 20 * 10**9)
    (found,) = verify([finding()], trial, SILENT)
    return found.verified


def test_outputs_are_compared_and_the_way_is_told(query: Any, keys: Any) -> None:
    def step(query: Any) -> Any:
        return attend(query, keys).sum(-1)

    found = verified("step(query)", step=step, query=query)
    assert found.outputs_agree
    assert str(found.notes[0]) == "Tried with keys transposed once beforehand, and back inside attend."


def test_an_array_that_each_run_makes_is_told() -> None:
    found = verified("attend(query, keys * 2)", attend=attend, query=values(2, 8, 16), keys=values(2, 64, 8, 16))
    assert str(found.notes[0]).startswith("Not tried: keys would have to be transposed in each run: attend gets an")
