"""Observe which programs run, and what they were made from, through JAX's internals."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ..interrupts import begins, ends
from .private_api import backends_started
from .tracing import inner_jaxprs, is_jit_disabled

#: The most equations of a jaxpr that are searched for constants, which takes about 10 ms.
_MOST_EQUATIONS = 10_000


def executables() -> list[Any]:
    """Return the programs loaded on the default backend; ``[]`` if no backend has started, or unknown on this JAX."""
    if backends_started() is False:
        return []
    try:
        from jax._src import xla_bridge

        return list(xla_bridge.get_backend().live_executables())
    except (ImportError, AttributeError, RuntimeError):
        return []


class Origin(NamedTuple):
    """The source of a program.

    Attributes:
        function: the Python function; ``None`` if it is not known.
        jaxpr: its jaxpr.
        lifted: the constants that JAX passes as arguments, by the number of the parameter.
        donated: the numbers of the parameters that the call donates; empty if unknown.
        passed: what is passed for each parameter, and the sharding that the program takes; empty if the program runs
            on one device, or if unknown.
        transformed: the Python function whose jitted call was transformed outside of ``jit``, as ``jax.vmap(f)(x)``
            does; then `function` is unknown, as the program is another one.
        arguments: what is passed for each parameter; empty if unknown.
        call: the arguments of the call by position and by keyword, and JAX's record of the options of ``jax.jit``;
            ``None`` if unknown.
        result: the structure of what the function returns; ``None`` if unknown.
    """

    function: Any
    jaxpr: Any
    lifted: dict[int, Any]
    donated: tuple[int, ...] = ()
    passed: tuple[tuple[Any, Any], ...] = ()
    transformed: Any = None
    arguments: tuple[Any, ...] = ()
    call: tuple[Any, ...] | None = None
    result: Any = None


def observe_executions(notice: Callable[[Any, Callable[[], Origin | None]], None]) -> Callable[[], None] | None:
    """Call `notice` with each program that runs, at least at its first run from now on.

    The second argument of `notice` returns the origin of the program, and can be called until `notice` returns.

    JAX runs a jitted function that has run before in C++, where it cannot be observed. So the C++ caches are cleared
    here, and the next call of each function takes the Python path, which finds the traced and compiled program and
    fills the C++ cache again. The jitted functions that eager ``jax.vmap`` and ``jax.grad`` call, such as
    ``jnp.sin``, exist for one call each; their compiled calls are in caches of their own.

    Returns:
        A function that ends the observation; ``None`` if this JAX cannot be observed.
    """
    try:
        from jax._src.interpreters import pxla

        kind = pxla.ExecuteReplicated
        run, forget = kind.__call__, forgetting_calls()
    except (ImportError, AttributeError):
        return None

    over = False

    @functools.wraps(run)
    def noticed(self: Any, *args: Any) -> Any:
        __tracebackhide__ = True
        if not over:
            with suppress(Exception):
                notice(self.xla_executable, functools.partial(_origin, sys._getframe(1), self, args))
        return run(self, *args)

    def undo() -> None:
        nonlocal over
        over = noticed.over = True  # type: ignore[attr-defined]
        while getattr(kind.__call__, "over", False):  # if another wrapper is on top of this one, it has to remove it
            kind.__call__ = kind.__call__.__wrapped__

    noticed.over = False  # type: ignore[attr-defined]
    kind.__call__ = noticed
    try:
        forget()
    except BaseException:
        undo()
        raise
    return undo


def forgetting_calls() -> Callable[[], None]:
    """Return what clears the caches of calls in C++, so that the next call of each function takes the Python path.

    Some of these caches outlive the called function objects, if this JAX has them.

    Raises:
        ImportError or AttributeError: this JAX has other caches.
    """
    from jax._src import pjit
    from jaxlib import _jax

    names = ("_cpp_pjit_cache_fun_only", "_cpp_pjit_cache_explicit_attributes")
    shared: list[Any] = [getattr(pjit, each) for each in names if hasattr(getattr(pjit, each, None), "clear")]
    clear_all = _jax.PjitFunctionCache.clear_all

    def forget() -> None:
        clear_all()
        for cache in shared:
            cache.clear()

    return forget


def _origin(frame: FrameType, run: Any, args: Sequence[Any]) -> Origin | None:
    """Return the origin of the program that runs in this frame; ``None`` if it was compiled ahead of time."""
    if frame.f_code.co_name != "_pjit_call_impl_python":
        return None
    local = frame.f_locals
    lifted = _lifted(local.get("computation"), run.kept_var_idx)
    caller: FrameType | None = frame
    result = None
    while caller is not None and caller.f_code.co_name != "cache_miss":
        result = getattr(caller.f_locals.get("p"), "out_tree", result)
        caller = caller.f_back if caller.f_globals.get("__name__") == "jax._src.pjit" else None
    function = None if caller is None else caller.f_locals.get("fun")
    transformed = None if caller is not None else _transformed(frame)
    donated, arguments = tuple[int, ...](), tuple[Any, ...]()
    with suppress(AttributeError, TypeError, IndexError):
        donated = _donated(local.get("computation"), run.kept_var_idx, local["donated_invars"])
        arguments = tuple(args[place] for place in sorted(run.kept_var_idx))
    call = None if caller is None else tuple(map(caller.f_locals.get, ("args", "kwargs", "jit_info")))
    passed = _passed(run, arguments)
    return Origin(function, local.get("jaxpr"), lifted, donated, passed, transformed, arguments, call, result)


def _passed(run: Any, arguments: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    """Return the arguments that a program uses, each with the sharding that it takes."""
    with suppress(AttributeError, TypeError, ValueError):
        if any(len(each.device_set) > 1 for each in run.in_handler.in_shardings):
            return tuple(zip(arguments, run.in_handler.in_shardings, strict=True))
    return ()


def _transformed(frame: FrameType) -> Any:
    """Return the function of the jitted call that led to a program through ``jax.vmap`` or ``jax.grad``.

    ``None`` for the backward pass, in which nobody calls a function.
    """
    caller: FrameType | None = frame
    while caller is not None and str(caller.f_globals.get("__name__")).startswith("jax._src."):
        if caller.f_code.co_name == "cache_miss" and "fun" in caller.f_locals:
            return caller.f_locals["fun"]
        caller = caller.f_back
    return None


def _donated(computation: Any, kept: Collection[int], donated: Collection[bool]) -> tuple[int, ...]:
    """Return the parameters that are donated arguments; unused arguments are no parameters."""
    passed = (*(False for _ in getattr(computation, "const_args", None) or ()), *donated)
    return tuple(parameter for parameter, place in enumerate(sorted(kept)) if passed[place])


def origin_of(jitted: Any, traced: Any, lowered: Any) -> Origin:
    """Return the origin of a program that was traced and lowered, but not run."""
    lifted: dict[int, Any] = {}
    with suppress(AttributeError, KeyError):
        lifted = _lifted(lowered._lowering, lowered._lowering.compile_args["kept_var_idx"])
    return Origin(getattr(jitted, "__wrapped__", None), getattr(traced, "jaxpr", None), lifted)


def _lifted(computation: Any, kept: Collection[int]) -> dict[int, Any]:
    """Return the constants passed before the arguments, by parameter; unused arguments are no parameters."""
    constants = getattr(computation, "const_args", None) or ()
    return {parameter: constants[place] for parameter, place in enumerate(sorted(kept)) if place < len(constants)}


def constants(jaxpr: Any) -> Iterator[Any]:
    """Yield all constants of a jaxpr and the jaxprs inside it: its ``consts``, and literals in its equations."""
    from jax._src import core

    left = _MOST_EQUATIONS
    pending, met = [jaxpr], set()
    while pending:
        current = pending.pop()
        if id(current) in met:
            continue
        met.add(id(current))
        yield from getattr(current, "consts", ())
        for equation in getattr(current, "jaxpr", current).eqns[:left]:
            left -= 1
            yield from (operand.val for operand in equation.invars if type(operand) is core.Literal)
            pending += inner_jaxprs(equation)


def numpy_of(constant: Any) -> Any:
    """Return the user's NumPy array inside JAX's wrapper; any other constant is returned as it is."""
    if type(constant).__name__ not in ("LiteralArray", "TypedNdArray"):
        return constant
    return constant.base if isinstance(constant, np.ndarray) else constant.val  # up to 0.8 it is not a NumPy array


def host_copy(array: Any) -> Any:
    """Return the values of a JAX array if they are on the host; ``None`` if a device would have to send them.

    A clone is read, so that the array itself caches no copy. Up to JAX 0.10, cloning a deleted array crashes.
    """
    if array.is_deleted():
        return None
    if getattr(array, "_npy_value", None) is not None:
        return array._npy_value
    (device,) = array.sharding.device_set
    return np.asarray(array.clone()) if device.platform == "cpu" else None


@dataclass
class ObservedPrograms:
    """The programs that ran and compiled during an observation.

    Attributes:
        ran: the programs that ran at least once; ``None`` if this JAX cannot be observed.
        compiled: the programs that were compiled.
        captured: the descriptions of programs that ran, by the address of the program.
        jit_disabled: whether some of them were operations that ran under ``jax.disable_jit()``.
    """

    ran: list[Any] | None = field(default_factory=list)
    compiled: list[Any] = field(default_factory=list)
    captured: dict[int, Any] = field(default_factory=dict)
    jit_disabled: bool = False


class watch:
    """Observe which programs run and which are compiled in a ``with`` block.

    The first call of every function takes about 0.1 to 0.7 ms longer, and 1 ms more per thousand equations of its
    jaxpr.

    Args:
        describe: returns what to keep about a program, given its origin, when it first runs.
    """

    _undo: Callable[[], None] | None = None

    def __init__(self, describe: Callable[[Origin | None], Any] = lambda origin: None) -> None:
        self._describe = describe

    @begins("_cancel")
    def __enter__(self) -> ObservedPrograms:
        # Keep the objects, not their addresses, which could be reused.
        self._before = executables()
        self._observed = observed = ObservedPrograms()
        seen: set[int] = set()

        def note(program: Any, origin: Callable[[], Origin | None]) -> None:
            if id(program) not in seen and observed.ran is not None:
                seen.add(id(program))
                observed.ran.append(program)
                observed.jit_disabled = observed.jit_disabled or is_jit_disabled(sys._getframe(2))
                observed.captured[id(program)] = self._describe(origin())

        self._undo = observe_executions(note)
        if self._undo is None:
            observed.ran = None
        return observed

    @ends
    def __exit__(self, *_: object) -> None:
        self._cancel()
        known = set(map(id, self._before))
        self._observed.compiled = [each for each in executables() if id(each) not in known]

    @ends
    def _cancel(self) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()
