"""Inspect a function before it is called repeatedly, and drop what its calls have returned."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import CoroutineType
from typing import Any

from . import executed_programs


def name_of(fn: object) -> str:
    """Return a function's name, as people call it.

    >>> name_of(len)
    'len'
    """
    for named in (fn, getattr(fn, "func", None)):  # the function of a functools.partial
        name = getattr(named, "__qualname__", None) or getattr(named, "__name__", None)
        if isinstance(name, str):
            return name
    return type(fn).__name__


def only_name(code: str | None) -> str | None:
    """Return the name of which some code consists; ``None`` for any other code.

    >>> only_name("model.apply"), only_name("f(x)")
    ('model.apply', None)
    """
    return code if code is not None and all(each.isidentifier() for each in code.split(".")) else None


def is_jitted(fn: object) -> bool:
    """Return whether `fn` is a jitted function, which can be traced and lowered."""
    return callable(fn) and hasattr(fn, "lower") and hasattr(fn, "trace")


def donated_arguments(jitted: Any) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
    """Return the positions and names of the arguments that a jitted function donates; ``None`` if unknown.

    JAX 0.7 counts positions without static arguments, so beside static ones the names decide.
    """
    try:
        info = jitted._jit_info
        numbers, names = tuple(info.donate_argnums or ()), tuple(info.donate_argnames or ())
        if info.static_argnums and names:
            code = jitted.__wrapped__.__code__
            numbers = tuple(place for place, each in enumerate(code.co_varnames[: code.co_argcount]) if each in names)
    except (AttributeError, TypeError):
        return None
    return numbers, names


def is_folded(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Return whether a jitted function gets no array, so that XLA may constant-fold its result."""
    import jax

    if not is_jitted(fn):
        return False
    leaves = jax.tree.leaves((tuple(args), dict(kwargs)))
    if any(hasattr(leaf, "dtype") for leaf in leaves):
        return False
    try:
        return not fn.trace(*args, **kwargs).jaxpr.in_avals  # numbers may be static
    except Exception:
        return not leaves


def compiled_for(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, executed_programs.Origin]:
    """Return the program of a function for these arguments, compiled if necessary but not run, and its origin.

    ``nnx.jit`` and ``equinox.filter_jit`` lower their functions themselves: traced within another jit, a method of an
    nnx module would lose the attributes of its object.
    """
    import jax

    inner, all_args = _within_partials(fn, args)
    if hasattr(inner, "lower") and type(inner).__module__.partition(".")[0] not in ("jax", "jaxlib"):
        lowered = inner.lower(*all_args, **kwargs)
        lowered = getattr(lowered, "lowered", lowered)  # that of JAX, within the library's own
        return lowered.compile().runtime_executable(), executed_programs.Origin(None, None, {})
    jitted = fn if is_jitted(fn) else jax.jit(fn)
    traced = jitted.trace(*args, **kwargs)
    lowered = traced.lower()
    return lowered.compile().runtime_executable(), executed_programs.origin_of(jitted, traced, lowered)


def _within_partials(fn: Any, args: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return what a partial calls, such as a bound method of a library's jit, with its positional arguments.

    A partial with keywords is left as it is.
    """
    all_args = tuple(args)
    while hasattr(fn, "func") and isinstance(getattr(fn, "args", None), tuple) and not getattr(fn, "keywords", None):
        fn, all_args = fn.func, (*fn.args, *all_args)
    return fn, all_args


def dropping(value: object) -> AbstractContextManager[None]:
    """Return a block in which Python does not warn that `value` was never awaited, if this is its last reference.

    The note ``timing.not_run`` says so already, and the line would be one of jaxmagic's.
    Warnings about coroutines that the code itself drops are not affected, because they are shown while it runs. The
    filters of warnings change for a coroutine alone: a change makes Python forget which warnings it has shown.
    """
    return _silenced() if type(value) is CoroutineType else nullcontext()


@contextmanager
def _silenced() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        yield
