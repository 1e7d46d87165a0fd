"""One record out of several fresh processes: nothing is lost, and its interval is the one between them."""

from __future__ import annotations

import re
from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest
from processes import over_processes, scaled

import jaxmagic
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.process_noise import ProcessNoise, ProgramNoise
from jaxmagic.benchmarking.record.processes import combined, spread_of
from jaxmagic.benchmarking.record.samples import Trial

FACTORS = (1.0, 1.1, 0.95, 1.05, 0.9)


def test_each_sample_is_there_once_and_belongs_to_its_process(benchmark: Benchmark) -> None:
    record = over_processes(benchmark, FACTORS)
    assert [each.samples_ns for each in record.trials] == [scaled(benchmark, each).samples_ns for each in FACTORS]
    assert record.latency.samples_ns == tuple(ns for trial in record.trials for ns in trial.samples_ns)
    assert [each.first_call_ns for each in record.launches] == 5 * [benchmark.first_call.wall_ns]
    assert benchmark.trials == (benchmark.latency,)
    with pytest.raises(ValueError, match="launches: expected 90 samples, as many as in latency, got 450"):
        replace(record, latency=benchmark.latency)


def test_it_comes_back_from_a_file_and_older_files_have_no_processes(benchmark: Benchmark, tmp_path: object) -> None:
    noise = ProcessNoise(programs=(ProgramNoise(call_ns=1e6, sd=0.1),), processes=5)
    record = replace(over_processes(benchmark, FACTORS), process_noise=noise)
    path = jaxmagic.save(record, f"{tmp_path}/new.json")
    assert jaxmagic.load(path) == record
    document = path.read_text().replace('"launches"', '"other"').replace('"process_noise"', '"other"')
    path.write_text(document)
    with pytest.raises(jaxmagic.RecordError, match="no such field"):
        jaxmagic.load(path)
    import json

    older = json.loads(jaxmagic.save(benchmark, f"{tmp_path}/old.json").read_text())
    del older["record"]["launches"], older["record"]["process_noise"]
    path.write_text(json.dumps(older))
    assert jaxmagic.load(path) == benchmark


def test_the_median_is_the_geometric_mean_and_the_interval_students(benchmark: Benchmark) -> None:
    record = over_processes(benchmark, FACTORS)
    logs = np.log([benchmark.median_ns * each for each in FACTORS])
    reach = 2.776 * np.std(logs, ddof=1) / sqrt(5)  # of Student's distribution with four degrees of freedom
    assert record.median_ns == pytest.approx(exp(logs.mean()), rel=1e-6)
    assert record.interval_ns == pytest.approx((exp(logs.mean() - reach), exp(logs.mean() + reach)), rel=1e-3)


def test_processes_that_agree_by_chance_are_no_surer_than_each_of_them(benchmark: Benchmark) -> None:
    record = over_processes(benchmark, (1.0, 1.0, 1.0, 1.0))
    low, high = record.interval_ns or (0, 0)
    alone = benchmark.interval_ns or (0, 0)
    assert log(high / low) == pytest.approx(log(alone[1] / alone[0]) / 2, rel=1e-3)  # four times as many samples


def test_one_process_has_the_interval_within_it(benchmark: Benchmark) -> None:
    assert over_processes(benchmark, (1.0,)).interval_ns == benchmark.interval_ns


def test_intervals_cover_the_truth_in_95_of_100_cases(benchmark: Benchmark) -> None:
    chance = np.random.default_rng(5)
    covered = 0
    for _ in range(300):
        record = over_processes(benchmark, np.exp(0.05 * chance.standard_normal(5)))
        low, high = record.interval_ns or (0, 0)
        covered += low <= benchmark.median_ns <= high
    assert covered / 300 == pytest.approx(0.95, abs=0.03)


def test_what_does_not_tell_anything_is_none(benchmark: Benchmark) -> None:
    few = replace(benchmark, latency=Trial(samples_ns=(10, 11), evaluations=1))
    assert combined([few]).interval_ns is None
    assert combined([few, few, few]).interval_ns is not None


def test_conditions_are_those_of_all_processes(benchmark: Benchmark) -> None:
    noisy = replace(
        benchmark,
        stopped_by="budget",
        conditions=replace(benchmark.conditions, overhead_ns=2000.0, collected=2, collection_ns=5, other_load=0.3),
    )
    record = combined([benchmark, noisy])
    found = record.conditions
    assert (found.overhead_ns, found.collected, found.collection_ns) == (2000.0, 2, 5)
    assert found.other_load == pytest.approx(0.2)
    assert record.stopped_by == "budget"
    assert [each.stopped_by for each in record.launches] == ["precision", "budget"]
    assert combined([benchmark], interrupted=True).stopped_by == "interrupt"


def test_two_processes_rest_on_what_is_known_of_the_machine(benchmark: Benchmark) -> None:
    record = over_processes(benchmark, (1.0, 1.001))
    found = spread_of(record)
    noise = ProcessNoise(programs=(ProgramNoise(call_ns=1e6, sd=0.2),), processes=5)
    known = spread_of(replace(record, process_noise=noise))
    assert found is not None
    assert known is not None
    assert (found.assumed, known.assumed) == (True, False)
    assert (known.smallest or 0) > 1.5 > 1.15 > (found.smallest or 9)
    many = spread_of(over_processes(benchmark, FACTORS))
    assert many is not None
    assert not many.assumed


def test_processes_that_differ_are_neither_a_drift_nor_modes(benchmark: Benchmark) -> None:
    assert over_processes(benchmark, (1.0, 1.0, 1.3, 1.3)).warnings == ()
    rising = replace(
        benchmark,
        latency=replace(
            benchmark.latency,
            samples_ns=tuple(round(each * (1 + 0.002 * at)) for at, each in enumerate(benchmark.samples_ns)),
        ),
    )
    (found,) = combined([rising, rising, benchmark]).warnings
    assert found.kind == "drift"
    assert found.text.startswith("In 2 of 3 processes, the samples rose by")
    assert combined([rising, benchmark, benchmark]).warnings == ()


def test_a_finding_of_several_processes_has_the_numbers_of_all(benchmark: Benchmark) -> None:
    def drifting(by: float) -> Benchmark:
        samples = tuple(round(each * (1 + by * at)) for at, each in enumerate(benchmark.samples_ns))
        return replace(benchmark, latency=replace(benchmark.latency, samples_ns=samples))

    alone = [drifting(by).warnings[0].text for by in (0.002, 0.006, -0.004)]
    low, high, fell = (re.findall(r"(\d+) %", text)[0] for text in alone)
    found = combined([drifting(by) for by in (0.002, 0.006, -0.004)]).warnings
    assert [each.text for each in found] == [
        f"In 2 of 3 processes, the samples rose by {low} to {high} % from their first third to their last.",
        f"In 1 of 3 processes, the samples fell by {fell} % from their first third to their last.",
    ]
