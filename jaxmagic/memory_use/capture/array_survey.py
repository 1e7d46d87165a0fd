"""Finds how much memory of which device each live array takes, and which arrays share memory."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Container, Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from ...runtime import private_api
from ...runtime.copies import clone_of
from ...timing.capture.wait import has_failed
from .array_bytes import bytes_of, device_bytes


class _Place(NamedTuple):
    """The placement of arrays with one sharding.

    Attributes:
        words: short name of the sharding.
        names: the devices of this process, with the memory kind if it is not the device's default.
        devices: number of devices, those of other processes included.
    """

    words: str
    names: tuple[str, ...]
    devices: int


@dataclass(slots=True)
class Fact:
    """Facts about an array, queried at once because the array may be deleted at any time."""

    array: Any
    place: _Place
    size_bytes: int
    shard_bytes: int
    shared: tuple[str, ...] = ()

    @property
    def device_bytes(self) -> tuple[tuple[str, int], ...]:
        """Bytes on each device, by the device's name."""
        return tuple((name, self.shard_bytes) for name in self.place.names)

    @property
    def shared_bytes(self) -> tuple[tuple[str, int], ...]:
        """The part of these bytes that has been counted for another array."""
        return tuple((name, self.shard_bytes) for name in self.shared)

    @property
    def is_shared(self) -> bool:
        """Whether all memory of the array has been counted for another one."""
        return self.shared == self.place.names and bool(self.shared)

    def own_bytes(self) -> dict[str, int]:
        """Return the bytes that have not been counted for another array, by the device's name."""
        return {name: self.shard_bytes for name in self.place.names if name not in self.shared}


def alive() -> list[Any]:
    """Return all live arrays of all backends that have been started."""
    import jax

    if private_api.backends_started() is False:  # jax.live_arrays() would start one
        return []
    arrays: dict[int, Any] = {}
    for platform in dict.fromkeys(device.platform for device in private_api.local_devices()):
        with suppress(Exception):  # the backend was removed meanwhile
            arrays.update((id(array), array) for array in jax.live_arrays(platform))
    return list(arrays.values())


def survey(arrays: Iterable[Any]) -> list[Fact]:
    """Find the memory of each array on each device; deleted arrays, and those of failed programs, are left out."""
    places: dict[Any, _Place] = {}
    facts = []
    for array in arrays:
        with suppress(Exception):  # another thread has just deleted or donated the array
            if not array.is_deleted() and not has_failed(array):
                facts.append(_fact(array, places))
    return facts


def _fact(array: Any, places: dict[Any, _Place]) -> Fact:
    sharding = array.sharding
    place = places.get(sharding)
    if place is None:
        place = places[sharding] = _place(sharding)
    return Fact(array, place, bytes_of(array.size, array.dtype), _shard_bytes(array, place))


def _shard_bytes(array: Any, place: _Place) -> int:
    """Return the bytes of an array on each of its devices; all shards have the same size.

    The backend reports the bytes with padding; otherwise they are computed. The shards are never queried: JAX would
    make arrays of them, and keep those as long as this array.
    """
    try:
        return device_bytes(array) // place.devices
    except Exception:
        return bytes_of(prod(array.sharding.shard_shape(array.shape)), array.dtype)


def _place(sharding: Any) -> _Place:
    devices = sorted(sharding.addressable_devices, key=lambda device: device.id)
    names = tuple(f"{device.platform}:{device.id}{_memory(sharding, device)}" for device in devices)
    count = len(sharding.device_set)
    kind = type(sharding).__name__
    if kind == "SingleDeviceSharding":
        return _Place(f"SingleDevice {', '.join(names) or 'of another process'}", names, count)
    spec = getattr(sharding, "spec", None)
    words = kind if spec is None else f"{kind} {spec}".replace("PartitionSpec", "P")
    other = "".join({_memory(sharding, device) for device in devices[:1]})
    return _Place(f"{words} over {count} device{'' if count == 1 else 's'}{other}", names, count)


def _memory(sharding: Any, device: Any) -> str:
    """Return the memory kind if it is not the device's default, such as ``" pinned_host"``."""
    kind = sharding.memory_kind
    with suppress(Exception):  # the backend has no memory kinds
        return "" if kind is None or kind == device.default_memory().kind else f" {kind}"
    return ""


def share(facts: list[Fact], named: Container[int] = ()) -> list[Fact]:
    """Sort arrays by size, largest first, and count shared memory for the first array in it.

    Of equal arrays, one with a name comes first, and a shard that JAX has made of an array comes after it. Addresses
    are queried only if bytes and device are the same.
    """
    facts = sorted(
        facts,
        key=lambda fact: (
            -fact.shard_bytes * len(fact.place.names),
            -len(fact.place.names),
            id(fact.array) not in named,
        ),
    )
    alike = Counter((name, fact.shard_bytes) for fact in facts for name in fact.place.names)
    taken: set[tuple[str, int]] = set()
    for fact in facts:
        if not fact.shard_bytes or all(alike[name, fact.shard_bytes] == 1 for name in fact.place.names):
            continue
        shared = []
        for name, address in zip(fact.place.names, _addresses(fact), strict=False):
            if (name, address) in taken:
                shared.append(name)
            taken.add((name, address))
        fact.shared = tuple(shared)
    return facts


def _addresses(fact: Fact) -> list[int]:
    """Return the address of the array on each of its devices, in their order; nothing if unknown.

    A clone is queried and discarded, because JAX makes arrays of the shards, and keeps those as long as the array.
    """
    with suppress(Exception):
        if fact.array.is_deleted() or not fact.array.is_ready() or has_failed(fact.array):
            return []
        clone = clone_of(fact.array)
        if fact.place.devices == 1:
            return [clone.unsafe_buffer_pointer()]
        shards = {_device_id(shard): shard.unsafe_buffer_pointer() for shard in clone._arrays}
        return [shards[each] for each in sorted(shards)]
    return []


def _device_id(shard: Any) -> int:
    (device,) = shard.sharding.device_set
    return int(device.id)


class _Words(NamedTuple):
    short: str
    long: str


@functools.cache
def words_for(dtype: Any) -> _Words:
    """Return an element type as JAX writes it in short, and in full."""
    short = long = str(dtype)
    for name, letter in (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
        short = short.replace(name, letter)
    return _Words(short, long)
