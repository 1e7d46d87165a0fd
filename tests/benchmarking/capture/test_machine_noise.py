"""The noise between processes: measured once in a session, for records of this environment only, or not at all."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest

import jaxmagic
from jaxmagic.benchmarking.capture import machine_noise
from jaxmagic.benchmarking.capture.launches import launch
from jaxmagic.benchmarking.capture.machine_noise import known_noise, measure_programs, noise_of
from jaxmagic.benchmarking.capture.sending import pack
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.process_noise import ProcessNoise, ProgramNoise
from jaxmagic.runtime.environment import probe

NOISE = ProcessNoise(programs=(ProgramNoise(call_ns=1e7, sd=0.3),), processes=5)


@pytest.fixture
def here(benchmark: Benchmark) -> Benchmark:
    """A record that was measured in the environment of this process."""
    return replace(benchmark, environment=probe())


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often it was measured; it takes no time."""
    times: list[int] = []

    def measure(*_: Any) -> Any:
        times.append(1)
        return probe(), NOISE

    monkeypatch.setattr(machine_noise, "measure_noise", measure)
    return times


@pytest.mark.clock
def test_it_is_measured_once_in_a_session(here: Benchmark, measured: list[int]) -> None:
    for _ in range(2):
        found = jaxmagic.compare(here, here)
        assert found.basis is not None
        assert (found.basis.source, found.basis.between_sd) == ("measured", 0.3)
    assert measured == [1]
    assert known_noise((here.environment,)) == NOISE


@pytest.mark.clock
def test_it_is_not_measured_for_records_of_another_environment_or_unless_it_is_needed(
    benchmark: Benchmark, here: Benchmark, measured: list[int]
) -> None:
    for old, new, options in (
        (benchmark, benchmark, {}),
        (benchmark, here, {"anyway": True}),
        (here, here, {"measure": False}),
        (here, replace(here, process_noise=NOISE), {}),
    ):
        assert jaxmagic.compare(old, new, **options).basis is not None
    assert jaxmagic.compare(benchmark, here, anyway=True).basis.source == "assumed"  # type: ignore[union-attr]
    assert measured == []


@pytest.mark.clock
def test_where_no_process_can_measure_it_is_tried_once_and_assumed(here: Benchmark, monkeypatch: Any) -> None:
    tried = []

    def fail(*_: Any) -> None:
        tried.append(1)
        raise jaxmagic.LaunchError("another process has the accelerator")

    monkeypatch.setattr(machine_noise, "measure_noise", fail)
    for _ in range(2):
        found = jaxmagic.compare(here, here)
        assert found.basis is not None
        assert found.basis.source == "assumed"
    assert tried == [1]


def test_devices_are_not_compared_before_a_backend_has_started(here: Benchmark, monkeypatch: Any) -> None:
    present = probe()
    asleep = replace(present, backend=None, device_kinds=(), device_count=None, local_device_count=None)
    asleep = replace(asleep, process_count=None, cpu_async_dispatch=None)
    monkeypatch.setattr(machine_noise, "probe", lambda: asleep)
    asked = []

    def measure(*_: Any) -> Any:
        asked.append(1)
        return present, NOISE

    monkeypatch.setattr(machine_noise, "measure_noise", measure)
    elsewhere = replace(here, environment=replace(present, backend="tpu"))
    assert machine_noise.machine_noise((here.environment,)) == NOISE
    assert machine_noise.machine_noise((elsewhere.environment,)) is None
    assert asked == [1]


def test_it_is_the_standard_deviation_of_the_log_medians_of_each_program(benchmark: Benchmark) -> None:
    def taking(factor: float) -> Benchmark:
        samples = tuple(round(factor * 1e6) for _ in range(9))
        return replace(benchmark, latency=replace(benchmark.latency, samples_ns=samples))

    found = noise_of([(taking(1), taking(100)), (taking(2), taking(100)), (taking(4), taking(100))])
    assert [each.call_ns for each in found.programs] == pytest.approx([2e6, 1e8])
    assert [each.sd for each in found.programs] == pytest.approx([log(2), 0.0])
    assert found.processes == 3
    assert np.isfinite(found.programs[1].sd)


@pytest.mark.slow
def test_the_programs_are_measured_in_a_fresh_process(monkeypatch: Any) -> None:
    records = launch(measure_programs, pack(None, {}), "process 1 of 1")
    assert len(records) == 3
    assert records[0].environment.backend == "cpu"
    assert all(each.median_ns > 0 and each.value is None for each in records)
