"""A fresh process is given the same functions and arrays, in the same places, or an error names the culprit."""

from __future__ import annotations

import operator
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxmagic.benchmarking.capture.launches import launch
from jaxmagic.benchmarking.capture.sending import pack
from jaxmagic.errors import LaunchError
from jaxmagic.runtime import private_api


def sent(value: Any) -> Any:
    return pickle.loads(pack(value, {}))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn", "int4", "bool", "complex64"])
def test_an_array_keeps_its_type_and_values(dtype: str) -> None:
    array = jnp.asarray([0, 1, 1], dtype)
    found = sent(array)
    assert isinstance(found, jax.Array)
    assert (found.dtype, found.weak_type, found.committed) == (array.dtype, False, False)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(array))


def test_a_weak_type_stays_weak() -> None:
    assert sent(jnp.asarray(1.0)).weak_type


def test_keys_stay_keys() -> None:
    for key in (jax.random.key(3), jax.random.split(jax.random.key(3, impl="rbg"), 4)):
        found = sent(key)
        assert found.dtype == key.dtype
        assert jnp.all(jax.random.key_data(found) == jax.random.key_data(key))


def test_an_array_is_put_back_where_it_was() -> None:
    devices = jax.devices()
    alone = jax.device_put(jnp.ones(8), devices[2])
    divided = jax.device_put(jnp.ones(8), NamedSharding(Mesh(np.array(devices), ("i",)), PartitionSpec("i")))
    assert sent(alone).sharding == alone.sharding
    assert sent(alone).committed
    assert sent(divided).sharding == divided.sharding
    assert sent({"a": [divided, devices[1]]})["a"][1] is devices[1]


def test_functions_of_a_notebook_are_sent_by_value_however_jax_has_wrapped_them() -> None:
    weight = jnp.full((3, 3), 2.0)

    @jax.custom_vjp
    def clipped(x: Any) -> Any:
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1, 1),))

    @jax.custom_jvp
    def doubled(x: Any) -> Any:
        return 2 * x

    doubled.defjvp(lambda primals, tangents: (doubled(*primals), 3 * tangents[0]))

    @jax.jit
    def step(x: Any) -> Any:
        return jnp.sort(jax.checkpoint(jnp.sin)(doubled(clipped(x) @ weight))).sum()

    x = jnp.arange(9.0).reshape(3, 3)
    for function in (step, jax.grad(step), jax.vmap(lambda row: row * weight[0]), jax.jit(jnp.sort), jax.nn.relu):
        found = sent(function)
        assert found is not step
        np.testing.assert_allclose(np.asarray(found(x)), np.asarray(function(x)))
    donating = sent(jax.jit(lambda x, n: x * n, static_argnames="n", donate_argnums=0))
    assert donating(x, n=2).shape == (3, 3)
    assert x.is_deleted()


def test_what_jax_has_by_name_stays_the_same_object() -> None:
    for value in (jnp.sort, jax.nn.relu, jax.lax.add_p, jax.lax.dot_general_p):
        assert sent(value) is value


@pytest.mark.parametrize("where", ["the function", "args[1]", "scale"])
def test_the_error_names_what_cannot_be_sent(where: str) -> None:
    lock = threading.Lock()

    def held(x: Any) -> Any:
        return x if lock else None

    parts = {
        "the function": held if where == "the function" else abs,
        "args[0]": 1,
        "args[1]": lock if where == "args[1]" else 2,
        "scale": lock if where == "scale" else 3,
    }
    named = "lock, which the function refers to," if where == "the function" else where
    with pytest.raises(LaunchError) as error:
        pack(tuple(parts.values()), parts)
    assert str(error.value).startswith(f"Cannot send {named} to a fresh process: TypeError: cannot pickle")
    assert "module or notebook level" in str(error.value)


def test_arrays_without_data_are_refused() -> None:
    x = jnp.ones(3)
    x.delete()
    with pytest.raises(LaunchError, match=r"send x to a fresh process: ValueError: an array of .* donated"):
        pack(x, {"x": x})
    compiled = jax.jit(jnp.sin).lower(1.0).compile()
    with pytest.raises(LaunchError, match="send the function to a fresh process: TypeError"):
        pack(compiled, {"the function": compiled})

    def trace(y: Any) -> Any:
        with pytest.raises(LaunchError, match=r"send y to a fresh process: TypeError: a traced value"):
            pack(y, {"y": y})
        return y

    jax.jit(trace)(1.0)


def in_a_fresh_process(function: Callable[[], Any]) -> Any:
    return launch(operator.call, pack(function, {}), "the process")


@pytest.mark.slow
def test_pytree_classes_of_a_notebook_are_registered_there_as_they_are_here() -> None:
    @jax.tree_util.register_pytree_node_class
    class Own:
        def __init__(self, a: Any) -> None:
            self.a = a

        def tree_flatten(self) -> tuple[tuple[Any], str]:
            return (self.a,), "aux"

        @classmethod
        def tree_unflatten(cls, _: str, children: tuple[Any]) -> Own:
            return cls(*children)

    class Keyed(Own):
        pass

    jax.tree_util.register_pytree_with_keys(
        Keyed, lambda own: (((jax.tree_util.GetAttrKey("a"), own.a),), None), lambda _, children: Keyed(*children)
    )

    @dataclass
    class Plain:
        weight: Any
        size: int
        n: int = 0  # a single letter: JAX 0.8 takes a name that is dropped for a set of letters

    jax.tree_util.register_dataclass(Plain, ["weight"], ["size"], drop_fields=["n"])
    values = [Own(jnp.ones(3)), Keyed(jnp.ones(2)), Plain(jnp.ones(4), 5)]

    def told() -> tuple[Any, ...]:
        from jaxmagic.runtime.private_api import pytree_registration

        leaves, structure = jax.tree.flatten(values)
        again = jax.jit(lambda values: values)(values)
        fields = pytree_registration(type(values[2]))  # flattened by JAX's C++, as it would not be by two functions
        return [each.shape for each in leaves], str(structure), [each.size for each in again[2:]], fields

    assert in_a_fresh_process(told) == told()
    assert told()[-1] == (("weight",), ("size",))


@pytest.mark.slow
def test_a_class_that_registers_itself_before_it_has_fields_must_come_from_a_module() -> None:
    """As equinox.Module does: in the fresh process it would have no leaves."""

    class Early(type):
        def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **rest: Any) -> None:
            super().__init__(name, bases, namespace, **rest)
            body = ", ".join(f"x.{each}" for each in namespace.get("__annotations__", ()))
            flatten = eval(f"lambda x: (({body}{',' if body else ''}), None)")
            jax.tree_util.register_pytree_node(cls, flatten, lambda _, children: cls(*children))

    class Model(metaclass=Early):
        weight: Any

        def __init__(self, weight: Any) -> None:
            self.weight = weight

    model = Model(jnp.ones(3))
    with pytest.raises(LaunchError, match="Model registers itself .* import it from there"):
        in_a_fresh_process(lambda: jax.tree.leaves(model))


def test_an_older_jax_that_does_not_tell_registrations_sends_classes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    from jax._src import tree_util

    class Own:
        pass

    jax.tree_util.register_pytree_node(Own, lambda own: ((), None), lambda _, children: Own())
    assert private_api.pytree_registration(Own) is not None
    monkeypatch.delattr(tree_util, "_registry")
    assert private_api.pytree_registration(Own) is None
    assert isinstance(sent(Own()), Own)
