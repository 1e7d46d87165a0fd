"""Assertions for test suites: what compiles, what is faster, and what has become slower.

Each fails with the report. Times are judged by verdicts and intervals, never by a bare threshold: where a machine is
too noisy to tell, a test warns and passes.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import units
from .benchmarking.record.benchmark import Benchmark
from .benchmarking.report.versus import about_basis, verdict
from .benchmarking.verbs.benchmark import benchmark
from .benchmarking.verbs.earlier import put_beside
from .comparison.record.candidate import CheckKind
from .comparison.verbs.compare import compare
from .records.storage import load
from .report.to_text import to_text
from .runtime.given import not_negative, positive, whole
from .timing.verbs import stopwatch


@contextmanager
def assert_max_compiles(most: int) -> Iterator[None]:
    """A block in which at most so many programs compile, eager operations and other threads of the block included.

    Args:
        most: how many.

    Raises:
        AssertionError: more compiled, or that is not known; with the report, which says what and why.
        ValueError: `most` is no whole number from 0 on; nothing was run.

    >>> import jax, jax.numpy as jnp
    >>> f, x = jax.jit(lambda x: 2 * x), jnp.ones(3)
    >>> with assert_max_compiles(1):
    ...     _ = f(x), f(x)
    """
    __tracebackhide__ = True
    whole("most", most, least=0)
    with stopwatch() as watch:
        yield
    timing = watch.timing
    programs = [each for each in timing.compilations if each.compiled and each.thread is None]
    if len(programs) > most or not timing.heard_all:
        found = f"found {len(programs)}" if timing.heard_all else "what compiled is not known"
        raise AssertionError(
            f"expected at most {units.count(most, 'program')} to compile; {found}.\n{to_text(timing)}"
        )


@contextmanager
def assert_no_compile() -> Iterator[None]:
    """A block in which nothing compiles: everything in it has been called before with the same shapes and types.

    Raises:
        AssertionError: something compiled; with the report, which says what and why.

    >>> import jax, jax.numpy as jnp
    >>> f, x = jax.jit(lambda x: 2 * x), jnp.ones(3)
    >>> _ = f(x)
    >>> with assert_no_compile():
    ...     _ = f(x)
    """
    __tracebackhide__ = True
    with assert_max_compiles(0):
        yield


def assert_faster(
    fn: Callable[..., Any],
    than: Callable[..., Any],
    *args: Any,
    at_least: float = 1.0,
    check: CheckKind = "allclose",
    budget_s: float = 2.0,
    **kwargs: Any,
) -> None:
    """`fn` is faster than `than` on the same arguments, and computes the same.

    Fails where the verdict is *slower* or *no difference*, or where the whole interval says that it is less than
    `at_least` times as fast. Where it is *too noisy to tell*, it warns and passes.

    Args:
        fn: what should be faster.
        than: what it should be faster than.
        args: positional arguments of both.
        at_least: how many times as fast.
        check: how the outputs are compared; ``"none"`` to compare none.
        budget_s: how long both may be measured, in seconds.
        kwargs: keyword arguments of both.

    Raises:
        AssertionError: it is not, or computes something else; with the report.
        ValueError: `at_least` or `budget_s` is no positive number.

    >>> import time
    >>> assert_faster(lambda: time.sleep(0.001), lambda: time.sleep(0.005), budget_s=0.2)
    """
    __tracebackhide__ = True
    positive("at_least", at_least)
    comparison = compare(
        {"the other one": than, "fn": fn}, *args, check=check, strict=True, budget_s=budget_s, **kwargs
    )
    found = comparison["fn"]
    wanted = "faster than" if at_least <= 1 else f"{units.factor(at_least)} as fast as"
    sentence = f"expected fn to be {wanted} the other one; it is {verdict(found)}.\n{to_text(comparison)}"
    if found.verdict == "too noisy to tell" or found.ratio is None:
        warnings.warn(f"Not known: {sentence}", stacklevel=2)
    elif found.verdict != "faster" or 1 / found.ratio.low < at_least:
        raise AssertionError(sentence)


def assert_no_regression(
    record: Benchmark | Callable[[], Any],
    baseline: Benchmark | str | os.PathLike[str],
    tolerance: float = 0.1,
    *,
    processes: int | None = None,
    anyway: bool = False,
    measure: bool = True,
) -> None:
    """`record` is not slower than `baseline` by more than the tolerance.

    Fails only where the whole interval of the ratio lies beyond it. That interval knows what differs from process to
    process: from the records, if both are of three processes or more; else from a measurement on this machine, which
    takes some 15 s once in a session; else 2 % are assumed. Where a slowdown beyond the tolerance can be neither
    shown nor excluded, it warns and passes.

    Args:
        record: measured now; or a function without arguments, which is measured here.
        baseline: measured earlier, or the file of it.
        tolerance: 0.1 allows 10 % more time.
        processes: measure the function in so many fresh processes; in this process if left out.
        anyway: compare although the records are from different environments.
        measure: whether the noise between processes may be measured, where a verdict takes it.

    Raises:
        AssertionError: it is slower; with both numbers.
        NotComparable: the environments differ.
        NotMeasured: one of the two has too few samples.
        RecordError: the file is no record.
        OSError: the file cannot be read.
        LaunchError: the function cannot be measured in fresh processes.
        ValueError: `tolerance` is no number from 0 on.
        TypeError: a record with `processes`, or something that is neither a record nor a function.

    >>> import jaxmagic
    >>> b = jaxmagic.benchmark(sum, range(1000), budget_s=0.1)
    >>> assert_no_regression(b, b, tolerance=0.5, measure=False)
    """
    __tracebackhide__ = True
    not_negative("tolerance", tolerance)
    old = baseline if isinstance(baseline, Benchmark) else load(baseline)
    if not isinstance(old, Benchmark):
        raise TypeError(f"baseline: expected a Benchmark, got a {type(old).__name__}")
    new = _measured(record, processes)
    (found,) = put_beside(old, new, anyway=anyway, measure=measure)
    if found.ratio is None or found.ratio.high <= 1 + tolerance:
        return
    sentence = (
        f"expected at most {units.percent(tolerance)} more time than the baseline; "
        f"it is {verdict(found)}. {' '.join(about_basis([found]))}\n"
        f"before: {to_text(old)}\nnow: {to_text(new)}"
    )
    if found.ratio.low > 1 + tolerance:
        raise AssertionError(sentence)
    warnings.warn(f"Not known: {sentence}", stacklevel=2)


def _measured(record: object, processes: int | None) -> Benchmark:
    """The record itself, or the one of a function."""
    if isinstance(record, Benchmark):
        if processes is not None:
            raise TypeError(
                "processes: expected a function to measure, got a Benchmark that has been measured already"
            )
        return record
    if not callable(record):
        raise TypeError(f"record: expected a Benchmark or a function, got a {type(record).__name__}")
    return benchmark(record, processes=processes)
