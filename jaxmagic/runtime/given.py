"""Check the numbers, and the setup, that a verb was given."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Any

#: No device does less or more of anything in a second.
LEAST_RATE, MOST_RATE = 1.0, 1e24

#: At most this many characters of a value are in a message.
_MOST_SHOWN = 40


def nanoseconds(budget_s: float) -> int:
    """Convert a budget in seconds to nanoseconds, at least one."""
    return max(round(positive("budget_s", budget_s) * 1e9), 1)


def positive(name: str, value: float) -> float:
    """Return `value` if it is a positive number."""
    number = _number(value)
    if not 0 < number < inf:
        raise ValueError(f"{name}: expected a positive number, got {_shown(value)}; for example {name}=0.5")
    return number


def not_negative(name: str, value: float) -> float:
    """Return `value` if it is zero or a positive number."""
    number = _number(value)
    if not 0 <= number < inf:
        raise ValueError(f"{name}: expected a number of at least 0, got {_shown(value)}")
    return number


def share(name: str, value: float) -> float:
    """Return `value` if it is a fraction between 0 and 1; a relative interval as wide as its median says nothing."""
    number = _number(value)
    if not 0 < number < 1:
        raise ValueError(f"{name}: expected a fraction between 0 and 1, got {_shown(value)}; for example {name}=0.01")
    return number


def rate(name: str, value: float) -> float:
    """`value`, if a device may reach that rate per second."""
    number = _number(value)
    if not LEAST_RATE <= number <= MOST_RATE:
        raise ValueError(f"{name}: expected a rate per second from 1 to 1e24, got {_shown(value)}")
    return number


def whole(name: str, value: int, least: int = 1) -> int:
    """Return `value` if it is an integer of at least `least`."""
    if type(value) is not int or value < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, got {_shown(value)}")
    return value


def check_setup(setup: object, args: Sequence[object]) -> None:
    """Check that `setup` is a function if it was given, and that it alone makes the positional arguments."""
    if setup is not None and not callable(setup):
        raise TypeError(f"setup: expected a function, got {type(setup).__name__}. Write for example lambda: (x,)")
    if setup is not None and args:
        raise TypeError("both setup and args were given. Return all positional arguments from setup.")


def _number(value: Any) -> float:
    """Return `value` as a float; NaN if it is not a number, such as a truth value or text."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):  # NumPy's numbers have __float__ as well
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
    except ValueError:  # Python does not write integers of more than some thousand digits
        return "a larger number"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
