"""The values that a sweep goes through: which of them are numbers, and how people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.sweep import Variable


def variable(name: str, values: Sequence[Any]) -> Variable:
    """A variable with these values.

    Raises:
        ValueError: there are none, or one is there twice.

    >>> variable("n", [1, 2.5]).numbers
    (1.0, 2.5)
    >>> variable("dtype", [float, "bfloat16"]).labels
    ('float', 'bfloat16')
    """
    labels: list[str] = []
    for index, value in enumerate(values):
        label = _label(value)
        if any(_same(value, other) for other in values[:index]):
            raise ValueError(f"{name} has a value twice: {label}")
        count = sum(each == label or each.startswith(f"{label} (") for each in labels)
        labels.append(f"{label} ({count + 1})" if count else label)  # such as two functions without a name
    numbers = tuple(map(_number, values))
    real = [each for each in numbers if each is not None]
    distinct = len(real) == len(numbers) == len(set(real))
    return Variable(name=name, labels=tuple(labels), numbers=tuple(real) if distinct else None)


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:  # arrays, of which some elements are equal
        return False


def _label(value: Any) -> str:
    number = _number(value)
    if isinstance(value, str):
        text = value
    elif isinstance(value, int):
        text = str(value)
    elif number is not None:  # NumPy's and JAX's as well, whose repr is that of an array
        text = str(int(number)) if number.is_integer() and number < 2**53 else repr(number)
    else:
        name = getattr(value, "__name__", None)  # types and functions
        text = name if isinstance(name, str) else " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:59]}…"


def _number(value: Any) -> float | None:
    """A positive number that fits on an axis; ``None`` for anything else."""
    if isinstance(value, bool | str | bytes):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 1e-100 < number < 1e100 else None
