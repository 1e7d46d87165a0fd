"""Writes the sentences about a benchmark over several fresh processes, for every medium."""

from __future__ import annotations

from collections import Counter

from ... import units
from ..record.benchmark import Benchmark
from ..record.in_turns import in_turns
from ..record.process_noise import ProcessNoise
from ..record.processes import spread_of
from ..record.samples import BATCHES, FEWEST_CALLS, FEWEST_TURNS, PIPELINED, Conditions, Serial, StoppedBy
from ..record.versus import judge

_ENDS = {
    "precision": "until its own interval was within {wanted} of the median",
    "budget": "until the budget of {budget} was spent",
    "count": "for the requested number of samples",
    "interrupt": "until it was interrupted",
}


#: Why calls were not pipelined: they could not have overlapped.
SERIAL: dict[Serial, str] = {
    "waits": "the statement waits for its own result, so calls cannot overlap",
    "several devices": "overlapping calls on several devices of one CPU may deadlock",
    "nothing left": "a call leaves no JAX work running when it returns, so calls cannot overlap",
}


#: Calls may be slower by this factor when they are measured again.
_MARGIN = 1.25

#: The same, by what ended sampling.
_WHY_NOT = {
    "count": "the number of calls was given",
    "interrupt": "of the interrupt",
    "error": "the code raised before that",
}


def why_not_pipelined(conditions: Conditions, stopped_by: StoppedBy, call_ns: float) -> str:
    """Say why pipelined calls were not measured, and which budget they need if it was too short.

    Args:
        conditions: the conditions of the benchmark.
        stopped_by: what ended sampling.
        call_ns: the time of a call.
    """
    if conditions.serial is not None:
        why = SERIAL[conditions.serial]
    elif conditions.fresh:
        why = "every call needs fresh arguments"
    else:
        why = _WHY_NOT.get(stopped_by, _too_short(call_ns))
    return f"Pipelined: not measured, because {why}."


def _too_short(call_ns: float) -> str:
    """Say how many calls have to fit into the budget, and which one is enough."""
    calls = BATCHES * FEWEST_TURNS * FEWEST_CALLS
    enough = units.time_option(_MARGIN * calls * call_ns / PIPELINED)
    return (
        f"{calls} calls did not fit into {units.percent(PIPELINED)} of the budget: use --budget {enough} (budget_s)"
    )


def processes(count: int) -> str:
    """Return a number of processes in words.

    >>> processes(1), processes(5)
    ('1 process', '5 processes')
    """
    return f"{count} process{'' if count == 1 else 'es'}"


def about_processes(benchmark: Benchmark) -> str | None:
    """Say how much medians vary within and between processes, and which difference would be found."""
    spread = spread_of(benchmark)
    if spread is None:
        return None
    count = processes(len(benchmark.launches))
    noise = "a process has too few samples to estimate its own noise"
    if spread.between is not None:
        noise = varying("medians", spread.between, spread.within)
    elif spread.within is not None:
        noise = f"the samples of a process leave its median uncertain by {units.percent(spread.within)}"
    given = "" if spread.is_shown else _given(benchmark.process_noise)
    shown = f"Compared with another benchmark of {count}, {found_of(spread.smallest)}{given}."
    return f"{noise[0].upper()}{noise[1:]}. {shown}"


def found_of(smallest: float | None) -> str:
    """Say which difference would be found; ``None`` if even a large one would not."""
    if smallest is None:
        return "no difference could be found"
    return f"a difference of {units.factor(smallest)} would be found in 8 of 10 cases, a smaller one less often"


def varying(medians: str, between: float, within: float | None) -> str:
    """Say how much medians vary from process to process, and how much they would by the noise within a process alone.

    Both are standard deviations. The one within a process is left out where it hardly counts.
    """
    sentence = f"{medians} vary by {units.percent(between)} from process to process (standard deviation)"
    if within is None or within <= between / 2:
        return sentence
    return f"{sentence}; the noise within each process alone would make them vary by {units.percent(within)}"


def _given(noise: ProcessNoise | None) -> str:
    """Say where the noise comes from if the processes themselves do not show it."""
    if noise is None:
        return ", if processes vary by 2 % (assumed, not measured)"
    return f", with the noise measured on this machine in {processes(noise.processes)}"


def about_pipelined(benchmark: Benchmark, digits: int) -> str | None:
    """Compare pipelined calls with others within each process: processes vary by more than pipelining saves.

    ``None`` if they were not measured in each process: the budget of one is mostly too short for them.
    """
    if benchmark.pipelined_ns is None:
        return None
    ratios = [in_turns(each.pipelined, each.waited) for each in benchmark.launches]
    sentence = f"Pipelined: {units.time(benchmark.pipelined_ns, digits)} per call"
    if all(judge(ratio) == "faster" for ratio in ratios):
        times = [1 / ratio.value for ratio in ratios if ratio is not None]
        sentence += f"; {units.factor_range(min(times), max(times))} as long if each call is waited for"
    return f"{sentence}."


def about_first_call(benchmark: Benchmark, digits: int) -> str:
    """Say how long the first calls of the processes took, and how long they compiled."""
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
    """Say how many processes there were, and what ended the sampling in each."""
    wanted, budget = units.percent(benchmark.rtol), units.time_short(benchmark.budget_ns)
    ends = Counter(each.stopped_by for each in benchmark.launches)
    phrases = {end: _ENDS[end].format(wanted=wanted, budget=budget) for end in ends}
    sampled = "each" if len(benchmark.launches) > 1 else "it"
    if len(ends) == 1:
        how = f"{sampled} sampled {next(iter(phrases.values()))}"
    else:
        how = ", ".join(f"{number} sampled {phrases[end]}" for end, number in ends.items())
    sentence = f"{processes(len(benchmark.launches))}, one after the other; {how}."
    if benchmark.stopped_by == "error":
        return f"Ended by {benchmark.error}: {sentence}"
    return f"Interrupted: {sentence}" if benchmark.stopped_by == "interrupt" else sentence
