"""Each remedy is applied: what it is given for compiles without it, and does not with it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.analysis.remedies import _REMEDIES
from jaxmagic.model.compilation import CAUSE_KINDS

COMPILED = "/jax/core/compile/backend_compile_duration"


def compilations(call: Callable[[], Any]) -> int:
    """How many programs JAX itself says it compiles."""
    heard: list[str] = []

    def listen(event: str, *_: Any, **__: Any) -> None:
        heard.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        jax.block_until_ready(call())
    finally:
        getattr(jax.monitoring, "unregister_event_duration_listener", unregister)(listen)
    return heard.count(COMPILED)


def unregister(listener: Any) -> None:
    """On JAX 0.8 the call is private."""
    from jax._src import monitoring

    monitoring._unregister_event_duration_listener_by_callback(listener)


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
    """Equal to no other."""


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
    array = np.ones((3, 1, 7))
    return Scene(
        kind="transfer", before=lambda: None, again=lambda: jnp.array(array), remedied=lambda: jax.device_put(array)
    )


SCENES = [
    shape, dtype, key, weak_number, weak_array, static_number, static_function, static_object, pytree, keyword,
    new_function, new_body, new_body_in_jit, placement, context, transformation, eager, transfer,
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
