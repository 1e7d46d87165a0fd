"""The verbs, for people without magics: each one captures, analyses, and returns or keeps a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, overload

from .capture.fence import fence
from .capture.functions import is_folded, name_of
from .capture.jax_version import require_jax
from .capture.stopwatch import Stopwatch
from .errors import NotMeasured
from .model.benchmark import Benchmark
from .model.comparison import CheckKind, Comparison, Versus
from .model.history import History, Record
from .storage import load, save

__all__ = ["benchmark", "compare", "fence", "history", "last", "load", "save", "stopwatch"]

_history = History()

_Repeated = TypeVar("_Repeated", Benchmark, Comparison)


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
    plan = Plan(rtol=_positive("rtol", rtol), budget_ns=round(_positive("budget_s", budget_s) * 1e9))
    if setup is not None and args:
        raise TypeError("the arguments come from setup or from args, not from both. Return them all from setup.")
    runner = runner_of(fn, args, kwargs, setup)
    return keep(take_benchmark(runner, plan, code=name_of(fn), folded=is_folded(fn, args, kwargs) and not setup))


@overload
def compare(candidates: Benchmark, new: Benchmark, /, *, anyway: bool = False) -> Versus: ...
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
    setup: Callable[[], Iterable[Any]] | None = None,
    **kwargs: Any,
) -> Comparison: ...
def compare(
    candidates: Mapping[str, Callable[..., Any]] | Benchmark,
    /,
    *args: Any,
    baseline: str | None = None,
    check: CheckKind = "allclose",
    strict: bool = False,
    rtol: float = 0.01,
    budget_s: float | None = None,
    setup: Callable[[], Iterable[Any]] | None = None,
    **kwargs: Any,
) -> Comparison | Versus:
    """Measure functions side by side, on the same arguments: which is faster, by how much, and how sure is that?

    They are called in turns, in rounds whose order is shuffled. What counts is the median of the ratios of each
    round, beside what the baseline differs from itself in the same rounds.

    With two benchmarks in the place of functions, ``compare(old, new)``, nothing is measured: the new one is put
    beside the old one. That is refused where they are from different environments, unless ``anyway=True``.

    Args:
        candidates: the functions by their labels.
        args: their positional arguments.
        baseline: the label of the one that the others are compared with; the first one if left out.
        check: how the outputs are compared with the baseline's: ``"allclose"``, ``"equal"`` or ``"none"``.
        strict: raise instead of timing functions that compute something else.
        rtol: stop when the intervals of all ratios reach no farther than this share of them to either side.
        budget_s: or when this many seconds have been spent, first calls aside; one for each candidate if left out.
        setup: called before every sample, outside the clock; it returns the positional arguments, in place of `args`.
        kwargs: keyword arguments of all.

    Returns:
        The record: ``comparison["label"]`` has ``ratio``, ``interval``, ``verdict`` and ``break_even_calls``.

    Raises:
        NotComparable: two records are from different environments.
        ValueError: fewer than two candidates, an unknown baseline, or a number that is not positive.
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
    from .analysis.regression import against
    from .capture.rounds import Entry, take_comparison
    from .capture.runner import runner_of
    from .capture.sampler import Plan

    if isinstance(candidates, Benchmark):
        return against(candidates, *args, **kwargs)
    require_jax()
    if len(candidates) < 2:
        raise ValueError(f"to compare takes at least two candidates; found {len(candidates)}")
    if baseline is not None and baseline not in candidates:
        raise ValueError(f"baseline: there is no candidate {baseline!r}, only {', '.join(candidates)}")
    budget_s = float(len(candidates)) if budget_s is None else _positive("budget_s", budget_s)
    entries = {
        label: Entry(runner_of(fn, args, kwargs, setup), name_of(fn), setup is None and is_folded(fn, args, kwargs))
        for label, fn in candidates.items()
    }
    plan = Plan(rtol=_positive("rtol", rtol), budget_ns=round(budget_s * 1e9))
    chosen = next(iter(candidates)) if baseline is None else baseline
    return keep(take_comparison(entries, plan, baseline=chosen, check=check, strict=strict))


def keep(record: _Repeated) -> _Repeated:
    """Put `record` into the session's history, there without its values, and give it back."""
    _history.append(record.without_values())
    return record


def _positive(name: str, value: float) -> float:
    if not 0 < value < float("inf"):
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
