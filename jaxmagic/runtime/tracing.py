"""Read what JAX traced: traced values, and the equations of a jaxpr by primitive and source line.

This depends on attributes that JAX does not promise. If one is missing, the fact is ``None``: not available on this
JAX.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, NamedTuple

from .around import attributes, is_a, member, of_type

#: The most equations that are counted, which takes about 50 ms.
_MOST_EQUATIONS = 20_000

#: JAX's calls of a rule of a function with derivatives of its own.
_RULES = "_flatten_bwd", "_flatten_fwd", "_flatten_jvp"

#: Primitives whose inner jaxprs run any number of times, or not at all.
_LOOPS = frozenset({"scan", "while", "cond"})


def is_tracer(value: object) -> bool:
    """Return whether a value is traced, without importing JAX."""
    jax = sys.modules.get("jax")
    try:
        return jax is not None and is_a(value, jax.core.Tracer)
    except (AttributeError, TypeError):
        return False


def is_jit_disabled(frame: FrameType | None) -> bool:
    """Return whether a frame runs an operation by itself under ``jax_disable_jit``, which JAX suspends for it."""
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("jax._src."):
        if frame.f_code.co_name == "apply_primitive":
            disabled = frame.f_locals.get("prev")  # of this thread; no truth value if only the process has one
            return disabled if isinstance(disabled, bool) else _is_jit_disabled_globally()
        frame = frame.f_back
    return False


def _is_jit_disabled_globally() -> bool:
    """Return whether ``jax_disable_jit`` is set for the whole process, whatever it is in this thread."""
    with suppress(ImportError, AttributeError):
        from jax._src import config

        return config.disable_jit.get_global() is True
    return False


def tracer_names() -> frozenset[str]:
    """Return the names of JAX's classes of traced values, without importing JAX."""
    jax = sys.modules.get("jax")
    names: set[str] = set()
    with suppress(AttributeError, TypeError):
        pending = [jax.core.Tracer] if jax is not None else []
        while pending:
            kind = pending.pop()
            names.add(of_type("__name__", kind))
            pending += type.__subclasses__(kind)
    return frozenset(names)


def is_array(value: object) -> bool:
    """Return whether a value is a JAX array that is not traced."""
    kind = type(value)
    return of_type("__name__", kind) == "ArrayImpl" and str(member(kind, "__module__")).startswith(
        ("jax.", "jaxlib.")
    )


def array_classes() -> list[type]:
    """Return the classes of JAX's arrays that are loaded: the public one, and the one that holds values."""
    places = ("jax", "Array"), ("jax._src.array", "ArrayImpl")
    kinds = [(attributes(sys.modules.get(module)) or {}).get(name) for module, name in places]
    return [each for each in kinds if isinstance(each, type)]


def lowers(code: CodeType) -> bool:
    """Return whether some code is JAX's own, and lowers a jaxpr to StableHLO; false where JAX has moved it."""
    return code.co_filename.replace("\\", "/").endswith("jax/_src/interpreters/mlir.py")


def type_of(tracer: Any) -> str | None:
    """Return the type of a traced value or an array as JAX writes it, ``"float32[3]"``; ``None`` if unknown."""
    try:
        return f"{tracer.aval.dtype.name}[{','.join(map(str, tracer.aval.shape))}]"
    except Exception:
        return None


def passed_to(frame: FrameType) -> list[Any]:
    """Return the positional arguments of one of JAX's calls, with those that its ``*args`` collects.

    The object whose ``__call__`` it is does not count.

    A parameter that the function has assigned to shows the new value.
    """
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount]
    values = [frame.f_locals.get(name) for name in names]
    if code.co_flags & inspect.CO_VARARGS:
        values += frame.f_locals.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount]) or ()
    return values[1:] if code.co_name == "__call__" else values


def arguments_passed_to(frame: FrameType) -> tuple[Sequence[Any], Mapping[str, Any]] | None:
    """Return what a call collects in ``*args`` and ``**kwargs``; ``None`` if these are not all of its arguments.

    That is the wrapper that JAX puts around a jitted function. An object whose ``__call__`` it is may come first.
    """
    code = frame.f_code
    if not (code.co_flags & inspect.CO_VARARGS and code.co_flags & inspect.CO_VARKEYWORDS) or code.co_kwonlyargcount:
        return None
    if code.co_argcount > (code.co_name == "__call__"):
        return None
    args, kwargs = code.co_varnames[code.co_argcount : code.co_argcount + 2]
    return frame.f_locals.get(args, ()), frame.f_locals.get(kwargs, {})


def origin_of(tracer: Any) -> str | None:
    """Return JAX's sentence on the function and the arguments that a traced value comes from; ``None`` if unknown."""
    try:
        return str(tracer._origin_msg())
    except Exception:
        return None


def leak_message(tracer: Any) -> str:
    """Return what JAX says if a traced value is used after its function was traced; empty if unknown on this JAX."""
    with suppress(Exception):
        from jax._src import core

        return str(core.escaped_tracer_error(tracer))
    return ""


def is_traced_in(tracer: Any, frames: Sequence[FrameType]) -> bool | None:
    """Return whether the trace of a traced value was going on in some calls; ``None`` if this JAX does not show it.

    Args:
        tracer: the traced value; ``None`` to ask for any trace.
        frames: the calls, JAX's among them, which may have ended with an exception.
    """
    try:
        trace = None if tracer is None else tracer._trace
        return any(trace in (None, each) for each in _running_traces(frames)) if _shows_traces() else None
    except Exception:
        return None


def _running_traces(frames: Sequence[FrameType]) -> Iterator[object]:
    """Iterate over the traces that are going on in some calls: JAX's calls keep them in variables."""
    from jax._src.core import EvalTrace, Trace

    for frame in frames:
        if "/jax/_src/" in frame.f_code.co_filename.replace("\\", "/"):
            for value in list(frame.f_locals.values()):
                if is_a(value, Trace) and not is_a(value, EvalTrace):
                    yield value


@functools.cache
def _shows_traces() -> bool:
    """Return whether the trace of a function is found around it on this JAX."""
    import jax

    found: list[object] = []
    jax.make_jaxpr(lambda: found.extend(_running_traces([each[0] for each in inspect.stack(0)])))()
    return bool(found)


def traces_around(tracer: Any) -> tuple[str, ...] | None:
    """Return the kinds of traces that a traced value is in, the innermost first; ``None`` if unknown on this JAX."""
    kinds: list[str] = []
    try:
        trace = tracer._trace
        while trace is not None and len(kinds) < 100:
            kinds.append(type(trace).__name__)
            trace = getattr(trace, "parent_trace", None)
    except Exception:
        return None
    return tuple(kinds) if kinds and kinds[-1] == "EvalTrace" else None


class EquationKey(NamedTuple):
    """The properties by which equations are counted.

    Attributes:
        primitive: the name of the primitive.
        line: function, file and line of the user's innermost call; ``None`` if unknown.
        inside_loop: whether it is in the body of a loop or branch.
        dtype: the element type of the first result; empty if there is none.
        inside_call: whether it is in a jaxpr that an equation of this line calls, as ``jnp.clip(x)`` does.
    """

    primitive: str
    line: tuple[str, str, int] | None
    inside_loop: bool
    dtype: str
    inside_call: bool


def count_equations(jaxpr: Any) -> dict[EquationKey, int] | None:
    """Count the equations of a jaxpr and of those inside it; ``None`` if this JAX does not show them.

    An inner jaxpr counts for each equation that calls it.

    >>> import jax, jax.numpy as jnp
    >>> counted = count_equations(jax.make_jaxpr(lambda x: jnp.sin(jnp.sin(x)))(1.0))
    >>> [(key.primitive, count) for key, count in counted.items()]
    [('sin', 2)]
    """
    try:
        counted: Counter[EquationKey] = Counter()
        left = _MOST_EQUATIONS
        pending: list[tuple[Any, bool, tuple[str, str, int] | None]] = [(jaxpr, False, None)]
        while pending and left > 0:
            current, inside, caller = pending.pop()
            for equation in getattr(current, "jaxpr", current).eqns[:left]:
                left -= 1
                name, line = str(equation.primitive.name), line_of(equation) or caller
                inner = list(inner_jaxprs(equation))
                pending += [(each, inside or name in _LOOPS, line) for each in inner]
                if not inner or name in _LOOPS:
                    inside_call = caller is not None and line == caller
                    counted[EquationKey(name, line, inside, _dtype(equation), inside_call)] += 1
    except Exception:
        return None
    return dict(counted)


def inner_jaxprs(equation: Any) -> Iterator[Any]:
    """Yield the jaxprs among the parameters of an equation, such as the body of a ``scan``."""
    kinds = _jaxpr_types()
    for parameter in equation.params.values():
        for each in parameter if type(parameter) in (tuple, list) else (parameter,):
            if issubclass(type(each), kinds):  # not isinstance(), which would read __class__ of the user's objects
                yield each


@functools.cache
def _jaxpr_types() -> tuple[type, ...]:
    from jax._src import core

    return core.Jaxpr, getattr(core, "ClosedJaxpr", core.Jaxpr)  # one class on 0.12


def line_of(equation: Any) -> tuple[str, str, int] | None:
    """Return function, file and line of the innermost call outside JAX that led to an equation."""
    with suppress(Exception):
        from jax._src import source_info_util

        info = equation.source_info
        try:
            frames = iter(source_info_util.user_frames(info.traceback))
        except (AttributeError, TypeError):  # before 0.8 it took the whole source_info
            frames = iter(source_info_util.user_frames(info))
        frame = next(frames, None)
        if frame is not None:
            return frame.function_name, frame.file_name, frame.start_line
    return None


def _dtype(equation: Any) -> str:
    with suppress(Exception):
        return str(equation.outvars[0].aval.dtype)
    return ""


def running_rule(frames: Sequence[FrameType]) -> Any:
    """Return the rule of a ``custom_vjp`` or ``custom_jvp`` function that JAX was calling; ``None`` if unknown."""
    for frame in reversed(frames):
        code = frame.f_code
        if code.co_name in _RULES and code.co_filename.replace("\\", "/").endswith("jax/_src/custom_derivatives.py"):
            return frame.f_locals.get("f")
    return None
