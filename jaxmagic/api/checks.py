"""What is given to the verbs, checked: what is wrong, what was found, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, nan
from typing import Any, get_args

from ..model.comparison import CheckKind
from ..terminal import printable


def labels_of(candidates: Mapping[str, Any], check: str) -> list[str]:
    """The labels of functions that can be compared in this way."""
    if check not in get_args(CheckKind):
        raise ValueError(f"check: one of {', '.join(get_args(CheckKind))} is wanted; found {check!r}")
    for label, fn in candidates.items():
        if not isinstance(label, str) or not label.strip():
            raise ValueError(f"labels have to be text; found {label!r}. Write for example {{'f': f}}")
        if not callable(fn):
            raise TypeError(f"{label}: a function is wanted; found {type(fn).__name__}. Write f, not f(x)")
    return list(candidates)


def values_of(name: str, values: Any) -> tuple[Any, ...]:
    """The values of a variable of a sweep."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: several values are wanted; found {values!r}. Write for example {name}=[{values!r}]")
    return tuple(values)


def known_baseline(labels: Sequence[str], baseline: str | None) -> str:
    """The candidate to compare with; the first one if none was chosen."""
    if not labels:
        raise ValueError("there is no candidate: give a function, or several by their labels")
    if baseline is not None and baseline not in labels:
        raise ValueError(f"baseline: there is no candidate {baseline!r}, only {printable(', '.join(labels))}")
    return labels[0] if baseline is None else baseline


def nanoseconds(budget_s: float) -> int:
    """A budget in seconds, at least a nanosecond."""
    return max(round(positive("budget_s", budget_s) * 1e9), 1)


def positive(name: str, value: float) -> float:
    """`value`, if it is a positive number."""
    number = _number(value)
    if not 0 < number < inf:
        raise ValueError(f"{name}: expected a positive number, got {value!r}")
    return number


def not_negative(name: str, value: float) -> float:
    """`value`, if it is zero or a positive number."""
    number = _number(value)
    if not 0 <= number < inf:
        raise ValueError(f"{name}: expected a number from 0 on, got {value!r}")
    return number


def share(name: str, value: float) -> float:
    """`value`, if it is a share of something: an interval that reaches as far as its median says nothing."""
    number = _number(value)
    if not 0 < number < 1:
        raise ValueError(f"{name}: expected a share between 0 and 1, got {value!r}. Write for example {name}=0.01")
    return number


def whole(name: str, value: int, least: int = 1) -> int:
    """`value`, if it is a whole number from `least` on."""
    if type(value) is not int or value < least:
        raise ValueError(f"{name}: expected a whole number from {least} on, got {value!r}")
    return value


def _number(value: Any) -> float:
    """`value` as a number; not one, if it is something else: a truth value, or text."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):  # NumPy has numbers of its own
        return nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):  # an array of several, 10**400
        return nan
