"""Copies arrays, whatever the user's ``jax.transfer_guard`` is, and observes which ones JAX copies to a device."""

from __future__ import annotations

import functools
import importlib
import itertools
import operator
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from ..interrupts import interruptible, uninterrupted
from .executed_programs import forgetting_calls

_T = TypeVar("_T")

_CLONE, _IS_DELETED = operator.methodcaller("clone"), operator.methodcaller("is_deleted")


@uninterrupted
def unguarded(copy: Callable[..., _T], *arguments: Any) -> _T:
    """Call a function that copies arrays. Ctrl-C can interrupt the copy, but not the restoring of the guard.

    >>> import numpy as np
    >>> unguarded(np.asarray, 1.5)
    array(1.5)
    """
    import jax

    with jax.transfer_guard("allow"):
        return interruptible(copy)(*arguments)


def clone_of(array: Any) -> Any:
    """Return another array of the same memory; ``None`` if the array was deleted or donated.

    JAX makes arrays of the shards of an array that is asked for its address, and keeps these as long as it. Those of
    a clone are gone with it.

    JAX up to 0.10 crashes when a deleted array is cloned. So no Python code runs between the two calls here, in which
    another thread could donate the array.
    """
    return next(map(_CLONE, itertools.filterfalse(_IS_DELETED, (array,))), None)


def held_by_ref(value: Any) -> Any:
    """Return the array in a ``jax.Ref``; ``None`` for anything else, and if this JAX keeps it in another place.

    No program runs for this, as it would for ``ref[...]``. The array is the same object after it was written to.
    """
    import jax

    if not isinstance(value, getattr(jax, "Ref", ())):
        return None
    return getattr(getattr(value, "_refs", None), "_buf", None)


def observe_device_puts(notice: Callable[[Any, Any], None]) -> Callable[[], None] | None:
    """Call `notice` with each array that ``jax.device_put`` is given outside of ``jit``, and with what it returns.

    Returns:
        A function that ends the observation; ``None`` if this JAX cannot be observed.
    """

    def each(arrays: Any, results: Any) -> Any:
        for array, result in zip(arrays, results, strict=True):
            notice(array, result)
        return results

    return _observe("jax._src.dispatch", "_batched_device_put_impl", each)


def observe_conversions(notice: Callable[[Any, Any], None]) -> Callable[[], None] | None:
    """Call `notice` with each value that ``jnp.array`` or ``jnp.asarray`` converts as it is, and with the result.

    With another dtype, they convert what NumPy has made of it.

    Returns:
        A function that ends the observation; ``None`` if this JAX cannot be observed.
    """

    def one(arguments: Any, result: Any) -> Any:
        notice(arguments[0], result)
        return result

    return _observe("jax._src.lax.lax", "stage", one)


def observe_passed(notice: Callable[[str, Sequence[Any]], bool]) -> Callable[[], None] | None:
    """Call `notice` with the name of each jitted function that is called, and the leaves of its arguments.

    JAX calls a function in C++ from the second time on, where nothing can be observed. Calls with such arguments stay
    in Python until the observation ends if `notice` returns true.

    Returns:
        A function that ends the observation; ``None`` if this JAX cannot be observed.
    """
    stay = False

    def shortcut_of(arguments: Any, shortcut: Any) -> Any:
        nonlocal stay
        function = sys._getframe(2).f_locals.get("fun")
        if function is None or not notice(str(getattr(function, "__name__", "")), arguments[2]):
            return shortcut
        stay = True
        return None

    try:
        forget = forgetting_calls()
    except (ImportError, AttributeError):
        return None
    undo = _observe("jax._src.pjit", "_get_fastpath_data", shortcut_of)
    if undo is None:
        return None
    forget()

    def undo_and_forget() -> None:
        undo()
        if stay:
            forget()

    return undo_and_forget


def _observe(module: str, name: str, see: Callable[[Any, Any], Any]) -> Callable[[], None] | None:
    """Call `see` with the arguments and the result of each call of a function of JAX, which returns what `see` does.

    Returns:
        A function that ends the observation; ``None`` if this JAX has no such function.
    """
    try:
        owner: Any = importlib.import_module(module)
        original = getattr(owner, name)
    except (ImportError, AttributeError):
        return None
    over = False

    @functools.wraps(original)
    def noticed(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        result = original(*args, **options)
        if not over:
            with suppress(Exception):
                return see(args, result)
        return result

    def undo() -> None:
        nonlocal over
        over = True
        if getattr(owner, name) is noticed:  # another wrapper on top of this one keeps it
            setattr(owner, name, original)

    setattr(owner, name, noticed)
    return undo
