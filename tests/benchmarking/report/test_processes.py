"""What is said of a benchmark over several processes, and of what a verdict on two records rests on."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent

import pytest
from pages import to_html
from processes import over_processes, scaled

from jaxmagic.benchmarking.analysis import against
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.process_noise import ProcessNoise, ProgramNoise
from jaxmagic.benchmarking.record.processes import combined
from jaxmagic.benchmarking.record.samples import Trial
from jaxmagic.benchmarking.report.processes import varying
from jaxmagic.benchmarking.report.sentences import (
    about_end,
    about_first_call,
    about_pipelined,
    about_samples,
    headline,
)
from jaxmagic.benchmarking.report.versus import about_basis
from jaxmagic.report.to_text import to_text


def test_a_report(benchmark: Benchmark) -> None:
    record = over_processes(benchmark, (1.0, 1.1, 0.95))
    assert to_text(record) == dedent("""
        10.1 ms per call   (8.42 to 12.2 ms with 95 % confidence over 3 processes)
          270 samples: half of them 9.60 to 10.8 ms, min 8.96 ms.
          Medians vary by 7.4 % from process to process (standard deviation). Compared
            with another benchmark of 3 processes, a difference of 1.31x would be found
            in 8 of 10 cases, a smaller one less often.
          8.96 ms ▂▂▂▄▅█▆▇▄▆█▅▇▃▃▂▁▂▂▄▄▆▅▆▃▂▂  ▁ 11.7 ms
          Pipelined: 9.71 ms per call.
          First call: 182 ms, 171 ms of it compiling.
        3 processes, one after the other; each sampled until its own interval was within
          1 % of the median.
    """).strip("\n")
    for sentence in (headline(record, 3), *about_samples(record, 3), about_end(record)):
        assert sentence in to_html(record).replace("&#x27;", "'")


def test_few_processes_say_where_their_noise_comes_from(benchmark: Benchmark) -> None:
    two = over_processes(benchmark, (1.0, 1.01))
    assert "processes vary by 2 % (assumed, not measured)." in about_samples(two, 3)[-1]
    noise = ProcessNoise(programs=(ProgramNoise(call_ns=1e6, sd=0.1),), processes=5)
    assert (
        "with the noise measured on this machine in 5 processes."
        in about_samples(replace(two, process_noise=noise), 3)[-1]
    )
    assert "over 1 process)" in headline(over_processes(benchmark, (1.0,)), 3)


def test_pipelined_calls_are_compared_within_each_process(benchmark: Benchmark) -> None:
    waited = Trial(samples_ns=(192_000_000,) * 14, evaluations=10)
    fast = replace(benchmark, waited=waited)
    assert about_pipelined(combined([fast, fast]), 3).endswith(
        "per call; 2.01x to 2.01x as long if each call is waited for."
    )
    slow = replace(benchmark, waited=Trial(samples_ns=(96_000_000,) * 14, evaluations=10))
    assert about_pipelined(combined([fast, slow]), 3).endswith("per call.")
    without = replace(benchmark, pipelined=None)
    some = combined([benchmark, without, scaled(without, 2.0)])
    assert about_pipelined(some, 3) is None
    assert "ipelined" not in to_text(some)


def test_first_calls_and_ends_are_those_of_all_processes(benchmark: Benchmark) -> None:
    slower = replace(
        benchmark, first_call=replace(benchmark.first_call, dispatch_ns=300_000_000), stopped_by="budget"
    )
    record = combined([benchmark, slower])
    assert about_first_call(record, 3) == "First call: 182 to 310 ms, 171 ms of it compiling."
    assert about_end(record) == (
        "2 processes, one after the other; 1 sampled until its own interval was within 1 % of the median, "
        "1 sampled until the budget of 1 s was spent."
    )
    assert about_end(combined([benchmark], interrupted=True)).startswith("Interrupted: 1 process, one after")
    failed = replace(combined([benchmark]), stopped_by="error", error="LaunchError")
    assert about_end(failed).startswith("Ended by LaunchError: 1 process, one after")


@pytest.mark.parametrize(("within", "told"), [(0.14, True), (0.1, False), (None, False)])
def test_the_noise_within_a_process_is_of_the_same_measure(within: float | None, told: bool) -> None:
    said = varying("medians", 0.21, within)
    assert said.startswith("medians vary by 21 % from process to process (standard deviation)")
    assert ("; the noise within each process alone would make them vary by 14 %" in said) == told


def test_a_benchmark_and_its_comparison_tell_the_same_noise_in_the_same_words(benchmark: Benchmark) -> None:
    samples = tuple(round(each * (1 + 0.5 * (at % 2))) for at, each in enumerate(benchmark.samples_ns[:9]))
    few = replace(benchmark, latency=replace(benchmark.latency, samples_ns=samples))
    record = over_processes(few, (1.0, 1.01, 1.02))
    alone, beside = about_samples(record, 3)[-1], about_basis([against(record, record)])[0]
    within = [
        re.findall(r"noise within each process alone would make them vary by ([\d.]+ %)", each)
        for each in (alone, beside)
    ]
    assert within[0] == within[1] != []
    assert "±" not in alone + beside


@pytest.mark.parametrize(
    ("old", "new", "noise", "sentence"),
    [
        (
            1,
            1,
            None,
            "Each record is from 1 process. Medians are assumed, not measured, to vary by 2 % from process to "
            "process. A difference of 1.12x would be found in 8 of 10 cases, a smaller one less often. Take both "
            "with --processes 5 (processes=5).",
        ),
        (
            1,
            1,
            0.12,
            "Each record is from 1 process. Medians vary by 12 % from process to process on this machine "
            "(measured). A difference of 1.87x would be found in 8 of 10 cases, a smaller one less often. Take both "
            "with --processes 5 (processes=5).",
        ),
        (
            1,
            3,
            0.12,
            "The earlier record is from 1 process and the later one from 3 processes. Medians vary by 12 % from "
            "process to process on this machine (measured). A difference of 1.57x would be found in 8 of 10 cases, "
            "a smaller one less often. Take both with --processes 5 (processes=5).",
        ),
        (
            3,
            3,
            0.12,
            "Each record is from 3 processes. Their medians vary by 4 % from process to process (standard "
            "deviation). A difference of 1.16x would be found in 8 of 10 cases, a smaller one less often. More "
            "processes show smaller differences: take both with --processes 6, for example.",
        ),
        (
            1,
            1,
            9.0,
            "Each record is from 1 process. Medians vary by 900 % from process to process on this machine "
            "(measured). No difference could be found. Take both with --processes 5 (processes=5).",
        ),
    ],
)
def test_what_a_verdict_rests_on(
    benchmark: Benchmark, old: int, new: int, noise: float | None, sentence: str
) -> None:
    records = [
        over_processes(benchmark, (1.0, 1.05, 0.97)[:count]) if count > 1 else scaled(benchmark, 1.0)
        for count in (old, new)
    ]
    known = noise and ProcessNoise(programs=(ProgramNoise(call_ns=1e7, sd=noise),), processes=5)
    assert " ".join(about_basis([against(*records, process_noise=known or None)])) == sentence


@pytest.mark.parametrize(("slower", "more"), [(1.05, True), (3.0, False)])
def test_more_processes_are_advised_where_the_noise_between_them_hides_a_difference(
    benchmark: Benchmark, slower: float, more: bool
) -> None:
    old, new = ((1.0, 1.05, 0.97), tuple(slower * each for each in (1.0, 1.05, 0.97)))
    versus = against(over_processes(benchmark, old), over_processes(benchmark, new))
    assert (versus.verdict == "too noisy to tell") == more
    advice = "More processes show smaller differences: take both with --processes 6, for example."
    assert about_basis([versus])[1:] == ([advice] if more else [])


def test_the_frame_has_the_process_of_each_sample(benchmark: Benchmark) -> None:
    frame = over_processes(benchmark, (1.0, 1.1)).to_frame()
    medians = frame[frame["kind"] == "latency"].groupby("process")["call_ns"].median()
    assert medians[2] / medians[1] == pytest.approx(1.1)
    assert set(frame["kind"]) == {"latency", "pipelined"}
