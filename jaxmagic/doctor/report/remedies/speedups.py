"""Words how many times as fast code or a program is with a remedy."""

from __future__ import annotations

from .... import units

#: Runs of two programs are not told apart below this factor: where their constants lie in memory matters as much.
_ALIKE = 1.25


def programs_ran(
    before_ns: float, after_ns: float, before_runs: int, after_runs: int, calls: int = 0, **factor: float
) -> str:
    """Word how long two programs run that were compared otherwise, or a call of each."""
    times = f"{units.time(after_ns)} instead of {units.time(before_ns)}"
    alike = factor["low"] > 1 / _ALIKE and factor["high"] < _ALIKE
    took = f"takes about as long, {times}" if alike else f"is {how_fast(**factor)}, {times}"
    if calls:
        ran = f"The programs ran {before_runs} and {after_runs} times, on copies of what is donated."
        return f"Tried: a call {took}. {ran}"
    return f"The programs ran as well, {before_runs} and {after_runs} times: with the remedy, a run {took}."


def how_fast(speedup: float, low: float, high: float) -> str:
    """Word how many times as fast code is, with the interval.

    >>> how_fast(3, 2.5, 4)
    '3.00 times as fast (95 % interval 2.50 to 4.00)'
    >>> how_fast(0.5, 0.4, 0.8)
    '2.00x slower (95 % interval 1.25x to 2.50x)'
    >>> how_fast(1.1, 0.8, 1.25)
    'between 1.25x slower and 1.25x faster (95 % interval)'
    """
    if low >= 1 or low <= 0:
        fast, least, most = (units.number(each, 3) for each in (speedup, low, high))
        return f"{fast} times as fast (95 % interval {least} to {most})"
    if high <= 1:
        slow, least, most = (units.factor(1 / each) for each in (speedup, high, low))
        return f"{slow} slower (95 % interval {least} to {most})"
    return f"between {units.factor(1 / low)} slower and {units.factor(high)} faster (95 % interval)"


def first_run(first_ns: int, before_ns: int = 0) -> str:
    """Word how long the first run with a remedy took, beside a run without it.

    >>> first_run(29 * 10**9, 10**9)
    'The first run with the remedy took 29.0 s, which includes compiling it: 29 times as long as a run without it.'
    """
    times = f": {units.number(first_ns / before_ns, 2)} times as long as a run without it" if before_ns else ""
    return f"The first run with the remedy took {units.time(first_ns)}, which includes compiling it{times}."
