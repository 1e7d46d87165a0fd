"""Compares what operations achieve with the roofline of their device (Williams et al., CACM 52(4), 2009)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from ..record.profile import OperationTime, Profile
from .data_sheets import peak_of
from .operations import by_line, over_devices

#: Operations that use a bus or a network, or wait for one: neither peak FLOP/s nor memory bandwidth limits them.
_NOT_ITS_OWN = ("collective", "control flow", "infeed", "host callback")
_MOVES = ("copy-start", "copy-done", "Memcpy")

#: What an operation lacks for a place on the roofline: a count, or a roof, as a bus, a network or the host limits it.
Missing = Literal["roof", "FLOPs", "bytes", "FLOPs and bytes"]


class Peaks(NamedTuple):
    """Peak rates of a device.

    Attributes:
        flops: peak FLOP/s; ``None`` if not known.
        bytes: memory bandwidth in bytes/s.
        by_type: peak FLOP/s by element type, as far as known.
    """

    flops: float | None
    bytes: float
    by_type: Mapping[str, float] = MappingProxyType({})

    def flops_for(self, multiplied: str) -> float | None:
        """Return the peak FLOP/s for products of an element type, or without products if it is empty."""
        return peak_of(self.by_type, multiplied) if self.by_type else self.flops


class Placed(NamedTuple):
    """An operation on the roofline of its device.

    Attributes:
        operation: the operation, summed over all devices, or the total of a group of operations.
        operational_intensity: FLOPs per byte accessed.
        flops_per_s: achieved FLOP/s.
        bytes_per_s: achieved memory bandwidth.
        roofline_efficiency: the achieved rate as a fraction of the attainable rate at this operational intensity.
            More than 1 means that the data were in a cache, or that the peak rate is too low.
        bound_by: what limits the operation; ``"memory"`` also if the peak FLOP/s is not known.
    """

    operation: OperationTime
    operational_intensity: float
    flops_per_s: float
    bytes_per_s: float
    roofline_efficiency: float
    bound_by: Literal["compute", "memory"]


def peaks_of(profile: Profile) -> Peaks | None:
    """Return the peak rates of the devices; ``None`` if they differ, or the memory bandwidth is not known."""
    if len({(each.peak_flops, each.peak_bytes, each.model) for each in profile.device_uses}) != 1:
        return None
    use = profile.device_uses[0]
    return Peaks(use.peak_flops or None, use.peak_bytes, use.peak_flops_by_type) if use.peak_bytes else None


def fastest_product(operations: Iterable[OperationTime]) -> float:
    """Return the FLOP/s of the fastest matrix product or convolution; 0 without any."""
    products = (each for each in operations if each.category in ("matmul", "convolution") and each.total_ns)
    return max((1e9 * (each.flops or 0) * each.count / each.total_ns for each in products), default=0.0)


def placed(profile: Profile) -> Iterator[Placed]:
    """Return the operations with known FLOPs and bytes accessed, the one with most time first."""
    peaks = peaks_of(profile)
    return filter(None, (place(each, peaks) for each in over_devices(profile.operation_times)))


def place(operation: OperationTime, peaks: Peaks | None) -> Placed | None:
    """Place an operation on the roofline; ``None`` if its FLOPs or its bytes accessed are not known."""
    seconds = operation.mean_ns / 1e9
    if peaks is None or operation.flops is None or not operation.accessed_bytes or not seconds:
        return None
    if _is_elsewhere(operation):
        return None
    intensity = operation.flops / operation.accessed_bytes
    flops_per_s, bytes_per_s = operation.flops / seconds, operation.accessed_bytes / seconds
    peak_flops = peaks.flops_for(operation.multiplied)
    memory_bound = peak_flops is None or intensity * peaks.bytes < peak_flops
    return Placed(
        operation=operation,
        operational_intensity=intensity,
        flops_per_s=flops_per_s,
        bytes_per_s=bytes_per_s,
        roofline_efficiency=(
            bytes_per_s / peaks.bytes if peak_flops is None or memory_bound else flops_per_s / peak_flops
        ),
        bound_by="memory" if memory_bound else "compute",
    )


def placed_by_line(profile: Profile) -> Iterator[Placed]:
    """Return the groups of operations with known FLOPs and bytes accessed, the one with most time first."""
    peaks = peaks_of(profile)
    return filter(None, (place(each.total, peaks) for each in by_line(profile.operation_times)))


def without_place(profile: Profile) -> dict[Missing, list[OperationTime]]:
    """Return the totals of the groups that have no place on the roofline by what is missing, most time first.

    Groups that are known to access nothing are left out.
    """
    found: dict[Missing, list[OperationTime]] = {}
    for each in (group.total for group in by_line(profile.operation_times)):
        if missing := _missing(each):
            found.setdefault(missing, []).append(each)
    return found


def _missing(operation: OperationTime) -> Missing | None:
    if _is_elsewhere(operation):
        return "roof"
    if operation.flops is None:
        return "FLOPs and bytes" if operation.accessed_bytes is None else "FLOPs"
    return "bytes" if operation.accessed_bytes is None else None


def _is_elsewhere(operation: OperationTime) -> bool:
    """Return whether a bus, a network or the host limits an operation."""
    return operation.category in _NOT_ITS_OWN or operation.asynchronous or operation.name.startswith(_MOVES)
