"""Makes the variables of a sweep: which values are numbers, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..record.curve import Variable


def variable(name: str, values: Sequence[Any], write: str = "{}=[64, 256]") -> Variable:
    """Make a variable with these values; an error says what to `write`, with the name in it.

    Raises:
        ValueError: there is no value, or one is repeated.

    >>> variable("n", [1, 2.5]).numbers
    (1.0, 2.5)
    >>> variable("dtype", [float, "bfloat16"]).labels
    ('float', 'bfloat16')
    """
    if not values:
        raise ValueError(f"{name}: expected at least one value, got none. Write for example {write.format(name)}")
    labels: list[str] = []
    seen: dict[Any, int] = {}
    uses: dict[str, int] = {}
    for value in values:
        label = _label(value)
        if _is_among(value, seen):
            raise ValueError(
                f"{name}: expected different values, got {label} twice. Write for example {write.format(name)}"
            )
        uses[label] = uses.get(label, 0) + 1
        labels.append(f"{label} ({uses[label]})" if uses[label] > 1 else label)  # such as lambdas
    numbers = tuple(map(_number, values))
    real = [each for each in numbers if each is not None]
    distinct = len(real) == len(numbers) == len(set(real))
    return Variable(name=name, labels=tuple(labels), numbers=tuple(real) if distinct else None)


def _is_among(value: Any, seen: dict[Any, int]) -> bool:
    """Return whether a value was seen before, and add it."""
    try:
        is_known = value in seen
        seen[value] = 1
    except Exception:  # values without a hash are compared by identity
        is_known = id(value) in seen
        seen[id(value)] = 1
    return is_known


def _label(value: Any) -> str:
    number = _number(value)
    if isinstance(value, str):
        text = value
    elif isinstance(value, int):
        text = str(value)
    elif number is not None:  # also NumPy and JAX scalars, whose repr is that of an array
        text = str(int(number)) if number.is_integer() and number < 2**53 else repr(number)
    else:
        name = getattr(value, "__name__", None)  # types and functions
        text = name if isinstance(name, str) else " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:59]}…"


def _number(value: Any) -> float | None:
    """Return a positive number that fits on an axis; ``None`` for anything else."""
    if isinstance(value, bool | str | bytes):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 1e-100 < number < 1e100 else None
