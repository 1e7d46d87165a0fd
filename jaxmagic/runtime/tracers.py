"""Describe traced values: type, origin, and how deep tracing is nested.

This reads attributes that JAX does not promise. If one is missing, the fact is ``None``: not available on this JAX.
"""

from __future__ import annotations

import sys
from typing import Any

from .around import is_a, member, of_type


def is_tracer(value: object) -> bool:
    """Return whether a value is traced, without importing JAX."""
    jax = sys.modules.get("jax")
    try:
        return jax is not None and is_a(value, jax.core.Tracer)
    except (AttributeError, TypeError):
        return False


def is_array(value: object) -> bool:
    """Return whether a value is a JAX array that is not traced."""
    kind = type(value)
    return of_type("__name__", kind) == "ArrayImpl" and str(member(kind, "__module__")).startswith(
        ("jax.", "jaxlib.")
    )


def type_of(tracer: Any) -> str | None:
    """Return the type of a traced value as JAX writes it, such as ``"float32[3]"``; ``None`` if unknown."""
    try:
        return f"{tracer.aval.dtype.name}[{','.join(map(str, tracer.aval.shape))}]"
    except Exception:
        return None


def origin_of(tracer: Any) -> str | None:
    """Return JAX's sentence on the function and the arguments that a traced value comes from; ``None`` if unknown."""
    try:
        return str(tracer._origin_msg())
    except Exception:
        return None


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
