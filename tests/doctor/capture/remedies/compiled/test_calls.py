"""The arguments of a call of a jitted function are known without running code of the user."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.remedies.compiled import calls
from jaxmagic.doctor.capture.remedies.compiled.calls import jitted_calls
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode


def boom(*_: Any, **__: Any) -> Any:
    raise AssertionError("code of the user ran")


@jax.jit
def f(x: Any) -> Any:
    return x


def passed(argument: str) -> list[Any]:
    """Return what is known to be passed in a call with this argument."""
    deleted = jnp.ones(3)
    deleted.delete()
    variables = {"f": f, "jax": jax, "jnp": jnp, "np": np, "ones": jnp.ones, "boom": boom, "n": 3, "gone": deleted}
    return [each.arguments["x"] for each in jitted_calls(TriedCode(f"y = f({argument})", variables))]


@pytest.mark.parametrize(
    "argument",
    [
        "-2.5",
        "jnp.ones(5)",
        "ones((2, n), jnp.int32)",
        "jnp.full((2,), fill_value=-1.0)",
        "jnp.array([1.0, 2.0])",
        "jax.numpy.arange(4)",
        "jax.random.normal(jax.random.key(0), (2,))",
        "(jnp.zeros(2), n)",
    ],
)
def test_arrays_that_functions_of_jax_make_are_known(argument: str) -> None:
    names = {"jax": jax, "jnp": jnp, "ones": jnp.ones, "n": 3}
    (found,) = passed(argument)
    expected = eval(argument, names)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(one, other)
        assert type(one) is type(other)


@pytest.mark.parametrize(
    "argument",
    [
        "boom(5)",
        "jnp.ones(boom())",
        "jnp.save('file', n)",
        "np.random.normal()",
        "jnp.ones(unknown)",
        "jnp.nothing(5)",
        "jnp.ones(*[3])",
        "jnp.ones(**{'shape': 3})",
        "jnp.ones('text')",
        "jnp.array(gone)",
        "n.real",
        "not n",
    ],
)
def test_anything_else_is_unknown(argument: str) -> None:
    assert passed(argument) == []


def test_a_large_array_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_MOST_MADE_BYTES", 400)
    assert len(passed("jnp.ones(100)")) == 1
    assert passed("jnp.ones(101)") == []
