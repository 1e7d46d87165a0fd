"""Peak rates from data sheets, and the lookup of the device model of a recording.

Peak FLOP/s are those of dense matrix products by element type. ``"f32"`` is ``float32`` in full precision, ``"tf32"``
its products on tensor cores, which round to TF32.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ..record.recording import StatValue

#: The word in a device's name that tells its model, such as ``A100``.
_MODEL = re.compile(r"RTX \d+|[A-Z]+\d+X?")

#: Largest relative difference between the memory size in the recording and on the data sheet.
_SIMILAR = 0.1


class DataSheet(NamedTuple):
    """One device model.

    Attributes:
        name: the vendor's name for it.
        vendor: the vendor as in the recording, in lower case; ``"tpu"`` for models that are matched by name.
        capability: compute capability, or gfx version of AMD's GPUs.
        cores: streaming multiprocessors, or compute units of AMD's GPUs.
        clock_mhz: boost clock.
        memory_gib: memory size.
        bytes_per_s: memory bandwidth.
        flops: peak FLOP/s, or integer op/s, by element type.
    """

    name: str
    vendor: str
    capability: tuple[int, int]
    cores: int
    clock_mhz: int
    memory_gib: float
    bytes_per_s: float
    flops: Mapping[str, float]

    def may_be(self, name: str) -> bool:
        """Return whether a device that the driver calls so can be of this model; an empty name can be any.

        >>> [each.name for each in DATA_SHEETS if each.may_be("NVIDIA H100 80GB HBM3")]
        ['NVIDIA H100 SXM', 'NVIDIA H100 PCIe']
        """
        model = _MODEL.search(self.name)
        return not name or (model is not None and re.search(rf"\b{model[0]}\b", name) is not None)


def _tera(**flops: float) -> dict[str, float]:
    return {name: each * 1e12 for name, each in flops.items()}


_A100 = _tera(bf16=312, f16=312, tf32=156, f32=19.5, f64=19.5, s8=624)
_H100 = _tera(bf16=989.4, f16=989.4, tf32=494.7, f32=66.9, f64=66.9, f8=1978.9, s8=1978.9)
_MI300X = _tera(bf16=1307.4, f16=1307.4, tf32=653.7, f32=163.4, f64=163.4, f8=2614.9, s8=2614.9)

DATA_SHEETS = (
    # https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf
    DataSheet("NVIDIA A100 40GB", "nvidia", (8, 0), 108, 1410, 40, 1.555e12, _A100),
    DataSheet("NVIDIA A100 80GB", "nvidia", (8, 0), 108, 1410, 80, 2.039e12, _A100),
    # https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet
    DataSheet("NVIDIA H100 SXM", "nvidia", (9, 0), 132, 1980, 80, 3.35e12, _H100),
    DataSheet(
        "NVIDIA H100 PCIe", "nvidia", (9, 0), 114, 1755, 80, 2.0e12,
        _tera(bf16=756, f16=756, tf32=378, f32=51, f64=51, f8=1513, s8=1513),
    ),
    # https://nvdam.widen.net/s/nb5zzzsjdf/hpc-datasheet-sc23-h200-datasheet-3002446
    DataSheet("NVIDIA H200", "nvidia", (9, 0), 132, 1980, 140, 4.8e12, _H100),
    # https://resources.nvidia.com/en-us-blackwell-architecture: an eighth of the HGX B200
    DataSheet(
        "NVIDIA B200", "nvidia", (10, 0), 148, 1965, 180, 8.0e12,
        _tera(bf16=2250, f16=2250, tf32=1100, f32=75, f64=37, f8=4500, s8=4500, f4=9000),
    ),
    # https://resources.nvidia.com/en-us-data-center-overview/l4-gpu-datasheet: half of what it says with sparsity
    DataSheet(
        "NVIDIA L4", "nvidia", (8, 9), 58, 2040, 22.5, 3.0e11,
        _tera(bf16=121, f16=121, tf32=60, f32=30.3, f64=0.47, f8=242.5, s8=242.5),
    ),
    # https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf
    DataSheet("NVIDIA T4", "nvidia", (7, 5), 40, 1590, 15, 3.2e11, _tera(f16=65, f32=8.1, f64=0.25, s8=130)),
    # https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf, sums in float32
    DataSheet(
        "NVIDIA GeForce RTX 4090", "nvidia", (8, 9), 128, 2520, 24, 1.008e12,
        _tera(bf16=165.2, f16=165.2, tf32=82.6, f32=82.6, f64=1.29, f8=330.3, s8=660.6),
    ),
    # https://www.amd.com/en/products/accelerators/instinct/mi200/mi250x.html: one of its two dies is a device
    DataSheet(
        "AMD Instinct MI250X (one die)", "amd", (9, 0), 110, 1700, 64, 1.6384e12,
        _tera(bf16=191.5, f16=191.5, f32=47.9, f64=47.9, s8=191.5),
    ),
    # https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html
    DataSheet("AMD Instinct MI300X", "amd", (9, 4), 304, 2100, 192, 5.3e12, _MI300X),
    # https://www.amd.com/en/products/accelerators/instinct/mi300/mi325x.html
    DataSheet("AMD Instinct MI325X", "amd", (9, 4), 304, 2100, 256, 6.0e12, _MI300X),
    # https://www.amd.com/en/products/accelerators/instinct/mi350/mi350x.html
    DataSheet(
        "AMD Instinct MI350X", "amd", (9, 5), 256, 2200, 288, 8.0e12,
        _tera(bf16=2306.9, f16=2306.9, f32=144.2, f64=72.1, f8=4613.7, s8=4613.7, f4=9227.5),
    ),
    # https://www.amd.com/en/products/accelerators/instinct/mi350/mi355x.html
    DataSheet(
        "AMD Instinct MI355X", "amd", (9, 5), 256, 2400, 288, 8.0e12,
        _tera(bf16=2516.6, f16=2516.6, f32=157.3, f64=78.6, f8=5033.2, s8=5033.2, f4=10066.3),
    ),
    # https://cloud.google.com/tpu/docs/v4, /v5e, /v5p, /v6e: one chip; what the profiler calls them
    DataSheet("TPU v4", "tpu", (0, 0), 0, 0, 32, 1.2288e12, _tera(bf16=275, s8=275)),
    DataSheet("TPU v5 Lite", "tpu", (0, 0), 0, 0, 16, 8.19e11, _tera(bf16=197, s8=393)),
    DataSheet("TPU v5p", "tpu", (0, 0), 0, 0, 95, 2.765e12, _tera(bf16=459, s8=918)),
    DataSheet("TPU v6 Lite", "tpu", (0, 0), 0, 0, 32, 1.64e12, _tera(bf16=918, s8=1836)),
)  # fmt: skip

#: Other names of TPU models.
_ALSO = {"tpu v5": "tpu v5p", "tpu v5e": "tpu v5 lite", "tpu v6e": "tpu v6 lite"}

#: Types that stand for an element type; the first on the data sheet counts. TPUs round ``float32`` by default.
_AS: Mapping[str, tuple[str, ...]] = {
    "": ("f32", "bf16"),
    "f32": ("tf32", "f32", "bf16"),
    "bf16": ("bf16", "f32"),
    "f16": ("f16", "bf16", "f32"),
    "f64": ("f64",),
    **dict.fromkeys(("s4", "u4", "s8", "u8"), ("s8",)),
}


def data_sheet_of(stats: Mapping[str, StatValue]) -> DataSheet | None:
    """Return the data sheet whose properties match a device plane; ``None`` if none matches.

    >>> data_sheet_of({"device_type_string": "TPU v6 Lite"}).flops["bf16"]
    918000000000000.0
    """
    name = str(stats.get("device_type_string", "")).lower()
    if name:
        return next((each for each in DATA_SHEETS if each.name.lower() == _ALSO.get(name, name)), None)
    vendor = str(stats.get("device_vendor", "")).lower()
    called = str(stats.get("gpu_device_name", "")) if vendor == "nvidia" else ""
    capability = stats.get("compute_cap_major"), stats.get("compute_cap_minor", 0)
    memory = _number(stats.get("memory_size")) / 2**30
    alike = [
        each
        for each in DATA_SHEETS
        if (each.vendor, each.capability, each.cores) == (vendor, capability, stats.get("core_count"))
        and each.may_be(called)
        and abs(each.memory_gib - memory) <= _SIMILAR * each.memory_gib
    ]
    clock = _number(stats.get("clock_rate")) / 1000
    return min(alike, key=lambda each: abs(each.clock_mhz - clock), default=None)


def peak_of(flops: Mapping[str, float], multiplied: str) -> float | None:
    """Return the peak rate for products of one element type; ``None`` if the data sheet has none for it.

    Args:
        flops: peak rates by element type.
        multiplied: XLA's element type, such as ``"bf16"``; empty for operations without products.

    >>> peak_of({"bf16": 312e12, "tf32": 156e12, "f32": 19.5e12}, "f32")
    156000000000000.0
    """
    names = _AS.get(multiplied, (multiplied[:2],))  # there are many types of 8 and of 4 bits, such as f8e4m3fn
    return next((flops[each] for each in names if each in flops), None)


def _number(fact: StatValue | None) -> float:
    return fact if isinstance(fact, int | float) else 0.0
