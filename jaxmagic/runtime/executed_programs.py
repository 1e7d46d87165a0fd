"""Notices which programs run, and of what they were made: from JAX's insides, where it tells."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ..interrupts import begins, ends
from .private_api import backends_started

#: Equations of a trace in which constants are looked for, some 10 ms.
_MOST_EQUATIONS = 10_000


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


def observe_executions(notice: Callable[[Any, Callable[[], Origin | None]], None]) -> Callable[[], None] | None:
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


def _origin(frame: FrameType, run: Any) -> Origin | None:
    """Return how the program was made that is run in this frame; ``None`` where it was compiled ahead of time."""
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


@dataclass
class ObservedPrograms:
    """The programs of a window.

    Attributes:
        ran: those that ran at least once; ``None`` where this JAX does not tell.
        compiled: those that were compiled.
        captured: what is known of how programs that ran were made, by the address of the program.
    """

    ran: list[Any] | None = field(default_factory=list)
    compiled: list[Any] = field(default_factory=list)
    captured: dict[int, Any] = field(default_factory=dict)


class watch:
    """A block in which the programs are noticed that run and that are compiled.

    The first call of every function takes some 0.1 to 0.7 ms longer than it would, and 1 ms more for each thousand
    equations of its trace.

    Args:
        describe: tells of how a program was made what shall be kept, when it runs for the first time.
    """

    _undo: Callable[[], None] | None = None

    def __init__(self, describe: Callable[[Origin | None], Any] = lambda origin: None) -> None:
        self._describe = describe

    @begins("_cancel")
    def __enter__(self) -> ObservedPrograms:
        # The objects and not their addresses: none can take the place of one that died.
        self._before = executables()
        self._watched = watched = ObservedPrograms()
        seen: set[int] = set()

        def note(program: Any, origin: Callable[[], Origin | None]) -> None:
            if id(program) not in seen and watched.ran is not None:
                seen.add(id(program))
                watched.ran.append(program)
                watched.captured[id(program)] = self._describe(origin())

        self._undo = observe_executions(note)
        if self._undo is None:
            watched.ran = None
        return watched

    @ends
    def __exit__(self, *_: object) -> None:
        self._cancel()
        known = set(map(id, self._before))
        self._watched.compiled = [each for each in executables() if id(each) not in known]

    @ends
    def _cancel(self) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()
