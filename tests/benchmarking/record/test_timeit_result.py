"""A benchmark read through the names of IPython's ``TimeitResult``, beside one made of the same numbers."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from IPython.core.magics.execution import TimeitResult

from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.benchmarking.record.timeit_result import TimeitAttributes

#: Every public attribute that IPython documents or computes, since IPython 6.
NAMES = "loops", "repeat", "best", "worst", "all_runs", "timings", "average", "stdev", "compile_time"


def beside(benchmark: Benchmark) -> Any:
    """IPython's own result, filled in as ``%timeit`` fills it in."""
    number, samples_ns = benchmark.latency.evaluations, benchmark.latency.samples_ns
    all_runs = [each / 10**9 for each in samples_ns]
    best, worst = min(all_runs) / number, max(all_runs) / number
    compile_time = benchmark.first_call.compile_ns / 10**9
    return TimeitResult(number, len(all_runs), best, worst, all_runs, compile_time, 3)


@given(samples_ns=st.lists(st.integers(1, 10**13), min_size=1, max_size=50), evaluations=st.integers(1, 10**6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_name_has_the_type_and_the_value_that_it_has_in_ipython(
    benchmark: Benchmark, samples_ns: list[int], evaluations: int
) -> None:
    ours = replace(benchmark, latency=Trial(samples_ns=tuple(samples_ns), evaluations=evaluations))
    theirs = beside(ours)
    for name in NAMES:
        assert getattr(ours, name) == getattr(theirs, name), name
        assert type(getattr(ours, name)) is type(getattr(theirs, name)), name


def test_no_public_name_of_ipythons_result_is_missing(benchmark: Benchmark) -> None:
    public = {name for name in dir(beside(benchmark)) if not name.startswith("_")}
    assert public <= set(NAMES)
    assert public <= set(dir(benchmark))


def test_times_are_seconds_of_a_call_and_totals_of_a_sample(benchmark: Benchmark) -> None:
    found = replace(benchmark, latency=Trial(samples_ns=(2 * 10**9, 4 * 10**9), evaluations=2))
    assert (found.loops, found.repeat) == (2, 2)
    assert (found.all_runs, found.timings) == ([2.0, 4.0], [1.0, 2.0])
    assert (found.best, found.worst, found.average, found.stdev) == (1.0, 2.0, 1.5, 0.5)


def test_compile_time_is_what_jax_compiled_in_the_first_call(benchmark: Benchmark) -> None:
    assert benchmark.compile_time == pytest.approx(0.171)
    assert benchmark.compile_time < benchmark.first_call.wall_ns / 1e9


def test_nothing_of_it_is_stored(benchmark: Benchmark) -> None:
    assert not {each.name for each in fields(Benchmark)} & set(NAMES)
    assert not set(benchmark.to_dict()) & set(NAMES)
    assert TimeitAttributes.__slots__ == ()
    assert not hasattr(benchmark, "__dict__")


def test_docstrings_say_the_unit() -> None:
    for name in ("all_runs", "timings", "best", "worst", "average", "stdev", "compile_time"):
        assert re.search(r"in seconds", getattr(TimeitAttributes, name).__doc__), name
