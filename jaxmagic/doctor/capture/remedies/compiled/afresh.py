"""Compiles functions anew each time, without JAX's caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

_numbers = count(1)


def compile_afresh(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any] | None:
    """Trace, lower and compile a function, although the same was compiled before.

    JAX's cache in memory knows functions by their identity. The persistent cache knows programs by their name and
    content, so each one is given another name; none is kept there.

    Returns:
        The program; ``None`` if it does more than compute when it runs, as one that prints.
    """
    import jax

    def called(*values: Any) -> Any:
        return function(*values)

    called.__name__ = called.__qualname__ = f"jaxmagic_trial_{next(_numbers)}"
    with _nothing_kept():
        traced = jax.jit(called).trace(*arguments)
        program: Callable[..., Any] = traced.lower().compile()
    return None if traced.jaxpr.effects else program


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
