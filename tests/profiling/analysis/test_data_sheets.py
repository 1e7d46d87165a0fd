"""The device model of a recording, and its peak rates."""

from __future__ import annotations

from typing import Any

import pytest
from recordings import recording_of

from jaxmagic.profiling.analysis.data_sheets import DATA_SHEETS, data_sheet_of, peak_of

MI300X = {
    "device_vendor": "AMD", "clock_rate": 2100000, "core_count": 304, "memory_size": 206141652992,
    "compute_cap_major": 9, "compute_cap_minor": 4,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "device", "model"),
    [
        ("gpu_mi300_gemm", "GPU:0", "AMD Instinct MI300X"),
        ("gpu_gfx950_te_attention", "GPU:0", "AMD Instinct MI355X"),
        ("gpu_h200_products", "GPU:0", "NVIDIA H200"),
        ("tpu_v6e_4dev_inference", "TPU:0", "TPU v6 Lite"),
    ],
)
def test_the_model_of_a_real_recording_is_known(name: str, device: str, model: str) -> None:
    recording = recording_of(name)
    found = data_sheet_of(recording.devices[device])
    assert found is not None
    assert found.name == model


@pytest.mark.parametrize(
    ("change", "model"),
    [
        ({"memory_size": 256 * 2**30}, "AMD Instinct MI325X"),
        ({"memory_size": 128 * 2**30}, None),
        ({"core_count": 228}, None),
        ({"device_vendor": "Nvidia"}, None),
        (
            {"compute_cap_minor": 5, "core_count": 256, "memory_size": 288 * 2**30, "clock_rate": 2.2e6},
            "AMD Instinct MI350X",
        ),
        (
            {"device_vendor": "Nvidia", "compute_cap_minor": 0, "core_count": 132, "memory_size": 150_121_545_728},
            "NVIDIA H200",
        ),
        (
            {"device_vendor": "Nvidia", "compute_cap_minor": 0, "core_count": 132, "memory_size": 85_017_493_504},
            "NVIDIA H100 SXM",
        ),
    ],
)
def test_a_model_is_one_that_fits_in_all_that_is_told(change: dict[str, Any], model: str | None) -> None:
    found = data_sheet_of(MI300X | change)
    assert (None if found is None else found.name) == model


H100 = {
    "device_vendor": "Nvidia", "clock_rate": 1_980_000, "core_count": 132, "memory_size": 85_017_493_504,
    "compute_cap_major": 9, "compute_cap_minor": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("called", "model"),
    [
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM"),
        ("NVIDIA H800", None),  # the same cores, memory and clock, but slower in float64
        ("NVIDIA GH100 80GB", None),
        (b"broken", None),
    ],
)
def test_a_name_in_the_recording_has_to_be_that_of_the_model(called: Any, model: str | None) -> None:
    found = data_sheet_of(H100 | {"gpu_device_name": called})
    assert (None if found is None else found.name) == model


NAMES = {
    "NVIDIA A100 40GB": "NVIDIA A100-SXM4-40GB", "NVIDIA A100 80GB": "NVIDIA A100 80GB PCIe",
    "NVIDIA H100 SXM": "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe": "NVIDIA H100 PCIe",
    "NVIDIA H200": "NVIDIA H200", "NVIDIA B200": "NVIDIA B200", "NVIDIA L4": "NVIDIA L4", "NVIDIA T4": "Tesla T4",
    "NVIDIA GeForce RTX 4090": "NVIDIA GeForce RTX 4090",
}  # fmt: skip


def test_every_model_of_nvidia_is_found_under_the_name_that_its_driver_gives() -> None:
    sheets = [each for each in DATA_SHEETS if each.vendor == "nvidia"]
    assert [each.name for each in sheets] == list(NAMES)
    for sheet in sheets:
        stats = {
            "device_vendor": "Nvidia", "core_count": sheet.cores, "memory_size": int(sheet.memory_gib * 2**30),
            "compute_cap_major": sheet.capability[0], "compute_cap_minor": sheet.capability[1],
            "clock_rate": sheet.clock_mhz * 1000, "gpu_device_name": NAMES[sheet.name],
        }  # fmt: skip
        assert data_sheet_of(stats) is sheet


def test_of_a_device_that_tells_nothing_no_model_is_known() -> None:
    assert data_sheet_of({}) is None
    assert data_sheet_of({"device_type_string": "TPU v99"}) is None
    assert data_sheet_of({"core_count": "many", "memory_size": b"", "device_vendor": 3}) is None


def test_numbers_that_are_multiplied_have_the_peak_of_their_type() -> None:
    (h100,) = (each.flops for each in DATA_SHEETS if each.name == "NVIDIA H100 SXM")
    (tpu,) = (each.flops for each in DATA_SHEETS if each.name == "TPU v6 Lite")
    assert peak_of(h100, "f32") == h100["tf32"]
    assert peak_of(h100, "f8e4m3fn") == h100["f8"]
    assert peak_of(h100, "f4e2m1fn") is None
    assert peak_of(h100, "") == h100["f32"]
    assert peak_of(h100, "c64") is None
    assert peak_of(tpu, "f32") == peak_of(tpu, "") == tpu["bf16"]
    assert peak_of(tpu, "f64") is None


def test_no_type_is_slower_than_a_wider_one() -> None:
    """Finds wrong digits in the table: types with half the bits are at least as fast."""
    for sheet in DATA_SHEETS:
        rates = [sheet.flops[name] for name in ("f64", "f32", "tf32", "bf16", "f8", "f4") if name in sheet.flops]
        assert rates == sorted(rates), sheet.name
        assert 1e11 < sheet.bytes_per_s < 1e13
