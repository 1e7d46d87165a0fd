"""Reads from a jaxpr with which precision its matrix products and convolutions are computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ....runtime.tracing import inner_jaxprs
from ...record.program import ProductCount

_PRODUCTS = ("dot_general", "conv_general_dilated", "ragged_dot", "ragged_dot_general")

#: The most equations that are looked at.
_MOST_EQUATIONS = 100_000


def products_of(jaxpr: Any) -> tuple[ProductCount, ...] | None:
    """Count the products of a jaxpr and of those inside it; ``None`` if this JAX does not show them, or too many.

    >>> import jax, jax.numpy as jnp
    >>> with jax.default_matmul_precision("highest"):
    ...     products_of(jax.make_jaxpr(lambda x: x @ x)(jnp.ones((2, 2))))
    (ProductCount(primitive='dot_general', multiplied='float32', precision='highest', count=1),)
    """
    try:
        counted: Counter[tuple[str, str, str]] = Counter()
        for number, equation in enumerate(equations(jaxpr)):
            if number == _MOST_EQUATIONS:
                return None
            name = str(equation.primitive.name)
            if name in _PRODUCTS:
                types = {str(each.aval.dtype) for each in equation.invars[:2]}
                counted[name, "*".join(sorted(types)), _precision(equation.params.get("precision"))] += 1
    except Exception:
        return None
    return tuple(
        ProductCount(primitive=name, multiplied=types, precision=precision, count=count)
        for (name, types, precision), count in counted.items()
    )


def equations(jaxpr: Any) -> Iterator[Any]:
    """Yield the equations of a jaxpr and of those inside it."""
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        yield equation
        for inner in inner_jaxprs(equation):
            yield from equations(inner)


def _precision(asked: Any) -> str:
    """Write what was asked for as ``"highest"`` or ``"bf16_bf16_f32"``; empty if nothing was."""
    if asked is None:
        return ""
    names = {str(getattr(each, "name", each)).lower() for each in (asked if type(asked) is tuple else (asked,))}
    return "*".join(sorted(names))
