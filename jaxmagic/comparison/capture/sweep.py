"""Measures a comparison at every combination of the values of some variables.

If a point fails, by running out of memory for example, the error is recorded and the sweep continues. An interrupt
ends it, and the points measured so far are kept.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import product
from typing import Any

from ...benchmarking.capture.plan import Plan
from ...errors import JaxMagicError, message_of
from ...interrupts import interrupted, interruptible, uninterrupted
from ...progress.record import SILENT, Progress
from ...runtime import jax_errors
from ...runtime.clock import Clock, now_ns, timestamp
from ...runtime.environment import probe
from ..record.candidate import CheckRule
from ..record.curve import Variable
from ..record.sweep import Failure, Point, Sweep, SweepEnd
from .contestants import AllFailed, Entry
from .rounds import take_comparison

#: The index of the value of each variable.
Position = tuple[int, ...]

#: Makes the candidates of a point.
Prepare = Callable[[Position], Mapping[str, Entry]]

#: How many characters of an error's message are kept.
_LONGEST = 300


def _show_nothing() -> AbstractContextManager[Progress]:
    return nullcontext(SILENT)


@uninterrupted
def take_sweep(
    variables: Sequence[Variable],
    labels: Sequence[str],
    prepare: Prepare,
    plan: Plan,
    *,
    baseline: str,
    check: CheckRule = "allclose",
    strict: bool = False,
    profiled: bool = False,
    code: str | None = None,
    shown: Callable[[], AbstractContextManager[Progress]] = _show_nothing,
    clock: Clock = now_ns,
) -> Sweep:
    """Measure candidates side by side at each point of a grid.

    Args:
        variables: the variables; the last one varies fastest.
        labels: the labels of the candidates.
        prepare: makes the candidates for a point; an exception counts as a failure of that point.
        plan: how precisely to measure. Its budget is divided among all points, and excludes first calls and their
            compilations: all points are measured.
        baseline: the label of the candidate that the others are compared with.
        check: how to compare the outputs with the baseline's: a kind, a share, or ``rtol`` and ``atol``.
        strict: whether to raise if outputs differ.
        profiled: whether to profile some more calls of each candidate.
        code: the source, for the record.
        shown: makes a progress display; one is for all points, and another within it for each point.
        clock: the clock, in nanoseconds.

    Raises:
        OutputsDiffer: `strict`, and a candidate computes something else.
        DonatedTwice: a call after the first used an array that an earlier call had donated or deleted.
        KeyboardInterrupt: interrupted before anything was measured.
        Exception: the first point's error, if all points failed.
    """
    started_at = timestamp()
    grid = list(product(*(range(len(each.labels)) for each in variables)))
    points: list[Point] = []
    stopped_by: SweepEnd = "end"
    first_error: Exception | None = None
    measured = False
    share = plan._replace(budget_ns=max(plan.budget_ns // len(grid), 1))
    how = {"baseline": baseline, "check": check, "strict": strict, "profiled": profiled, "clock": clock}
    try:
        with shown() as progress:
            progress.stage("points", len(grid))
            for at in grid:
                progress.advance(len(points))
                with shown() as within:
                    point, error = _take_point(at, prepare, share, progress=within, **how)
                points.append(point)
                measured = measured or point.comparison is not None
                first_error = None if measured else first_error or error
                if point.comparison is not None and point.comparison.stopped_by == "interrupt":
                    raise KeyboardInterrupt
    except (KeyboardInterrupt, SystemExit):
        if not measured:
            raise
        stopped_by = "interrupt"
    if measured and interrupted():
        stopped_by = "interrupt"
    if first_error is not None:
        first_error.add_note("Every point of the sweep failed; this is the error of the first.")
        raise first_error
    return Sweep(
        code=code,
        started_at=started_at,
        variables=tuple(variables),
        labels=tuple(labels),
        baseline=baseline,
        points=tuple(points),
        budget_ns=plan.budget_ns,
        stopped_by=stopped_by,
        environment=probe(),
    )


def _take_point(at: Position, prepare: Prepare, plan: Plan, **how: Any) -> tuple[Point, Exception | None]:
    """Measure one point of the grid, and return its first error if all of it failed; the record has only text."""
    errors: dict[str | None, Exception] = {}
    comparison = None
    try:
        comparison = take_comparison(
            interruptible(prepare)(at), plan, failed=errors.__setitem__, **how
        ).without_values()
    except JaxMagicError:
        raise
    except AllFailed:
        pass
    except Exception as error:
        errors[None] = error
    failures = tuple(Failure(label=label, error=in_words(error)) for label, error in errors.items())
    first = next(iter(errors.values()), None)
    if any(jax_errors.ran_out_of_memory(each) for each in errors.values()):
        for each in errors.values():
            each.__traceback__ = each.__context__ = None  # frees the arrays in its frames for the next point
        gc.collect()
    return Point(at=at, comparison=comparison, failures=failures), first if comparison is None else None


def in_words(error: BaseException) -> str:
    r"""Describe an exception in one line.

    >>> in_words(ValueError("too\n  large"))
    'ValueError: too large'
    """
    message = " ".join(message_of(error).split())
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
