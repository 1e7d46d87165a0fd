"""The values that a sweep goes through: which of them are numbers, and how people read them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from ..model.sweep import Variable


def variable(name: str, values: Sequence[Any]) -> Variable:
    """A variable with these values.

    Raises:
        ValueError: there are none, or two of them read the same.

    >>> variable("n", [1, 2.5]).numbers
    (1.0, 2.5)
    >>> variable("dtype", [float, "bfloat16"]).labels
    ('float', 'bfloat16')
    """
    labels = tuple(_label(each) for each in values)
    numbers = tuple(map(_number, values))
    real = [each for each in numbers if each is not None]
    return Variable(name=name, labels=labels, numbers=tuple(real) if len(real) == len(numbers) else None)


def _label(value: Any) -> str:
    number = _number(value)
    if isinstance(value, str):
        text = value
    elif number is not None:  # NumPy's and JAX's as well, whose repr is that of an array
        text = str(int(number)) if number.is_integer() else f"{number:g}"
    else:
        name = getattr(value, "__name__", None)  # types and functions
        text = name if isinstance(name, str) else " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:59]}…"


def _number(value: Any) -> float | None:
    """A positive number; ``None`` for anything else."""
    if isinstance(value, bool | str):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) and number > 0 else None
