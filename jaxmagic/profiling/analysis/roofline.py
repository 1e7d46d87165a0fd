"""How near operations come to what a device can do: by its arithmetic or by its memory, whichever limits them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..record.profile import OperationTime, Profile
from .data_sheets import peak_of
from .operations import over_devices

#: What goes over a bus or a network, or waits for that: neither what the device computes nor its memory limits it.
_NOT_ITS_OWN = ("collective", "control flow", "infeed", "host callback")
_MOVES = ("copy-start", "copy-done", "Memcpy")


class Peaks(NamedTuple):
    """What a device can do in a second.

    Attributes:
        flops: floating-point operations; ``None`` if that is not known.
        bytes: bytes of its memory read and written.
        by_type: floating-point operations by the type of numbers, as far as they are known.
    """

    flops: float | None
    bytes: float
    by_type: Mapping[str, float] = MappingProxyType({})

    def flops_for(self, multiplied: str) -> float | None:
        """Return the peak FLOP/s for products of an element type, or without products if it is empty."""
        return peak_of(self.by_type, multiplied) if self.by_type else self.flops


class Placed(NamedTuple):
    """An operation beside what its device can do.

    Attributes:
        operation: it, over all devices.
        intensity: floating-point operations for each byte that it reads or writes.
        flops_per_s: what it achieved.
        bytes_per_s: the same of memory.
        of_roof: that as a part of what is possible at this intensity, as far as that is known. More than 1 means that
            the data were in a cache, or that the peak is too low.
        by_memory: whether that is limited by the memory, or only its rate is known.
    """

    operation: OperationTime
    intensity: float
    flops_per_s: float
    bytes_per_s: float
    of_roof: float
    by_memory: bool


def peaks_of(profile: Profile) -> Peaks | None:
    """Return the peaks of the devices; ``None`` if they are not all alike, or their memory bandwidth is not known."""
    found = {(each.peak_flops, each.peak_bytes, each.model) for each in profile.device_uses}
    if len(found) != 1:
        return None
    one = profile.device_uses[0]
    return Peaks(one.peak_flops or None, one.peak_bytes, one.peak_flops_by_type) if one.peak_bytes else None


def fastest_product(operations: Iterable[OperationTime]) -> float:
    """The floating-point operations in a second of the product or convolution that reached most; 0 without any."""
    products = (each for each in operations if each.category in ("matmul", "convolution") and each.total_ns)
    return max((1e9 * (each.flops or 0) * each.count / each.total_ns for each in products), default=0.0)


def placed(profile: Profile) -> Iterator[Placed]:
    """The operations of which it is known how much they compute and move, what took most time first."""
    peaks = peaks_of(profile)
    for each in over_devices(profile.operation_times) if peaks is not None else ():
        found = place(each, peaks)
        if found is not None:
            yield found


def place(operation: OperationTime, peaks: Peaks | None) -> Placed | None:
    """An operation beside what its device can do; ``None`` where it is not known how much it computes or moves."""
    seconds = operation.mean_ns / 1e9
    if peaks is None or operation.flops is None or not operation.accessed_bytes or not seconds:
        return None
    if operation.category in _NOT_ITS_OWN or operation.asynchronous or operation.name.startswith(_MOVES):
        return None
    intensity = operation.flops / operation.accessed_bytes
    flops, moved = operation.flops / seconds, operation.accessed_bytes / seconds
    possible = peaks.flops_for(operation.multiplied)
    limited = possible is None or intensity * peaks.bytes < possible
    return Placed(
        operation=operation,
        intensity=intensity,
        flops_per_s=flops,
        bytes_per_s=moved,
        of_roof=moved / peaks.bytes if possible is None or limited else flops / possible,
        by_memory=limited,
    )


def without_rate(profile: Profile) -> list[OperationTime]:
    """The operations of which it is not known how much they compute or move, what took most time first."""
    peaks = peaks_of(profile)
    return [each for each in over_devices(profile.operation_times) if place(each, peaks) is None]
