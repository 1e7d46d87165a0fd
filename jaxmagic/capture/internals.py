"""Everything that leans on JAX's insides, in one file, each with what happens when it is gone.

JAX's public API says *that* a function compiled and how long it took. Three things it does not say, and they
are what a user asks next: whether any backend has been started, which function object it was, and where its
arguments lived. They are read here from a logger's name, a module attribute and the frames of JAX's own calls.
Every function returns ``None`` ("not available on this JAX") where the shape of those insides has changed.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from types import CodeType, FrameType
from typing import Any, Literal

from ..model.spans import Call, Leaf

#: The loggers to which ``jax_explain_cache_misses`` writes: on 0.10 and newer, and on 0.8.
MISS_LOGGERS = ("jax._src.interpreters.partial_eval", "jax._src.pjit")

#: Loggers that the same flag makes louder, and how what they say then begins: it is noise that we made.
CACHE_LOGGERS = ("jax._src.compiler", "jax._src.compilation_cache")
CACHE_NOISE = ("PERSISTENT COMPILATION CACHE MISS", "Not writing persistent cache entry", "Writing ")

#: How far up the stack a compilation looks for the ``jit`` call that caused it.
_DEEPEST = 400

#: Leaves of an argument list that are remembered for one call.
_MOST_LEAVES = 250


def backends_started() -> bool | None:
    """Whether any backend has been started; asking must not start one."""
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
    """What this thread compiles in here is not kept in the user's persistent cache."""
    try:
        from jax._src import config

        return config.persistent_cache_min_compile_time_secs(1e9)
    except (ImportError, AttributeError, TypeError):
        return nullcontext()


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


def cpu_async_dispatch() -> bool | None:
    """Whether the CPU backend dispatches asynchronously."""
    import jax

    try:
        return bool(jax.config.values["jax_cpu_enable_async_dispatch"])
    except (AttributeError, KeyError, TypeError):
        return None


def find_call(frame: FrameType | None, name: str, *, arguments: bool = True) -> Call | None:
    """The innermost ``jit`` call of `name` above `frame`, or ``None`` where there is none to be seen.

    Args:
        frame: where to begin.
        name: the function that is compiled.
        arguments: whether to describe the arguments, too; that takes longer, and once a program is enough.
    """
    found: Call | None = None
    ahead_of_time = False
    for _ in range(_DEEPEST):
        if frame is None:
            break
        code, module = frame.f_code.co_name, frame.f_globals.get("__name__", "")
        if module == "jax._src.stages" and code in ("compile", "lower", "trace"):
            ahead_of_time = True
        elif module == "jax._src.pjit" and code == "cache_miss":
            return _from_call(frame.f_locals, name, arguments) or found
        elif module == "jax._src.pjit" and code.startswith("_pjit_call_impl") and found is None:
            found = _from_jaxpr(frame.f_locals.get("jaxpr"), name)
        frame = frame.f_back
    if ahead_of_time and found is None:
        return Call(name=name, leaves={}, statics={}, ahead_of_time=True)
    return found


def _from_jaxpr(jaxpr: Any, name: str) -> Call | None:
    """A jitted function that is evaluated as a part of a transformation, such as the backward pass."""
    found_name, location = _split_source(getattr(_debug_info(jaxpr), "func_src_info", None))
    if found_name != name:
        return None
    return Call(
        name=name,
        location=location,
        internal=_is_internal(location),
        leaves={},
        statics={},
        transformed=True,
    )


def _debug_info(jaxpr: Any) -> Any:
    return getattr(getattr(jaxpr, "jaxpr", jaxpr), "debug_info", None)


def _from_call(local: Mapping[str, Any], name: str, arguments: bool) -> Call | None:
    function, info = local.get("fun"), local.get("jit_info")
    found_name, location = _split_source(getattr(info, "fun_sourceinfo", None))
    if found_name is None or name not in (found_name, getattr(function, "__name__", None)):
        return None
    internal = _is_internal(location)
    if internal:
        return Call(name=name, location=location, internal=True, leaves={}, statics={})
    leaves: Mapping[str, Leaf] = {}
    statics: Mapping[str, str] = {}
    if arguments:
        leaves, statics = _describe_arguments(
            function, local.get("args", ()), local.get("kwargs", {}), _static_names(info)
        )
    return Call(
        name=name,
        location=location,
        source_id=_source_id(function),
        parameters=_parameters(info),
        leaves=leaves,
        statics=statics,
        transformed=any(leaf.traced for leaf in leaves.values()),
    )


def _split_source(source: object) -> tuple[str | None, str | None]:
    """``"f at /path/file.py:12"`` as JAX writes it, in two."""
    if not isinstance(source, str):
        return None, None
    name, _, location = source.partition(" at ")
    return name, location or None


def _is_internal(location: str | None) -> bool:
    return location is not None and location.startswith(_jax_directory())


@functools.cache
def _jax_directory() -> str:
    import jax

    return os.path.dirname(jax.__file__) + os.sep


def _source_id(function: Any) -> int | None:
    """Equal for two functions made from the same source: code objects compare by content, not by file."""
    for _ in range(20):
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType):
            return hash(code)
        function = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
    return None


def _parameters(info: Any) -> tuple[str, ...]:
    return tuple(getattr(getattr(info, "fun_signature", None), "parameters", ()))


def _static_names(info: Any) -> frozenset[str]:
    names = set(getattr(info, "static_argnames", None) or ())
    positions = set(getattr(info, "static_argnums", None) or ())
    parameters = _parameters(info)
    return frozenset(names | {parameters[i] for i in positions if -len(parameters) <= i < len(parameters)})


def _describe_arguments(
    function: Any, args: Any, kwargs: Any, static: frozenset[str]
) -> tuple[dict[str, Leaf], dict[str, str]]:
    import inspect

    import jax

    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {f"args[{i}]": arg for i, arg in enumerate(args)} | dict(kwargs)
    statics = {name: _in_words(bound[name]) for name in bound if name in static}
    leaves: dict[str, Leaf] = {}
    for name, value in bound.items():
        if name in static:
            continue
        for path, leaf in jax.tree_util.tree_leaves_with_path(value):
            if len(leaves) >= _MOST_LEAVES:
                return leaves, statics
            leaves[name + jax.tree_util.keystr(path)] = _leaf(leaf)
    return leaves, statics


def _leaf(leaf: Any) -> Leaf:
    import jax

    if isinstance(leaf, jax.core.Tracer):
        return Leaf(type=str(getattr(leaf, "aval", "?")), placement=None, traced=True)
    if not isinstance(leaf, jax.Array):
        return Leaf(type=type(leaf).__name__, placement=None)
    aval: Any = getattr(leaf, "aval", None)
    kind = aval.str_short() if hasattr(aval, "str_short") else str(getattr(leaf, "dtype", "?"))
    return Leaf(type=kind, placement=_placement(leaf))


def _placement(array: Any) -> str:
    """Where an array lies, in the words of its sharding."""
    import jax

    sharding = array.sharding
    if isinstance(sharding, jax.sharding.SingleDeviceSharding):
        where = str(next(iter(sharding.device_set)))
    elif isinstance(sharding, jax.sharding.NamedSharding):
        shape = ", ".join(f"{axis}={size}" for axis, size in sharding.mesh.shape.items())
        where = f"{sharding.spec} over mesh ({shape})".replace("PartitionSpec", "P")
    else:
        where = str(sharding)
    committed = getattr(array, "_committed", None)
    return where if committed is None else f"{where} ({'committed' if committed else 'uncommitted'})"


def _in_words(value: object, most: int = 60) -> str:
    """A static argument in words, without running the user's ``__repr__``."""
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        text = repr(value)
    elif type(value) in (tuple, list):
        text = f"({', '.join(_in_words(item, 20) for item in list(value)[:6])})"  # type: ignore[call-overload]
    elif callable(value):
        text = f"{getattr(value, '__qualname__', type(value).__name__)} (object {id(value):#x})"
    else:
        text = f"{type(value).__name__} object {id(value):#x}"
    return text if len(text) <= most else text[: most - 1] + "…"
