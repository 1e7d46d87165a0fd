"""Writes the sentences about a benchmark, for every medium."""

from __future__ import annotations

from ... import units
from ...statistics import medians
from ...statistics.outliers import outliers
from ..record.benchmark import Benchmark
from ..record.versus import judge
from . import processes as launch_words

_BARS = " ▁▂▃▄▅▆▇█"


def headline(benchmark: Benchmark, digits: int) -> str:
    """Return the median with its interval."""
    estimate = benchmark.estimate
    calls = benchmark.latency.evaluations
    median = f"{units.time(benchmark.median_ns, digits)} per call{f' (means of {calls} calls)' if calls > 1 else ''}"
    if estimate is None:
        count = len(benchmark.samples_ns)
        return f"{median}   ({'one sample' if count == 1 else f'median of {count} samples'}: too few for an interval)"
    interval = units.time_range(estimate.low, estimate.high, digits)
    over = f" over {launch_words.processes(len(benchmark.launches))}" if benchmark.launches else ""
    return f"{median}   ({interval} with {units.share(estimate.confidence, 1)} confidence{over})"


def about_samples(benchmark: Benchmark, digits: int, compared: bool = False) -> list[str]:
    """Say how the samples are distributed.

    Args:
        benchmark: the record.
        digits: significant digits of a time.
        compared: whether the noise between processes is told beside the record, as that of both records together.
    """
    calls = benchmark.latency.calls_ns
    low, high = medians.quartiles(calls)
    beyond = outliers(calls)
    of_calls = f" of {benchmark.latency.evaluations} calls" if benchmark.latency.evaluations > 1 else ""
    if len(calls) == 1:
        return [f"One sample{of_calls}."]
    sentence = (
        f"{units.count(len(calls), 'sample')}{of_calls}: half of them {units.time_range(low, high, digits)}, "
        f"min {units.time(min(calls), digits)}"
    )
    if beyond.high:
        sentence += f", {units.count(beyond.high, 'outlier')} above, kept"
    if beyond.low:
        sentence += f", {units.count(beyond.low, 'outlier')} below, kept"
    about = launch_words.about_processes(benchmark) if benchmark.launches and not compared else None
    assumed = _assumed(benchmark) if len(benchmark.launches) < 2 else None
    return [f"{sentence}.", *(each for each in (about, assumed) if each is not None)]


def _assumed(benchmark: Benchmark) -> str | None:
    """Say that the samples are assumed to be independent, if they are too few to check it."""
    count = len(benchmark.samples_ns)
    if benchmark.estimate is None or count >= medians.FEWEST_FOR_CORRELATION:
        return None
    return f"The interval assumes that these {count} samples are independent."


def histogram(benchmark: Benchmark, digits: int) -> str | None:
    """Draw the distribution in one line; ``None`` if a histogram would say nothing."""
    bins = medians.histogram(benchmark.latency.calls_ns)
    if bins is None:
        return None
    most = max(bins.counts)
    # Rounded up, so that only an empty bin is blank.
    bars = "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in bins.counts)
    beyond = f", {bins.beyond} beyond" if bins.beyond else ""
    return f"{units.time(bins.low, digits)} {bars} {units.time(bins.high, digits)}{beyond}"


def about_pipelined(benchmark: Benchmark, digits: int) -> str | None:
    """Say how long pipelined calls take, compared with calls that are each waited for."""
    if benchmark.launches:
        return launch_words.about_pipelined(benchmark, digits)
    pipelined = benchmark.pipelined
    if pipelined is None:
        return launch_words.why_not_pipelined(benchmark.conditions, benchmark.stopped_by, benchmark.median_ns)
    assert benchmark.pipelined_ns is not None
    sentence = f"Pipelined: {units.time(benchmark.pipelined_ns, digits)} per call, {pipelined.evaluations} in flight"
    ratio = benchmark.pipelined_ratio
    if ratio is None:
        return f"{sentence}."
    if judge(ratio) == "faster":
        times = f"{units.factor(1 / ratio.value)} ({units.factor_range(1 / ratio.high, 1 / ratio.low)})"
        return f"{sentence}; {times} as long if each call is waited for."
    return f"{sentence}; not waiting for each call saves no measurable time."


def about_device(benchmark: Benchmark, digits: int) -> str | None:
    """Say how long the device was busy; ``None`` if that was not requested."""
    device = benchmark.device
    if device is None:
        return None
    if device.call_ns is None:
        return f"Device time: not measured. {device.problem or 'No device was busy.'}"
    busiest = device.devices[device.busy_ns.index(max(device.busy_ns))]
    which = f"{busiest}, the busiest of {len(device.devices)}," if len(device.devices) > 1 else busiest
    call_ns = device.wall_ns / device.calls
    return (
        f"Device time: {which} was busy for {units.time(device.call_ns, digits)} per call, "
        f"{units.share(device.call_ns, call_ns)} of the {units.time(call_ns, digits)} that each call took "
        f"in a profile of {units.count(device.calls, 'call')}."
    )


def about_first_call(benchmark: Benchmark, digits: int) -> str:
    """Say how long the first call took, and how much of that was compiling."""
    if benchmark.launches:
        return launch_words.about_first_call(benchmark, digits)
    timing = benchmark.first_call
    sentence = f"First call: {units.time(timing.wall_ns, digits)}"
    if not timing.compile_ns:
        return f"{sentence}, nothing compiled."
    share = units.share(timing.compile_ns, timing.wall_ns)
    functions = [each.function for each in timing.compilations if each.compiled and not each.eager]
    names = f" ({', '.join(dict.fromkeys(functions))})" if functions else ""
    return f"{sentence}, {units.time(timing.compile_ns, digits)} ({share}) of it compiling{names}."


def about_end(benchmark: Benchmark) -> str:
    """Say what ended the sampling, and what it did not reach."""
    if benchmark.launches:
        return launch_words.about_end(benchmark)
    estimate = benchmark.estimate
    wanted = units.percent(benchmark.rtol)
    budget = units.time_short(benchmark.budget_ns)
    if benchmark.stopped_by == "precision":
        return f"Stopped because the interval is within {wanted} of the median."
    if benchmark.stopped_by == "count":
        return f"Stopped after {units.count(len(benchmark.samples_ns), 'sample')}, as requested."
    if benchmark.stopped_by == "interrupt":
        return f"Interrupted after {units.count(len(benchmark.samples_ns), 'sample')}."
    if benchmark.stopped_by == "error":
        return f"Ended by {benchmark.error} after {units.count(len(benchmark.samples_ns), 'sample')}."
    if estimate is None and benchmark.conditions.fresh:  # samples do not include making the arguments
        return f"Stopped by the budget of {budget}: an interval needs six samples. Use a larger --budget (budget_s)."
    if estimate is None:
        needed = units.time_option(6 * benchmark.median_ns * benchmark.latency.evaluations)
        return (
            f"Stopped by the budget of {budget}: an interval needs six samples; --budget {needed} (budget_s) would "
            "allow them."
        )
    if estimate.relative_width <= benchmark.rtol:
        return f"Stopped by the budget of {budget}; the interval is within {wanted} of the median."
    if estimate.relative_width > 1:  # more than 100 % of the median reads as a mistake
        times = units.number_about(estimate.relative_width / benchmark.rtol)
        return f"Stopped by the budget of {budget}: the interval reaches {times} times as far as asked ({wanted})."
    reached = units.percent(estimate.relative_width)
    within = reached if reached != wanted else f"a little more than {wanted}"
    return f"Stopped by the budget of {budget}: the interval is within {within} of the median, not {wanted}."
