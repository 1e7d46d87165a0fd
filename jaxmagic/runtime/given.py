"""Checks the numbers that a verb was given."""

from __future__ import annotations

from math import inf, nan
from typing import Any

#: No device does less or more of anything in a second.
LEAST_RATE, MOST_RATE = 1.0, 1e24

#: So many characters of a value are in a message.
_MOST_SHOWN = 40


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


def rate(name: str, value: float) -> float:
    """`value`, if a device may reach that rate per second."""
    number = _number(value)
    if not LEAST_RATE <= number <= MOST_RATE:
        raise ValueError(f"{name}: expected a rate per second from 1 to 1e24, got {_shown(value)}")
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
    if str(getattr(value, "dtype", "")) == "bool":  # and truth values
        return nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):  # an array of several, 10**400
        return nan


def _shown(value: object) -> str:
    """The value in a message, however long it is."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than some thousand digits
        return "a larger number"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
