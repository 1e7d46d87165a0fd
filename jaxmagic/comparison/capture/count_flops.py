"""Counts the floating-point operations of a call with XLA's cost analysis, and says what that leaves out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime.functions import is_jitted
from ..record.candidate import Work

#: Custom calls that compute nothing: they annotate the sharding of arrays.
_ANNOTATIONS = re.compile(r"Sharding|SPMD|annotate|sdy\.|shape_assertion", re.I)


def count_operations(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Work:
    """Count the floating-point operations of ``fn(*args, **kwargs)`` without running it.

    The function is lowered, jitted first if it is not already, and XLA's cost analysis of that program gives the
    number. The program is not optimized, so these are the operations in the source, not those that XLA executes.
    """
    try:
        lowered = _lower(fn, args, kwargs)
        costs = lowered.cost_analysis() or {}
        text = lowered.as_text()
    except Exception as error:
        return Work(kind="flops", amount=None, caveats=(f"JAX cannot trace it ({type(error).__name__})",))
    amount = costs.get("flops", 0.0)
    if not amount > 0:
        return Work(kind="flops", amount=None, caveats=("XLA counts none",))
    return Work(kind="flops", amount=float(amount), caveats=tuple(_caveats(text)))


def _lower(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    import jax

    if is_jitted(fn):
        return fn.lower(*args, **kwargs)
    if args or kwargs:
        return jax.jit(fn).lower(*args, **kwargs)
    # The arrays that it closes over become arguments, because a program that contained them would be huge.
    closed = jax.make_jaxpr(fn)()
    return jax.jit(lambda *given: jax.core.eval_jaxpr(closed.jaxpr, given)).lower(*closed.consts)


def _caveats(text: str) -> list[str]:
    """Find what is known to be missing in the count, from the program's text."""
    caveats = []
    if re.search(r"\bstablehlo\.while\b", text):
        caveats.append("the body of a loop is counted once")
    calls = dict.fromkeys(re.findall(r"custom_call @([\w.$]+)", text))
    missing = [name for name in calls if not _ANNOTATIONS.search(name)]
    if missing:
        caveats.append(f"custom calls are not counted ({', '.join(missing[:3])})")
    return caveats
