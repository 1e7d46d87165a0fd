"""``sweep()``: measure functions side by side for each value of a variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from ...records.names import type_in_words
from ...runtime.functions import name_of
from ...runtime.given import nanoseconds, share
from ...runtime.given_arguments import explaining_arguments, options_of
from ...runtime.jax_version import require_jax
from ...session.verbs import take_and_keep
from ...tracebacks import of_the_user
from ..record.candidate import CheckBy
from ..record.sweep import Sweep
from .checks import check_of, known_baseline, labels_of, values_of

if TYPE_CHECKING:
    from ..capture.contestants import Entry
    from ..capture.derivatives import Mode


@of_the_user
def sweep(
    candidates: Mapping[str, Callable[..., Any]] | Callable[..., Any],
    make_args: Callable[..., tuple[Any, ...]] | None = None,
    /,
    *,
    fresh: bool = False,
    baseline: str | None = None,
    check: CheckBy = "allclose",
    strict: bool = False,
    rtol: float = 0.01,
    budget_s: float | None = None,
    modes: Sequence[Mode] = ("forward",),
    profile: bool = False,
    **variables: Iterable[Any],
) -> Sweep:
    """Measure functions side by side for several sizes, types or settings.

    If a candidate fails at a point, by running out of memory for example, its error is recorded and the sweep
    continues. An interrupt ends it, and the points measured so far are returned.

    Args:
        candidates: one function, or several by their labels.
        make_args: receives a value of each variable, by name, and returns the positional arguments as a tuple. If
            left out, the values are keyword arguments of the functions.
        fresh: make the arguments before every sample, outside the timed region, instead of once per point; for
            functions that donate their arguments.
        baseline: the label of the candidate that the others are compared with; the first one if left out.
        check: how to compare the outputs with the baseline's, as in ``compare()``.
        strict: raise instead of timing functions that compute something else.
        rtol: a point is done when the intervals of all ratios are within this share of them on either side.
        budget_s: or when its share of these seconds is spent; half a second per candidate and point if left out.
            First calls and their compilations are excluded, and all points are measured.
        modes: what to call, as in ``compare()``.
        profile: as in ``compare()``, at each point. If the number of devices varies, the report shows the speed-up,
            the efficiency and the share of exposed communication.
        variables: the values of each variable; several variables make a grid.

    Returns:
        The record: ``points`` have a ``Comparison`` each, ``sweep["label"]`` has the curves, and
        ``crossings`` says where functions overtake each other.

    Raises:
        ValueError: there is no variable, a variable has no value or a repeated one, a label is not text, or the
            baseline, check or mode is unknown.
        TypeError: a candidate cannot be called, a variable has a single value instead of several, or `make_args` does
            not return a tuple.
        OutputsDiffer: `strict`, and a candidate computes something else.
        DonatedTwice: a function donates its arguments, and they are not `fresh`.
        KeyboardInterrupt: interrupted before anything was measured.
        Exception: the first point's error, if all points failed.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> f = jax.jit(lambda x: jnp.sin(x) ** 2)
    >>> sweep = jaxmagic.sweep({"sin": f}, lambda n: (jnp.ones(n),), n=[10, 1000, 100_000], budget_s=0.3)
    >>> sweep.variables[0].numbers, sweep.points[0].comparison.candidate("sin").first_call.compile_ns > 0
    ((10.0, 1000.0, 100000.0), True)
    """
    from ...benchmarking.capture.plan import Plan, default_budget_ns
    from ...progress.bar import shown_progress
    from ..analysis.sweep_variables import variable
    from ..capture.derivatives import in_modes
    from ..capture.entries_from_functions import entries_of
    from ..capture.sweep import take_sweep

    require_jax()
    if callable(candidates):
        candidates = {name_of(candidates): candidates}
    if not isinstance(candidates, Mapping):
        raise TypeError(
            f"sweep(): expected a function, or functions by their labels, got {type_in_words(candidates)}. "
            'Write for example sweep({"f": f, "g": g}, lambda n: (jnp.ones(n),), n=[64, 256]).'
        )
    _check_make_args(make_args, next(iter(variables), "n"))
    functions = candidates
    check_by = check_of(check)
    moded = in_modes(labels_of(functions), modes, baseline)
    labels = [each.label for each in moded]
    chosen = known_baseline(labels, baseline)
    values = {name: values_of(name, each, options_of(sweep)) for name, each in variables.items()}
    if not values:
        raise ValueError("sweep(): expected a variable with its values, got none. Write for example n=[64, 256]")
    varied = [variable(name, each) for name, each in values.items()]
    points = prod(map(len, values.values()))
    budget_ns = default_budget_ns(len(labels), points) if budget_s is None else nanoseconds(budget_s)

    def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
        here = {name: each[index] for (name, each), index in zip(values.items(), at, strict=True)}
        if make_args is None:
            return entries_of(functions, moded, (), here)
        make = partial(_arguments, make_args, here)
        return entries_of(functions, moded, (), {}, make) if fresh else entries_of(functions, moded, make(), {})

    plan = Plan(rtol=share("rtol", rtol), budget_ns=budget_ns)

    def take() -> Sweep:
        return take_sweep(
            varied,
            labels,
            prepare,
            plan,
            baseline=chosen,
            check=check_by,
            strict=strict,
            profiled=profile,
            shown=shown_progress,
        )

    def run() -> Sweep:
        return take_and_keep(take)

    if make_args is None:
        return explaining_arguments(run, functions, None, values, _make_args_missing, "")
    advice = f"Its parameters are the variables: lambda {', '.join(values)}: (jnp.ones({next(iter(values))}),)"
    return explaining_arguments(run, {"make_args": make_args}, (), values, lambda *_: advice, advice)


def _check_make_args(make_args: object, name: str) -> None:
    if make_args is not None and not callable(make_args):
        raise TypeError(
            f"make_args: expected a function that makes the arguments, got {type_in_words(make_args)}. "
            f"Write for example lambda {name}: (jnp.ones({name}),)"
        )


def _make_args_missing(name: str, _: object) -> str:
    return (
        f"make_args is missing, which makes the arguments from it: sweep(f, lambda {name}: (jnp.ones({name}),), "
        f"{name}=[64, 256])"
    )


def _arguments(make_args: Callable[..., Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    made = make_args(**values)
    if not isinstance(made, tuple):
        raise TypeError(
            f"make_args: expected the positional arguments as a tuple, got {type_in_words(made)}. "
            "Write for example lambda n: (jnp.ones(n),) with the comma."
        )
    return made
