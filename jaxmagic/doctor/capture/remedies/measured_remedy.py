"""Measures some code and the code with a remedy in turns, and compares their outputs."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, NamedTuple

import numpy as np

from ....benchmarking.capture.plan import Plan
from ....benchmarking.capture.runner import Runner
from ....comparison.capture.check_outputs import check_output
from ....comparison.capture.contestants import Entry
from ....comparison.capture.rounds import take_comparison
from ....comparison.record.candidate import Check
from ....comparison.record.comparison import Comparison
from ....errors import briefly
from ....records.note import Note, note
from ....runtime.around import is_a
from ....runtime.clock import Clock
from ....runtime.tracing import is_array
from ....statistics.medians import median
from ...record.finding import Verified
from .remedy import NotTried

#: Measuring ends once the interval reaches no farther than this share of the ratio to either side.
_RTOL = 0.05

#: A first run with the remedy that takes at least this long, and so many times as long as later ones, is told.
_LONG_FIRST_NS = 10**9
_TIMES_LATER = 3

#: Larger outputs of the first run are not kept to see whether outputs vary.
_MOST_KEPT_BYTES = 2**28

#: The machine epsilons of coarse types of products: of bfloat16, and of TF32, whose fractions have 10 bits.
_PRODUCT_EPS = {"bf16": 2.0**-7, "tf32": 2.0**-10}

_BEFORE, _AFTER = "before", "after"


class Run(NamedTuple):
    """Something that is run repeatedly.

    Attributes:
        call: runs it.
        each: prepares each run.
    """

    call: Callable[[], Any]
    each: Callable[[], None] | None = None


class Measured(NamedTuple):
    """The result of measuring.

    Attributes:
        verified: the record.
        interrupted: whether the user interrupted, and nothing else should be measured.
        first_ns: how long the first run of each took, in their order; 0 where none has returned.
        outputs: the outputs that were compared, if they differ.
    """

    verified: Verified
    interrupted: bool
    first_ns: tuple[int, int] = (0, 0)
    outputs: tuple[Any, Any] | None = None


class _Spent(Exception):
    """The time is over, and no other run begins."""


class _Counted:
    """Counts runs, begins none after a deadline, and keeps the outputs of the first and the last one.

    Attributes:
        count: how many runs have begun.
        began: the place of the last of them in the order of all runs.
        first_ns: the time until the first run returned; 0 before. It compiles what the run needs.
        first: the outputs of the first run.
        last: the outputs of the last run. A comparison that the deadline cuts short keeps none.
    """

    def __init__(self, run: Run, order: Iterator[int], deadline_ns: int, clock: Clock) -> None:
        self.count = 0
        self.began = 0
        self.first_ns = 0
        self.first: Any = None
        self.last: Any = None
        self._run = run
        self._order = order
        self._deadline_ns = deadline_ns
        self._clock = clock

    def __call__(self) -> Any:
        if self._clock() > self._deadline_ns:
            raise _Spent
        self.count += 1
        self.began = next(self._order)
        begin = self._clock()
        self.last = value = self._run.call()
        if self.count == 1:
            self.first_ns = self._clock() - begin
            kept = (each for each in _leaves(value) if is_array(each) or is_a(each, np.ndarray))
            self.first = value if sum(each.nbytes for each in kept) <= _MOST_KEPT_BYTES else self.first
        return value


def measured(
    before: Run,
    after: Run,
    *,
    budget_ns: int,
    deadline_ns: int,
    clock: Clock,
    expected: Any = None,
    products: str = "",
    dtypes: bool = False,
) -> Measured:
    """Measure two runs in turns.

    Args:
        before: the original.
        after: the same with the remedy.
        budget_ns: how long to measure both, without their first runs.
        deadline_ns: when no other run begins.
        clock: the clock of the deadline, in nanoseconds.
        expected: the outputs to compare with, if they are not those of the original.
        products: the coarser type in which the remedy computes products: outputs may differ by its rounding.
        dtypes: whether the outputs have to have the dtypes of the original as well.

    Returns:
        The record, which has nothing but notes if there was not enough time, the user interrupted, or a run failed.
    """
    order = itertools.count(1)
    counted = {label: _Counted(run, order, deadline_ns, clock) for label, run in ((_BEFORE, before), (_AFTER, after))}
    taken: list[Any] = []
    interrupted = False
    why, stopped = note("doctor.trial_unfinished"), False
    comparison: Comparison | None = None
    try:
        with silenced():
            comparison = take_comparison(
                {
                    label: Entry(Runner(counted[label], each=run.each))
                    for label, run in ((_BEFORE, before), (_AFTER, after))
                },
                Plan(rtol=_RTOL, budget_ns=max(budget_ns, 1)),
                baseline=_BEFORE,
                check="none",
                unfinished=taken.append,
            )
    except _Spent:
        comparison = next((each for each in taken if isinstance(each, Comparison)), None)
    except KeyboardInterrupt:
        interrupted, why = True, note("doctor.not_tried_interrupt")
    except NotTried as problem:
        (why,), stopped = problem.notes, True
    except Exception as error:
        is_the_remedys = counted[_AFTER].began > counted[_BEFORE].began
        why = failure(error) if is_the_remedys else note("doctor.not_tried_code", error=briefly(error))
    runs = note(
        "doctor.tried_runs",
        before_runs=counted[_BEFORE].count,
        after_runs=counted[_AFTER].count,
        stopped=int(stopped),
    )
    firsts = counted[_BEFORE].first_ns, counted[_AFTER].first_ns
    if comparison is None:
        return Measured(Verified(notes=(why, *_about_first(*firsts, 0.0), runs)), interrupted, firsts)
    versus = comparison[_AFTER]
    times = {label: median(comparison.candidate(label).latency.calls_ns) for label in counted}
    agree, notes = _agree(counted, expected, products)
    if agree and dtypes and (told := about_dtypes(counted[_BEFORE].first, counted[_AFTER].last)):
        agree, notes = None, [*notes, told]
    ratio = versus.ratio
    verified = Verified(
        before_ns=times[_BEFORE],
        after_ns=times[_AFTER],
        speedup=None if ratio is None else 1 / ratio.value,
        low=None if ratio is None else 1 / ratio.high,
        high=None if ratio is None else 1 / ratio.low,
        outputs_agree=agree,
        notes=(
            *notes,
            *([note("doctor.tried_too_few")] if ratio is None else []),
            *_about_first(*firsts, times[_AFTER]),
            runs,
        ),
    )
    original = counted[_BEFORE].last if expected is None else expected
    differing = (comparable(original), comparable(counted[_AFTER].last)) if agree is False else None
    return Measured(verified, comparison.stopped_by == "interrupt", firsts, differing)


def _about_first(before_ns: int, first_ns: int, later_ns: float) -> list[Note]:
    """Say how long the first run with the remedy took, if that is long: the user waits as long for it.

    The original is compiled before the trial, so that its first run there is like its others.
    """
    if first_ns < max(_LONG_FIRST_NS, _TIMES_LATER * later_ns):
        return []
    return [note("doctor.tried_first_run", first_ns=first_ns, before_ns=before_ns)]


def failure(error: Exception) -> Note:
    """Say that the code failed with the remedy."""
    return note("doctor.not_tried_failed", error=briefly(error))


def _agree(counted: dict[str, _Counted], expected: Any, products: str) -> tuple[bool | None, list[Note]]:
    """Return whether the outputs agree; ``None`` if there are none, or if those of the original vary."""
    of_original = (counted[_BEFORE].last, counted[_BEFORE].first) if expected is None else (expected, expected)
    original, first, after = map(comparable, (*of_original, counted[_AFTER].last))
    if not _leaves(original):
        return None, [note("doctor.no_outputs")]
    check = check_output(after, original, "allclose", coarsest_eps=_PRODUCT_EPS.get(products, 0.0))
    if not check.passed and not check_output(first, original, "allclose").passed:
        return None, [note("doctor.outputs_vary")]
    rounded = products and check.problem is None
    return check.passed, [_about_rounding(check, products)] if rounded else _about_error(check)


def _about_error(check: Check) -> list[Note]:
    if check.problem is not None:
        return [note("doctor.outputs_problem", leaf=check.leaf or "the output", problem=check.problem)]
    if not check.largest_error:
        return []
    told = note(
        "doctor.outputs_error",
        error=check.largest_error,
        allowed=check.atol or 0.0,
        dtype=check.dtype or "?",
        leaf=_leaf(check),
        rtol=check.rtol or 0.0,
    )
    return [told]


def about_dtypes(before: Any, after: Any) -> Note | None:
    """Say in which dtype outputs differ that agree in value, leaving out Python numbers."""
    import jax

    for first, other in zip(_leaves(comparable(before)), _leaves(comparable(after)), strict=True):
        typed = hasattr(first, "dtype") and hasattr(other, "dtype") and not getattr(first, "weak_type", False)
        if typed and first.dtype != other.dtype and jax.dtypes.canonicalize_dtype(first.dtype) != other.dtype:
            return note("doctor.outputs_dtype", before=first.dtype.name, after=other.dtype.name)
    return None


def _leaf(check: Check) -> str:
    """Return the name of one of several arrays; empty if there is one."""
    return "" if check.leaf in (None, "the output") else str(check.leaf)


def _about_rounding(check: Check, products: str) -> Note:
    share = 1.0 if check.share is None else check.share
    allowed = check.rtol or 1.0
    return note("doctor.outputs_rounded", share=share, allowed=allowed, products=products, leaf=_leaf(check))


def _leaves(value: Any) -> list[Any]:
    import jax

    found: list[Any] = jax.tree.leaves(value)
    return found


def comparable(value: Any) -> Any:
    """Return outputs without what is neither an array nor a plain value.

    Without 64-bit types in JAX, NumPy's ``float64`` are compared as ``float32``: JAX computes no more precisely.
    """
    import jax

    kinds = (jax.Array, np.ndarray, np.generic)
    plain = (bool, int, float, complex, str, bytes)
    narrow = not jax.config.jax_enable_x64

    def kept(each: Any) -> Any:
        if narrow and is_a(each, (np.ndarray, np.float64)) and each.dtype == np.float64:
            with np.errstate(over="ignore"):
                return np.asarray(each).astype(np.float32)
        return each if isinstance(each, kinds) or is_a(each, plain) else None

    return jax.tree.map(kept, value)


class _Discard(io.TextIOBase):
    """Text that is not kept."""

    def write(self, text: str) -> int:
        return len(text)


@contextmanager
def silenced() -> Iterator[None]:
    """Discard what the code prints each time it runs."""
    with redirect_stdout(_Discard()):
        yield
