"""A constant of a program has the name of the array of which it is a copy, or no name."""

from __future__ import annotations

import functools
import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.memory_use.capture.executables import describe, requirement, watch
from jaxmagic.memory_use.record.memory_profile import Executable
from jaxmagic.runtime import executed_programs
from jaxmagic.runtime.functions import compiled_for

#: What functions take from around them; made when the tests begin.
x: Any = None
around: Any = None
again: Any = None
of_numpy: Any = None
params: Any = None
model: Any = None


#: JAX 0.7 makes an array of its own of a NumPy array, before it hands it over.
keeps_numpy = pytest.mark.skipif(jax.__version_info__ < (0, 8), reason="this JAX does not tell which array it was")


def table(seed: int, *sizes: int) -> Any:
    return jnp.asarray(np.random.default_rng(seed).normal(size=sizes or (32, 16)), jnp.float32)


@pytest.fixture(scope="module", autouse=True)
def surroundings() -> Iterator[None]:
    made = {
        "x": jnp.ones((4, 32)),
        "around": table(0),
        "again": table(0),
        "of_numpy": np.random.default_rng(2).normal(size=(32, 16)).astype(np.float32),
        "params": {"layers": [{"w": table(1)}]},
        "model": Model(),
    }
    globals().update(made)
    yield
    for name in made:
        globals()[name] = None


class Model:
    def __init__(self) -> None:
        self.w = table(3)

    def __call__(self, x: Any) -> Any:
        return x @ self.w

    def apply(self, x: Any) -> Any:
        return x @ self.w


def with_default() -> Callable[..., Any]:
    def f(x: Any, w: Any = table(17)) -> Any:  # noqa: B008
        return x @ w

    return lambda x: f(x)


def closure() -> Callable[..., Any]:
    hidden = table(4)
    return lambda x: x @ hidden


def scanned(x: Any) -> Any:
    square = jnp.ones((16, 16))
    return jax.lax.scan(lambda c, _: (jnp.tanh(c @ square + (x @ around)), None), x @ around, None, length=3)[0]


def names(found: Executable) -> list[tuple[str, ...]]:
    """Names of all large constants, and of arguments with such names."""
    assert not any("names of" in str(note) for note in found.notes)
    return [
        buffer.captured
        for allocation in found.allocations or ()
        for buffer in allocation.buffers
        if buffer.captured or (allocation.kind == "constant" and buffer.size_bytes >= 1024)
    ]


def ran(function: Any, *arguments: Any, namespace: dict[str, Any] | None = None) -> list[tuple[str, ...]]:
    """The names in the program that a function runs."""
    with watch() as watched:
        function(*arguments)
    return [each for program in describe(watched, namespace=namespace) for each in names(program)]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        pytest.param(lambda: lambda x: x @ params["layers"][0]["w"], "params['layers'][0]['w']", id="container"),
        pytest.param(lambda: lambda x: x @ of_numpy, "of_numpy", id="numpy", marks=keeps_numpy),
        pytest.param(lambda: lambda x: x @ of_numpy.T.reshape(32, 16), None, id="another-array"),
        pytest.param(closure, "hidden", id="closure"),
        pytest.param(lambda: model, "self.w", id="object"),
        pytest.param(lambda: model.apply, "self.w", id="method"),
        pytest.param(lambda: functools.partial(lambda w, x: x @ w, table(5)), "w", id="partial"),
        pytest.param(lambda: functools.partial(lambda x, w: x @ w, w=table(5)), "w", id="partial-keyword"),
        pytest.param(with_default, "f (default: w)", id="default"),
        pytest.param(lambda: lambda x: jax.jit(lambda y: y @ model.w)(x), "model.w", id="inner"),
        pytest.param(lambda: lambda x: table(6, 16, 32) @ x.T, None, id="nobody-holds-it"),
        pytest.param(lambda: lambda x: x.T @ (x @ model.w) + model.w, "model.w", id="another-layout"),
        pytest.param(lambda: lambda x: x @ table(7, 48, 32).T, None, id="nobody-holds-it-transposed"),
        pytest.param(lambda: lambda x: x @ jnp.abs(model.w), None, id="folded"),
    ],
)
def test_a_constant_has_the_name_that_its_function_has_for_it(make: Any, name: str | None) -> None:
    function = make()
    found = ran(jax.jit(function), x)
    assert {each for names in found for each in names} == ({name} if name else set())
    program, origin = compiled_for(jax.jit(function), (x,), {})
    assert names(requirement(program, origin)) == found


def test_of_equal_arrays_both_may_be_it() -> None:
    assert ran(jax.jit(lambda x: (x @ around, x @ again)), x) in ([("around", "again")], [("again", "around")])


def test_of_different_arrays_each_is_itself() -> None:
    found = ran(jax.jit(lambda x: (x @ around, x @ model.w)), x)
    assert sorted(found) == [("around",), ("model.w",)]


def test_what_xla_has_transposed_in_advance_is_said_to_be_that() -> None:
    square = table(16, 32, 32)
    (found,) = ran(jax.jit(lambda x: x @ square.T), x)
    assert found in [("square",), ("square.T",)]
    program, origin = compiled_for(jax.jit(lambda x: x[0, 0] + square.T), (x,), {})
    assert names(requirement(program, origin)) == [("square.T",)]


@pytest.mark.parametrize("transform", [jax.vmap, jax.grad, jax.checkpoint])
def test_transformations_change_no_name(transform: Any) -> None:
    f = jax.jit(transform(lambda x: jnp.tanh(x @ around).sum()))
    found = ran(f, x)
    assert {each for names in found for each in names} <= {"around", "around.T"}
    assert found


def test_a_constant_in_a_loop_has_its_name() -> None:
    assert ("around",) in ran(jax.jit(scanned), x)


def test_a_function_that_ran_before_is_known_too() -> None:
    f = jax.jit(lambda x: x @ around * 2)
    f(x)
    assert ran(f, x) == [("around",)]


def test_what_the_function_itself_does_not_name_is_named_as_the_session_does() -> None:
    inside: dict[str, Any] = {"w": table(8)}
    exec("def helper(y):\n    return y @ w\ndef f(x):\n    return helper(x)", inside)
    f = jax.jit(inside["f"])
    assert ran(f, x) == [()]
    assert ran(f, x, namespace={"store": {"kernel": inside["w"]}}) == [("store['kernel']",)]


@keeps_numpy
def test_an_array_that_was_changed_in_place_is_not_the_constant_any_more() -> None:
    mutable = of_numpy.copy()
    f = jax.jit(lambda x: x @ mutable)
    f(x)
    assert ran(f, x) == [("mutable",)]
    mutable[0, 0] += 1
    assert ran(f, x) == [()]


def test_a_variable_that_holds_another_array_meanwhile_gives_no_name() -> None:
    w = table(9)
    f = jax.jit(lambda x: x @ w)
    f(x)
    w = table(10)
    assert ran(f, x) == [()]


def test_small_constants_have_no_name() -> None:
    small = table(11, 8)
    assert ran(jax.jit(lambda x: x[0, :8] * small), x) == []


def test_a_program_that_was_compiled_ahead_of_time_says_as_much_as_is_known() -> None:
    ahead = jax.jit(lambda x: x @ around * 3).lower(x).compile()
    assert ran(ahead, x) == [()]


def test_nothing_is_kept_alive() -> None:
    w = table(12)
    gone = weakref.ref(w)
    f = jax.jit(functools.partial(lambda w, x: x @ w, w))
    with watch() as watched:
        f(x)
    function = weakref.ref(f)
    del f, w
    jax.clear_caches()
    gc.collect()
    assert (gone(), function()) == (None, None)
    assert [names(each) for each in describe(watched)] == [[()]]


def test_no_array_keeps_a_copy_of_its_numbers() -> None:
    w = table(13)
    assert ran(jax.jit(lambda x: x @ w), x) == [("w",)]
    assert w._npy_value is None


def test_numbers_on_another_device_than_the_host_are_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    w = table(14)
    f = jax.jit(lambda x: x @ w)
    monkeypatch.setattr(executed_programs, "host_copy", lambda array: None)
    assert ran(f, x) == [()]


def test_an_array_that_was_deleted_has_no_numbers() -> None:
    w = table(15)
    f = jax.jit(lambda x: x @ w)
    f(x)
    w.delete()
    assert ran(f, x) == [()]


def test_hostile_objects_around_a_function_are_not_asked() -> None:
    class Hostile:
        w = None

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = None  # type: ignore[assignment]

    hostile = Hostile()

    @jax.jit
    def f(x: Any) -> Any:
        return x @ around * 5 if type(hostile) is Hostile else x

    assert ran(f, x, namespace={"hostile": hostile, "list": [hostile]}) == [("around",)]


def test_where_jax_does_not_tell_there_is_no_name_and_the_rest_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise AttributeError("gone")

    f = jax.jit(lambda x: x @ around * 7)
    monkeypatch.setattr(executed_programs, "_origin", broken)
    assert ran(f, x) == [()]
    monkeypatch.setattr(executed_programs, "constants", broken)
    program, origin = compiled_for(f, (x,), {})
    assert names(requirement(program, origin)) == [()]


@pytest.mark.clock
@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX hands over no constants")
def test_constants_that_jax_hands_over_as_arguments_have_their_names() -> None:
    code = (
        "import jax, jax.numpy as jnp, jaxmagic\n"
        "w, v = jnp.arange(4096.).reshape(64, 64), jnp.arange(4096.).reshape(64, 64)\n"
        "f = jax.jit(lambda unused, x: (x @ v, x @ w))\n"
        "x = jnp.ones((2, 64))\n"
        "def names(found):\n"
        "    each = [each for each in found.allocations if each.buffers[0].captured]\n"
        "    return sorted((one.buffers[0].captured, one.kind) for one in each)\n"
        "print(names(jaxmagic.memory(f, x, x).executables[0]), names(jaxmagic.memory_requirement(f, x, x)))\n"
    )
    variables = os.environ | {"JAX_USE_SIMPLIFIED_JAXPR_CONSTANTS": "1"}
    found = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=100, check=True
    )
    expected = [(("v",), "argument"), (("w",), "argument")]
    assert found.stdout == f"{expected} {expected}\n"


@pytest.mark.clock
def test_it_is_in_the_record_of_a_call() -> None:
    f = jax.jit(lambda x: x @ around * 11)
    assert names(jaxmagic.memory(f, x).executables[0]) == [("around",)]
    assert names(jaxmagic.memory_requirement(f, x)) == [("around",)]
