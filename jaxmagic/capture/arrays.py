"""Which arrays are alive on every backend, what they take of which device, and what was made since a snapshot.

JAX counts the pieces of a sharded array as arrays of their own once somebody has looked at them, and printing is
looking; a copy to where an array lies already has its memory, too. Here memory counts once: two arrays share it where
it begins at the same address of the same device. Nothing is waited for, and no array is read.
"""

from __future__ import annotations

import functools
import weakref
from collections import Counter
from collections.abc import Container, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..model.arrays import HeldArray, LiveArrays
from . import internals
from .clock import Clock, now_ns, timestamp
from .environment import probe
from .holders import find_holders


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The arrays that were alive at one moment; keeps none of them alive.

    Attributes:
        references: to each of them, by its address.
        device_bytes: what they took of each device, by its name.
    """

    references: dict[int, weakref.ref[Any]]
    device_bytes: tuple[tuple[str, int], ...]

    @property
    def total_bytes(self) -> int:
        """What they took of all devices together."""
        return sum(each for _, each in self.device_bytes)

    def has(self, array: Any) -> bool:
        """Whether this very array was there; another one may have got its address."""
        reference = self.references.get(id(array))
        return reference is not None and reference() is array


def snapshot() -> Snapshot:
    """The arrays that are alive now, to tell later which were made since."""
    facts = _share(_survey(_alive()))
    device_bytes: Counter[str] = Counter()
    for fact in facts:
        device_bytes.update(fact.own_bytes())
    references = {id(fact.array): weakref.ref(fact.array) for fact in facts}
    return Snapshot(references=references, device_bytes=tuple(device_bytes.items()))


def look(
    namespace: dict[str, Any], *, before: Snapshot | None = None, limit_s: float = 0.5, clock: Clock = now_ns
) -> LiveArrays:
    """The arrays that are alive now, the one that takes most first, and where `namespace` holds them.

    Starts no backend: where none has been started there are no arrays.

    Args:
        namespace: names and values, such as a notebook's.
        before: which arrays are not new.
        limit_s: of the search for names.
        clock: of that limit.
    """
    started_at = timestamp()
    facts = _survey(_alive())
    holders = find_holders([fact.array for fact in facts], namespace, limit_s=limit_s, clock=clock)
    facts = _share(facts, holders.names)
    listed = [fact for fact in facts if not fact.is_piece or id(fact.array) in holders.names]
    arrays = [
        HeldArray(
            shape=f"{_words(fact.array.dtype).short}[{','.join(map(str, fact.array.shape))}]",
            dtype=_words(fact.array.dtype).long,
            sharding=fact.place.words,
            size_bytes=fact.size_bytes,
            device_bytes=fact.device_bytes,
            shared_bytes=fact.shared_bytes,
            names=tuple(holders.names.get(id(fact.array), ())),
            made=before is not None and not before.has(fact.array),
        )
        for fact in listed
    ]
    return LiveArrays(
        arrays=tuple(arrays),
        started_at=started_at,
        search_complete=holders.complete,
        notes=_notes(len(facts) - len(listed), holders.complete),
        environment=probe(),
    )


def _notes(pieces: int, complete: bool) -> tuple[str, ...]:
    notes = []
    if pieces:
        notes.append(
            f"Not listed: {pieces} of jax.live_arrays(), without a name and in the memory of another array, "
            "such as the pieces of a sharded array."
        )
    if not complete:
        notes.append("The search for names was cut short: an array without one may have one.")
    return tuple(notes)


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
class _Fact:
    """What was asked of an array, at once, because it may be deleted meanwhile."""

    array: Any
    place: _Place
    size_bytes: int
    piece_bytes: int
    shared: tuple[str, ...] = ()

    @property
    def device_bytes(self) -> tuple[tuple[str, int], ...]:
        return tuple((name, self.piece_bytes) for name in self.place.names)

    @property
    def shared_bytes(self) -> tuple[tuple[str, int], ...]:
        return tuple((name, self.piece_bytes) for name in self.shared)

    @property
    def is_piece(self) -> bool:
        """Whether it takes no memory of its own."""
        return self.shared == self.place.names and bool(self.shared)

    def own_bytes(self) -> dict[str, int]:
        return {name: self.piece_bytes for name in self.place.names if name not in self.shared}


def _alive() -> list[Any]:
    """All arrays of all backends that have been started."""
    import jax

    if internals.backends_started() is False:  # asking would start one
        return []
    found: dict[int, Any] = {}
    for platform in dict.fromkeys(device.platform for device in internals.local_devices()):
        with suppress(Exception):  # a backend that was taken away meanwhile
            found.update((id(array), array) for array in jax.live_arrays(platform))
    return list(found.values())


def _survey(arrays: Iterable[Any]) -> list[_Fact]:
    """What each of them takes of which device; deleted ones are left out."""
    places: dict[Any, _Place] = {}
    facts = []
    for array in arrays:
        with suppress(Exception):  # deleted or donated by another thread just now
            if not array.is_deleted():
                facts.append(_fact(array, places))
    return facts


def _fact(array: Any, places: dict[Any, _Place]) -> _Fact:
    sharding = array.sharding
    place = places.get(sharding)
    if place is None:
        place = places[sharding] = _place(sharding)
    return _Fact(array, place, array.nbytes, _piece_bytes(array, place))


def _piece_bytes(array: Any, place: _Place) -> int:
    """What it takes of each of its devices; pieces are of one size.

    Asked of the backend, which knows of padding and of numbers of four bits, or else reckoned. Never of the pieces:
    JAX would make arrays of them, and keep those as long as this one.
    """
    try:
        return int(array.on_device_size_in_bytes()) // place.devices
    except Exception:
        elements = 1
        for size in array.sharding.shard_shape(array.shape):
            elements *= size
        return elements * int(array.dtype.itemsize)


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


def _share(facts: list[_Fact], named: Container[int] = ()) -> list[_Fact]:
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


def _addresses(fact: _Fact) -> list[int]:
    """Where its memory begins on each of its devices, in their order; nothing where that is not told.

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
def _words(dtype: Any) -> _Words:
    """An element type as JAX writes it in short, and in full."""
    short = long = str(dtype)
    for name, letter in (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
        short = short.replace(name, letter)
    return _Words(short, long)
