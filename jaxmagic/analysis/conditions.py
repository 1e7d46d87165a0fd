"""What went on beside samples and makes them less than they seem, of a benchmark as of a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from .. import units
from ..model.benchmark import Conditions
from ..model.environment import Environment
from ..model.finding import Finding

#: The share of this machine's processors that others may keep busy before it is told.
_LOAD = 0.25


def folded(who: str = "The jitted call") -> Finding:
    """A program without an argument."""
    return Finding(
        kind="folded",
        text=f"{who} gets no array: XLA may have computed its result while compiling, and then nothing is measured.",
        remedy="Pass the data as arguments.",
    )


def recompiled(conditions: Conditions) -> Iterator[Finding]:
    """Programs that compiled while samples were taken."""
    compiled = [each for each in conditions.compilations if each.compiled]
    if not compiled:
        return
    last = compiled[-1]
    total = units.time(sum(each.total_ns for each in compiled))
    yield Finding(
        kind="recompiled",
        text=f"{units.count(len(compiled), 'program')} compiled while samples were taken, {total}, the last one "
        f"{last.function}: {last.cause.reason}.",
        remedy=f"{last.cause.remedy[0].upper()}{last.cause.remedy[1:]}." if last.cause.remedy else "See first_call.",
    )


def is_loaded(other_load: float | None, processors: int) -> bool:
    """Whether other processes keep so many processors busy that it is worth a word.

    Args:
        other_load: how many; ``None`` if not known.
        processors: of the machine.
    """
    return other_load is not None and other_load > _LOAD * processors


def loaded(other_load: float | None, environment: Environment) -> Iterator[Finding]:
    """Other processes that kept so many processors busy."""
    processors = environment.cpu_count or 1
    if other_load is not None and is_loaded(other_load, processors):
        yield Finding(
            kind="load",
            text=f"Other processes kept {units.number(other_load, 2)} of {processors} processors busy meanwhile.",
            remedy="Stop them, or measure when the machine is quiet.",
        )
