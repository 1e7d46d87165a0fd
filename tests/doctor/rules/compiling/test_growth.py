"""An argument that the code makes longer itself is to be allocated once; sizes of other data are not."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import recompile
from jaxmagic.doctor.rules.compiling.growth import lengthened

ROW = np.ones(8, np.float32)
LENGTHS = 5, 6, 7, 8, 9, 10, 11, 12


@pytest.fixture(autouse=True)
def whatever_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short compilations count as well, so that nothing here depends on the clock."""
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)
    for each in (attend, step, step_with_cache, pad):
        each.clear_cache()


@jax.jit
def attend(query: Any, keys: Any) -> Any:
    return jax.nn.softmax(keys @ query) @ keys


@jax.jit
def step(query: Any, keys: Any) -> Any:
    keys = jnp.concatenate([keys, jnp.tanh(query)[None]])
    return jax.nn.softmax(keys @ query) @ keys, keys


@jax.jit
def step_with_cache(cache: Any, query: Any) -> Any:
    keys = jnp.concatenate([cache["keys"], query[None]])
    return {"keys": keys}, jax.nn.softmax(keys @ query) @ keys


@jax.jit
def pad(signal: Any) -> Any:
    return jnp.concatenate([signal, jnp.zeros((1, 8))])


def that_the_function_returns() -> None:
    query, keys = ROW, ROW[None]
    for _ in range(8):
        query, keys = step(query, keys)


def in_a_container() -> None:
    cache, query = {"keys": ROW[None]}, ROW
    for _ in range(8):
        cache, query = step_with_cache(cache, query)


def call_step(query: Any, keys: Any) -> Any:
    return step(query, keys)


def that_a_helper_returns() -> None:
    query, keys = ROW, ROW[None]
    for _ in range(8):
        query, keys = call_step(query, keys)


def in_an_object() -> None:
    class Decoder:
        keys = ROW[None]

        def run(self, query: Any) -> Any:
            query, self.keys = step(query, self.keys)
            return query

    decoder, query = Decoder(), ROW
    for _ in range(8):
        query = decoder.run(query)


def joined_outside_of_jit() -> None:
    query, keys = jnp.asarray(ROW), jnp.asarray(ROW)[None]
    for _ in range(8):
        query = attend(query, keys)
        keys = jnp.concatenate([keys, query[None]])


def joined_in_another_function() -> None:
    def append(cache: dict[str, Any], query: Any) -> None:
        cache["keys"] = jnp.append(cache["keys"], query[None], axis=0)

    cache, query = {"keys": jnp.asarray(ROW)[None]}, jnp.asarray(ROW)
    for _ in range(8):
        query = attend(query, cache["keys"])
        append(cache, query)


def joined_by_numpy() -> None:
    keys = ROW[None]
    for _ in range(8):
        keys = np.vstack([keys, np.asarray(attend(ROW, keys))])


def collected_in_a_list() -> None:
    rows = [ROW]
    for _ in range(8):
        keys = np.stack(rows)
        rows.append(np.asarray(attend(ROW, keys)))


def by_more_than_one_row_each_time() -> None:
    keys = ROW[None]
    for number in range(8):
        attend(ROW, keys)
        keys = np.concatenate([keys, keys[: number % 3 + 1]])


def the_one(run: Callable[[], Any]) -> RuleFinding:
    findings = jaxmagic.diagnose(run, only=["recompile"]).findings
    (finding,) = (each for each in findings if each.found.facts["function"] in ("attend", "step", "step_with_cache"))
    return finding


@pytest.mark.parametrize(
    ("run", "argument", "by", "where"),
    [
        (that_the_function_returns, "keys", 1, "step"),
        (in_a_container, "cache['keys']", 1, "step_with_cache"),
        (that_a_helper_returns, "keys", 1, "step"),
        (in_an_object, "keys", 1, "step"),
        (joined_outside_of_jit, "keys", 1, ""),
        (joined_in_another_function, "keys", 1, ""),
        (joined_by_numpy, "keys", 1, ""),
        (collected_in_a_list, "keys", 1, ""),
        (by_more_than_one_row_each_time, "keys", 0, ""),
    ],
)
def test_an_argument_that_grows_is_to_be_made_once(run: Any, argument: str, by: int, where: str) -> None:
    finding = the_one(run)
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.recompile_preallocate"
    assert finding.remedy.facts == {"argument": argument, "function": where}
    assert finding.evidence[-1].facts == {"argument": argument, "axis": 0, "step": by}
    assert finding.code is None
    assert finding.basis == "measured"


def data_of_growing_length() -> None:
    for length in LENGTHS:
        attend(ROW, np.ones((length, 8), np.float32))


def prefixes_of_an_array() -> None:
    results = []
    for length in LENGTHS:
        results.append(attend(ROW, np.ones((20, 8), np.float32)[:length]))


def a_function_that_pads() -> None:
    for length in LENGTHS:
        padded = pad(np.ones((length, 8), np.float32))
    del padded


def a_result_with_the_name_of_the_data() -> None:
    for length in LENGTHS:
        signal = np.ones((length, 8), np.float32)
        signal = pad(signal)
    del signal


@pytest.mark.parametrize(
    "run", [data_of_growing_length, prefixes_of_an_array, a_function_that_pads, a_result_with_the_name_of_the_data]
)
def test_data_that_is_sorted_by_length_is_padded(run: Any) -> None:
    (finding,) = jaxmagic.diagnose(run, only=["recompile"]).findings
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.recompile_pad"


def test_the_remedy_compiles_once() -> None:
    @jax.jit
    def step(query: Any, keys: Any, filled: Any) -> Any:
        keys = jax.lax.dynamic_update_slice(keys, jnp.tanh(query)[None], (filled, 0))
        scores = jnp.where(jnp.arange(len(keys)) <= filled, keys @ query, -jnp.inf)
        return jax.nn.softmax(scores) @ keys, keys

    def run() -> Any:
        query, keys = jnp.asarray(ROW), jnp.zeros((9, 8)).at[0].set(ROW)
        for number in range(1, 9):
            query, keys = step(query, keys, jnp.asarray(number))
        return query

    query, keys = jnp.asarray(ROW), jnp.asarray(ROW)[None]
    for _ in range(8):
        query, keys = globals()["step"](query, keys)
    np.testing.assert_allclose(run(), query, rtol=1e-5)
    assert step._cache_size() == 1


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("keys = jnp.concatenate((keys, new), axis=1)", {"keys"}),
        ("self.keys = jnp.append(self.keys, new)", {"self.keys"}),
        ("tokens += [token]", {"tokens"}),
        ("tokens = tokens + [token]", {"tokens"}),
        ("tokens = [*tokens, token]", {"tokens"}),
        ("keys, values = jnp.vstack([keys, k]), jnp.vstack([values, v])", {"keys", "values"}),
        ("batch = jnp.concatenate([a, b])", set()),
        ("x += 1", set()),
        ("x = f(x)", set()),
    ],
)
def test_statements_that_lengthen_a_variable(source: str, names: set[str]) -> None:
    assert lengthened(ast.parse(source).body[0]) == names
