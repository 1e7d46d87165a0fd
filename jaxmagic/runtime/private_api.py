"""Everything that leans on JAX's insides, in one file, each with what happens when it is gone.

JAX's public API says *that* a function compiled and how long it took. Three things it does not say, and they
are what a user asks next: whether any backend has been started, which function object it was, and where its
arguments lived. They are read here from a logger's name, a module attribute and the frames of JAX's own calls.
Where the shape of those insides has changed, each function says ``None``, "not available on this JAX", or falls
back on what the public API has.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from types import FrameType, FunctionType
from typing import Any, Literal, NamedTuple

import numpy as np

from ..compilation.capture.call_arguments import describe
from ..compilation.capture.contents import contents
from ..compilation.capture.function_identity import enclosed, function_id, innermost, of_partial, source_id
from ..compilation.capture.static_values import device_order, static_words
from ..compilation.capture.wrappers import UserCall, wrapped_by_library
from ..compilation.record.events import Call
from ..errors import message_of
from .around import attribute, is_a, is_exactly, of_type

#: The loggers to which ``jax_explain_cache_misses`` writes: on 0.10 and newer, and on 0.8.
MISS_LOGGERS = ("jax._src.interpreters.partial_eval", "jax._src.pjit")

#: Loggers that the same flag makes louder, and how what they say then begins: it is noise that we made.
CACHE_LOGGERS = ("jax._src.compiler", "jax._src.compilation_cache")
CACHE_NOISE = ("PERSISTENT COMPILATION CACHE MISS", "Not writing persistent cache entry", "Writing ")

#: What JAX jits in the place of a function that is given to ``jax.pmap``, by version.
_PMAPPED = ("_fun", "call_wrapped")

#: JAX's functions that evaluate a jitted function as a part of a transformation, by the beginnings of their names.
_TRANSFORMATIONS = (
    ("_pjit_batcher", "jax.vmap"),
    ("_pjit_linearize", "the forward pass of jax.grad or jax.vjp"),
    ("_pjit_transpose", "the backward pass of jax.grad or jax.vjp"),
    ("_pjit_jvp", "jax.jvp"),
)

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

#: Equations of a trace in which constants are looked for, some 10 ms.
_MOST_EQUATIONS = 10_000

#: How far up the stack a compilation looks for the ``jit`` call that caused it.
_DEEPEST = 400


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
    """Which arguments of a jitted function are static, as :func:`jax.jit` is told of them; ``{}`` if unknown."""
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


def executables() -> list[Any]:
    """The programs that are loaded on the default backend; ``[]`` where there is none, or this JAX does not tell."""
    if backends_started() is False:
        return []
    try:
        from jax._src import xla_bridge

        return list(xla_bridge.get_backend().live_executables())
    except (ImportError, AttributeError, RuntimeError):
        return []


class Origin(NamedTuple):
    """What a program was made of.

    Attributes:
        function: the Python function; ``None`` if it is not known.
        jaxpr: its trace.
        lifted: constants that JAX hands over as arguments, by the number of the parameter.
    """

    function: Any
    jaxpr: Any
    lifted: dict[int, Any]


def notice_programs(notice: Callable[[Any, Callable[[], Origin | None]], None]) -> Callable[[], None] | None:
    """Call `notice` with each program that is run, at least at its first run from now on.

    Its second argument tells what the program was made of, as long as `notice` has not returned.

    A jitted function that has run before is run by C++ code that tells nobody. So what that remembers is forgotten
    here: the next call of each function comes by the Python code that runs a program. That knows it already, traced
    and compiled, and so it is remembered again. The jitted functions that eager ``jax.vmap`` and ``jax.grad`` call,
    such as ``jnp.sin``, live for one call each; what they remember is in caches of their own.

    Returns:
        What ends it; ``None`` where this JAX cannot be watched.
    """
    try:
        from jax._src.interpreters import pxla
        from jaxlib import _jax

        kind = pxla.ExecuteReplicated
        run, forget = kind.__call__, _jax.PjitFunctionCache.clear_all
        shared = _shared_call_caches()
    except (ImportError, AttributeError):
        return None

    over = False

    @functools.wraps(run)
    def noticed(self: Any, *args: Any) -> Any:
        __tracebackhide__ = True
        if not over:
            with suppress(Exception):
                notice(self.xla_executable, functools.partial(_origin, sys._getframe(1), self))
        return run(self, *args)

    def undo() -> None:
        nonlocal over
        over = noticed.over = True  # type: ignore[attr-defined]
        while getattr(kind.__call__, "over", False):  # somebody else may have put theirs on top: they take ours away
            kind.__call__ = kind.__call__.__wrapped__

    noticed.over = False  # type: ignore[attr-defined]
    kind.__call__ = noticed
    try:
        forget()
        for cache in shared:
            cache.clear()
    except BaseException:
        undo()
        raise
    return undo


def _shared_call_caches() -> list[Any]:
    """The caches in which compiled calls outlive the function objects that were called; none on another JAX."""
    from jax._src import pjit

    names = ("_cpp_pjit_cache_fun_only", "_cpp_pjit_cache_explicit_attributes")
    found = (getattr(pjit, name, None) for name in names)
    return [each for each in found if hasattr(each, "clear")]


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


def _origin(frame: FrameType, run: Any) -> Origin | None:
    """Of the program that is run in this frame; ``None`` where it was compiled ahead of time."""
    if frame.f_code.co_name != "_pjit_call_impl_python":
        return None
    local = frame.f_locals
    lifted = _lifted(local.get("computation"), run.kept_var_idx)
    caller: FrameType | None = frame
    while caller is not None and caller.f_code.co_name != "cache_miss":
        caller = caller.f_back if caller.f_globals.get("__name__") == "jax._src.pjit" else None
    function = None if caller is None else caller.f_locals.get("fun")
    return Origin(function, local.get("jaxpr"), lifted)


def origin_of(jitted: Any, traced: Any, lowered: Any) -> Origin:
    """The same of a function that was traced and lowered, and not run."""
    lifted: dict[int, Any] = {}
    with suppress(AttributeError, KeyError):
        lifted = _lifted(lowered._lowering, lowered._lowering.compile_args["kept_var_idx"])
    return Origin(getattr(jitted, "__wrapped__", None), getattr(traced, "jaxpr", None), lifted)


def _lifted(computation: Any, kept: Collection[int]) -> dict[int, Any]:
    """Constants that stand in front of the arguments; what nothing needs is no parameter."""
    constants = getattr(computation, "const_args", None) or ()
    return {parameter: constants[place] for parameter, place in enumerate(sorted(kept)) if place < len(constants)}


def constants(jaxpr: Any) -> Iterator[Any]:
    """All constants of a trace and of those inside of it: beside it, or simplified ones in its equations."""
    from jax._src import core

    kinds = (core.Jaxpr, getattr(core, "ClosedJaxpr", core.Jaxpr))  # on 0.12 they are one
    left = _MOST_EQUATIONS
    pending, met = [jaxpr], set()
    while pending:
        each = pending.pop()
        if id(each) in met:
            continue
        met.add(id(each))
        yield from getattr(each, "consts", ())
        for equation in getattr(each, "jaxpr", each).eqns[:left]:
            left -= 1
            yield from (operand.val for operand in equation.invars if type(operand) is core.Literal)
            for parameter in equation.params.values():
                inner = parameter if type(parameter) in (tuple, list) else (parameter,)
                # Not isinstance(): an object of the user's would be asked for its class.
                pending += [one for one in inner if issubclass(type(one), kinds)]


def numpy_of(constant: Any) -> Any:
    """The user's NumPy array, where JAX has put one of its own around it; any other constant is returned as it is."""
    if type(constant).__name__ != "TypedNdArray":
        return constant
    return constant.base if isinstance(constant, np.ndarray) else constant.val  # on 0.8 it is no NumPy array itself


def host_copy(array: Any) -> Any:
    """The numbers of a JAX array where they are at hand; ``None`` where they would have to be fetched from a device.

    A clone is asked, so that the array itself keeps no copy; up to 0.10 to clone a deleted one crashes.
    """
    if array.is_deleted():
        return None
    if getattr(array, "_npy_value", None) is not None:
        return array._npy_value
    (device,) = array.sharding.device_set
    return np.asarray(array.clone()) if device.platform == "cpu" else None


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that a device or the host has no memory left: XLA has only words for that."""
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in message_of(error)


def profiler_running() -> bool:
    """Whether JAX knows of a recording that was started and not stopped; asking starts no backend."""
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


def met_a_deleted_array(error: BaseException) -> bool:
    """Whether an exception says that an array was donated or deleted: JAX has no type for that, only words."""
    words = r"(array|buffer) has been deleted|deleted or donated buffer"
    return re.search(words, message_of(error), re.I) is not None


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
    """Whether JAX still calls this time span listener: ``jax.monitoring.clear_event_listeners()`` takes all away."""
    try:
        from jax._src import monitoring

        return listener in monitoring.get_event_time_span_listeners()
    except (ImportError, AttributeError):
        return None


def is_registered_internal(file: str) -> bool:
    """Whether JAX leaves calls in this file out of tracebacks, because its library has asked for that.

    ``False`` where JAX does not tell.
    """
    try:
        from jax._src import source_info_util, traceback_util

        return not (source_info_util.is_user_filename(file) and traceback_util.include_filename(file))
    except Exception:
        return False


def cpu_async_dispatch() -> bool | None:
    """Whether the CPU backend dispatches asynchronously."""
    import jax

    try:
        return bool(jax.config.read("jax_cpu_enable_async_dispatch"))
    except (AttributeError, KeyError, TypeError):
        return None


def find_call(frame: FrameType | None, name: str, *, arguments: bool = True) -> Call | None:
    """The innermost ``jit`` call of `name` above `frame`, or ``None`` where there is none to be seen.

    Args:
        frame: where to begin.
        name: the function that is compiled.
        arguments: whether to describe the arguments, too; that takes longer, and once a program is enough.
    """
    jaxpr: Any = None
    transformation = ""
    ahead_of_time = ""
    for _ in range(_DEEPEST):
        if frame is None:
            break
        code, module = frame.f_code.co_name, frame.f_globals.get("__name__", "")
        if module == "jax._src.stages" and code in ("compile", "lower", "trace"):
            ahead_of_time = ahead_of_time or code
        elif module == "jax._src.pjit":
            if code == "jit_trace":
                return _from_jaxpr(jaxpr, name, transformation) or _traced_only(frame, name)
            if code == "cache_miss":
                found = _from_call(frame, name, arguments)
                if found is None:
                    found = _from_jaxpr(jaxpr, name, transformation)
                elif transformation:
                    found = _under(transformation, found, _types(jaxpr))
                return found if found is None or not found.internal else _with_outer(found, frame.f_back)
            if code.startswith("_pjit_call_impl"):
                jaxpr = frame.f_locals.get("jaxpr") if jaxpr is None else jaxpr
            elif word := _transformation(code):
                transformation = f"{transformation} and {word}" if transformation else word
        frame = frame.f_back
    inside = _from_jaxpr(jaxpr, name, transformation)
    if ahead_of_time and inside is None:
        return Call(name=name, ahead_of_time=True, while_tracing=ahead_of_time != "compile")
    return inside


def _traced_only(frame: FrameType, name: str) -> Call:
    """The call of ``.lower()``, ``.trace()`` or ``jax.eval_shape``, which runs nothing."""
    _, location = _split_source(getattr(_jit_info(frame), "fun_sourceinfo", None))
    return Call(name=name, location=location, ahead_of_time=True, while_tracing=True)


def _jit_info(frame: FrameType) -> Any:
    """What ``jax.jit`` was told, in one of the frames of a call."""
    local = frame.f_locals
    return local.get("jit_info") or getattr(local.get("jit_func"), "_jit_info", None)


def _transformation(code: str) -> str:
    """Which transformation evaluates a jitted function in a function of JAX's of this name."""
    return next((word for beginning, word in _TRANSFORMATIONS if code.startswith(beginning)), "")


def _types(jaxpr: Any) -> tuple[str, ...]:
    """The types of a program's inputs; ``()`` if they are not known."""
    try:
        return tuple(each.str_short(short_dtypes=True) for each in jaxpr.in_avals)
    except (AttributeError, TypeError):
        return ()


def _under(transformation: str, call: Call, types: Sequence[str]) -> Call:
    """The call with the types that its arguments have in the transformed program, if that has the same arguments."""
    leaves = call.leaves
    if len(types) == len(leaves):
        leaves = {path: replace(leaf, type=type_) for (path, leaf), type_ in zip(leaves.items(), types, strict=True)}
    return replace(call, leaves=leaves, transformed=True, transformation=transformation)


def _with_outer(call: Call, frame: FrameType | None) -> Call:
    """An operation of JAX's with the function that was being traced meanwhile, if one was."""
    tracing = False
    for _ in range(_DEEPEST):
        if frame is None:
            break
        code, module = frame.f_code.co_name, frame.f_globals.get("__name__", "")
        if module == "jax._src.interpreters.partial_eval" and code.startswith("trace_to_jaxpr"):
            tracing = True
        elif module == "jax._src.pjit" and code in ("cache_miss", "jit_trace") and tracing:
            name, _ = _split_source(getattr(_jit_info(frame), "fun_sourceinfo", None))
            return replace(call, while_tracing=True, outer=name)
        frame = frame.f_back
    return replace(call, while_tracing=tracing)


def is_compiling(thread: int) -> bool:
    """Whether `thread` is inside of JAX's compiler; ``False`` where this JAX has none by that name."""
    frame = sys._current_frames().get(thread)
    for _ in range(_DEEPEST):
        if frame is None:
            break
        if frame.f_globals.get("__name__") == "jax._src.compiler":
            return True
        frame = frame.f_back
    return False


def _from_jaxpr(jaxpr: Any, name: str, transformation: str) -> Call | None:
    """A jitted function that is evaluated as a part of a transformation, such as the backward pass."""
    found_name, location = _split_source(getattr(_debug_info(jaxpr), "func_src_info", None))
    if found_name != name:
        return None
    return Call(
        name=name,
        location=location,
        internal=_is_internal(location),
        transformed=True,
        transformation=transformation,
    )


def _debug_info(jaxpr: Any) -> Any:
    return getattr(getattr(jaxpr, "jaxpr", jaxpr), "debug_info", None)


def _from_call(frame: FrameType, name: str, arguments: bool) -> Call | None:
    local = frame.f_locals
    function, info = local.get("fun"), local.get("jit_info")
    if of_type("__name__", type(function)) == "HashablePartial":  # one of the nameless helpers of an eager shard_map
        return Call(name=name, internal=True)
    found_name, location = _split_source(getattr(info, "fun_sourceinfo", None))
    nameless = name.startswith("<unnamed ") and not is_exactly(function, FunctionType)
    if not nameless and name not in (found_name, _stored_name(function)):
        return None
    user = _pmapped(frame) if _is_pmap(function) else wrapped_by_library(frame.f_back, with_function=arguments)
    internal = user is None and _is_internal(location) and (_jitted_by_jax(function) or _called_from_jax(frame))
    if user is None:
        user = UserCall(
            function, local.get("args", ()), local.get("kwargs", {}), _static_names(info), library=nameless
        )
    if user.library:
        found_name = user.name or _stored_name(user.function) or of_type("__name__", type(user.function))
    if not arguments:
        return Call(name=found_name or name, location=location, internal=internal, wrapped=user.library)
    described = describe(user.function, user.args, user.kwargs, user.static, arrays_only=user.arrays_only)
    parameters, bodies = _operation_parameters(function) if internal else ({}, {})
    return Call(
        name=found_name or name,
        location=_defined_at(user.function) or location if user.library else location,
        internal=internal,
        wrapped=user.library,
        function_id=function_id(user.function),
        source_id=None if internal else source_id(user.function),
        parameters=() if user.library else _parameters(info),
        leaves=described.leaves,
        statics=dict(described.statics) | parameters,
        static_functions=dict(described.static_functions) | bodies,
        static_contents=described.static_contents,
        held={} if internal else contents(user.function),
        options={} if internal or user.library else _options(info),
        containers=described.containers,
        passed=described.passed,
        names=described.names,
        context=_trace_context(),
        settings=_settings(),
        transformed=any(leaf.traced for leaf in described.leaves.values()),
    )


def _options(info: Any) -> dict[str, str]:
    """What ``jax.jit`` was told, as far as programs differ by it; what is left out is as JAX has it."""
    found = {
        "static arguments": ", ".join(sorted(_static_names(info))),
        "donated arguments": ", ".join(sorted(_names(info, "donate"))),
    }
    for name in ("in_shardings", "out_shardings"):
        leaves = getattr(info, f"{name}_leaves", ())
        told = [each for each in leaves if type(each).__name__ != "UnspecifiedValue"]
        found[name] = ", ".join(map(str, leaves)) if told else ""
    for name in ("keep_unused", "device", "backend", "compiler_options_kvs"):
        found[name.removesuffix("_kvs")] = str(getattr(info, name, None) or "")
    return {name: value or "none" for name, value in found.items()}


def _defined_at(function: Any) -> str | None:
    function = innermost(function)
    if not is_exactly(function, FunctionType):
        return None
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


def _stored_name(function: Any) -> str | None:
    """The ``__name__`` of a function, or the one that a callable object has stored; asks no code of the user's.

    Of a partial it is that of its function, as for JAX.
    """
    while is_a(function, functools.partial):
        function = of_partial("func", function)
    found = function.__name__ if is_exactly(function, FunctionType) else attribute(function, "__name__")
    return found if is_exactly(found, str) else None


def _pmapped(frame: FrameType) -> UserCall | None:
    """The call of the function that was given to ``jax.pmap``: JAX jits one of its own in its place."""
    caller = frame.f_back
    while caller is not None and caller.f_code.co_name != "wrapped":
        if not str(caller.f_globals.get("__name__", "")).startswith("jax._src."):
            return None
        caller = caller.f_back
    if caller is None:
        return None
    found = enclosed(caller.f_locals["infer_params"])
    function = found["f"] if "f" in found else found["wrapped_fun"].f  # up to 0.8, and since
    parameters = tuple(inspect.signature(function).parameters)
    static = {parameters[i] for i in found["static_broadcasted_tuple"] if -len(parameters) <= i < len(parameters)}
    return UserCall(function, caller.f_locals["args"], caller.f_locals["kwargs"], static, library=True)


#: The types in the text of a traced function, which are told as those of its arguments.
_TYPES = re.compile(r":[\w<>]+\[[^\]]*\]")

#: Its equations, from which on that text would take more than some 40 ms.
_LONG = 500


def _operation_parameters(function: Any) -> tuple[dict[str, str], dict[str, tuple[int, str]]]:
    """The parameters of a primitive that is run by itself, and the sources of the functions that it was given."""
    if not getattr(function, "_apply_primitive", False):
        return {}, {}
    try:
        parameters = enclosed(function)["params"]
    except (AttributeError, KeyError):
        return {}, {}
    words, functions = static_words(parameters), {}
    for name, value in parameters.items():
        sources = [_split_source(getattr(_debug_info(each), "func_src_info", None)) for each in _as_tuple(value)]
        if sources and all(source is not None for source, _ in sources):
            words[name] = f"{sources[0][0]} (object {abs(hash(tuple(map(id, _as_tuple(value))))):#x})"
            places = {os.path.basename(place) for _, place in sources if place}
            content = map(_steps_of, _as_tuple(value))  # their lines may be the same
            functions[name] = hash((*sources, *content)), ", ".join(sorted(places))
    return words, functions


def _steps_of(traced: Any) -> str:
    """What a traced function does, without types; of a long one its operations alone."""
    steps = getattr(traced, "jaxpr", traced).eqns
    if len(steps) > _LONG:
        return " ".join(each.primitive.name for each in steps)
    return _TYPES.sub("", str(traced))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


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


def _is_pmap(function: Any) -> bool:
    return is_exactly(function, FunctionType) and function.__name__ in _PMAPPED


def _jitted_by_jax(function: Any) -> bool:
    """Whether it is what JAX defines an operation with: ``jnp.sin`` is a jitted function around it."""
    if not is_exactly(function, FunctionType):
        return False
    operation = getattr(sys.modules.get(function.__module__), function.__name__, None)
    operation = getattr(operation, "_func", operation)  # jnp.negative is an object with the operation in it
    return getattr(operation, "__wrapped__", None) is function


def _called_from_jax(frame: FrameType | None) -> bool:
    """Whether the jitted function was called by JAX itself, and not by somebody who has jitted it."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if not module.startswith(("jax._src.pjit", "jax._src.traceback_util", "jax._src.pmap")):
            return module.startswith("jax._src.")
        frame = frame.f_back
    return False


def _settings() -> dict[str, str]:
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


def _trace_context() -> int | None:
    """A number that is another one under another configuration or mesh."""
    try:
        from jax._src import config

        return hash(config.trace_context())
    except (ImportError, AttributeError, TypeError):
        return None


def _parameters(info: Any) -> tuple[str, ...]:
    return tuple(getattr(getattr(info, "fun_signature", None), "parameters", ()))


def _static_names(info: Any) -> frozenset[str]:
    return _names(info, "static")


def _names(info: Any, what: str) -> frozenset[str]:
    """The parameters that ``jax.jit`` was told to be static, or donated, by position or by name."""
    names = set(getattr(info, f"{what}_argnames", None) or ())
    positions = set(getattr(info, f"{what}_argnums", None) or ())
    parameters = _parameters(info)
    return frozenset(names | {parameters[i] for i in positions if -len(parameters) <= i < len(parameters)})
