"""What leans on JAX's insides, each with what happens when it is gone.

JAX's public API says that a function compiled and how long it took, and not whether any backend has been started or
which settings a trace depends on. Where the shape of those insides has changed, each function says ``None``, "not
available on this JAX", or falls back on the public API. Programs that ran are in ``executed_programs.py``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from types import FunctionType
from typing import Any, Literal, NamedTuple

from .around import enclosed, is_a, is_exactly

#: The loggers to which ``jax_explain_cache_misses`` writes: on 0.10 and newer, and on 0.8.
MISS_LOGGERS = ("jax._src.interpreters.partial_eval", "jax._src.pjit")

#: Loggers that the same flag makes louder, and how what they say then begins: it is noise that we made.
CACHE_LOGGERS = ("jax._src.compiler", "jax._src.compilation_cache")
CACHE_NOISE = ("PERSISTENT COMPILATION CACHE MISS", "Not writing persistent cache entry", "Writing ")

#: Settings that a traced function depends on; of others JAX's explanation tells.
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
    """Tell whether any backend has been started; asking must not start one."""
    try:
        from jax._src import xla_bridge

        return bool(xla_bridge.backends_are_initialized())
    except (ImportError, AttributeError):
        return None


def local_devices() -> tuple[Any, ...]:
    """The devices of this process on every backend that has been started; only the default one's if unknown.

    Not through :mod:`jax.extend.backend`: on JAX 0.12 its import brings Pallas, which adds to the state that every
    traced function is filed under, so that each function that had been compiled is traced once more.
    """
    import jax

    try:
        from jax._src import xla_bridge

        clients = xla_bridge.backends().values()
        return tuple(device for client in clients for device in client.local_devices())
    except (ImportError, AttributeError):
        return tuple(jax.local_devices())


def not_written_to_cache() -> AbstractContextManager[Any]:
    """Keep what this thread compiles in here out of the user's persistent cache."""
    try:
        from jax._src import config

        return config.persistent_cache_min_compile_time_secs(1e9)
    except (ImportError, AttributeError, TypeError):
        return nullcontext()


class _Harmless:
    """JAX's function that explains a miss; what is raised in it does not surface in the user's own call of JAX."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        try:
            found = self.function(*args)
        except Exception:
            found = None
        return found or (4, 0, "cache miss explanation unavailable")  # JAX's own words for what it cannot tell


def guard_explanations() -> None:
    """Let JAX's explanations fail without harm: they run ``__eq__`` and ``__repr__`` of static arguments.

    JAX 0.8 also asserts that something differs, which does not hold for a static argument that was written to.
    """
    place = _explaining_place()
    if place is not None and not isinstance(function := getattr(*place), _Harmless):
        if is_exactly(function, FunctionType):
            # JAX 0.8 takes the innermost line outside its own files for the one that calls.
            call: Any = _Harmless.__call__
            call.__code__ = call.__code__.replace(co_filename=function.__code__.co_filename)
        setattr(*place, _Harmless(function))


def release_explanations() -> None:
    """Give JAX its own function back."""
    place = _explaining_place()
    if place is not None and isinstance(function := getattr(*place), _Harmless):
        setattr(*place, function.function)


@functools.cache
def _explaining_place() -> tuple[Any, str] | None:
    """The holder and the name of the function that compares the keys of JAX's tracing cache; ``None`` if unknown."""
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
    """Find which arguments of a jitted function are static, as :func:`jax.jit` is told of them; ``{}`` if unknown."""
    try:
        info = jitted._jit_info
        return {"static_argnums": info.static_argnums, "static_argnames": info.static_argnames}
    except AttributeError:
        return {}


def pytree_registration(kind: type) -> tuple[Any, ...] | None:
    """Give the arguments that register a pytree class once more; ``None`` if it is none, or this JAX does not tell.

    Returns:
        the names of the data and the metadata fields of a dataclass, which JAX flattens without Python, or the two
        functions of any other class.
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


class WaitPoint(NamedTuple):
    """A function in which JAX waits for arrays.

    Attributes:
        owner: the class or module that it is an attribute of.
        name: of that attribute.
        original: the function, or a property.
        is_ready: whether its first argument has nothing to be waited for; ``None`` where it does nothing but wait.
    """

    owner: Any
    name: str
    original: Any
    is_ready: Callable[[Any], bool] | None


#: Where JAX waits for an array to read it. ``_value`` is behind ``float(y)``, ``print(y)``, :func:`jax.device_get`
#: and, for what lies on an accelerator, ``np.asarray(y)``. The CPU's arrays NumPy reads itself, by ``__buffer__``.
_READS_ONE = ("_value", "item", "__dlpack__", "__buffer__")


def wait_points() -> list[WaitPoint]:
    """The functions in which the calling thread waits for arrays, as far as this JAX and this Python have them.

    Before Python 3.12 nobody is told of ``__buffer__``.
    """
    points = []
    with suppress(ImportError, AttributeError, KeyError):
        from jax._src.array import ArrayImpl

        members = vars(ArrayImpl)
        points = [WaitPoint(ArrayImpl, name, members[name], _is_ready) for name in _READS_ONE if name in members]
        points.append(WaitPoint(ArrayImpl, "block_until_ready", members["block_until_ready"], None))
    with suppress(ImportError, AttributeError):
        from jax._src.api import xc

        points.append(WaitPoint(xc, "batched_block_until_ready", xc.batched_block_until_ready, None))
    with suppress(ImportError, AttributeError, KeyError):
        from jax._src.dispatch import RuntimeTokenSet

        tokens = vars(RuntimeTokenSet)["block_until_ready"]
        points.append(WaitPoint(RuntimeTokenSet, "block_until_ready", tokens, None))
    return points


def _is_ready(array: Any) -> bool:
    return array.is_deleted() or array.is_ready()  # JAX 0.10 crashes where a deleted one is asked for more


def profiler_running() -> bool:
    """Tell whether JAX knows of a recording that was started and not stopped; asking starts no backend."""
    try:
        from jax._src import profiler

        state = profiler._profile_state
    except (ImportError, AttributeError):
        return False
    return any(getattr(state, name, None) is not None for name in ("session", "profile_session"))  # 0.12, and before


def release_profiler() -> None:
    """Let the profiler be started again after it could not write what it had recorded.

    ``jax.profiler.stop_trace()`` of JAX 0.10 and older forgets its session only when that is written. Does nothing on
    a JAX that keeps it elsewhere.
    """
    with suppress(Exception):
        from jax._src import profiler

        state = profiler._profile_state
        with state.lock:
            state.reset()


def unregister_listener(kind: Literal["event_time_span", "event", "event_duration"], listener: object) -> None:
    """Take a listener of :mod:`jax.monitoring` away; on JAX 0.8.0 the calls are private.

    One that is gone already (``jax.monitoring.clear_event_listeners()``) is no error.
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
    """Tell whether JAX still calls this time span listener.

    ``jax.monitoring.clear_event_listeners()`` takes all away.
    """
    try:
        from jax._src import monitoring

        return listener in monitoring.get_event_time_span_listeners()
    except (ImportError, AttributeError):
        return None


def is_registered_internal(file: str) -> bool:
    """Tell whether JAX leaves calls in this file out of tracebacks, because its library has asked for that.

    ``False`` where JAX does not tell.
    """
    try:
        from jax._src import source_info_util, traceback_util

        return not (source_info_util.is_user_filename(file) and traceback_util.include_filename(file))
    except Exception:
        return False


def cpu_async_dispatch() -> bool | None:
    """Tell whether the CPU backend dispatches asynchronously."""
    import jax

    try:
        return bool(jax.config.read("jax_cpu_enable_async_dispatch"))
    except (AttributeError, KeyError, TypeError):
        return None


def settings_now() -> dict[str, str]:
    """The settings that programs depend on and that people change, in words."""
    import jax

    found = {}
    for name in _SETTINGS:
        value = getattr(jax.config, name, None)
        found[name] = str(getattr(value, "value", value))  # of an enumeration the word that it was set with
    with suppress(ImportError, AttributeError):
        from jax._src import mesh

        meshes = jax.sharding.get_abstract_mesh(), mesh.thread_resources.env.physical_mesh  # of set_mesh(), of "with"
        found["mesh"] = next((str(dict(each.shape)) for each in meshes if not each.empty), "none")
        concrete = getattr(mesh, "get_concrete_mesh", lambda: meshes[1])()  # which alone has devices
        found["mesh"] += device_order(concrete) or device_order(meshes[1])
    return found


def trace_context() -> int | None:
    """A number that is another one under another configuration or mesh."""
    try:
        from jax._src import config

        return hash(config.trace_context())
    except (ImportError, AttributeError, TypeError):
        return None


def device_order(value: Any) -> str:
    """Return the devices of a mesh, or of a sharding's, where they are not the first ones in their own order."""
    import jax

    mesh = value.mesh if is_a(value, jax.sharding.NamedSharding) else value
    if not is_a(mesh, jax.sharding.Mesh) or mesh.empty:
        return ""
    numbers = [device.id for device in mesh.devices.flat]
    return "" if numbers == list(range(len(numbers))) else f"; devices {', '.join(map(str, numbers))}"
