"""What the CPU can do: measured with real programs, once, and left out where that would be no truth."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from profiles import MS, use

from jaxmagic.capture import peaks, profile_watch
from jaxmagic.capture.peaks import Peaks, cpu_peaks


@pytest.fixture(autouse=True)
def nothing_is_known_yet() -> Any:
    cpu_peaks.cache_clear()
    yield
    cpu_peaks.cache_clear()


def test_it_computes_and_moves_something_and_is_measured_once(monkeypatch: Any) -> None:
    found = cpu_peaks()
    assert found is not None
    assert found.flops > 1e8
    assert found.bytes > 1e7
    monkeypatch.setattr(peaks, "_measured", lambda: pytest.fail("measured again"))
    assert cpu_peaks() is found


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
    monkeypatch.setattr(profile_watch, "cpu_peaks", lambda: Peaks(100e9, 10e9))
    found = profile_watch._with_peaks(tuple(use(each, MS) for each in devices))
    assert {(each.peak_flops, each.peak_bytes, each.peaks_measured) for each in found} == {
        (100e9, 10e9, True) if known else (None, None, False)
    }


def test_a_product_of_matrices_comes_near_to_the_roof_and_not_far_beyond() -> None:
    from jaxmagic.analysis.roofline import Peaks as Roof
    from jaxmagic.analysis.roofline import place

    found = cpu_peaks()
    assert found is not None
    x = jnp.ones((1024, 1024))
    import jaxmagic

    profile = jaxmagic.profile(jax.jit(jnp.matmul), x, x, n=5)
    (product,) = (each for each in profile.operation_times if each.category == "matmul")
    placed = place(product, Roof(*found))
    assert placed is not None
    assert 0.05 < placed.of_roof < 2
