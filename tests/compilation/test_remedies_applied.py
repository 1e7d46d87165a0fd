"""Each remedy is applied: the code compiles again without it, and does not with it."""

from __future__ import annotations

import collections
import enum
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.compilation.analysis.remedies import _REMEDIES
from jaxmagic.compilation.record.compilation import CAUSE_KINDS

from ..reported import COMPILED, reported


def compilations(call: Callable[[], Any]) -> int:
    """Count the programs that JAX itself reports to compile."""
    with reported() as events:
        jax.block_until_ready(call())
    return events[COMPILED]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Code that compiles again, and the same with its remedy.

    Attributes:
        kind: of the cause that is given.
        before: what compiles first.
        again: what compiles again.
        remedied: what may not compile more than `most`, after `before_remedied`.
    """

    kind: str
    before: Callable[[], Any]
    again: Callable[[], Any]
    remedied: Callable[[], Any]
    before_remedied: Callable[[], Any] | None = None
    most: int = 0


def shape() -> Scene:
    f, x, y = jax.jit(lambda x: x + 3), jnp.ones((8, 8)), jnp.ones((8, 5))
    padded = jax.device_put(np.pad(np.asarray(y), ((0, 0), (0, 3))))
    return Scene(kind="shape", before=lambda: f(x), again=lambda: f(y), remedied=lambda: f(padded))


def dtype() -> Scene:
    f, x, y = jax.jit(lambda x: x + 3), jnp.ones(8), jnp.ones(8, jnp.float16)
    same = y.astype(jnp.float32)
    return Scene(kind="dtype", before=lambda: f(x), again=lambda: f(y), remedied=lambda: f(same))


def key() -> Scene:
    f = jax.jit(lambda key: jax.random.normal(key, (2,)))
    typed, raw, other = jax.random.key(0), jax.random.PRNGKey(0), jax.random.key(1)
    return Scene(kind="shape", before=lambda: f(typed), again=lambda: f(raw), remedied=lambda: f(other))


def weak_number() -> Scene:
    f, x = jax.jit(lambda x: x + 3), jnp.float32(1)
    y = jnp.asarray(2.0, jnp.float32)
    return Scene(kind="weak type", before=lambda: f(x), again=lambda: f(2.0), remedied=lambda: f(y))


def another_number() -> Scene:
    f = jax.jit(lambda x: x + 3)
    return Scene(kind="weak type", before=lambda: f(1.5), again=lambda: f(2), remedied=lambda: f(float(2)))


def weak_array() -> Scene:
    f, x, y = jax.jit(lambda x: x + 3), jnp.ones(3), jnp.repeat(1.0, 3)
    strong = jnp.asarray(y, jnp.float32)
    return Scene(kind="weak type", before=lambda: f(x), again=lambda: f(y), remedied=lambda: f(strong))


def static_number() -> Scene:
    x, arrays = jnp.ones(8), [jnp.float32(n) for n in (2, 3)]
    f = jax.jit(lambda x, n: x * n, static_argnames="n")
    g = jax.jit(lambda x, n: x * n)
    return Scene(
        kind="static value", before=lambda: f(x, 2.0), again=lambda: f(x, 3.0),
        before_remedied=lambda: g(x, arrays[0]), remedied=lambda: g(x, arrays[1]),
    )  # fmt: skip


def static_function() -> Scene:
    x, f = jnp.ones(8), jax.jit(lambda x, act: act(x), static_argnames="act")

    def make() -> Any:
        return lambda x: x + 1

    once = make()
    return Scene(
        kind="static value", before=lambda: f(x, make()), again=lambda: f(x, make()),
        before_remedied=lambda: f(x, once), remedied=lambda: f(x, once),
    )  # fmt: skip


class Settings:
    """An object that compares by identity."""


class Comparable:
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Comparable)

    def __hash__(self) -> int:
        return 1


def static_object() -> Scene:
    x, f = jnp.ones(8), jax.jit(lambda x, settings: x + 1, static_argnames="settings")
    return Scene(
        kind="static value", before=lambda: f(x, Settings()), again=lambda: f(x, Settings()),
        before_remedied=lambda: f(x, Comparable()), remedied=lambda: f(x, Comparable()),
    )  # fmt: skip


def pytree() -> Scene:
    x, f = jnp.ones(8), jax.jit(lambda tree: tree[0] + tree[1])
    return Scene(kind="pytree", before=lambda: f((x, x)), again=lambda: f([x, x]), remedied=lambda: f((x, x)))


def keyword() -> Scene:
    x, f = jnp.ones(8), jax.jit(lambda x: x + 3)
    return Scene(kind="pytree", before=lambda: f(x), again=lambda: f(x=x), remedied=lambda: f(x))


def new_function() -> Scene:
    x = jnp.ones(8)

    def make() -> Any:
        return jax.jit(lambda x: x + 11)

    once = make()
    return Scene(
        kind="new function", before=lambda: make()(x), again=lambda: make()(x),
        before_remedied=lambda: once(x), remedied=lambda: once(x),
    )  # fmt: skip


def closure_array() -> Scene:
    x, arrays = jnp.ones(8), [jnp.ones(8) * n for n in (2, 3)]

    def make(w: Any) -> Any:
        return jax.jit(lambda x: x * w + 11)

    once = jax.jit(lambda x, w: x * w + 11)
    return Scene(
        kind="new function", before=lambda: make(arrays[0])(x), again=lambda: make(arrays[1])(x),
        before_remedied=lambda: once(x, arrays[0]), remedied=lambda: once(x, arrays[1]),
    )  # fmt: skip


def closure_number() -> Scene:
    x = jnp.ones(8)

    def make(n: float) -> Any:
        return jax.jit(lambda x: x * n + 11)

    once = jax.jit(lambda x, n: x * n + 11)
    return Scene(
        kind="new function", before=lambda: make(2.0)(x), again=lambda: make(3.0)(x),
        before_remedied=lambda: once(x, 2.0), remedied=lambda: once(x, 3.0),
    )  # fmt: skip


def closure_number_of_another_dtype() -> Scene:
    x, arrays = jnp.ones(8), [jnp.asarray(n, jnp.float32) for n in (2, 0.5)]

    def make(n: float) -> Any:
        return jax.jit(lambda x: x * n + 13)

    once = jax.jit(lambda x, n: x * n + 13)
    return Scene(
        kind="new function", before=lambda: make(2)(x), again=lambda: make(0.5)(x),
        before_remedied=lambda: once(x, arrays[0]), remedied=lambda: once(x, arrays[1]),
    )  # fmt: skip


def static_closure() -> Scene:
    x, f = jnp.ones(8), jax.jit(lambda x, act: act(x), static_argnames="act")

    def make(w: float) -> Any:
        return lambda x: x * w

    def act(x: Any, w: Any) -> Any:
        return x * w

    once = jax.jit(lambda x, act, w: act(x, w), static_argnames="act")
    return Scene(
        kind="static value", before=lambda: f(x, make(2.0)), again=lambda: f(x, make(3.0)),
        before_remedied=lambda: once(x, act, 2.0), remedied=lambda: once(x, act, 3.0),
    )  # fmt: skip


def static_nan() -> Scene:
    x, f = jnp.ones(8), jax.jit(lambda x, n: x + n, static_argnames="n")
    return Scene(
        kind="static value", before=lambda: f(x, float("nan")), again=lambda: f(x, float("nan")),
        before_remedied=lambda: f(x, math.nan), remedied=lambda: f(x, math.nan),
    )  # fmt: skip


def static_class_made_anew() -> Scene:
    x, f = jnp.ones(8), jax.jit(lambda x, mode: x + 1, static_argnames="mode")

    def make() -> Any:
        return enum.Enum("Mode", "FAST EXACT")

    once = make()
    return Scene(
        kind="static value", before=lambda: f(x, make().FAST), again=lambda: f(x, make().FAST),
        before_remedied=lambda: f(x, once.FAST), remedied=lambda: f(x, once.FAST),
    )  # fmt: skip


def container_class_made_anew() -> Scene:
    x, f = jnp.ones(8), jax.jit(lambda pair: pair[0] + pair[1])

    def make() -> Any:
        return collections.namedtuple("Pair", "a b")

    once = make()
    return Scene(
        kind="pytree", before=lambda: f(make()(x, x)), again=lambda: f(make()(x, x)),
        before_remedied=lambda: f(once(x, x)), remedied=lambda: f(once(x, x)),
    )  # fmt: skip


def options() -> Scene:
    def f(x: Any) -> Any:
        return x + 17

    x, donating = jnp.ones(8), jax.jit(f, donate_argnums=0)
    given = iter([jax.block_until_ready(jnp.copy(x)) for _ in range(3)])
    return Scene(
        kind="options", before=lambda: jax.jit(f)(x), again=lambda: jax.jit(f, donate_argnums=0)(next(given)),
        before_remedied=lambda: donating(next(given)), remedied=lambda: donating(next(given)),
    )  # fmt: skip


def static_options() -> Scene:
    def f(x: Any, n: float) -> Any:
        return x + n

    x, once = jnp.ones(8), jax.jit(f, static_argnames="n")
    return Scene(
        kind="options", before=lambda: jax.jit(f)(x, n=2.0),
        again=lambda: jax.jit(f, static_argnames="n")(x, n=2.0),
        before_remedied=lambda: once(x, n=2.0), remedied=lambda: once(x, n=2.0),
    )  # fmt: skip


def new_body() -> Scene:
    x = jnp.ones(9)

    def body(c: Any, _: Any) -> Any:
        return c * 1.5, None

    def anew() -> Any:
        return jax.lax.scan(lambda c, _: (c * 1.5, None), x, None, length=3)

    def once() -> Any:
        return jax.lax.scan(body, x, None, length=3)

    return Scene(kind="new function", before=anew, again=anew, before_remedied=once, remedied=once)


def new_body_in_jit() -> Scene:
    x = jnp.ones(9)

    def anew() -> Any:
        return jax.lax.scan(lambda c, _: (c * 2.5, None), x, None, length=3)

    jitted = jax.jit(anew)
    return Scene(kind="new function", before=anew, again=anew, before_remedied=jitted, remedied=jitted)


def placement() -> Scene:
    f, x = jax.jit(lambda x: x + 3), jnp.ones(8)
    committed = jax.device_put(x, jax.devices()[0])
    return Scene(
        kind="placement", before=lambda: f(x), again=lambda: f(jax.device_put(x, jax.devices()[-1])),
        before_remedied=lambda: f(committed), remedied=lambda: f(jax.device_put(x, jax.devices()[0])),
    )  # fmt: skip


def context() -> Scene:
    f, g, x = jax.jit(lambda x: x @ x), jax.jit(lambda x: x @ x), jnp.ones((8, 8))

    def highest(function: Any) -> Any:
        with jax.default_matmul_precision("highest"):
            return function(x)

    return Scene(
        kind="context", before=lambda: f(x), again=lambda: highest(f),
        before_remedied=lambda: highest(g), remedied=lambda: highest(g),
    )  # fmt: skip


def transformation() -> Scene:
    f, g, x = jax.jit(lambda x: x * 2.5), jax.jit(lambda x: x * 2.5), jnp.ones((5, 1, 3))
    whole = jax.jit(jax.grad(lambda x: g(x).sum()))
    return Scene(
        kind="transformation", before=lambda: None, again=lambda: jax.grad(lambda x: f(x).sum())(x),
        remedied=lambda: whole(x), most=1,
    )  # fmt: skip


def eager() -> Scene:
    x = jnp.arange(float(3 * 5 * 2)).reshape(3, 1, 5, 1, 2)

    def operations(x: Any) -> Any:
        return jnp.arcsinh(jnp.arctan(x)) / jnp.log1p(x)

    jitted = jax.jit(operations)
    return Scene(kind="eager", before=lambda: None, again=lambda: operations(x), remedied=lambda: jitted(x), most=1)


def transfer() -> Scene:
    values = [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]  # of which device_put alone makes six arrays
    return Scene(
        kind="transfer",
        before=lambda: None,
        again=lambda: jnp.array(values),
        remedied=lambda: jax.device_put(np.asarray(values, np.float32)),
    )


SCENES = [
    shape, dtype, key, weak_number, another_number, weak_array, static_number, static_function, static_object, pytree,
    keyword, new_function, closure_array, closure_number, closure_number_of_another_dtype, static_closure, static_nan,
    static_class_made_anew, container_class_made_anew, options, static_options, new_body, new_body_in_jit,
    placement, context, transformation, eager, transfer,
]  # fmt: skip


@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_the_remedy_avoids_the_compilation(make: Callable[[], Scene]) -> None:
    scene = make()
    if scene.kind == "placement" and jax.devices()[0] == jax.devices()[-1]:
        pytest.skip("one device")
    with jaxmagic.stopwatch():
        jax.block_until_ready(scene.before())
    with jaxmagic.stopwatch() as watch:
        watch.result = scene.again()
    assert sum(each.compiled for each in watch.timing.compilations) > scene.most
    given = [each.cause for each in watch.timing.compilations if each.cause.kind == scene.kind]
    assert given, watch.timing.compilations
    assert all(each.remedy for each in given)
    if scene.before_remedied is not None:
        jax.block_until_ready(scene.before_remedied())
    assert compilations(scene.remedied) <= scene.most


def test_every_remedy_of_a_kind_is_applied() -> None:
    kinds = {make().kind for make in SCENES}
    assert set(_REMEDIES) <= kinds <= set(CAUSE_KINDS)


def test_the_count_can_fail() -> None:
    x = jnp.ones(8)
    assert compilations(functools.partial(jax.jit(lambda x: x + 101), x)) == 1
