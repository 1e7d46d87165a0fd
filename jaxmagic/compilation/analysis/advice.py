"""Add the remedies that depend on what else compiled.

A single eager operation compiles inside ``jax.jit`` as well, and so does a single function under ``jax.vmap``.
Several of them become one program there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..record.compilation import Compilation
from .remedies import remedy

#: The number of eager operations from which on ``jax.jit`` around them is worthwhile.
_WORTH_JIT = 3

#: The forward and the backward pass of a function are one program in ``jax.jit(jax.grad(f))``.
_BACKWARD = "the backward pass"


def with_advice(compilations: Sequence[Compilation]) -> tuple[Compilation, ...]:
    """Add the remedies that follow from all compilations of a measurement taken together."""
    ours = [each for each in compilations if each.thread is None]
    operations = sum(each.cause.kind == "eager" and each.cause.remedy is None for each in ours)
    passes = {each.function for each in ours if is_backward(each)}

    def advised(compilation: Compilation) -> Compilation:
        cause = compilation.cause
        kind = cause.kind
        if kind == "eager" and cause.remedy:
            return compilation  # jit was disabled
        if kind == "shape" and compilation.eager and cause.remedy:
            kind = "eager"  # the same operation on the next of several arrays, such as the parameters of a network
        several = {
            "eager": operations >= _WORTH_JIT,
            "transformation": compilation.function in passes,
        }
        if compilation.thread is not None or not several.get(kind, False):
            return compilation
        return replace(compilation, cause=replace(cause, remedy=remedy(kind)))

    return tuple(map(advised, compilations))


def is_backward(compilation: Compilation) -> bool:
    """Return whether a program is the backward pass of a function that is transformed outside of ``jit``."""
    return compilation.cause.kind == "transformation" and _BACKWARD in compilation.cause.reason
