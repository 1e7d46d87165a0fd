"""``benchmark()``: measures how long a call takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...runtime.functions import is_folded, name_of
from ...runtime.given import check_function, check_setup, nanoseconds, share, whole
from ...runtime.given_arguments import measured_by
from ...runtime.jax_version import require_jax
from ...session.verbs import keep, take_and_keep
from ...tracebacks import of_the_user

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
    """Call a function until its median time is known precisely enough.

    The first call is timed separately, with its compilation. Then the function is called until nothing compiles and
    calls get no faster. Then it is sampled: first with a wait after each call, and then pipelined, with many calls
    enqueued before one wait.

    Args:
        fn: the function, jitted or not. All work that it starts is waited for.
        args: its positional arguments.
        rtol: stop when the 95 % interval of the median is within this share of it on either side.
        budget_s: or stop after this many seconds, excluding the first call. An interval needs six samples; they are
            completed if that takes no more than twice the budget in all. An interrupt ends the sampling, and the
            samples taken so far are returned.
        setup: called before every sample, outside the timed region; it returns the positional arguments, in place of
            `args`. For functions that donate their arguments.
        processes: measure in this many fresh processes instead of this one. They run one after the other, each with
            the whole budget. The interval then includes the variation between processes, and the record can be
            compared with one from another day. The function and its arguments are sent with ``cloudpickle``.
        kwargs: keyword arguments of `fn`.

    Returns:
        The record. It is also in ``history()``, without its ``value``. With `processes` it has no ``value``.

    Raises:
        ValueError: `rtol` is not a share between 0 and 1, `budget_s` is not positive, or `processes` is not a whole
            number of at least 1.
        TypeError: both `args` and `setup` were given.
        LaunchError: a fresh process failed, or the function cannot be sent to one.
        DonatedTwice: `fn` donates its arguments, and there is no `setup`.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> b = jaxmagic.benchmark(jax.jit(jnp.sin), jnp.ones(1000), budget_s=0.1)
    >>> b.median_ns > 0
    True
    """
    from ...benchmarking.capture.plan import Plan
    from ...benchmarking.capture.runner import runner_of
    from ...benchmarking.capture.sampler import take_benchmark
    from ...progress.bar import shown_progress

    require_jax()
    check_function("benchmark", fn)
    plan = Plan(rtol=share("rtol", rtol), budget_ns=nanoseconds(budget_s))
    check_setup(setup, args)
    code, folded = name_of(fn), is_folded(fn, args, kwargs) and not setup

    def take() -> Benchmark:
        with shown_progress() as progress:
            how: dict[str, Any] = {"code": code, "folded": folded, "progress": progress, "unfinished": keep}
            if processes is None:
                return take_benchmark(runner_of(fn, args, kwargs, setup), plan, **how)
            from ...benchmarking.capture.launches import statement_of, take_launches

            statement = statement_of(fn, args, kwargs, setup)
            return take_launches(statement, plan, whole("processes", processes), **how)

    passed = args if setup is None else None
    return measured_by(benchmark, lambda: take_and_keep(take), fn, passed, kwargs)
