"""Find the ``jit`` call on the stack that made JAX compile."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType, FunctionType
from typing import Any

from ...runtime.around import attribute, enclosed, is_a, is_exactly, of_type
from ...runtime.private_api import settings_now, trace_context
from ...runtime.tracing import is_jit_disabled
from ..record.events import Call
from .call_arguments import describe
from .contents import contents
from .function_identity import function_id, innermost, of_partial, source_id
from .jit_parameters import (
    debug_info,
    is_internal,
    jit_options,
    operation_parameters,
    parameter_names,
    split_source,
    static_names,
)
from .thread_stack import stack_of
from .wrappers import UserCall, wrapped_by_library

#: The functions that JAX jits in place of one that is given to ``jax.pmap``, by version.
_PMAPPED = ("_fun", "call_wrapped")


#: JAX's functions that evaluate a jitted function as part of a transformation, by prefix.
_TRANSFORMATIONS = (
    ("_pjit_batcher", "jax.vmap"),
    ("_pjit_linearize", "the forward pass of jax.grad or jax.vjp"),
    ("_pjit_transpose", "the backward pass of jax.grad or jax.vjp"),
    ("_pjit_jvp", "jax.jvp"),
)


#: How many frames are searched for the ``jit`` call that caused a compilation.
_DEEPEST = 400


def find_call(frame: FrameType | None, name: str, *, arguments: bool = True) -> Call | None:
    """Find the innermost ``jit`` call of `name` above `frame`, or ``None``.

    Args:
        frame: the frame to begin with.
        name: the name of the function that is compiled.
        arguments: whether to describe the arguments too, which takes longer and is needed once per program.
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
                call = _from_call(frame, name, arguments)
                if call is None:
                    call = _from_jaxpr(jaxpr, name, transformation)
                elif transformation:
                    call = _under(transformation, call, _types(jaxpr))
                return call if call is None or not call.internal else _with_outer(call, frame.f_back)
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
    """Describe a call of ``.lower()``, ``.trace()`` or ``jax.eval_shape``, which runs nothing."""
    _, location = split_source(getattr(_jit_info(frame), "fun_sourceinfo", None))
    return Call(name=name, location=location, ahead_of_time=True, while_tracing=True)


def _jit_info(frame: FrameType) -> Any:
    """Return JAX's record of the options of ``jax.jit``, from one of the frames of a call."""
    local = frame.f_locals
    return local.get("jit_info") or getattr(local.get("jit_func"), "_jit_info", None)


def _transformation(code: str) -> str:
    """Name the transformation that evaluates a jitted function in JAX's function of this name, or ``""``."""
    return next((word for beginning, word in _TRANSFORMATIONS if code.startswith(beginning)), "")


def _types(jaxpr: Any) -> tuple[str, ...]:
    """Return the types of a program's inputs; ``()`` if they are not known."""
    try:
        return tuple(each.str_short(short_dtypes=True) for each in jaxpr.in_avals)
    except (AttributeError, TypeError):
        return ()


def _under(transformation: str, call: Call, types: Sequence[str]) -> Call:
    """Give a call the argument types of the transformed program, if both have the same number of arguments."""
    leaves = call.leaves
    if len(types) == len(leaves):
        leaves = {path: replace(leaf, type=type_) for (path, leaf), type_ in zip(leaves.items(), types, strict=True)}
    return replace(call, leaves=leaves, transformed=True, transformation=transformation)


def _with_outer(call: Call, frame: FrameType | None) -> Call:
    """Add to an eager operation whether jit was disabled, and the function that was being traced around it."""
    call = replace(call, jit_disabled=is_jit_disabled(frame))
    tracing = False
    for _ in range(_DEEPEST):
        if frame is None:
            break
        code, module = frame.f_code.co_name, frame.f_globals.get("__name__", "")
        if module == "jax._src.interpreters.partial_eval" and code.startswith("trace_to_jaxpr"):
            tracing = True
        elif module == "jax._src.pjit" and code in ("cache_miss", "jit_trace") and tracing:
            name, _ = split_source(getattr(_jit_info(frame), "fun_sourceinfo", None))
            return replace(call, while_tracing=True, outer=name)
        frame = frame.f_back
    return replace(call, while_tracing=tracing)


def is_compiling(thread: int) -> bool:
    """Return whether `thread` is inside ``jax._src.compiler``; ``False`` if this JAX has no such module."""
    return any(each.f_globals.get("__name__") == "jax._src.compiler" for each in stack_of(thread, _DEEPEST))


def _from_jaxpr(jaxpr: Any, name: str, transformation: str) -> Call | None:
    """Describe a jitted function that is evaluated as part of a transformation, such as the backward pass."""
    found_name, location = split_source(getattr(debug_info(jaxpr), "func_src_info", None))
    if found_name != name:
        return None
    return Call(
        name=name,
        location=location,
        internal=is_internal(location),
        transformed=True,
        transformation=transformation,
    )


def _from_call(frame: FrameType, name: str, arguments: bool) -> Call | None:
    local = frame.f_locals
    function, info = local.get("fun"), local.get("jit_info")
    if of_type("__name__", type(function)) == "HashablePartial":  # one of the nameless helpers of an eager shard_map
        return Call(name=name, internal=True)
    found_name, location = split_source(getattr(info, "fun_sourceinfo", None))
    nameless = name.startswith("<unnamed ") and not is_exactly(function, FunctionType)
    if not nameless and name not in (found_name, _stored_name(function)):
        return None
    user = _pmapped(frame) if _is_pmap(function) else wrapped_by_library(frame.f_back, with_function=arguments)
    internal = user is None and is_internal(location) and (_jitted_by_jax(function) or _called_from_jax(frame))
    if user is None:
        user = UserCall(
            function, local.get("args", ()), local.get("kwargs", {}), static_names(info), library=nameless
        )
    if user.library:
        found_name = user.name or _stored_name(user.function) or of_type("__name__", type(user.function))
    if not arguments:
        return Call(name=found_name or name, location=location, internal=internal, wrapped=user.library)
    described = describe(user.function, user.args, user.kwargs, user.static, arrays_only=user.arrays_only)
    parameters, bodies = operation_parameters(function) if internal else ({}, {})
    return Call(
        name=found_name or name,
        location=_defined_at(user.function) or location if user.library else location,
        internal=internal,
        wrapped=user.library,
        function_id=function_id(user.function),
        source_id=None if internal else source_id(user.function),
        parameters=() if user.library else parameter_names(info),
        leaves=described.leaves,
        static_args=dict(described.static_args) | parameters,
        static_functions=dict(described.static_functions) | bodies,
        static_wrappers=described.static_wrappers,
        static_contents=described.static_contents,
        held={} if internal else contents(user.function),
        options={} if internal or user.library else jit_options(info),
        containers=described.containers,
        nodes=described.nodes,
        call_signature=described.call_signature,
        names=described.names,
        context=trace_context(),
        settings=settings_now(),
        transformed=any(leaf.traced for leaf in described.leaves.values()),
    )


def _defined_at(function: Any) -> str | None:
    function = innermost(function)
    if not is_exactly(function, FunctionType):
        return None
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


def _stored_name(function: Any) -> str | None:
    """Return the ``__name__`` of a function or a callable object, without running any of the user's code.

    A partial has the name of its function, as for JAX.
    """
    while is_a(function, functools.partial):
        function = of_partial("func", function)
    name = function.__name__ if is_exactly(function, FunctionType) else attribute(function, "__name__")
    return name if is_exactly(name, str) else None


def _pmapped(frame: FrameType) -> UserCall | None:
    """Find the call of a function given to ``jax.pmap``, in whose place JAX jits a function of its own."""
    caller = frame.f_back
    while caller is not None and caller.f_code.co_name != "wrapped":
        if not str(caller.f_globals.get("__name__", "")).startswith("jax._src."):
            return None
        caller = caller.f_back
    if caller is None:
        return None
    closure = enclosed(caller.f_locals["infer_params"])
    function = closure["f"] if "f" in closure else closure["wrapped_fun"].f  # up to JAX 0.8, and since
    parameters = tuple(inspect.signature(function).parameters)
    static = {parameters[i] for i in closure["static_broadcasted_tuple"] if -len(parameters) <= i < len(parameters)}
    return UserCall(function, caller.f_locals["args"], caller.f_locals["kwargs"], static, library=True)


def _is_pmap(function: Any) -> bool:
    return is_exactly(function, FunctionType) and function.__name__ in _PMAPPED


def _jitted_by_jax(function: Any) -> bool:
    """Return whether a function defines one of JAX's operations, as the one that ``jnp.sin`` jits."""
    if not is_exactly(function, FunctionType):
        return False
    operation = getattr(sys.modules.get(function.__module__), function.__name__, None)
    operation = getattr(operation, "_func", operation)  # jnp.negative is an object that wraps the operation
    return getattr(operation, "__wrapped__", None) is function


def _called_from_jax(frame: FrameType | None) -> bool:
    """Return whether a jitted function was called by JAX itself, and not by code that has jitted it."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if not module.startswith(("jax._src.pjit", "jax._src.traceback_util", "jax._src.pmap")):
            return module.startswith("jax._src.")
        frame = frame.f_back
    return False
