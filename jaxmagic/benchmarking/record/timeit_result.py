"""Provides the attributes of IPython's ``TimeitResult``, so that code written for ``%timeit -o`` works as well."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...timing.record import Timing
    from .samples import Trial

_NS_PER_S = 10**9


class TimeitAttributes:
    """Mixin of ``Benchmark``: IPython's names, computed from the raw samples of the latency.

    Times are floats in seconds, as in IPython. A *run* of IPython is a sample here, and a *loop* is a call.
    Calls are waited for, so a time covers the work that JAX did, and not only its dispatch.

    >>> import jaxmagic
    >>> r = jaxmagic.benchmark(sum, [1, 2], budget_s=0.05)
    >>> r.best <= r.average <= r.worst, len(r.all_runs) == len(r.timings) == r.repeat
    (True, True)
    """

    __slots__ = ()

    if TYPE_CHECKING:  # fields of the benchmark
        latency: Trial
        first_call: Timing

    @property
    def loops(self) -> int:
        """The number of calls in each sample."""
        return self.latency.evaluations

    @property
    def repeat(self) -> int:
        """The number of samples."""
        return len(self.latency.samples_ns)

    @property
    def all_runs(self) -> list[float]:
        """The total time of each sample, in seconds."""
        return [sample_ns / _NS_PER_S for sample_ns in self.latency.samples_ns]

    @property
    def timings(self) -> list[float]:
        """The time of a call in each sample, in seconds."""
        return [run / self.loops for run in self.all_runs]

    @property
    def best(self) -> float:
        """The time of a call in the fastest sample, in seconds."""
        return min(self.all_runs) / self.loops

    @property
    def worst(self) -> float:
        """The time of a call in the slowest sample, in seconds."""
        return max(self.all_runs) / self.loops

    @property
    def average(self) -> float:
        """The mean time of a call over all samples, in seconds. Reports show the median, which outliers move less."""
        timings = self.timings
        return math.fsum(timings) / len(timings)

    @property
    def stdev(self) -> float:
        """The population standard deviation of ``timings`` in seconds, as in IPython."""
        timings, mean = self.timings, self.average
        variance = math.fsum((timing - mean) ** 2 for timing in timings) / len(timings)
        return math.pow(variance, 0.5)

    @property
    def compile_time(self) -> float:
        """The time that JAX spent compiling in the first call, in seconds, including tracing and lowering.

        IPython's is the time that Python took to compile the statement to bytecode.
        """
        return self.first_call.compile_ns / _NS_PER_S
