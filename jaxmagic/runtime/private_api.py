"""Functions that depend on JAX's internals, each with a fallback.

JAX's public API reports that a function compiled and how long it took, but not whether any backend has been started
or which settings a trace depends on. If JAX's internals have changed, each function returns ``None`` for "not
available on this JAX", or falls back to the public API. ``executed_programs.py`` observes programs that run, and
``timing/capture/wait_points.py`` has the functions in which JAX waits.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from types import FunctionType
from typing import Any, Literal

from .around import enclosed, is_a, is_exactly

#: The loggers to which ``jax_explain_cache_misses`` writes, on 0.10 and newer and on 0.8.
MISS_LOGGERS = ("jax._src.interpreters.partial_eval", "jax._src.pjit")

#: Loggers that the same flag makes more verbose, and the beginnings of the messages that they then write.
CACHE_LOGGERS = ("jax._src.compiler", "jax._src.compilation_cache")
CACHE_NOISE = ("PERSISTENT COMPILATION CACHE MISS", "Not writing persistent cache entry", "Writing ")

#: Settings that a traced function depends on; JAX's explanation covers others.
_SETTINGS = (
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
    "jax_default_device",
    "jax_threefry_partitionable",
    "jax_softmax_custom_jvp",
    "jax_debug_key_reuse",
)


def backends_started() -> bool | None:
    """Return whether any backend has been started, without starting one."""
    try:
        from jax._src import xla_bridge

        return bool(xla_bridge.backends_are_initialized())
    except (ImportError, AttributeError):
        return None


def local_devices() -> tuple[Any, ...]:
    """Return the devices of this process on every started backend; if unknown, on the default backend.

    This does not use :mod:`jax.extend.backend`: on JAX 0.12, its import loads Pallas, which changes the key of JAX's
    tracing cache, so that every compiled function would be traced again.
    """
    import jax

    try:
        from jax._src import xla_bridge

        clients = xla_bridge.backends().values()
        return tuple(device for client in clients for device in client.local_devices())
    except (ImportError, AttributeError):
        return tuple(jax.local_devices())


def not_written_to_cache() -> AbstractContextManager[Any]:
    """Keep what this thread compiles inside the context out of the user's persistent cache."""
    try:
        from jax._src import config

        return config.persistent_cache_min_compile_time_secs(1e9)
    except (ImportError, AttributeError, TypeError):
        return nullcontext()


class _Harmless:
    """Wraps JAX's function that explains a miss, so that its exceptions do not surface in the user's call of JAX."""

    def __init__(self, function: Callable[..., Any], ranked: Callable[..., Any]) -> None:
        self.function, self.ranked = function, ranked

    def __call__(self, *args: Any) -> Any:
        try:
            return self.ranked(self.function, args, self.function(*args))
        except Exception:
            return 4, 0, "cache miss explanation unavailable"  # JAX's own text in that case


def guard_explanations(ranked: Callable[..., tuple[Any, ...]]) -> None:
    """Make errors in JAX's explanations harmless; they run ``__eq__`` and ``__repr__`` of static arguments.

    JAX 0.8 also asserts that something differs, which is not the case if a static argument was mutated. JAX 0.9 and
    newer explain the difference from the earlier call that `ranked` gives the lowest rank.
    """
    place = _explaining_place()
    if place is not None and not isinstance(function := getattr(*place), _Harmless):
        if is_exactly(function, FunctionType):
            # JAX 0.8 takes the innermost line outside its own files for the calling line.
            call: Any = _Harmless.__call__
            call.__code__ = call.__code__.replace(co_filename=function.__code__.co_filename)
        setattr(*place, _Harmless(function, ranked))


def release_explanations() -> None:
    """Restore JAX's own function."""
    place = _explaining_place()
    if place is not None and isinstance(function := getattr(*place), _Harmless):
        setattr(*place, function.function)


@functools.cache
def _explaining_place() -> tuple[Any, str] | None:
    """Return owner and name of the function that compares keys of JAX's tracing cache; ``None`` if unknown."""
    try:
        from jax._src.interpreters import partial_eval

        if hasattr(partial_eval, "diff_tracing_cache_keys"):  # since 0.9
            return partial_eval, "diff_tracing_cache_keys"
        from jax._src.pjit import _create_pjit_jaxpr as cached

        cells = zip(cached.__code__.co_freevars, cached.__closure__ or (), strict=True)
        return next(((cell, "cell_contents") for name, cell in cells if name == "explain"), None)
    except (ImportError, AttributeError):
        return None


def static_arguments(jitted: Any) -> dict[str, Any]:
    """Return the static arguments of a jitted function, as options of :func:`jax.jit`; ``{}`` if unknown."""
    try:
        info = jitted._jit_info
        return {"static_argnums": info.static_argnums, "static_argnames": info.static_argnames}
    except AttributeError:
        return {}


def pytree_registration(kind: type) -> tuple[Any, ...] | None:
    """Return the registration of a pytree class; ``None`` if it is not registered, or unknown on this JAX.

    Returns:
        The names of the data and metadata fields of a dataclass, which JAX flattens without Python; the functions
        that flatten and unflatten any other class.
    """
    try:
        from jax._src import tree_util

        entry = tree_util._registry.get(kind)
        if entry is None:
            return None
        flatten, unflatten = entry.to_iter, entry.from_iter
    except (ImportError, AttributeError):
        return None
    names = enclosed(flatten) if isinstance(flatten, FunctionType) else {}
    if "data_fields" in names and "meta_fields" in names:
        return tuple(names["data_fields"]), tuple(names["meta_fields"])
    return flatten, unflatten


def profiler_running() -> bool:
    """Return whether a JAX profile was started and not stopped, without starting a backend."""
    try:
        from jax._src import profiler

        state = profiler._profile_state
    except (ImportError, AttributeError):
        return False
    return any(getattr(state, name, None) is not None for name in ("session", "profile_session"))  # 0.12, and before


def yield_profiler(yielded: Callable[[], None]) -> Callable[[], None]:
    """Let other code start the profiler although it is running: the session that runs now is then discarded.

    On a JAX that keeps the session elsewhere, the other code gets JAX's error instead.

    Args:
        yielded: called when that happens.

    Returns:
        What ends this.
    """
    try:
        from jax._src import profiler

        state: Any = profiler._profile_state
        kind = type(state)
        name = next(each for each in ("session", "profile_session") if vars(state).get(each) is not None)
        session_class = getattr(profiler, "ProfileSession", None)  # from 0.12 on
        starting = profiler.start_trace if session_class is None else session_class.start
        code = starting.__code__
    except (ImportError, AttributeError, StopIteration, TypeError):
        return lambda: None

    def end() -> None:
        state.__class__ = kind

    def session(self: Any) -> Any:
        held = vars(self)[name]
        if held is None or sys._getframe(1).f_code is not code:
            return held
        end()
        vars(self)[name] = None
        with suppress(Exception):
            getattr(held, "_raw_session", held).stop()
            if session_class is not None:
                held._raw_session, held._is_running = None, False
        yielded()
        return None

    def replace(self: Any, value: Any) -> None:
        vars(self)[name] = value

    state.__class__ = type(kind.__name__, (kind,), {name: property(session, replace)})
    return end


def release_profiler() -> None:
    """Let the profiler be started again after it failed to write its trace.

    ``jax.profiler.stop_trace()`` of JAX 0.10 and older ends its session only after the trace is written. This does
    nothing on a JAX that keeps the session elsewhere.
    """
    with suppress(Exception):
        from jax._src import profiler

        state = profiler._profile_state
        with state.lock:
            state.reset()


def unregister_listener(kind: Literal["event_time_span", "event", "event_duration"], listener: object) -> None:
    """Unregister a listener of :mod:`jax.monitoring`; on JAX 0.8.0, the functions for that are private.

    It is no error if the listener is not registered (after ``jax.monitoring.clear_event_listeners()``).
    """
    from jax import monitoring

    unregister = getattr(monitoring, f"unregister_{kind}_listener", None)
    if unregister is None:
        from jax._src import monitoring as inside

        unregister = getattr(inside, f"_unregister_{kind}_listener_by_callback", None)
    if unregister is not None:
        with suppress(Exception):
            unregister(listener)


def is_registered(listener: object) -> bool | None:
    """Return whether JAX still calls this time span listener.

    ``jax.monitoring.clear_event_listeners()`` removes all listeners.
    """
    try:
        from jax._src import monitoring

        return listener in monitoring.get_event_time_span_listeners()
    except (ImportError, AttributeError):
        return None


def is_registered_internal(file: str) -> bool:
    """Return whether JAX hides calls in this file from tracebacks, because its library has registered it.

    ``False`` if unknown on this JAX.
    """
    try:
        from jax._src import source_info_util, traceback_util

        return not (source_info_util.is_user_filename(file) and traceback_util.include_filename(file))
    except Exception:
        return False


def cpu_async_dispatch() -> bool | None:
    """Return whether the CPU backend dispatches asynchronously."""
    import jax

    try:
        return bool(jax.config.read("jax_cpu_enable_async_dispatch"))
    except (AttributeError, KeyError, TypeError):
        return None


def settings_now() -> dict[str, str]:
    """Return the settings that programs depend on and that users change, in words."""
    import jax

    settings = {}
    for name in _SETTINGS:
        value = getattr(jax.config, name, None)
        settings[name] = str(getattr(value, "value", value))  # an enumeration's value is the word it was set with
    with suppress(ImportError, AttributeError):
        from jax._src import mesh

        meshes = jax.sharding.get_abstract_mesh(), mesh.thread_resources.env.physical_mesh  # of set_mesh(), of "with"
        settings["mesh"] = next((str(dict(each.shape)) for each in meshes if not each.empty), "none")
        concrete = getattr(mesh, "get_concrete_mesh", lambda: meshes[1])()  # the abstract mesh has no devices
        settings["mesh"] += device_order(concrete) or device_order(meshes[1])
    return settings


def trace_context() -> int | None:
    """Return a number that identifies the current configuration and mesh."""
    try:
        from jax._src import config

        return hash(config.trace_context())
    except (ImportError, AttributeError, TypeError):
        return None


def device_order(value: Any) -> str:
    """Describe the devices of a mesh, or of a sharding's mesh, unless they are the first devices in order."""
    import jax

    mesh = value.mesh if is_a(value, jax.sharding.NamedSharding) else value
    if not is_a(mesh, jax.sharding.Mesh) or mesh.empty:
        return ""
    numbers = [device.id for device in mesh.devices.flat]
    return "" if numbers == list(range(len(numbers))) else f"; devices {', '.join(map(str, numbers))}"
