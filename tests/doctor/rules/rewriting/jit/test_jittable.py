"""Code to jit a function is offered only if jit can trace it as it is."""

from __future__ import annotations

import ast
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.rules.rewriting.jit.array_variables import arrays_in
from jaxmagic.doctor.rules.rewriting.jit.jittable import computes_only, takes_arrays


def function_of(body: str, parameters: str = "x, n") -> ast.FunctionDef:
    function = ast.parse(f"def f({parameters}):\n    {body}\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    return function


@pytest.mark.parametrize(
    "body",
    [
        "return jnp.zeros(n) + x",
        "return jnp.zeros((n, 3)) + x",
        "return jnp.arange(n) + x",
        "return x.reshape(n, -1)",
        "return x.reshape((n, -1))",
        "return jnp.reshape(x, (n, -1))",
        "return jax.nn.one_hot(x, n)",
        "return jax.nn.one_hot(x, num_classes=n)",
        "return jnp.sum(x, axis=n)",
        "return x[:n]",
        "return x[:, n:]",
        "return jax.random.normal(x, (n,))",
        "return jax.random.normal(x, shape=(n,))",
        "return jax.lax.scan(step, x, length=n)",
        "return [x for _ in range(n)]",
        "return n(x)",
        "return n.apply(x)",
        "return jax.lax.top_k(x, n)",
    ],
)
def test_an_argument_that_must_be_static(body: str) -> None:
    assert not takes_arrays(function_of(body), set())


@pytest.mark.parametrize(
    "body",
    [
        "return x * n",
        "return jnp.zeros(x.shape) + n",
        "return jnp.zeros((x.shape[0], len(n)))",
        "return x[n]",
        "return x[:x.shape[0] // 2] + n",
        "return jnp.full(x.shape, n)",
        "return x.sum() + n.T.mean()",
        "return x['w'] @ n",
        "return x.at[n].set(1.0)",
        "return jnp.roll(x, n)",
        "return jnp.tile(n, 3) + x",
        "return model.apply(x, n)",
        "return {k: v + n for k, v in x.items()}",
        "return [v + n for v in x.values()] + [x.get('b')]",
    ],
)
def test_arguments_that_jit_traces(body: str) -> None:
    assert takes_arrays(function_of(body), set())


def test_variables_that_are_known_to_be_something_else() -> None:
    function = function_of("return x * n")
    assert takes_arrays(function, {"other"})
    assert not takes_arrays(function, {"n"})


def test_methods_and_decorated_functions_are_left_alone() -> None:
    assert not takes_arrays(function_of("return x", "self, x"), set())
    decorated = ast.parse("@cache\ndef f(x):\n    return x\n").body[0]
    assert isinstance(decorated, ast.FunctionDef)
    assert not takes_arrays(decorated, set())
    assert not computes_only(decorated, {})


@pytest.mark.parametrize(
    ("body", "computes"),
    [
        ("return jnp.sin(x) + g(n)", True),
        ("return x if n else -x", False),
        ("print(x)", False),
        ("return np.sin(x)", False),
        ("return float(x)", False),
        ("return x.item()", False),
        ("x[0] = n", False),
    ],
)
def test_what_does_more_than_compute(body: str, computes: bool) -> None:
    assert computes_only(function_of(body), {}) is computes


def test_derivatives_of_ones_own_are_traced() -> None:
    own = ast.parse("@jax.custom_vjp\ndef f(x):\n    return x\n").body[0]
    assert isinstance(own, ast.FunctionDef)
    assert computes_only(own, {})


@pytest.mark.parametrize(
    ("body", "computes"),
    [
        ("return sum(jnp.roll(x, i) for i in (-1, 0, 1) if i != 0)", True),
        ("return sum(jnp.roll(x, (i, j)) for i in [0, 1] for j in range(2) if (i, j) != (0, 0))", True),
        ("return sum(x[i] if i % 2 else -x[i] for i in range(x.shape[0]))", True),
        ("return sum(x[i] for i in range(len(x)) if 0 < i and i < 3)", True),
        ("for i in range(3): x = x * 2 if i < 2 else x\n    return x", True),
        ("return sum(x[i] for i in range(n) if i > 1)", False),
        ("return sum(each for each in x if each > 1)", False),
        ("return sum(each for each in (x, n) if each > 1)", False),
        ("return sum(x[i] for i in range(3) if x[i] > 1)", False),
        ("return sum(x[i] for i in range(3) if i > n)", False),
        ("for i in range(3): i = i * n; x = x * 2 if i < 2 else x\n    return x", False),
        ("return [x[n] for n in range(3) if n > 1]", False),  # n is also a parameter
    ],
)
def test_numbers_that_loops_count_may_decide(body: str, computes: bool) -> None:
    assert computes_only(function_of(body), {"jnp": "jax.numpy"}) is computes


@pytest.mark.parametrize(
    ("body", "computes"),
    [
        ("return tanh(x)", False),
        ("return xp.tanh(x)", False),
        ("return special.erf(x)", False),
        ("return jax.tree.map(tanh, x)", False),
        ("return jax.vmap(xp.sin)(x)", False),
        ("return jnp.asarray(x, xp.float32) * xp.pi", True),
        ("return np.sin(x)", True),
        ("return max(x)", True),
        ("return min(x)", False),
        ("return round(x)", True),
    ],
)
def test_names_stand_for_objects(body: str, computes: bool) -> None:
    paths = {
        "tanh": "numpy.tanh",
        "xp": "numpy",
        "special": "scipy.special",
        "np": "jax.numpy",
        "max": "jax.numpy.max",
        "round": "",
    }
    assert computes_only(function_of(body), paths) is computes


@pytest.mark.parametrize(
    ("body", "decided"),
    [
        ("return x if n else -x", True),
        ("return x if not n else -x", True),
        ("return x if n > 1 and n < 5 else -x", True),
        ("return x * (n or 1)", True),
        ("return x if n and x else -x", False),
        ("return x if f(n) else -x", False),
        ("n = x; return x if n else -x", False),
        ("assert n; return x", False),
    ],
)
def test_static_arguments_may_decide(body: str, decided: bool) -> None:
    assert computes_only(function_of(body), {}, frozenset({"n"})) is decided
    assert not computes_only(function_of(body), {})


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("n.update(x); return x", True),
        ("nnx.update(n, x); return x", True),
        ("other.update(x); return x", False),
        ("print(x); return x", False),
    ],
)
def test_nnx_keeps_changes_in_arguments(body: str, kept: bool) -> None:
    paths = {"nnx": "flax.nnx"}
    assert computes_only(function_of(body), paths, nnx=True) is kept
    assert not computes_only(function_of(body), paths)


def test_known_arguments_need_not_be_arrays() -> None:
    for body in ("return n(x)", "return n.apply(x)", "return jnp.zeros(n) + x", "return jax.vmap(n)(x)"):
        assert not takes_arrays(function_of(body), set())
        assert takes_arrays(function_of(body), {"n"}, {"n"})


TYPES = """
def f(x, n):
    {body}
    return jnp.sin(x) * n
"""


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("if isinstance(n, (list, tuple)): n = n[0]", True),
        ("n = n if isinstance(n, dict) else n * 2", True),
        ("n = n[0] if isinstance(n, str | tuple) else n", True),
        ("if n is not None and isinstance(n, type(None)): n = 3", False),
        ("x = x if isinstance(x, jax.Array) else jnp.asarray(x)", True),
        ("x = jnp.asarray(x) if not isinstance(x, (jnp.ndarray, tuple)) else x", True),
        ("if isinstance(x, np.ndarray): x = jnp.asarray(x)", True),
        ("if not isinstance(x, jax.Array): raise TypeError(f'got {type(x)}')", True),
        ("assert isinstance(x, jax.Array) and not isinstance(x, float)", True),
        ("if isinstance(n, float): n = n * 2", False),
        ("if isinstance(n, jax.Array): n = n + 1", False),
        ("if isinstance(n, (int, list)): n = n + 1", False),
        ("if isinstance(x, jax.Array) and n > 2: n = n + 1", False),
        ("if isinstance(x, Own): x = x + 1", False),
        ("x = float(n)\n    if isinstance(x, float): n = n + 1", False),
    ],
)
def test_types_that_are_the_same_under_jit_may_decide(body: str, same: bool) -> None:
    function = ast.parse(TYPES.format(body=body)).body[0]
    assert isinstance(function, ast.FunctionDef)
    paths = {"jax": "jax", "jnp": "jax.numpy", "np": "numpy"}
    assert computes_only(function, paths, arrays={"x"}) == same
    if same:
        names = {"jax": jax, "jnp": jnp, "np": np}
        exec(ast.unparse(function), names)
        traced, plain = jax.jit(names["f"]), names["f"]
        assert jnp.array_equal(traced(jnp.ones(3), 2.0), plain(jnp.ones(3), 2.0))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("f(a, b)", {"x"}),
        ("f(a, 2.0)", {"x"}),
        ("f(a, a)", {"x", "n"}),
        ("f(c, a)", {"n"}),
        ("f(d, a)", {"x", "n"}),
        ("f(a + 1, a)", {"n"}),
        ("f(a, a); f(a, b)", {"x"}),
    ],
)
def test_arrays_and_containers_of_all_calls_are_known(timing: Any, code: str, found: set[str]) -> None:
    kinds: dict[str, Any] = {"a": "jax array", "b": "number", "c": "numpy array", "d": "other"}
    inputs = tuple(Input(path=each, kind=kind, type="dict") for each, kind in kinds.items())
    evidence = Evidence(code=code, first=timing(), observed=timing(), inputs=inputs)
    assert arrays_in(function_of("x = jnp.sin(x)\n    return x * n"), "", evidence, {"jnp": "jax.numpy"}) == found
