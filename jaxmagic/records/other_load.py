"""Findings about the load of other processes during a benchmark or a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from .. import units
from .environment import Environment
from .finding import Finding

#: The share of the machine's processors, and their number, above which the load of other processes is reported. From
#: eight processors on, the number decides: XLA divides an operation among all CPUs and waits for the slowest part, so
#: a few busy CPUs delay the whole, however many there are. Two leave room for the services of a large machine.
_LOAD_SHARE = 0.25
_LOAD_COUNT = 2.0

#: The factor by which sharing a processor slows code down, and the largest factor that is assumed.
_SHARED, LARGEST_SLOWDOWN = 2.0, 10.0


def is_loaded(other_load: float | None, processors: int) -> bool:
    """Return whether other processes keep more than a quarter of the processors, or more than two of them, busy.

    Args:
        other_load: the average number of processors kept busy; ``None`` if unknown.
        processors: the number of processors of the machine.

    >>> is_loaded(0.4, 2), is_loaded(0.6, 2), is_loaded(1.9, 64), is_loaded(3.1, 64), is_loaded(None, 64)
    (False, True, False, True, False)
    """
    return other_load is not None and other_load > min(_LOAD_SHARE * processors, _LOAD_COUNT)


def largest_slowdown(other_load: float | None, processors: int) -> float:
    """Return the factor by which other processes may slow down code that uses all processors; 1 if few are busy.

    Such code gets the processors that are left. On a large machine, the slowest part of an operation still shares
    its processor with another process, so the factor is at least two.

    >>> largest_slowdown(0.4, 2), largest_slowdown(1.5, 2), largest_slowdown(3.1, 64), largest_slowdown(None, 2)
    (1.0, 4.0, 2.0, 1.0)
    """
    if other_load is None or not is_loaded(other_load, processors):
        return 1.0
    return min(max(processors / max(processors - other_load, 1e-9), _SHARED), LARGEST_SLOWDOWN)


def slowed_apart(old: tuple[float | None, int], new: tuple[float | None, int]) -> float:
    """Return the factor by which other processes may have slowed the later of two measurements more than the earlier.

    Code that uses all processors gets those that are left: with half of them busy, it may take twice as long. The
    factor is below 1 if the earlier one was slowed more, and 1 if other processes were few beside both.

    Args:
        old: the load of other processes beside the earlier measurement, and the number of processors.
        new: the same beside the later one.

    >>> slowed_apart((0.4, 2), (1.0, 2)), slowed_apart((1.0, 2), (1.0, 2)), slowed_apart((0.1, 2), (0.3, 2))
    (1.6, 1.0, 1.0)
    """
    if not any(is_loaded(*each) for each in (old, new)):
        return 1.0
    before, now = (min(count / max(count - (load or 0.0), 1e-9), LARGEST_SLOWDOWN) for load, count in (old, new))
    return now / before


def load_in_words(other_load: float | None, environment: Environment) -> str:
    """Return how many processors other processes kept busy: ``1.5 of 2 CPUs``; empty if few, or if unknown."""
    processors = environment.cpu_count or 1
    if other_load is None or not is_loaded(other_load, processors):
        return ""
    return f"{units.number(other_load, 2)} of {processors} CPUs"


def loaded(other_load: float | None, environment: Environment) -> Iterator[Finding]:
    """Yield a finding if other processes kept many processors busy."""
    if words := load_in_words(other_load, environment):
        yield Finding(
            kind="load",
            text=f"Other processes kept {words} busy.",
            remedy="Stop them, or measure when the machine is quiet.",
        )
