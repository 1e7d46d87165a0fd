"""A re-created function is explained by its closure and by the options of jax.jit."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause

ONCE = "define and jit the function once, "


def cause(call: Callable[[], Any]) -> Cause:
    """Return the cause of the one user function that `call` compiles."""
    with jaxmagic.stopwatch() as watch:
        watch.result = call()
    (one,) = (each for each in watch.timing.compilations if not each.eager)
    return one.cause


class Model:
    def __init__(self, rate: Any) -> None:
        self.rate = rate

    def step(self, x: Any) -> Any:
        return x * self.rate

    __call__ = step


def of_array(value: Any) -> Any:
    return lambda x: x * value + 31


def of_settings(settings: Any) -> Any:
    return lambda x: x * settings["rate"] + 37


def of_object(model: Any) -> Any:
    return lambda x: model.step(x) + 41


def of_function(loss: Any) -> Any:
    return lambda x: loss(x) + 43


def of_mode(mode: str) -> Any:
    return lambda x: x + 47 if mode == "a" else x


def of_generator(generator: Any) -> Any:
    return lambda x: x + generator.normal()


def of_namespace(settings: Any) -> Any:
    return lambda x: x * settings.inner["a"][1] + 53


def of_nested(rate: float) -> Any:
    def inner(x: Any) -> Any:
        return x * rate

    return lambda x: inner(x) + 59


ARRAYS = [jnp.arange(8.0) * n for n in (1, 2)]

REASONS: list[tuple[Callable[[], Any], Callable[[], Any], str, str | None]] = [
    (lambda: of_array(ARRAYS[0]), lambda: of_array(ARRAYS[1]), "a different array value: f32[8]",
     "and pass value as an argument"),
    (lambda: of_array(ARRAYS[0]), lambda: of_array(ARRAYS[0][:1]),
     "a different value: f32[1] now, f32[8] before", None),
    (lambda: of_settings({"rate": 2.0}), lambda: of_settings({"rate": 3.0}),
     "a different settings['rate']: 3.0 now, 2.0 before", "and pass settings['rate'] as an argument, if no shape"),
    (lambda: of_object(Model(2.0)), lambda: of_object(Model(3.0)), "a different model.rate: 3.0 now, 2.0 before",
     "and pass model.rate as an argument"),
    (lambda: Model(5.0), lambda: Model(6.0), "a different self.rate: 6.0 now, 5.0 before", "and pass self.rate as"),
    (lambda: Model(7.0).step, lambda: Model(8.0).step, "a different self.rate: 8.0 now", "and pass self.rate"),
    (lambda: of_function(jnp.sin), lambda: of_function(jnp.cos), "a different loss: cos (", None),
    (lambda: of_mode("a"), lambda: of_mode("b"), "a different mode: 'b' now, 'a' before", None),
    (lambda: of_generator(np.random.default_rng(0)), lambda: of_generator(np.random.default_rng(1)),
     "a different generator: a Generator, which cannot be compared", None),
    (lambda: of_namespace(SimpleNamespace(inner={"a": (1, 2)})),
     lambda: of_namespace(SimpleNamespace(inner={"a": (1, 3)})),
     "a different settings.inner['a'][1]: 3 now, 2 before", "and pass settings.inner['a'][1] as an argument"),
    (lambda: of_nested(2.0), lambda: of_nested(3.0), "a different inner.rate: 3.0 now, 2.0 before", "and pass inner"),
    (lambda: functools.partial(jnp.sum, axis=0), lambda: functools.partial(jnp.sum, axis=1),
     "a different axis: 1 now, 0 before", "and pass axis as an argument, if no shape, axis"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "reason", "remedy"), REASONS)
def test_what_differs_is_told_and_only_what_helps_is_advised(
    x: Any, one: Callable[[], Any], other: Callable[[], Any], reason: str, remedy: str | None
) -> None:
    jax.block_until_ready(cause(lambda: jax.jit(one())(x)).reason)
    found = cause(lambda: jax.jit(other())(x))
    assert found.kind == "new function"
    assert found.reason.startswith(f"the same source was compiled before, with {reason}")
    assert (found.remedy or "none").startswith(ONCE + remedy if remedy else "none")


@pytest.mark.parametrize("make", [each[0] for each in REASONS if "cannot be compared" not in each[2]])
def test_around_the_same_it_is_to_be_defined_once(x: Any, make: Callable[[], Any]) -> None:
    found = [cause(lambda: jax.jit(make())(x)) for _ in range(2)][1]
    assert found.reason == "the same source was compiled before, as a different function object"
    assert found.remedy == ONCE + "outside the loop or the cell that runs again"


def test_attributes_of_classes_are_compared(x: Any) -> None:
    class Settings:
        rate = 2.0

    class Stepper(Model):
        scale = 2.0

        def step(self, x: Any) -> Any:
            return x * self.rate * self.scale

    def call_with(owner: Any, name: str, value: float, function: Any) -> Cause:
        setattr(owner, name, value)
        return cause(lambda: jax.jit(function)(x))

    def of_class(x: Any) -> Any:
        return x * Settings.rate + 67

    call_with(Stepper, "scale", 2.0, Stepper(1.0).step)
    assert call_with(Stepper, "scale", 2.0, Stepper(1.0).step).reason.endswith("as a different function object")
    assert call_with(Stepper, "scale", 3.0, Stepper(1.0).step).reason.endswith("self.scale: 3.0 now, 2.0 before")
    call_with(Settings, "rate", 2.0, functools.partial(of_class))
    found = call_with(Settings, "rate", 3.0, functools.partial(of_class))
    assert found.reason.endswith("a different Settings.rate: 3.0 now, 2.0 before")


def test_a_function_compiled_with_the_same_values_earlier_is_compared_with_that(x: Any) -> None:
    for rate in (21.0, 22.0):
        cause(lambda rate=rate: jax.jit(of_nested(rate))(x))
    assert cause(lambda: jax.jit(of_nested(21.0))(x)).reason.endswith("as a different function object")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"donate_argnums": 0}, "jitted with different donated arguments: x now, none before"),
        ({"static_argnames": "n"}, "jitted with different static arguments: n now, none before"),
        ({"static_argnums": 1}, "jitted with different static arguments: n now, none before"),
        ({"out_shardings": jax.sharding.SingleDeviceSharding(jax.devices()[-1])},
         "jitted with different out shardings: SingleDeviceSharding("),
    ],
)  # fmt: skip
def test_other_options_of_jit_are_told(x: Any, options: dict[str, Any], reason: str) -> None:
    def f(x: Any, n: float) -> Any:
        return x * n

    number = {"n": 2.0} if "static_argnums" not in options else {}
    args = () if number else (2.0,)
    own = jnp.copy(x)
    cause(lambda: jax.jit(f)(x, *args, **number))
    with jaxmagic.stopwatch() as watch:
        watch.result = jax.jit(f, **options)(own, *args, **number)
    found = [each.cause for each in watch.timing.compilations if not each.eager]
    if not found:
        pytest.skip("one device: the sharding is the one that the program had")
    assert found[0].kind == "options"
    assert found[0].reason.startswith(reason)
    assert found[0].remedy == "call one jitted function, with the same options of jax.jit, everywhere"


def test_another_order_of_devices_is_told(x: Any) -> None:
    if len(jax.devices()) < 2:
        pytest.skip("one device")
    f = jax.jit(lambda x: x + 61)
    for order in (1, -1):
        mesh = jax.sharding.Mesh(np.array(jax.devices())[::order], ("d",))
        placed = jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d")))
        found = cause(lambda placed=placed: f(placed))
    assert found.kind == "placement"
    assert "; devices " in (found.now or "")
    assert "; devices " not in (found.before or "")
