"""Assertions for test suites, about compilations, speed-ups, regressions and what a diagnosis finds.

Each fails with the report. Times are judged by verdicts and intervals, never by a bare threshold. If the machine is
too noisy for a verdict, an assertion warns and passes.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from . import units
from .benchmarking.analysis import require_enough_samples
from .benchmarking.record.benchmark import Benchmark
from .benchmarking.report.versus import about_basis, about_inputs, about_load, verdict
from .benchmarking.verbs.benchmark import benchmark
from .benchmarking.verbs.earlier import compare_records, load_baseline
from .comparison.record.candidate import CheckBy
from .comparison.verbs.compare import compare
from .doctor.verbs.diagnose import diagnose, require_rules
from .records.names import nearest_name, type_in_words
from .report.style import DEFAULT
from .report.to_text import to_text
from .runtime.given import check_function, not_negative, positive, whole
from .runtime.given_arguments import misfit, no_attribute, options_of, over_a_block, require_taken
from .terminal import printable, written_to
from .timing.record import Timing
from .timing.report import about_unexpected
from .timing.verbs import stopwatch
from .tracebacks import of_the_user

_P = ParamSpec("_P")
_R = TypeVar("_R")


def __dir__() -> list[str]:
    """List the assertions, and nothing that is only imported here."""
    return sorted(name for name in globals() if name.startswith(("assert_", "__")))


def __getattr__(name: str) -> Any:
    meant = nearest_name(name, __dir__()) if name.startswith("assert") else None
    error = no_attribute(__name__, name, meant, sys._getframe(1))
    try:
        raise error
    finally:
        error.__traceback__ = None  # this line is no news to the user


class _MostCompiles:
    """Watches a block, or the calls of a function that it decorates; pytest hides its frames, but not contextlib's.

    Args:
        most: the largest number of programs.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    def __enter__(self) -> None:
        __tracebackhide__ = True
        self._watch = stopwatch()
        self._watch.__enter__()

    def __exit__(self, *raised: Any) -> None:
        __tracebackhide__ = True
        self._watch.__exit__(*raised)
        if raised[0] is None:
            self._check(self._watch.timing)

    def _check(self, timing: Timing) -> None:
        __tracebackhide__ = True
        programs = [each for each in timing.compilations if each.compiled and each.thread is None]
        if len(programs) > self._most or not timing.heard_all:
            count = f"got {len(programs)}" if timing.heard_all else "but not all compilations were observed"
            expected = f"at most {units.count(self._most, 'program')}" if self._most else "no program"
            hint = about_unexpected(programs) if programs and not self._most else ""
            raise _failure(f"expected {expected} to compile, {count}.{hint}\n{to_text(timing, stream=sys.stdout)}")

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Return a function each of whose calls is watched."""
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            expected = "expected a function whose call runs all of it, got a coroutine or a generator."
            raise TypeError(f"{function.__name__}: {expected} Write with and the assertion inside of it.")

        @wraps(function)
        def watched(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            __tracebackhide__ = True
            with _MostCompiles(self._most):
                return function(*args, **kwargs)

        return watched


@over_a_block(
    "the largest number of programs",
    "with assert_max_compiles(1): f(x)",
    lambda most: whole("most", most, least=0),
)
def assert_max_compiles(most: int) -> AbstractContextManager[None]:
    """Assert that at most this many programs compile in a block, including eager operations and the block's threads.

    Args:
        most: the largest number of programs.

    Raises:
        AssertionError: more programs compiled, or not all compilations were observed. The report says which and why.
        TypeError: the call is a statement by itself, without ``with``, and would check nothing.
        ValueError: `most` is not an integer of at least 0; nothing was run.

    >>> import jax, jax.numpy as jnp
    >>> f, x = jax.jit(lambda x: 2 * x), jnp.ones(3)
    >>> with assert_max_compiles(1):
    ...     _ = f(x), f(x)
    """
    return _MostCompiles(most)


@over_a_block("no argument", "with assert_no_compile(): f(x)")
def assert_no_compile() -> AbstractContextManager[None]:
    """Assert that nothing compiles in a block: all of it was called before with the same shapes and types.

    Earlier calls count wherever the process made them, also in other tests; ``jax.clear_caches()`` forgets them.

    Raises:
        AssertionError: a program compiled. The report says which and why.
        TypeError: the call is a statement by itself, without ``with``, and would check nothing.

    >>> import jax, jax.numpy as jnp
    >>> f, x = jax.jit(lambda x: 2 * x), jnp.ones(3)
    >>> _ = f(x)
    >>> with assert_no_compile():
    ...     _ = f(x)
    """
    return _MostCompiles(0)


@of_the_user
def assert_healthy(fn: Callable[..., Any], *args: Any, ignore: Sequence[str] = (), **kwargs: Any) -> None:
    """Assert that ``diagnose()`` finds nothing in a call that costs time or memory.

    Args:
        fn: the function, which is called several times.
        args: its positional arguments.
        ignore: the names of rules whose findings are no failure, such as ``"compile-time"``.
        kwargs: its keyword arguments, or options of ``diagnose()``.

    Raises:
        AssertionError: something was found. The message includes the report.
        TypeError: `fn` cannot be called.
        ValueError: there is no rule of a name in `ignore`; nothing was run.

    >>> import jax, jax.numpy as jnp
    >>> f, x = jax.jit(lambda x: jnp.sin(x) @ x), jnp.ones((100, 100))
    >>> assert_healthy(f, x)
    """
    __tracebackhide__ = True
    if isinstance(ignore, str):
        raise ValueError(f"ignore: expected several names of rules, got {ignore!r}. Write ignore=[{ignore!r}]")
    check_function("assert_healthy", fn)
    require_rules("ignore", ignore)
    diagnosis = diagnose(fn, *args, **kwargs)
    rules = list(dict.fromkeys(each.rule for each in diagnosis.findings if each.rule not in ignore))
    if rules:
        raise _failure(
            f"expected nothing to be found, got {', '.join(rules)}.\n{to_text(diagnosis, stream=sys.stdout)}"
        )


@of_the_user
def assert_faster(
    fn: Callable[..., Any],
    than: Callable[..., Any],
    *args: Any,
    at_least: float = 1.0,
    check: CheckBy = "allclose",
    budget_s: float = 2.0,
    **kwargs: Any,
) -> None:
    """Assert that `fn` is faster than `than` on the same arguments, and computes the same.

    It fails if the verdict is *slower* or *no difference*, or if the whole interval lies below `at_least` times as
    fast. If the verdict is *too noisy to tell*, it warns and passes.

    Args:
        fn: the function that should be faster.
        than: the function to compare with.
        args: positional arguments of both.
        at_least: how many times as fast `fn` should be.
        check: how to compare the outputs, as in ``compare()``; ``"none"`` to skip that.
        budget_s: how long to measure both together, in seconds.
        kwargs: keyword arguments of both.

    Raises:
        AssertionError: `fn` is not faster, or computes something else. The message includes the report.
        ValueError: `at_least` or `budget_s` is not a positive number.

    >>> import time
    >>> assert_faster(lambda: time.sleep(0.001), lambda: time.sleep(0.005), budget_s=0.2)
    """
    __tracebackhide__ = True
    positive("at_least", at_least, example=2)
    for name, function in (("fn", fn), ("than", than)):
        if not callable(function):
            raise TypeError(
                f"{name}: expected a function, got {type_in_words(function)}. Write assert_faster(f, g, x)"
            )
    for name in ("baseline", "strict"):
        if name in kwargs:
            raise TypeError(f"assert_faster(): expected no option {name}, got {kwargs[name]!r}. Leave it out")
    functions = {"the other": than, "fn": fn}
    try:
        comparison = compare(functions, *args, check=check, strict=True, budget_s=budget_s, **kwargs)
    except TypeError:
        passed = {name: value for name, value in kwargs.items() if name not in options_of(compare)}
        require_taken(assert_faster, {"fn": fn, "than": than}, None if "setup" in kwargs else args, passed, "f, g, x")
        raise
    versus = comparison["fn"]
    expected = "faster than" if at_least <= 1 else f"{units.factor(at_least)} as fast as"
    sentence = f"expected fn to be {expected} the other; it is {verdict(versus)}.\n{to_text(comparison)}"
    if versus.verdict == "too noisy to tell" or versus.ratio is None:
        warnings.warn(written_to(f"Inconclusive: {sentence}", sys.stderr), stacklevel=3)  # beyond the decorator
    elif versus.verdict != "faster" or 1 / versus.ratio.low < at_least:
        raise _failure(sentence)


@of_the_user
def assert_no_regression(
    record: Benchmark | Callable[[], Any],
    baseline: Benchmark | str | os.PathLike[str],
    tolerance: float = 0.1,
    *,
    processes: int | None = None,
    anyway: bool = False,
    measure: bool = True,
) -> None:
    """Assert that `record` is not slower than `baseline` by more than the tolerance.

    It fails only if the whole interval of the ratio lies above the tolerance. The interval includes the variation
    between processes. This comes from the records if both are over three or more processes; otherwise it is measured
    on this machine, which takes 15 s or more once per session; otherwise 2 % is assumed. If a slowdown beyond the
    tolerance can be neither shown nor excluded, it warns and passes.

    Args:
        record: a record measured now, or a function without arguments to measure.
        baseline: an earlier record, or the path of its file.
        tolerance: 0.1 allows 10 % more time.
        processes: measure the function in this many fresh processes; in this process if left out.
        anyway: compare although the records are from different environments.
        measure: whether the noise between processes may be measured if a verdict needs it.

    Raises:
        AssertionError: it is slower. The message includes both reports.
        NotComparable: the environments differ.
        NotMeasured: one of the two has too few samples.
        RecordError: the file is not a record.
        OSError: the file cannot be read.
        LaunchError: the function cannot be measured in fresh processes.
        ValueError: `tolerance` is not a number of at least 0.
        TypeError: `processes` was given with a record, or `record` is neither a record nor a function.

    >>> import jaxmagic
    >>> b = jaxmagic.benchmark(sum, range(1000), budget_s=0.1)
    >>> assert_no_regression(b, b, tolerance=0.5, measure=False)
    """
    __tracebackhide__ = True
    not_negative("tolerance", tolerance)
    if not (isinstance(record, Benchmark) or callable(record)):
        raise TypeError(f"record: expected a Benchmark or a function, got {type_in_words(record)}. {_ORDER}")
    if not isinstance(baseline, Benchmark | str | os.PathLike):
        raise TypeError(
            f"baseline: expected a Benchmark or the path of its file, got {type_in_words(baseline)}. {_ORDER}"
        )
    old = baseline if isinstance(baseline, Benchmark) else load_baseline(baseline)
    if not isinstance(old, Benchmark):
        raise TypeError(f"baseline: expected the file of a Benchmark, got that of a {type(old).__name__}. {_ORDER}")
    new = _measured(record, old, processes)
    (versus,) = compare_records(old, new, anyway=anyway, measure=measure)
    if versus.ratio is None or versus.ratio.high <= 1 + tolerance:
        return
    rests_on = " ".join([*about_inputs([versus]), *about_load([versus]), *about_basis([versus])])
    sentence = (
        f"expected at most {units.percent(tolerance)} more time than the baseline; "
        f"it is {verdict(versus)}. {rests_on}\nbefore: {to_text(old, _COMPARED)}\nnow: {to_text(new, _COMPARED)}"
    )
    if versus.ratio.low > 1 + tolerance:
        raise _failure(sentence)
    warnings.warn(written_to(f"Inconclusive: {sentence}", sys.stderr), stacklevel=3)  # beyond the decorator


def _failure(text: str) -> AssertionError:
    """Return the failure of an assertion, whose report any terminal can print."""
    return AssertionError(written_to(text, sys.stdout))


#: Reports beside a verdict, which says how much processes vary.
_COMPARED = replace(DEFAULT, compared=True)

#: How to call the assertion about an earlier record.
_ORDER = "Write assert_no_regression(lambda: f(x), 'baseline.json')"


def _measured(record: Benchmark | Callable[[], Any], old: Benchmark, processes: int | None) -> Benchmark:
    """Return the record itself, or the benchmark of a function if that can be compared with the old one."""
    if isinstance(record, Benchmark):
        if processes is not None:
            raise TypeError("processes: expected a function to measure, got a Benchmark. Leave processes out")
        return record
    if problem := misfit(record, (), {}):
        raise TypeError(printable(f"record: {problem}. {_ORDER}"))
    require_enough_samples(old, "The baseline", processes if isinstance(processes, int) else 1)
    return benchmark(record, processes=processes)
