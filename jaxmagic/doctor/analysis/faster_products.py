"""Estimates how much time matrix products of single precision would take in a faster type of the same device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from ...profiling.analysis.operations import over_devices
from ...profiling.record.profile import DeviceUse, OperationTime, Profile
from ..record.program import ProductCount

_Type = Literal["f32", "tf32", "bf16"]

#: A product achieves at least this share of the peak rate of the type that it is taken to be computed in. A faster
#: one would not follow from the peak rates otherwise.
LEAST_OF_PEAK = 0.5

#: A product that is faster than this is computed in another type.
_MOST_OF_PEAK = 1.1

#: Bytes that a conversion moves per byte that the product accesses: it reads 4 and writes 2 bytes per number.
_CONVERTING = 1.5

#: JAX's names of the faster types of products.
OPTIONS: dict[_Type, str] = {"bf16": "BF16_BF16_F32", "tf32": "tensorfloat32"}

#: JAX's names of full single precision.
FULL = ("highest", "float32")


class FasterProducts(NamedTuple):
    """Products that a device computes faster in another type.

    Attributes:
        now: the type in which they are computed.
        faster: the faster type.
        products_ns: their device time per run.
        spared_ns: the part of it that the faster type spares at the same share of the peak rate.
        largest: the product with most time.
    """

    now: _Type
    faster: _Type
    products_ns: float
    spared_ns: float
    largest: OperationTime


def faster_products(
    profile: Profile, module: str, products: Iterable[ProductCount], option: str | None
) -> FasterProducts | None:
    """Return the products of a program that are bound by a peak rate; ``None`` if there are none or much is unknown.

    Args:
        profile: the profile.
        module: the name of the program.
        products: all products of its jaxpr.
        option: JAX's option ``jax_default_matmul_precision``.
    """
    types = _types(products, option)
    use = _device(profile)
    if types is None or use is None or not use.peak_bytes:
        return None
    now, faster = types
    peak, faster_peak = use.peak_flops_by_type.get(now), use.peak_flops_by_type.get(faster)
    if not peak or not faster_peak or faster_peak <= peak:
        return None
    found = []
    for each in over_devices(profile.operation_times):
        if each.module == module and each.category == "matmul" and each.multiplied == "f32":
            spared = _spared(each, peak, faster_peak, use.peak_bytes, converting=faster == "bf16")
            if spared > 0:
                found.append((each, spared))
    if not found:
        return None
    runs = max(profile.runs or 1, 1) * len(profile.device_uses)
    return FasterProducts(
        now,
        faster,
        products_ns=sum(each.time_ns for each, _ in found) / runs,
        spared_ns=sum(each.time_ns * spared for each, spared in found) / runs,
        largest=max(found, key=lambda pair: pair[0].time_ns)[0],
    )


def _types(products: Iterable[ProductCount], option: str | None) -> tuple[_Type, _Type] | None:
    """Return the type of all products of single precision, and the next faster one.

    ``None`` if any of them asks for a precision itself, or a product is of another kind for which the faster one may
    not exist.
    """
    every = list(products)
    if any(each.primitive != "dot_general" or each.multiplied not in ("float32", "bfloat16") for each in every):
        return None
    asked = {each.precision for each in every if each.multiplied == "float32"}
    if asked == {""} and option is None:
        return "tf32", "bf16"
    return ("f32", "tf32") if asked == {"highest"} and option in FULL else None


def _device(profile: Profile) -> DeviceUse | None:
    """Return the device, or one of several alike, if it is one of NVIDIA's with a data sheet."""
    uses = profile.device_uses
    if len({(each.model, each.peak_bytes) for each in uses}) != 1 or not uses[0].model.startswith("NVIDIA"):
        return None
    return uses[0]


def _spared(op: OperationTime, peak: float, faster_peak: float, peak_bytes: float, *, converting: bool) -> float:
    """Return the share of the time of a product that is spared; 0 if it is unknown, or not bound by the peak rate."""
    seconds = op.mean_ns / 1e9
    if not op.flops or not op.accessed_bytes or not seconds or op.asynchronous:
        return 0
    moving = op.accessed_bytes / peak_bytes
    of_peak = op.flops / seconds / peak
    if not LEAST_OF_PEAK <= of_peak <= _MOST_OF_PEAK or op.flops / peak < moving:
        return 0
    faster = max(op.flops / (of_peak * faster_peak), moving) + (_CONVERTING * moving if converting else 0)
    return max(0, 1 - faster / seconds)
