"""Tells why an operation made NaN of operands without NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .computed import Value


def reason_of_operands(operation: str, operands: Sequence[Any]) -> str:
    """Return why an operation made NaN: the arithmetic, or that an operand has infinity; empty if neither is known.

    >>> import numpy as np
    >>> zeros, infinities = np.zeros(2), np.full(2, np.inf)
    >>> [reason_of_operands(*each) for each in [("mul", [zeros, infinities]), ("div", [zeros, zeros])]]
    ['0 times infinity', '0 / 0']
    """
    infinite = any(Value(0, each).has(True) for each in operands)
    if operation == "mul" and infinite:
        return "0 times infinity"
    if operation in ("add", "add_any", "sub") and infinite:
        return "infinity minus infinity"
    if operation == "div" and not infinite:
        return "0 / 0"
    if operation == "div":
        return _of_quotient(*map(np.asarray, operands))
    return "an operand with infinity" if infinite else ""


def _of_quotient(above: Any, below: Any) -> str:
    ratios = bool((np.isinf(above) & np.isinf(below)).any())
    zeros = bool(((above == 0) & (below == 0)).any())
    return " and ".join(["0 / 0"] * zeros + ["infinity / infinity"] * ratios)
