"""Functions that depend on JAX's internals work on this JAX, and return ``None`` if the internals have changed."""

from __future__ import annotations

import importlib
import sys
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.compilation.capture import jit_calls
from jaxmagic.runtime import copies, private_api


def test_backends_are_known_to_be_started(x: Any) -> None:
    assert private_api.backends_started() is True


def test_devices_of_every_backend_are_known() -> None:
    assert set(private_api.local_devices()) >= set(jax.local_devices())


def test_without_the_module_the_devices_of_the_default_backend_are_known(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "jax._src.xla_bridge", None)
    monkeypatch.delattr(jax._src, "xla_bridge")
    assert private_api.local_devices() == tuple(jax.local_devices())


def test_static_arguments_are_known_or_said_to_be_unknown() -> None:
    jitted = jax.jit(lambda x, n, *, act: x, static_argnums=1, static_argnames="act")
    found = private_api.static_arguments(jitted)
    assert found == {"static_argnums": (1,), "static_argnames": ("act",)}
    assert private_api.static_arguments(lambda x: x) == {}


def test_copies_between_devices_are_observed_or_said_to_be_unknown(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from jax._src import dispatch

    seen: list[Any] = []
    undo = copies.observe_device_puts(lambda array, result: seen.append((array, result)))
    assert undo is not None
    result = jax.device_put(x, jax.devices()[-1])
    undo()
    jax.device_put(x, jax.devices()[-1])
    ((given, returned),) = seen
    assert given is x
    assert returned is result
    monkeypatch.delattr(dispatch, "_batched_device_put_impl")
    assert copies.observe_device_puts(print) is None


def test_a_clone_has_the_memory_of_an_array_and_a_deleted_one_has_none() -> None:
    array = jax.device_put(np.ones(3))
    clone = copies.clone_of(array)
    alive = len(jax.live_arrays())
    assert clone.unsafe_buffer_pointer() == copies.clone_of(array).unsafe_buffer_pointer()
    del clone
    assert len(jax.live_arrays()) < alive
    array.delete()
    assert copies.clone_of(array) is None


def test_the_array_in_a_ref_is_found_or_unknown() -> None:
    ref = jax.new_ref(jnp.zeros(3))
    jax.jit(lambda held: held.addupdate(jnp.ones(3)))(ref)
    assert np.asarray(copies.held_by_ref(ref)).tolist() == [1, 1, 1]
    assert copies.held_by_ref(jnp.zeros(3)) is copies.held_by_ref([ref]) is None
    del ref._refs
    assert copies.held_by_ref(ref) is None


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="converts in another way")
def test_conversions_are_observed_or_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    from jax._src.lax import lax

    seen, array = list[Any](), np.ones(3)
    undo = copies.observe_conversions(lambda value, result: seen.append((value, result)))
    assert undo is not None
    results = [jnp.array(array), jnp.asarray(array)]
    undo()
    jnp.array(array)
    assert [given is array for given, _ in seen] == [True, True]
    assert all(returned is result for (_, returned), result in zip(seen, results, strict=True))
    monkeypatch.delattr(lax, "stage")
    assert copies.observe_conversions(print) is None


def test_calls_with_chosen_arguments_are_observed_or_said_to_be_unknown(
    x: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jax._src import pjit
    from jaxlib import _jax

    seen, rows = list[Any](), np.ones((8, 8))
    double = jax.jit(lambda x, n: n * x)
    double(rows, 2)

    def notice(function: str, leaves: Any) -> bool:
        seen.append((function, leaves[0]))
        return leaves[0] is rows

    undo = copies.observe_passed(notice)
    assert undo is not None
    for given in (rows, rows, rows, x, x, x):
        double(given, 2)
    undo()
    assert [name for name, _ in seen] == ["<lambda>"] * len(seen)
    assert [given is rows for _, given in seen][:3] == [True] * 3
    assert len(seen) <= 4  # of the other array, only the call that fills the cache of JAX
    shortcuts, original = list[Any](), pjit._get_fastpath_data
    monkeypatch.setattr(pjit, "_get_fastpath_data", lambda *given: shortcuts.append(given) or original(*given))
    for _ in range(3):
        double(rows, 2)
    assert len(shortcuts) == 1  # from then on, JAX calls it in C++ again
    monkeypatch.delattr(_jax, "PjitFunctionCache")
    assert copies.observe_passed(notice) is None
    monkeypatch.undo()
    monkeypatch.delattr(pjit, "_get_fastpath_data")
    assert copies.observe_passed(notice) is None


def test_async_dispatch_is_known() -> None:
    assert private_api.cpu_async_dispatch() is True


def test_without_the_module_it_is_not_known(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "jax._src.xla_bridge", None)
    monkeypatch.delattr(jax._src, "xla_bridge")
    assert private_api.backends_started() is None


def test_without_the_setting_it_is_not_known(monkeypatch: Any) -> None:
    monkeypatch.delattr(type(jax.config), "read")
    assert private_api.cpu_async_dispatch() is None


class Registered:
    """A pytree class."""


jax.tree_util.register_pytree_node(Registered, lambda it: ((), None), lambda aux, children: Registered())

#: Checks of functions that fall back silently if a private name of JAX has moved.
KNOWN = {
    "local_devices": lambda: private_api.local_devices() != (),
    "not_written_to_cache": lambda: not isinstance(private_api.not_written_to_cache(), nullcontext),
    "guard_explanations": lambda: private_api._explaining_place() is not None,
    "pytree_registration": lambda: private_api.pytree_registration(Registered) is not None,
    "profiler_running": lambda: hasattr(importlib.import_module("jax._src.profiler"), "_profile_state"),
    "is_registered": lambda: private_api.is_registered(print) is False,
    "is_registered_internal": lambda: private_api.is_registered_internal(jax.__file__),
    "settings_now": lambda: "mesh" in private_api.settings_now(),
    "trace_context": lambda: private_api.trace_context() is not None,
}


@pytest.mark.parametrize("function", KNOWN)
def test_no_private_name_has_moved_on_this_jax(function: str, monkeypatch: Any) -> None:
    monkeypatch.delattr(jax, "local_devices")  # the fallback
    assert KNOWN[function](), f"a private name in {function}() has moved: it falls back on JAX {jax.__version__}"


def test_without_jaxs_frames_a_compilation_is_still_measured(monkeypatch: Any, x: Any) -> None:
    monkeypatch.setattr(jit_calls, "_DEEPEST", 0)
    with jaxmagic.stopwatch() as watch:
        watch.result = jax.jit(lambda x: x + 61)(x)
    (one,) = watch.timing.compilations
    assert one.compilation_ns > 0
    assert one.cause.kind == "first call"  # JAX's own explanation does not need them


def test_without_frames_and_explanations_the_cause_is_unknown(monkeypatch: Any, x: Any) -> None:
    from jaxmagic.compilation.capture import cache_miss_log as cache_misses

    monkeypatch.setattr(jit_calls, "_DEEPEST", 0)
    monkeypatch.setattr(cache_misses, "_MARK", "another layout")
    with jaxmagic.stopwatch() as watch:
        watch.result = jax.jit(lambda x: x + 67)(x)
    assert watch.timing.compilations[0].cause.kind == "unknown"


def test_a_frame_that_fails_costs_the_reason_and_nothing_else(monkeypatch: Any, x: Any) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(jit_calls, "describe", broken)
    with jaxmagic.stopwatch() as watch:
        watch.result = jax.jit(lambda x: x + 71)(x)
    assert watch.timing.error is None
    assert watch.timing.compile_ns > 0


def test_unregistering_what_is_gone_is_no_error() -> None:
    private_api.unregister_listener("event", lambda *_: None)


@pytest.mark.parametrize("operation", ["-x", "abs(x)", "+x", "x + x", "jnp.negative(x)"])
def test_operators_are_eager_operations(operation: str) -> None:
    names = {"jnp": jax.numpy, "x": jax.numpy.ones((3, 5, len(operation)))}
    with jaxmagic.stopwatch() as watch:
        eval(operation, names)
    assert all(each.eager for each in watch.timing.compilations)
