"""Functions are inspected before they are called."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.runtime.functions import compiled_for, donated_arguments, is_folded, is_jitted, name_of


def f(*args: Any) -> Any:
    return jnp.zeros(3) + sum(jnp.asarray(each).sum() for each in args)


class Callable:
    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("fn", "name"),
    [(f, "f"), (jax.jit(f), "f"), (functools.partial(f, 1), "f"), (Callable(), "Callable"), (np.sum, "sum")],
)
def test_names_are_those_that_people_use(fn: Any, name: str) -> None:
    assert name_of(fn) == name


def test_what_is_jitted() -> None:
    assert is_jitted(jax.jit(f))
    assert not is_jitted(f)
    assert not is_jitted("text".lower())


@pytest.mark.parametrize(
    ("fn", "args", "folded"),
    [
        (jax.jit(f), (), True),
        (jax.jit(f), (jnp.ones(3),), False),
        (jax.jit(f), (np.ones(3),), False),
        (jax.jit(f), (3,), False),  # a number is an argument of the program
        (jax.jit(f, static_argnums=0), (3,), True),
        (f, (), False),
        (jax.jit(f), ("text",), False),  # fails when it is called
    ],
)
def test_a_jitted_call_without_data_is_folded(fn: Any, args: Any, folded: bool) -> None:
    assert is_folded(fn, args, {}) is folded


@pytest.mark.parametrize("options", [{"static_argnums": 0}, {"static_argnames": "a"}, {"static_argnums": (0, 1)}, {}])
def test_donated_positions_count_static_arguments(options: dict[str, object]) -> None:
    jitted = jax.jit(lambda a, b, c: c, donate_argnums=2, **options)  # type: ignore[call-overload]
    found = donated_arguments(jitted)
    assert found is not None
    assert found[0] == (2,)


def test_a_method_that_nnx_jits_leaves_its_module_as_it_is() -> None:
    nnx = pytest.importorskip("flax.nnx")

    class Net(nnx.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))

        @nnx.jit  # type: ignore[untyped-decorator]
        def gram(self, x: Any) -> Any:
            return self.layer(x) @ self.layer(x).T

    net = Net()
    before = jax.tree.map(np.asarray, nnx.state(net))
    for fn, args in ((net.gram, ()), (nnx.jit(lambda net, x: net.gram(x)), (net,))):
        program, _ = compiled_for(fn, (*args, jnp.ones((5, 2))), {})
        assert "f32[5,5]" in program.hlo_modules()[0].to_string()
    jax.tree.map(np.testing.assert_array_equal, nnx.state(net), before)


def test_a_method_that_equinox_jits_is_compiled() -> None:
    eqx = pytest.importorskip("equinox")

    class Net(eqx.Module):  # type: ignore[misc, name-defined]
        w: Any

        @eqx.filter_jit  # type: ignore[untyped-decorator]
        def gram(self, x: Any) -> Any:
            return (x @ self.w) @ (x @ self.w).T

    program, _ = compiled_for(Net(jnp.ones((2, 3))).gram, (jnp.ones((5, 2)),), {})
    assert "f32[5,5]" in program.hlo_modules()[0].to_string()


def test_an_object_with_a_lower_of_its_own_that_is_jaxs_is_compiled() -> None:
    class Timed:
        def __init__(self, jitted: Any) -> None:
            self.lower = jitted.lower

        def __call__(self, x: Any) -> Any: ...

    program, _ = compiled_for(Timed(jax.jit(jnp.sin)), (jnp.ones((5, 2)),), {})
    assert "f32[5,2]" in program.hlo_modules()[0].to_string()
