"""Peak rates of the CPU: measured with real programs, and left out where they would be wrong."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate.profiling import MS, operation, use
from recordings import trace

import jaxmagic
from jaxmagic.profiling.capture import cpu_peaks as peaks
from jaxmagic.profiling.capture import make_record as profile_record
from jaxmagic.profiling.capture.cpu_peaks import Peaks, cpu_peaks
from jaxmagic.records.note import note
from jaxmagic.runtime.given_peaks import given_peaks

pytestmark = pytest.mark.clock


@pytest.fixture(autouse=True)
def nothing_is_known_yet(monkeypatch: Any) -> None:
    monkeypatch.setattr(peaks, "_known", peaks._Known())


def test_it_computes_and_moves_something() -> None:
    found = cpu_peaks()
    assert found is not None
    assert found.flops > 1e8
    assert found.bytes > 1e7


def test_its_programs_are_none_of_the_users() -> None:
    with jaxmagic.stopwatch() as watch:
        cpu_peaks()
    assert watch.timing.compilations == ()


def measured(monkeypatch: Any, load: float, *rates: float) -> list[float]:
    """Prepare rates to be measured while other processes keep this many processors busy."""
    rest = list(rates)
    monkeypatch.setattr(peaks, "_measured", lambda: Peaks(rest.pop(0), 10e9 / rates[0]))
    monkeypatch.setattr(peaks.Load, "of_others", lambda _: load)
    return rest


def test_in_a_quiet_moment_it_is_measured_once(monkeypatch: Any) -> None:
    rest = measured(monkeypatch, 0.0, 100e9, 200e9)
    assert [cpu_peaks(50e9), cpu_peaks(100e9), cpu_peaks()] == 3 * [Peaks(100e9, 0.1)]
    assert len(rest) == 1


def test_what_something_was_faster_than_is_measured_again_and_the_most_counts(monkeypatch: Any) -> None:
    rest = measured(monkeypatch, 0.0, 60e9, 50e9, 190e9, 300e9)
    assert [cpu_peaks(), cpu_peaks(100e9), cpu_peaks(100e9), cpu_peaks(100e9)] == [
        Peaks(each, 10 / 60) for each in (60e9, 60e9, 190e9, 190e9)
    ]
    assert len(rest) == 1


def test_while_others_keep_the_machine_busy_it_is_measured_again_but_not_for_ever(monkeypatch: Any) -> None:
    rest = measured(monkeypatch, 1e6, *(1.0 + each for each in range(9)))
    assert [cpu_peaks() for _ in range(7)] == [Peaks(each, 10e9, quiet=False) for each in (1, 2, 3, 4, 5, 5, 5)]
    assert len(rest) == 4


@pytest.mark.parametrize("quiet", [True, False])
def test_the_rate_that_a_product_reached_is_asked_for_and_load_is_said(monkeypatch: Any, quiet: bool) -> None:
    asked = []

    def known(reached: float) -> Peaks:
        asked.append(reached)
        return Peaks(100e9, 10e9, quiet)

    monkeypatch.setattr(jax, "local_device_count", lambda backend: 1)
    monkeypatch.setattr(profile_record, "cpu_peaks", known)
    product = operation("dot", 2 * MS, category="matmul", count=4, total_ns=4 * MS, flops=3000)
    sorting = operation("sort", 2 * MS, count=1, total_ns=1, flops=10**9)
    _, notes = profile_record.with_peaks((use("CPU:0", MS),), (product, sorting))
    assert asked == [3000 / 1e-3]
    assert notes == ([] if quiet else [note("profiling.peaks_under_load")])


def test_measuring_leaves_no_array_and_changes_nothing() -> None:
    before = {id(each) for each in jax.live_arrays()}
    with jax.default_matmul_precision("float32"), jax.disable_jit(), jax.transfer_guard("disallow"):
        assert cpu_peaks() is not None
        assert jax.config.jax_disable_jit
    assert [each.shape for each in jax.live_arrays() if id(each) not in before] == []


def test_where_it_cannot_be_measured_nothing_is_said(monkeypatch: Any) -> None:
    def fails() -> Peaks:
        raise RuntimeError("RESOURCE_EXHAUSTED")

    monkeypatch.setattr(peaks, "_measured", fails)
    assert cpu_peaks() is None


@pytest.mark.parametrize(
    ("count", "devices", "known"),
    [(1, ("CPU:0",), True), (4, ("CPU:0",), False), (1, ("GPU:0",), False), (1, ("CPU:0", "CPU:1"), False)],
)
def test_a_cpu_has_peaks_where_it_is_one_device(
    monkeypatch: Any, count: int, devices: tuple[str, ...], known: bool
) -> None:
    monkeypatch.setattr(jax, "local_device_count", lambda backend: count)
    monkeypatch.setattr(profile_record, "cpu_peaks", lambda _: Peaks(100e9, 10e9))
    found, notes = profile_record.with_peaks(tuple(use(each, MS) for each in devices), ())
    assert notes == []
    assert {(each.peak_flops, each.peak_bytes, each.peaks_from) for each in found} == {
        (100e9, 10e9, "measured") if known else (None, None, "")
    }


def test_peaks_that_are_given_are_those_of_all_profiles_from_then_on() -> None:
    recorded = trace("gpu_mi300_gemm")
    try:
        jaxmagic.peaks(flops=2e15)
        (mine,) = jaxmagic.read_profile(recorded).device_uses
        assert (mine.peak_flops, mine.peak_bytes, mine.peaks_from) == (2e15, 5.3e12, "data sheet")
        assert mine.peak_flops_from == "given"
        jaxmagic.peaks(flops=1e11, bytes=1e10)
        (own,) = jaxmagic.profile(jax.jit(lambda x: x @ x), jnp.ones((8, 8))).device_uses
        assert (own.peak_flops, own.peak_bytes, own.peaks_from) == (1e11, 1e10, "given")
        assert own.peak_flops_from == ""
    finally:
        jaxmagic.peaks()
    (found,) = jaxmagic.read_profile(recorded).device_uses
    assert (found.peaks_from, found.model) == ("data sheet", "AMD Instinct MI300X")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"flops": 5e14},
            "Roof: 500 TFLOP/s as given and 5.30 TB/s from the data sheet of the AMD Instinct MI300X (the",
        ),
        (
            {"bytes": np.float32(5e12)},
            "Roof: 1.31 PFLOP/s for bf16 from the data sheet of the AMD Instinct MI300X and 5.00 TB/s as given",
        ),
        ({"flops": np.int64(5e14), "bytes": 5e12}, "Roof: 500 TFLOP/s and 5.00 TB/s, as given (the recording says"),
        ({}, "Roof: 1.31 PFLOP/s for bf16 and 5.30 TB/s, from the data sheet of the AMD Instinct MI300X (the"),
    ],
)
def test_of_each_peak_it_is_told_where_it_is_from(given: dict[str, Any], told: str) -> None:
    try:
        jaxmagic.peaks(**given)
        assert told in " ".join(str(jaxmagic.read_profile(trace("gpu_mi300_gemm"))).split())
    finally:
        jaxmagic.peaks()


@pytest.mark.parametrize(
    "wrong",
    [
        0,
        -1.0,
        float("nan"),
        float("inf"),
        "989e12",
        True,
        np.True_,
        10**400,
        pytest.param(10**5000, id="digits"),
        1e-300,
        1e300,
        np.ones(2),
    ],
)
def test_a_peak_that_is_no_number_is_refused_and_changes_nothing(wrong: Any) -> None:
    for name in ("flops", "bytes"):
        with pytest.raises(ValueError, match=rf"{name}: expected a rate per second from 1 to 1e24, got .{{1,40}};"):
            jaxmagic.peaks(**{name: wrong})
    assert given_peaks() == (None, None)


def test_a_product_of_matrices_comes_near_to_the_roof_and_not_far_beyond() -> None:
    from jaxmagic.profiling.analysis.roofline import Peaks as Roof
    from jaxmagic.profiling.analysis.roofline import place

    found = cpu_peaks()
    assert found is not None
    x = jnp.ones((1024, 1024))
    import jaxmagic

    profile = jaxmagic.profile(jax.jit(jnp.matmul), x, x, n=5)
    (product,) = (each for each in profile.operation_times if each.category == "matmul")
    placed = place(product, Roof(found.flops, found.bytes))
    assert placed is not None
    assert 0.05 < placed.roofline_efficiency < 2
