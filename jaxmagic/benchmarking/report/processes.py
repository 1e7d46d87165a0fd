"""The sentences about a benchmark over several fresh processes, for every medium."""

from __future__ import annotations

from collections import Counter

from ... import units
from ..record.benchmark import Benchmark
from ..record.in_turns import in_turns
from ..record.process_noise import ProcessNoise
from ..record.processes import spread_of
from ..record.samples import Serial
from ..record.versus import judge

_ENDS = {
    "precision": "until the interval within it was within {wanted} of the median",
    "budget": "until the budget of {budget} was spent",
    "count": "for as many samples as asked for",
    "interrupt": "until it was interrupted",
}


#: Why calls were not pipelined: they would have followed each other.
SERIAL: dict[Serial, str] = {
    "waits": "the statement waits for its own result, so calls cannot overlap",
    "several devices": "calls over several devices of one CPU may wait for each other without end",
    "nothing left": "a call leaves no JAX work behind when it returns, so calls cannot overlap",
}


def processes(count: int) -> str:
    """So many processes.

    >>> processes(1), processes(5)
    ('1 process', '5 processes')
    """
    return f"{count} process{'' if count == 1 else 'es'}"


def about_processes(benchmark: Benchmark) -> str | None:
    """Tell how far medians lie apart within and between processes, and the difference that this lets one see."""
    spread = spread_of(benchmark)
    if spread is None:
        return None
    count = processes(len(benchmark.launches))
    parts = []
    if spread.within is not None:
        parts.append(f"within a process the median is known to ±{units.percent(spread.within)}")
    if spread.between is not None:
        parts.append(f"from process to process it varies by {units.percent(spread.between)} (standard deviation)")
    told = "; ".join(parts) or "a process has too few samples to tell its own noise"
    if spread.smallest is None:
        shown = f"two such benchmarks of {count} show no difference"
    else:
        smallest = units.factor(spread.smallest)
        shown = f"the smallest difference that two such benchmarks of {count} show in 8 of 10 cases is {smallest}"
    given = "" if spread.is_shown else _given(benchmark.process_noise)
    return f"{told[0].upper()}{told[1:]}; {shown}{given}."


def _given(noise: ProcessNoise | None) -> str:
    """Find where the noise comes from, if it is not what the processes themselves show."""
    if noise is None:
        return ", if processes differ by 2 %, which is assumed and not measured"
    return f", with the noise measured here in {processes(noise.processes)}"


def about_pipelined(benchmark: Benchmark, digits: int) -> str:
    """Calls that are not waited for, process by process: between processes both differ by more than they spare."""
    if benchmark.pipelined_ns is None:
        fresh = benchmark.conditions.fresh
        why = "every call needs fresh arguments" if fresh else "too few calls fit into the budget of a process"
        if benchmark.conditions.serial is not None:
            why = SERIAL[benchmark.conditions.serial]
        return f"Pipelined: not measured, because {why}."
    ratios = [in_turns(each.pipelined, each.waited) for each in benchmark.launches]
    sentence = f"Pipelined: {units.time(benchmark.pipelined_ns, digits)} per call"
    if all(judge(ratio) == "faster" for ratio in ratios):
        times = [1 / ratio.value for ratio in ratios if ratio is not None]
        sentence += f"; where each is waited for, {units.factor_range(min(times), max(times))} as long"
    return f"{sentence}."


def about_first_call(benchmark: Benchmark, digits: int) -> str:
    """The first calls of all processes."""
    walls = [each.first_call_ns for each in benchmark.launches]
    compiles = [each.compile_ns for each in benchmark.launches]
    sentence = f"First call: {_range(walls, digits)}"
    if not any(compiles):
        return f"{sentence}, nothing compiled."
    return f"{sentence}, {_range(compiles, digits)} of it compiling."


def _range(times_ns: list[int], digits: int) -> str:
    low, high = min(times_ns), max(times_ns)
    return units.time(low, digits) if low == high else units.time_range(low, high, digits)


def about_end(benchmark: Benchmark) -> str:
    """Tell how many processes there were, and what ended the sampling in each."""
    wanted, budget = units.percent(benchmark.rtol), units.time_short(benchmark.budget_ns)
    ends = Counter(each.stopped_by for each in benchmark.launches)
    told = {end: _ENDS[end].format(wanted=wanted, budget=budget) for end in ends}
    sampled = "each" if len(benchmark.launches) > 1 else "it"
    if len(ends) == 1:
        how = f"{sampled} sampled {next(iter(told.values()))}"
    else:
        how = ", ".join(f"{number} sampled {told[end]}" for end, number in ends.items())
    sentence = f"{processes(len(benchmark.launches))}, one after the other; {how}."
    if benchmark.stopped_by == "error":
        return f"Ended by {benchmark.error}: {sentence}"
    return f"Interrupted: {sentence}" if benchmark.stopped_by == "interrupt" else sentence
