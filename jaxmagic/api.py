"""The verbs, for people without magics: each one captures, analyses, and returns or keeps a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from .capture.fence import fence
from .capture.functions import is_folded, name_of
from .capture.jax_version import require_jax
from .capture.stopwatch import Stopwatch
from .errors import NotMeasured
from .model.benchmark import Benchmark
from .model.comparison import CheckKind, Comparison, Versus
from .model.history import History, Record
from .model.sweep import Sweep
from .model.timing import Timing
from .storage import load, save

if TYPE_CHECKING:
    from ipywidgets import VBox

    from .capture.contestants import Entry
    from .capture.derivatives import Mode

__all__ = ["benchmark", "compare", "explore", "fence", "history", "last", "load", "save", "stopwatch", "sweep"]

_history = History()

_Repeated = TypeVar("_Repeated", bound=Benchmark | Comparison | Sweep)


def stopwatch(*, fetch: bool = False) -> Stopwatch:
    """A context manager that times a block and all the JAX work that it starts.

    It waits for what was in flight before the block begins, and at the end for everything: arrays wherever they
    were put, work whose result was thrown away, every local device, callbacks. The block's own exceptions come
    through; the times up to then are on the record.

    Args:
        fetch: also time the copy of ``t.result`` to the host, as a figure of its own.

    Returns:
        An object with ``timing``, a :class:`~jaxmagic.Timing` once the block has ended. Set its ``result``
        inside the block to tell waiting for that value apart from waiting for other work.

    Raises:
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax.numpy as jnp, jaxmagic
    >>> with jaxmagic.stopwatch() as t:
    ...     y = jnp.ones((100, 100)) @ jnp.ones((100, 100))
    >>> t.timing.wall_ns == t.timing.dispatch_ns + t.timing.wait_ns
    True
    """
    return Stopwatch(fetch=fetch, record=_history.append)


def benchmark(
    fn: Callable[..., Any],
    *args: Any,
    rtol: float = 0.01,
    budget_s: float = 1.0,
    setup: Callable[[], Iterable[Any]] | None = None,
    **kwargs: Any,
) -> Benchmark:
    """Call a function until its median time is known well enough.

    The first call is timed apart, with what it compiles. Then it is called until nothing compiles any more and calls
    get no faster, and then sampled: each call waited for, and after that calls enqueued without waiting for each.

    Args:
        fn: the function, jitted or not. Everything that it starts is waited for.
        args: its positional arguments.
        rtol: stop when the 95 % interval of the median reaches no farther than this share of it to either side.
        budget_s: or when this many seconds have been spent, the first call aside.
        setup: called before every sample, outside the clock; it returns the positional arguments, in place of
            `args`. For functions that donate theirs.
        kwargs: keyword arguments of `fn`.

    Returns:
        The record. It is in :func:`history` as well, without its ``value``.

    Raises:
        ValueError: `rtol` or `budget_s` is not positive.
        TypeError: both `args` and `setup` were given.
        DonatedTwice: `fn` donates its arguments, and there is no `setup`.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> b = jaxmagic.benchmark(jax.jit(jnp.sin), jnp.ones(1000), budget_s=0.1)
    >>> b.interval_ns[0] <= b.median_ns <= b.interval_ns[1]
    True
    """
    from .capture.runner import runner_of
    from .capture.sampler import Plan, take_benchmark

    require_jax()
    if not callable(fn):
        raise TypeError(
            f"benchmark() takes a function and its arguments; found {type(fn).__name__}, which cannot be called. "
            "Write benchmark(f, x), not benchmark(f(x))."
        )
    plan = Plan(rtol=_positive("rtol", rtol), budget_ns=_nanoseconds(budget_s))
    if setup is not None and args:
        raise TypeError("the arguments come from setup or from args, not from both. Return them all from setup.")
    runner = runner_of(fn, args, kwargs, setup)
    return keep(take_benchmark(runner, plan, code=name_of(fn), folded=is_folded(fn, args, kwargs) and not setup))


@overload
def compare(candidates: Benchmark, new: Benchmark, /, *, anyway: bool = False) -> Versus: ...
@overload
def compare(candidates: Comparison, new: Comparison, /, *, anyway: bool = False) -> dict[str, Versus]: ...
@overload
def compare(candidates: Sweep, new: Sweep, /, *, anyway: bool = False) -> dict[str, Versus]: ...
@overload
def compare(
    candidates: Mapping[str, Callable[..., Any]],
    /,
    *args: Any,
    baseline: str | None = None,
    check: CheckKind = "allclose",
    strict: bool = False,
    rtol: float = 0.01,
    budget_s: float | None = None,
    modes: Sequence[Mode] = ("forward",),
    setup: Callable[[], Iterable[Any]] | None = None,
    **kwargs: Any,
) -> Comparison: ...
def compare(
    candidates: Mapping[str, Callable[..., Any]] | Benchmark | Comparison | Sweep,
    /,
    *args: Any,
    baseline: str | None = None,
    check: CheckKind = "allclose",
    strict: bool = False,
    rtol: float = 0.01,
    budget_s: float | None = None,
    modes: Sequence[Mode] = ("forward",),
    setup: Callable[[], Iterable[Any]] | None = None,
    **kwargs: Any,
) -> Comparison | Versus | dict[str, Versus]:
    """Measure functions side by side, on the same arguments: which is faster, by how much, and how sure is that?

    They are called in turns, in rounds whose order is shuffled. What counts is the median of the ratios of each
    round, beside what the baseline differs from itself in the same rounds.

    With two records of a kind in the place of functions, ``compare(old, new)``, nothing is measured: the new one is
    put beside the old one. That is refused where they are from different environments, unless ``anyway=True``.

    Args:
        candidates: the functions by their labels.
        args: their positional arguments.
        baseline: the label of the one that the others are compared with; the first one if left out.
        check: how the outputs are compared with the baseline's: ``"allclose"``, ``"equal"`` or ``"none"``.
        strict: raise instead of timing functions that compute something else.
        rtol: stop when the intervals of all ratios reach no farther than this share of them to either side.
        budget_s: or when this many seconds have been spent, first calls aside; one for each candidate if left out.
        modes: what of each function is called: ``"forward"``, ``"grad"`` or ``"value_and_grad"``, the derivatives
            with respect to the first argument, and jitted where the function is. With several of them each function
            is there once for each, under labels such as ``"f grad"``.
        setup: called before every sample, outside the clock; it returns the positional arguments, in place of `args`.
        kwargs: keyword arguments of all.

    Returns:
        The record: ``comparison["label"]`` has ``ratio``, ``interval``, ``verdict`` and ``break_even_calls``. Of two
        benchmarks what the new one is beside the old one, of two comparisons or sweeps that for each label.

    Raises:
        NotComparable: two records are from different environments.
        NotMeasured: two records have too few samples to compare.
        ValueError: fewer than two candidates, a label that is no text, an unknown baseline, check or mode, or a
            number that is not positive.
        TypeError: a candidate that cannot be called, or two records that are not of one kind.
        OutputsDiffer: `strict`, and a candidate computes something else.
        DonatedTwice: a function donates its arguments, and there is no `setup`.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> def f(x):
    ...     return jnp.sin(jnp.sin(jnp.sin(x)))
    >>> comparison = jaxmagic.compare({"eager": f, "jit": jax.jit(f)}, jnp.ones(1000), budget_s=0.2)
    >>> comparison["jit"].verdict in ("faster", "slower", "no difference", "too noisy to tell")
    True
    """
    from .analysis.regression import against_record
    from .capture.derivatives import in_modes
    from .capture.entries import entries_of
    from .capture.rounds import take_comparison
    from .capture.sampler import Plan, default_budget_ns

    if isinstance(candidates, Benchmark | Comparison | Sweep):
        if len(args) != 1:
            raise TypeError(f"a record is compared with one other: compare(old, new); found {len(args)} others")
        found = against_record(candidates, *args, **kwargs)
        return found[0] if isinstance(candidates, Benchmark) else {each.label: each for each in found}
    require_jax()
    if not isinstance(candidates, Mapping):
        raise TypeError(
            f"compare() takes the functions by their labels, or two records; found {type(candidates).__name__}. "
            'Write for example compare({"f": f, "g": g}, x).'
        )
    moded = in_modes(_labels(candidates, check), modes, baseline)
    if len(moded) < 2:
        raise ValueError(f"to compare takes at least two candidates; found {len(moded)}")
    chosen = _baseline([each.label for each in moded], baseline)
    budget_ns = default_budget_ns(len(moded)) if budget_s is None else _nanoseconds(budget_s)
    plan = Plan(rtol=_positive("rtol", rtol), budget_ns=budget_ns)
    entries = entries_of(candidates, moded, args, kwargs, setup)
    return keep(take_comparison(entries, plan, baseline=chosen, check=check, strict=strict))


def sweep(
    candidates: Mapping[str, Callable[..., Any]] | Callable[..., Any],
    make_args: Callable[..., tuple[Any, ...]] | None = None,
    /,
    *,
    fresh: bool = False,
    baseline: str | None = None,
    check: CheckKind = "allclose",
    strict: bool = False,
    rtol: float = 0.01,
    budget_s: float | None = None,
    modes: Sequence[Mode] = ("forward",),
    **variables: Iterable[Any],
) -> Sweep:
    """Measure functions side by side for several sizes, types or settings.

    What fails somewhere, by running out of memory or else, is recorded with its error, and the sweep goes on. An
    interrupt ends it, and what was measured is returned.

    Args:
        candidates: one function, or several by their labels.
        make_args: is given a value of each variable, by name, and returns the positional arguments as a tuple. The
            values are the functions' own keyword arguments if left out.
        fresh: make the arguments before every sample, outside the clock, and not once for each point: for functions
            that donate theirs.
        baseline: the label of the one that the others are compared with; the first one if left out.
        check: how the outputs are compared with the baseline's: ``"allclose"``, ``"equal"`` or ``"none"``.
        strict: raise instead of timing functions that compute something else.
        rtol: a point is done when the intervals of all ratios reach no farther than this share of them.
        budget_s: or when its share of these seconds is spent, which bound the whole sweep with all first calls; half
            a second for each candidate and point if left out. A call that runs is not cut.
        modes: what of each function is called, as in :func:`compare`.
        variables: the values of each; several variables make a grid.

    Returns:
        The record: ``points`` has a :class:`~jaxmagic.Comparison` each, ``sweep["label"]`` the curves, and
        ``crossings`` where functions overtake each other.

    Raises:
        ValueError: no variable, one without values or with one twice, a label that is no text, or an unknown
            baseline, check or mode.
        TypeError: a candidate that cannot be called, a variable with one value, or `make_args` does not return a
            tuple.
        OutputsDiffer: `strict`, and a candidate computes something else.
        DonatedTwice: a function donates its arguments, and they are not `fresh`.
        KeyboardInterrupt: before anything was measured.
        Exception: what the first point failed with, where all of them did.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> f = jax.jit(lambda x: jnp.sin(x) ** 2)
    >>> sweep = jaxmagic.sweep({"sin": f}, lambda n: (jnp.ones(n),), n=[10, 1000, 100_000], budget_s=0.3)
    >>> sweep.variables[0].numbers, sweep.points[0].comparison.candidate("sin").first_call.compile_ns > 0
    ((10.0, 1000.0, 100000.0), True)
    """
    from .analysis.variables import variable
    from .capture.derivatives import in_modes
    from .capture.entries import entries_of
    from .capture.sampler import Plan, default_budget_ns
    from .capture.sweep import take_sweep
    from .render.progress import progress_bar

    require_jax()
    if callable(candidates):
        candidates = {name_of(candidates): candidates}
    functions = candidates
    moded = in_modes(_labels(functions, check), modes, baseline)
    labels = [each.label for each in moded]
    chosen = _baseline(labels, baseline)
    values = {name: _values(name, each) for name, each in variables.items()}
    if not values:
        raise ValueError("a sweep takes a variable with its values: n=[64, 256]")
    varied = [variable(name, each) for name, each in values.items()]
    points = prod(map(len, values.values()))
    budget_ns = default_budget_ns(len(labels), points) if budget_s is None else _nanoseconds(budget_s)

    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        here = {name: each[index] for (name, each), index in zip(values.items(), at, strict=True)}
        if make_args is None:
            return entries_of(functions, moded, (), here)
        make = partial(_arguments, make_args, here)
        return entries_of(functions, moded, (), {}, make) if fresh else entries_of(functions, moded, make(), {})

    plan = Plan(rtol=_positive("rtol", rtol), budget_ns=budget_ns)
    return keep(
        take_sweep(
            varied,
            labels,
            prepare,
            plan,
            baseline=chosen,
            check=check,
            strict=strict,
            progress=progress_bar,
        )
    )


def _arguments(make_args: Callable[..., Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    found = make_args(**values)
    if not isinstance(found, tuple):
        raise TypeError(
            f"make_args has to return the positional arguments as a tuple; found {type(found).__name__}. "
            "Write for example lambda n: (jnp.ones(n),) with the comma."
        )
    return found


def _labels(candidates: Mapping[str, Any], check: str) -> list[str]:
    """The labels of functions that can be compared in this way."""
    if check not in get_args(CheckKind):
        raise ValueError(f"check: one of {', '.join(get_args(CheckKind))} is wanted; found {check!r}")
    for label, fn in candidates.items():
        if not isinstance(label, str) or not label.strip():
            raise ValueError(f"labels have to be text; found {label!r}. Write for example {{'f': f}}")
        if not callable(fn):
            raise TypeError(f"{label}: a function is wanted; found {type(fn).__name__}. Write f, not f(x)")
    return list(candidates)


def _values(name: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: several values are wanted; found {values!r}. Write for example {name}=[{values!r}]")
    return tuple(values)


def _baseline(labels: Sequence[str], baseline: str | None) -> str:
    if not labels:
        raise ValueError("there is no candidate: give a function, or several by their labels")
    if baseline is not None and baseline not in labels:
        raise ValueError(f"baseline: there is no candidate {baseline!r}, only {', '.join(labels)}")
    return labels[0] if baseline is None else baseline


def keep(record: _Repeated) -> _Repeated:
    """Put `record` into the session's history, there without its values, and give it back."""
    _history.append(record.without_values())
    return record


def explore(record: Record | History | None = None) -> VBox:
    """A live view with ipywidgets: controls, and what they show.

    Without an argument it is of the session's history: bars of all runs, which part of them, in which unit and order,
    and the report of the run that is chosen. Of a comparison: the baseline, the metric, the statistic, which
    candidates, and measuring again. Of a benchmark: the distribution, or the calls in their order. Of a sweep: its
    points.

    Args:
        record: what to look at; the history if left out.

    Returns:
        The widget; a notebook shows it where it is the last value of a cell.

    Raises:
        TypeError: `record` is no record.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch():
    ...     pass
    >>> type(jaxmagic.explore()).__name__
    'HistoryView'
    """
    from .widgets.benchmark import BenchmarkView
    from .widgets.comparison import ComparisonView
    from .widgets.history import HistoryView
    from .widgets.sweep import SweepView

    if record is None or record is _history:
        return HistoryView(list(_history))
    if isinstance(record, Timing | History):
        return HistoryView([record] if isinstance(record, Timing) else list(record))
    views = {Benchmark: BenchmarkView, Comparison: ComparisonView, Sweep: SweepView}
    if type(record) not in views:
        raise TypeError(
            f"explore() takes a record, or nothing for the session's history; found {type(record).__name__}"
        )
    return views[type(record)](record)


def _nanoseconds(budget_s: float) -> int:
    return max(round(_positive("budget_s", budget_s) * 1e9), 1)


def _positive(name: str, value: float) -> float:
    if not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise ValueError(f"{name} has to be a positive number; found {value!r}")
    return value


def history() -> History:
    """The session's records, oldest first: of every magic, of ``stopwatch()`` and of ``benchmark()``.

    Bounded to the last thousand, and without any array.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch():
    ...     pass
    >>> len(jaxmagic.history()) > 0
    True
    """
    return _history


def last() -> Record:
    """The newest record of the session.

    Raises:
        NotMeasured: nothing has been measured yet.

    >>> import jaxmagic
    >>> with jaxmagic.stopwatch() as t:
    ...     pass
    >>> jaxmagic.last() is t.timing
    True
    """
    if not _history:
        raise NotMeasured("Nothing has been measured in this session yet. Run %jaxtime or jaxmagic.stopwatch().")
    return _history[-1]
