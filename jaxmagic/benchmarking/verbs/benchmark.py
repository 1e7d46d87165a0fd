"""``benchmark()``: how long a call takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...runtime.functions import is_folded, name_of
from ...runtime.given import nanoseconds, share, whole
from ...runtime.jax_version import require_jax
from ...runtime.tracebacks import of_the_user
from ...session.verbs import keep, take_and_keep

if TYPE_CHECKING:
    from ..record.benchmark import Benchmark


@of_the_user
def benchmark(
    fn: Callable[..., Any],
    *args: Any,
    rtol: float = 0.01,
    budget_s: float = 1.0,
    setup: Callable[[], Iterable[Any]] | None = None,
    processes: int | None = None,
    **kwargs: Any,
) -> Benchmark:
    """Call a function until its median time is known well enough.

    The first call is timed apart, with what it compiles. Then it is called until nothing compiles any more and calls
    get no faster, and then sampled: each call waited for, and after that calls enqueued without waiting for each.

    Args:
        fn: the function, jitted or not. Everything that it starts is waited for.
        args: its positional arguments.
        rtol: stop when the 95 % interval of the median reaches no farther than this share of it to either side.
        budget_s: or when this many seconds have been spent, the first call aside. Six samples, which an interval
            takes, are finished if that costs no more than the budget again. An interrupt ends the sampling, and what
            was measured is returned.
        setup: called before every sample, outside the clock; it returns the positional arguments, in place of
            `args`. For functions that donate theirs.
        processes: measure in so many fresh processes, one after the other and each with the whole budget, and not in
            this one. What differs from process to process is then in the interval, and the record can be compared
            with one of another day. The function and its arguments are sent with ``cloudpickle``.
        kwargs: keyword arguments of `fn`.

    Returns:
        The record. It is in :func:`history` as well, without its ``value``. With `processes` it has none.

    Raises:
        ValueError: `rtol` is no share between 0 and 1, `budget_s` is not positive, or `processes` is no whole number
            from 1 on.
        TypeError: both `args` and `setup` were given.
        LaunchError: a fresh process failed, or the function cannot be sent to one.
        DonatedTwice: `fn` donates its arguments, and there is no `setup`.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> b = jaxmagic.benchmark(jax.jit(jnp.sin), jnp.ones(1000), budget_s=0.1)
    >>> b.interval_ns[0] <= b.median_ns <= b.interval_ns[1]
    True
    """
    from ...benchmarking.capture.plan import Plan
    from ...benchmarking.capture.runner import runner_of
    from ...benchmarking.capture.sampler import take_benchmark
    from ...progress.bar import shown_progress

    require_jax()
    if not callable(fn):
        raise TypeError(
            f"benchmark(): expected a function and its arguments, got {type(fn).__name__}, which cannot be called. "
            "Write benchmark(f, x), not benchmark(f(x))."
        )
    plan = Plan(rtol=share("rtol", rtol), budget_ns=nanoseconds(budget_s))
    if setup is not None and args:
        raise TypeError("the arguments come from setup or from args, not from both. Return them all from setup.")
    code, folded = name_of(fn), is_folded(fn, args, kwargs) and not setup

    def take() -> Benchmark:
        with shown_progress() as progress:
            how: dict[str, Any] = {"code": code, "folded": folded, "progress": progress, "unfinished": keep}
            if processes is None:
                return take_benchmark(runner_of(fn, args, kwargs, setup), plan, **how)
            from ...benchmarking.capture.launches import statement_of, take_launches

            statement = statement_of(fn, args, kwargs, setup)
            return take_launches(statement, plan, whole("processes", processes), **how)

    return take_and_keep(take)
