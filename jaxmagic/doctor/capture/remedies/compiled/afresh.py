"""Compiles functions anew each time, without JAX's caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

_numbers = count(1)


def compile_afresh(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any] | None:
    """Trace, lower and compile a function, although the same was compiled before.

    Returns:
        The program; ``None`` if it does more than compute when it runs, as one that prints.
    """
    lowered, computes = lower_afresh(function, *arguments)
    with _nothing_kept():
        program: Callable[..., Any] = lowered.compile()
    return program if computes else None


def lower_afresh(function: Callable[..., Any], *arguments: Any) -> tuple[Any, bool]:
    """Trace and lower a function, although the same was compiled before.

    JAX's cache in memory knows functions by their identity. The persistent cache knows programs by their name and
    content, so each one is given another name.

    Returns:
        What can be compiled, and whether it does nothing but compute when it runs.
    """
    import jax

    def called(*values: Any) -> Any:
        return function(*values)

    called.__name__ = called.__qualname__ = f"jaxmagic_trial_{next(_numbers)}"
    traced = jax.jit(called).trace(*arguments)
    return traced.lower(), not traced.jaxpr.effects


@contextmanager
def _nothing_kept() -> Iterator[None]:
    """Let the persistent cache keep no program that is compiled in the block."""
    import jax

    name = "jax_persistent_cache_min_compile_time_secs"
    before = getattr(jax.config, name)
    jax.config.update(name, float("inf"))
    try:
        yield
    finally:
        jax.config.update(name, before)
