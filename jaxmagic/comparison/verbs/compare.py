"""``compare()``: measure functions side by side, or compare two records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from ...benchmarking.record.benchmark import Benchmark
from ...benchmarking.record.versus import Versus
from ...benchmarking.verbs.earlier import compare_records
from ...records.names import type_in_words
from ...runtime.given import check_setup, nanoseconds, share
from ...runtime.given_arguments import explaining_arguments, meant_option, options_of
from ...runtime.jax_version import require_jax
from ...session.verbs import keep, take_and_keep
from ...tracebacks import of_the_user
from ..record.candidate import CheckBy
from ..record.comparison import Comparison
from ..record.sweep import Sweep
from .checks import check_of, known_baseline, labels_of

if TYPE_CHECKING:
    from ..capture.derivatives import Mode


@overload
def compare(candidates: Benchmark, new: Benchmark, /, *, anyway: bool = False, measure: bool = True) -> Versus: ...
@overload
def compare(
    candidates: Comparison, new: Comparison, /, *, anyway: bool = False, measure: bool = True
) -> dict[str, Versus]: ...
@overload
def compare(candidates: Sweep, new: Sweep, /, *, anyway: bool = False, measure: bool = True) -> dict[str, Versus]: ...
@overload
def compare(
    candidates: Mapping[str, Callable[..., Any]],
    /,
    *args: Any,
    baseline: str | None = None,
    check: CheckBy = "allclose",
    strict: bool = False,
    rtol: float = 0.01,
    budget_s: float | None = None,
    modes: Sequence[Mode] = ("forward",),
    setup: Callable[[], Iterable[Any]] | None = None,
    profile: bool = False,
    **kwargs: Any,
) -> Comparison: ...
@of_the_user
def compare(
    candidates: Mapping[str, Callable[..., Any]] | Benchmark | Comparison | Sweep,
    /,
    *args: Any,
    baseline: str | None = None,
    check: CheckBy = "allclose",
    strict: bool = False,
    rtol: float = 0.01,
    budget_s: float | None = None,
    modes: Sequence[Mode] = ("forward",),
    setup: Callable[[], Iterable[Any]] | None = None,
    profile: bool = False,
    **kwargs: Any,
) -> Comparison | Versus | dict[str, Versus]:
    """Measure functions side by side on the same arguments: which is faster, by how much, with what confidence?

    They are called in turns, in shuffled rounds with the baseline twice in each. The result is the median of the
    ratios to both samples of the baseline.

    With two records of the same kind instead of functions, ``compare(old, new)`` compares the new one with the old
    one. Records from different environments are refused unless ``anyway=True``. A verdict on records of fewer than
    three processes needs the noise between processes of this machine. It is measured once per session, which takes
    15 s or more, if both records are from this environment. Otherwise, or with ``measure=False``, 2 % is assumed.
    ``basis`` says which.

    Args:
        candidates: the functions, by their labels.
        args: their positional arguments.
        baseline: the label of the candidate that the others are compared with; the first one if left out.
        check: how to compare the outputs with the baseline's: ``"allclose"``, with a tolerance that their types give;
            ``"1%"`` of the largest value in each array; ``1e-3`` or ``(rtol, atol)``, as in
            ``numpy.testing.assert_allclose``; ``"equal"``; or ``"none"``.
        strict: raise instead of timing functions that compute something else.
        rtol: stop when the intervals of all ratios are within this share of them on either side.
        budget_s: or stop after this many seconds, excluding first calls; one per candidate if left out. The rounds
            that a verdict needs are completed if that takes no more than twice the budget in all. An interrupt ends
            the rounds, and the complete rounds are returned.
        modes: what to call: ``"forward"``, ``"grad"`` or ``"value_and_grad"``. Derivatives are with respect to the
            first argument, and jitted if the function is. With several modes there is a candidate for each function
            and mode, with labels such as ``"f grad"``.
        setup: called before every sample, outside the timed region; it returns the positional arguments, in place of
            `args`.
        profile: profile a few more calls of each candidate after all times have been taken, and compare them by
            source line and by operation.
        kwargs: keyword arguments of all functions.

    Returns:
        The record: ``comparison["label"]`` has ``ratio``, ``interval``, ``verdict`` and ``break_even_calls``. For two
        benchmarks, the comparison of the new one with the old one; for two comparisons or sweeps, one for each label.

    Raises:
        NotComparable: the two records are from different environments.
        NotMeasured: the two records have too few samples to compare.
        ValueError: there are fewer than two candidates, a label is not text, the baseline, check or mode is unknown,
            `budget_s` is not positive, or `rtol` is not a share between 0 and 1.
        TypeError: a candidate cannot be called; both `args` and `setup` were given; or two records are of different
            kinds, or were given with options that say how to measure.
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
    from ...benchmarking.capture.plan import Plan, default_budget_ns
    from ...progress.bar import shown_progress
    from ..capture.derivatives import in_modes
    from ..capture.entries_from_functions import entries_of
    from ..capture.rounds import take_comparison

    if isinstance(candidates, Benchmark | Comparison | Sweep):
        if len(args) != 1:
            raise TypeError(f"compare(): expected two records, got {len(args) + 1}. Write compare(old, new)")
        given = (baseline, check, strict, rtol, budget_s, modes, setup, profile)
        if given != (None, "allclose", False, 0.01, None, ("forward",), None, False):
            raise TypeError(
                "compare(old, new): expected only anyway and measure, got options that say how to measure. "
                "Both records have already been measured. Leave these options out."
            )
        unknown = [name for name in kwargs if name not in options_of(compare_records)]
        if unknown:
            raise TypeError(
                f"compare(old, new): expected only anyway and measure, got {unknown[0]}. "
                "Write for example anyway=True"
            )
        compared = compare_records(candidates, *args, **kwargs)
        return compared[0] if isinstance(candidates, Benchmark) else {each.label: each for each in compared}
    require_jax()
    if not isinstance(candidates, Mapping):
        raise TypeError(
            f"compare(): expected functions by their labels, or two records, got {type_in_words(candidates)}. "
            f"Write {_instead(candidates)}."
        )
    check_by = check_of(check)
    moded = in_modes(labels_of(candidates), modes, baseline)
    if len(moded) < 2:
        raise ValueError(f"expected at least two candidates, got {len(moded)}. Use benchmark(f, x) for one function.")
    chosen = known_baseline([each.label for each in moded], baseline)
    check_setup(setup, args)
    budget_ns = default_budget_ns(len(moded)) if budget_s is None else nanoseconds(budget_s)
    plan = Plan(rtol=share("rtol", rtol), budget_ns=budget_ns)
    entries = entries_of(candidates, moded, args, kwargs, setup)

    def take() -> Comparison:
        with shown_progress() as progress:
            return take_comparison(
                entries,
                plan,
                baseline=chosen,
                check=check_by,
                strict=strict,
                profiled=profile,
                progress=progress,
                unfinished=keep,
            )

    misplaced = partial(meant_option, options=options_of(compare))
    advice = 'Write the arguments after the functions: compare({"f": f, "g": g}, x).'
    passed = args if setup is None else None
    return explaining_arguments(lambda: take_and_keep(take), candidates, passed, kwargs, misplaced, advice)


def _instead(candidates: object) -> str:
    """Return what to write for something that is neither functions by their labels nor a record."""
    if isinstance(candidates, str | os.PathLike):
        return "compare(load(old), load(new)) for files"
    return 'for example compare({"f": f, "g": g}, x)'
