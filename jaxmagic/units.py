"""Formats numbers for people: chooses units, digits and the sign for "micro".

No other module of the package writes ``ms`` or ``%``. Every function is pure; the argument's name gives its unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import ceil, floor, log10

#: Nanoseconds per unit, largest first. Longer times are split into hours, minutes and seconds: ``1min 3s``.
TIME_UNITS: dict[str, int] = {"s": 10**9, "ms": 10**6, "µs": 10**3, "ns": 1}

_MINUTE = 60 * 10**9

#: In the unit of a duration that is longer by more than this factor, a duration has too few digits.
_FAR_APART = 100


def time_unit(time_ns: float) -> str:
    """Return the largest unit in which `time_ns` is at least 1.

    >>> time_unit(182_000_000), time_unit(900), time_unit(0)
    ('ms', 'ns', 'ns')
    """
    for unit, size in TIME_UNITS.items():
        # 999.6 µs would be rounded to "1000 µs", so use the next unit.
        if abs(time_ns) >= 0.9995 * size:
            return unit
    return "ns"


def number(value: float, digits: int = 3) -> str:
    """Format `value` with `digits` significant digits and no exponent.

    >>> number(182.4), number(10.06), number(0.9), number(999.7), number(123456)
    ('182', '10.1', '0.900', '1000', '123456')
    """
    if value == 0:
        return "0"
    decimals = digits - 1 - floor(log10(abs(value)))
    return f"{value:.{max(decimals, 0)}f}"


def time(time_ns: float, digits: int = 3) -> str:
    """Format a duration in the unit that suits it.

    >>> time(182_000_000), time(63_000_000_000), time(0), time(4_210)
    ('182 ms', '1min 3s', '0 ns', '4.21 µs')
    """
    if abs(time_ns) >= _MINUTE:
        return _long_time(time_ns)
    return time_in(time_ns, time_unit(time_ns), digits)


def time_in(time_ns: float, unit: str, digits: int = 3) -> str:
    """Format a duration in a given unit, so that the numbers of one line can be compared by eye.

    It has at most ``digits - 1`` decimals: next to other milliseconds, 0.9 ms is ``0.90 ms``. A duration that would
    be rounded to 0 is shown as ``<0.01 ms``.

    >>> time_in(171_000_000, "ms"), time_in(900_000, "ms"), time_in(800, "ms"), time_in(0, "ms")
    ('171 ms', '0.90 ms', '<0.01 ms', '0 ms')
    """
    value = time_ns / TIME_UNITS[unit]
    if value == 0:
        return f"0 {unit}"
    if unit == "ns":
        return f"{value:.0f} ns"
    decimals = min(max(digits - 1 - floor(log10(abs(value))), 0), digits - 1)
    smallest = 10.0**-decimals
    if 0 < value < smallest / 2:
        return f"<{smallest:.{decimals}f} {unit}"
    return f"{value:.{decimals}f} {unit}"


def time_short(time_ns: float) -> str:
    """Format a duration that the user chose, without trailing zeros.

    >>> time_short(2_500_000_000), time_short(10**9), time_short(300_000_000), time_short(90 * 10**9)
    ('2.5 s', '1 s', '300 ms', '1min 30s')
    """
    if abs(time_ns) >= _MINUTE:
        return _long_time(time_ns)
    unit = time_unit(time_ns)
    return f"{time_ns / TIME_UNITS[unit]:.3g} {unit}"


def time_option(time_ns: float) -> str:
    """Round a duration up, to a value that can be typed for an option such as ``--budget``.

    >>> time_option(12_340_000_000), time_option(301_000_000), time_option(2 * 10**9), time_option(500 * 10**9)
    ('13s', '310ms', '2s', '500s')
    """
    value, unit = (time_ns / 1e9, "s") if time_ns >= 1e9 else (time_ns / 1e6, "ms")
    step = 10.0 ** (floor(log10(max(value, 1e-3))) - 1)
    return f"{ceil(round(value / step, 6)) * step:.6g}{unit}"


def time_range(low_ns: float, high_ns: float, digits: int = 3) -> str:
    """Format two durations in the unit of the longer one, or each in its own if they are far apart.

    >>> time_range(10_100_000, 10_300_000), time_range(900, 12_000), time_range(13_200, 48_100_000)
    ('10.1 to 10.3 ms', '0.90 to 12.0 µs', '13.2 µs to 48.1 ms')
    """
    unit = time_unit(high_ns)
    if 0 < low_ns * _FAR_APART < high_ns and time_unit(low_ns) != unit:
        return f"{time(low_ns, digits)} to {time(high_ns, digits)}"
    low, high = time_in(low_ns, unit, digits), time_in(high_ns, unit, digits)
    return f"{low.removesuffix(f' {unit}')} to {high}"


def share(part: float, whole: float) -> str:
    """Format `part` of `whole` as a percentage; only exact values are shown as 0 % or 100 %.

    >>> share(171, 182), share(1, 1000), share(9999, 10000), share(0, 3), share(3, 3)
    ('94 %', '<1 %', '>99 %', '0 %', '100 %')
    """
    if whole <= 0 or part <= 0:
        return "0 %"
    percent = 100 * part / whole
    if percent < 1:
        return "<1 %"
    if 99 < percent < 100:
        return ">99 %"
    return f"{percent:.0f} %"


def percent(part: float) -> str:
    """Format a share with two significant digits.

    >>> percent(0.01), percent(0.0234), percent(0.00051), percent(0.25)
    ('1 %', '2.3 %', '0.051 %', '25 %')
    """
    text = number(100 * part, 2)
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def factor(ratio: float) -> str:
    """Format a ratio as a factor.

    >>> factor(2.014), factor(1.0312), factor(312.4)
    ('2.01x', '1.03x', '312x')
    """
    return f"{number(ratio, 3)}x"


def factor_tick(ratio: float) -> str:
    """Format a ratio as the label of an axis tick.

    >>> factor_tick(0.5), factor_tick(1.0), factor_tick(10.0)
    ('0.5x', '1x', '10x')
    """
    return f"{ratio:g}x"


def number_tick(value: float) -> str:
    """Format a plain number as the label of an axis tick.

    >>> number_tick(0.5), number_tick(2000.0), number_tick(20_000), number_tick(16384), number_tick(1e6)
    ('0.5', '2000', '20k', '16384', '1M')
    """
    for sign, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if max(size, 1e4) <= abs(value) < 1000 * size:
            short = f"{value / size:g}"
            return f"{value:.0f}" if len(short.partition(".")[2]) > 1 else f"{short}{sign}"  # 16.384k
    return f"{value:g}"


def factor_range(low: float, high: float) -> str:
    """Format the interval of a ratio.

    >>> factor_range(1.981, 2.053)
    '1.98x to 2.05x'
    """
    return f"{factor(low)} to {factor(high)}"


def number_about(value: float) -> str:
    """Format an approximate number: two digits if it is not whole, and no exponent.

    >>> number_about(110.32), number_about(63.9), number_about(0.1234), number_about(1048576.0)
    ('110', '64', '0.12', '1048576')
    """
    return f"{value:.0f}" if float(value).is_integer() else number(value, 2)


def number_short(value: float) -> str:
    """Format a number of any magnitude with two digits.

    >>> number_short(0.00000024), number_short(3.14159)
    ('2.4e-07', '3.1')
    """
    return f"{value:.2g}"


#: Bytes per unit, largest first.
SIZE_UNITS: dict[str, int] = {"TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1}


def size_unit(size_bytes: float) -> str:
    """Return the largest unit in which `size_bytes` is at least 1.

    >>> size_unit(5 * 2**20), size_unit(100)
    ('MiB', 'B')
    """
    return next((unit for unit, unit_bytes in SIZE_UNITS.items() if abs(size_bytes) >= 0.9995 * unit_bytes), "B")


def size(size_bytes: float, digits: int = 3) -> str:
    """Format a number of bytes in the binary unit that suits it.

    >>> size(0), size(1536), size(64 * 2**20)
    ('0 B', '1.50 KiB', '64.0 MiB')
    """
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1023.5:
            return f"{value:.0f} B" if unit == "B" else f"{number(value, digits)} {unit}"
        value /= 1024
    return f"{number(value, digits)} TiB"


def size_in(size_bytes: float, unit: str, digits: int = 3) -> str:
    """Format a number of bytes in a given unit.

    >>> size_in(1536, "KiB"), size_in(1536, "MiB"), size_in(5 * 2**20, "B"), size_in(3 * 2**40, "GiB")
    ('1.50 KiB', '0.00146 MiB', '5242880 B', '3072 GiB')
    """
    value = size_bytes / SIZE_UNITS[unit]
    whole = unit == "B" or abs(value) >= 10**digits
    return f"{value:.0f} {unit}" if whole else f"{number(value, digits)} {unit}"


def size_change(delta_bytes: int) -> str:
    """Format a change of a number of bytes.

    >>> size_change(2048), size_change(-2048), size_change(0)
    ('+2.00 KiB', '-2.00 KiB', 'unchanged')
    """
    if not delta_bytes:
        return "unchanged"
    return f"{'+' if delta_bytes > 0 else '-'}{size(abs(delta_bytes))}"


#: Units of work, as written before "per second".
WORK = {"items": "items", "bytes": "B", "flops": "FLOP"}


def rate(per_second: float, kind: str) -> str:
    """Format an amount of work per second with decimal prefixes, as is usual for bandwidths and peaks.

    >>> rate(2_340_000, "items"), rate(5.1e9, "bytes"), rate(1.95e12, "flops"), rate(12, "items")
    ('2.34 M items/s', '5.10 GB/s', '1.95 TFLOP/s', '12.0 items/s')
    """
    value, prefix = per_second, ""
    for larger in ("k", "M", "G", "T", "P"):
        if value < 999.5:
            break
        value, prefix = value / 1000, larger
    if kind == "items":
        prefix = f"{prefix} " if prefix else ""
    return f"{number(value, 3)} {prefix}{WORK[kind]}/s"


def rate_tick(per_second: float) -> str:
    """Format a rate as the label of an axis tick, with a decimal prefix and without its unit.

    >>> rate_tick(2e9), rate_tick(5e14), rate_tick(3.0)
    ('2 G', '500 T', '3')
    """
    prefix, size = next(((each, size) for each, size in PREFIXES.items() if per_second >= 0.9995 * size), ("", 1))
    return f"{per_second / size:g} {prefix}".rstrip()


#: Decimal prefixes, largest first.
PREFIXES: dict[str, float] = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3}


def count(n: int, noun: str) -> str:
    """Write `n` and its noun, in the singular or plural.

    >>> count(1, "function"), count(12, "eager operation")
    ('1 function', '12 eager operations')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


#: A number with its unit in a sentence, between which a line is not to be broken.
WITH_UNIT = re.compile(
    rf"\d[\d.,]* (?:%|(?:{'|'.join((*TIME_UNITS, *SIZE_UNITS))})|[{''.join(PREFIXES)}]?(?:FLOP|B)(?:/s)?"
    rf"|(?:[{''.join(PREFIXES)}] )?items/s)(?!\w)|(?:\d+h )?\d+min \d+s\b"
)

#: A number with at most one unit and a remark in brackets, as the functions above write it; or none.
_QUANTITY = re.compile(r"[≈<>+-]? ?\d[\d.,]*(?: ?[%\w/]{1,9})?(?: \d+s)?(?: \(.*\)| in all)?|unchanged|unknown|–|")


def are_quantities(cells: Iterable[str]) -> bool:
    """Return whether all cells that are not empty are numbers with units, and there is at least one.

    >>> are_quantities(["≈1.50 ms", "", "<1 %", "+2.00 KiB", "unchanged", "5 (GPU:7)", "1min 3s", "39.1 GB/s"])
    True
    >>> are_quantities(["", ""]), are_quantities(["1.50 ms", "2.00x faster"]), are_quantities(["train.py:17"])
    (False, False, False)
    """
    cells = list(cells)
    return any(cells) and all(map(_QUANTITY.fullmatch, cells))


def _long_time(time_ns: float) -> str:
    seconds = round(time_ns / 10**9)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes}min {seconds}s" if hours else f"{minutes}min {seconds}s"
