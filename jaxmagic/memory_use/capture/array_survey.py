"""What each array that is alive takes of which device, and which of them lie in the same memory."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Container, Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from ...runtime import private_api
from .array_bytes import bytes_of, device_bytes


class _Place(NamedTuple):
    """Where the arrays of one sharding lie.

    Attributes:
        words: the sharding in short.
        names: the devices of this process, with the kind of their memory where it is not the usual one.
        devices: how many it is over, those of other processes included.
    """

    words: str
    names: tuple[str, ...]
    devices: int


@dataclass(slots=True)
class Fact:
    """What was asked of an array, at once, because it may be deleted meanwhile."""

    array: Any
    place: _Place
    size_bytes: int
    piece_bytes: int
    shared: tuple[str, ...] = ()

    @property
    def device_bytes(self) -> tuple[tuple[str, int], ...]:
        """What it takes of each device, by the device's name."""
        return tuple((name, self.piece_bytes) for name in self.place.names)

    @property
    def shared_bytes(self) -> tuple[tuple[str, int], ...]:
        """What of this lies in memory that another array has been counted for."""
        return tuple((name, self.piece_bytes) for name in self.shared)

    @property
    def is_piece(self) -> bool:
        """Whether it takes no memory of its own."""
        return self.shared == self.place.names and bool(self.shared)

    def own_bytes(self) -> dict[str, int]:
        """The rest, by the device's name."""
        return {name: self.piece_bytes for name in self.place.names if name not in self.shared}


def alive() -> list[Any]:
    """All arrays of all backends that have been started."""
    import jax

    if private_api.backends_started() is False:  # asking would start one
        return []
    found: dict[int, Any] = {}
    for platform in dict.fromkeys(device.platform for device in private_api.local_devices()):
        with suppress(Exception):  # a backend that was taken away meanwhile
            found.update((id(array), array) for array in jax.live_arrays(platform))
    return list(found.values())


def survey(arrays: Iterable[Any]) -> list[Fact]:
    """Return what each of them takes of which device; deleted ones are left out."""
    places: dict[Any, _Place] = {}
    facts = []
    for array in arrays:
        with suppress(Exception):  # deleted or donated by another thread just now
            if not array.is_deleted():
                facts.append(_fact(array, places))
    return facts


def _fact(array: Any, places: dict[Any, _Place]) -> Fact:
    sharding = array.sharding
    place = places.get(sharding)
    if place is None:
        place = places[sharding] = _place(sharding)
    return Fact(array, place, bytes_of(array.size, array.dtype), _piece_bytes(array, place))


def _piece_bytes(array: Any, place: _Place) -> int:
    """Return what it takes of each of its devices; pieces are of one size.

    Asked of the backend, which knows of padding, or else reckoned. Never of the pieces: JAX would make arrays of
    them, and keep those as long as this one.
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
    """The kind of memory where it is not the device's own, such as ``" pinned_host"``."""
    kind = sharding.memory_kind
    with suppress(Exception):  # a backend that has no kinds
        return "" if kind is None or kind == device.default_memory().kind else f" {kind}"
    return ""


def share(facts: list[Fact], named: Container[int] = ()) -> list[Fact]:
    """The same, the one that takes most first, and memory counts for the first that lies in it.

    Of equals one that has a name is first, and a piece that JAX has made of it comes behind it.
    Addresses are asked only where bytes and device are the same.
    """
    facts = sorted(
        facts,
        key=lambda fact: (
            -fact.piece_bytes * len(fact.place.names),
            -len(fact.place.names),
            id(fact.array) not in named,
        ),
    )
    alike = Counter((name, fact.piece_bytes) for fact in facts for name in fact.place.names)
    taken: set[tuple[str, int]] = set()
    for fact in facts:
        if not fact.piece_bytes or all(alike[name, fact.piece_bytes] == 1 for name in fact.place.names):
            continue
        shared = []
        for name, address in zip(fact.place.names, _addresses(fact), strict=False):
            if (name, address) in taken:
                shared.append(name)
            taken.add((name, address))
        fact.shared = tuple(shared)
    return facts


def _addresses(fact: Fact) -> list[int]:
    """Find where its memory begins on each of its devices, in their order; nothing where that is not told.

    A clone is asked, and thrown away: JAX makes arrays of the pieces, and keeps those as long as the array itself.
    Up to 0.10 it crashes where a deleted array is cloned, so this is asked first.
    """
    with suppress(Exception):
        if fact.array.is_deleted():
            return []
        clone = fact.array.clone()
        if fact.place.devices == 1:
            return [clone.unsafe_buffer_pointer()]
        pieces = {_device_id(piece): piece.unsafe_buffer_pointer() for piece in clone._arrays}
        return [pieces[each] for each in sorted(pieces)]
    return []


def _device_id(piece: Any) -> int:
    (device,) = piece.sharding.device_set
    return int(device.id)


class _Words(NamedTuple):
    short: str
    long: str


@functools.cache
def words_for(dtype: Any) -> _Words:
    """An element type as JAX writes it in short, and in full."""
    short = long = str(dtype)
    for name, letter in (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
        short = short.replace(name, letter)
    return _Words(short, long)
