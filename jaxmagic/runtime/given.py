"""Check the numbers, and the setup, that a verb was given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf, nan
from typing import Any

from ..records.names import type_in_words

#: No device does less or more of anything in a second.
LEAST_RATE, MOST_RATE = 1.0, 1e24

#: At most this many characters of a value are in a message.
_MOST_SHOWN = 40


_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|μs|ms|s|min)$")
_NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}

_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([KMGT]i?)?B$")

_SHARE = re.compile(r"((?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*(%?)", re.IGNORECASE)


def time_ns_in(text: str) -> int | None:
    """Parse a duration with its unit; ``None`` if `text` is none.

    >>> time_ns_in("50ms"), time_ns_in("1.5 s"), time_ns_in("5")
    (50000000, 1500000000, None)
    """
    found = _DURATION.match(text.strip())
    return round(float(found[1]) * _NANOSECONDS[found[2]]) if found else None


def bytes_in(text: str) -> int | None:
    """Parse an amount of memory with its unit, rounded; ``None`` if `text` is none.

    >>> bytes_in("16GiB"), bytes_in("80 GB"), bytes_in("16")
    (17179869184, 80000000000, None)
    """
    found = _SIZE.match(text.strip())
    if found is None:
        return None
    unit = found[2] or ""
    return round(float(found[1]) * (1024 if unit.endswith("i") else 1000) ** " KMGT".index(unit[:1] or " "))


def share_in(text: str) -> float | None:
    """Parse a number, or a percentage; ``None`` if `text` is none.

    >>> share_in("5%"), share_in("1e-2"), share_in("five")
    (0.05, 0.01, None)
    """
    found = _SHARE.fullmatch(text.strip())
    return float(found[1]) / (100 if found[2] else 1) if found else None


def percentage_in(text: str) -> float | None:
    """Parse a percentage between 0 and 100; ``None`` if `text` is none.

    >>> percentage_in("5%"), percentage_in("0.5 %"), percentage_in("1e-2"), percentage_in("0%")
    (0.05, 0.005, None, None)
    """
    value = share_in(text) if text.rstrip().endswith("%") else None
    return value if value is not None and 0 < value < 1 else None


def nanoseconds(value_s: float, name: str = "budget_s") -> int:
    """Convert a time in seconds to nanoseconds, at least one."""
    return max(round(seconds(name, value_s) * 1e9), 1)


def seconds(name: str, value: float) -> float:
    """Return `value` if it is a positive number of seconds."""
    if write := in_seconds(name, value):
        raise ValueError(f"{name}: expected seconds as a number, got {shown(value)}; write {write}")
    return positive(name, value)


def in_seconds(name: str, value: object) -> str:
    """Return what to write for a duration that was given as text, such as ``"budget_s=5"``; ``""`` for all others."""
    if not isinstance(value, str):
        return ""
    time_ns = time_ns_in(value) or time_ns_in(f"{value.strip()}s")
    return f"{name}={time_ns / 1e9:g}" if time_ns else ""


def positive(name: str, value: float, example: float = 0.5) -> float:
    """Return `value` if it is a positive number; `example` is one that makes sense."""
    number = _number(value)
    if not 0 < number < inf:
        raise ValueError(f"{name}: expected a positive number, got {shown(value)}; for example {name}={example}")
    return number


def not_negative(name: str, value: float) -> float:
    """Return `value` if it is zero or a positive number."""
    number = _number(value)
    if not 0 <= number < inf:
        raise ValueError(f"{name}: expected a number of at least 0, got {shown(value)}; {_as_share(name, value)}")
    return number


def share(name: str, value: float) -> float:
    """Return `value` if it is a fraction between 0 and 1; a relative interval as wide as its median says nothing."""
    number = _number(value)
    if not 0 < number < 1:
        raise ValueError(f"{name}: expected a fraction between 0 and 1, got {shown(value)}; {_as_share(name, value)}")
    return number


def _as_share(name: str, value: object) -> str:
    meant = share_in(value) if isinstance(value, str) else None
    return f"write {name}={meant:g}" if meant is not None and 0 < meant < 1 else f"for example {name}=0.01"


def rate(name: str, value: float) -> float:
    """`value`, if a device may reach that rate per second."""
    number = _number(value)
    if not LEAST_RATE <= number <= MOST_RATE:
        raise ValueError(
            f"{name}: expected a rate per second from 1 to 1e24, got {shown(value)}; for example {name}=1e12"
        )
    return number


def whole(name: str, value: int, least: int = 1) -> int:
    """Return `value` if it is an integer of at least `least`."""
    if type(value) is not int or value < least:
        write = _as_whole(name, value, least)
        raise ValueError(f"{name}: expected an integer of at least {least}, got {shown(value)}{write}")
    return value


def _as_whole(name: str, value: object, least: int) -> str:
    meant = bytes_in(value) if name.endswith("_bytes") and isinstance(value, str) else None
    if isinstance(value, str) and re.fullmatch(r"\d{1,20}", value.strip()):
        meant = int(value)
    if meant is not None and meant >= least:
        return f"; write {name}={meant}"
    return f"; for example {name}={'2**34' if name.endswith('_bytes') else least}"


def check_function(verb: str, fn: object) -> None:
    """Check that a verb was given a function, and not what calling one returned."""
    if not callable(fn):
        raise TypeError(
            f"{verb}(): expected a function and its arguments, got {type_in_words(fn)}, which cannot be called. "
            f"Write {verb}(f, x), not {verb}(f(x))."
        )


def check_setup(setup: object, args: Sequence[object]) -> None:
    """Check that `setup` is a function if it was given, and that it alone makes the positional arguments."""
    if setup is not None and not callable(setup):
        raise TypeError(f"setup: expected a function, got {type_in_words(setup)}. Write for example lambda: (x,)")
    if setup is not None and args:
        raise TypeError("setup: expected no other arguments, got both. Return all positional arguments from setup.")


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


def shown(value: object) -> str:
    """The value in a message, however long it is."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write integers of more than some thousand digits
        return "a larger number"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
