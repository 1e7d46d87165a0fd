"""Which arrays are alive on every backend, what they take of which device, and what was made since a snapshot.

JAX counts the pieces of a sharded array as arrays of their own once somebody has looked at them, and printing is
looking; a copy to where an array lies already has its memory, too. Here memory counts once: two arrays share it where
it begins at the same address of the same device. Nothing is waited for, and no array is read.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...records.note import Note, note
from ...runtime.clock import Clock, now_ns, timestamp
from ...runtime.environment import probe
from ..record.live_arrays import HeldArray, LiveArrays
from .array_bytes import bytes_of
from .array_survey import alive, share, survey, words_for
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
        """Bytes on all devices together."""
        return sum(each for _, each in self.device_bytes)

    def has(self, array: Any) -> bool:
        """Tell whether this very array was there; another one may have got its address."""
        reference = self.references.get(id(array))
        return reference is not None and reference() is array

    def deleted(self) -> list[Any]:
        """Those that somebody still holds, and that were donated or deleted since."""
        arrays = [reference() for reference in self.references.values()]
        return [array for array in arrays if array is not None and array.is_deleted()]


def snapshot() -> Snapshot:
    """The arrays that are alive now, to tell later which were made since."""
    facts = share(survey(alive()))
    device_bytes: Counter[str] = Counter()
    for fact in facts:
        device_bytes.update(fact.own_bytes())
    references = {id(fact.array): weakref.ref(fact.array) for fact in facts}
    return Snapshot(references=references, device_bytes=tuple(device_bytes.items()))


def look(
    namespace: dict[str, Any],
    *,
    before: Snapshot | None = None,
    beside: dict[str, Any] | None = None,
    limit_s: float = 0.5,
    clock: Clock = now_ns,
) -> LiveArrays:
    """The arrays that are alive now, the one that takes most first, and where `namespace` holds them.

    Starts no backend: where none has been started there are no arrays.

    Args:
        namespace: names and values, such as a notebook's; the very one of a module, and that is not looked at again.
        before: which arrays are not new.
        beside: other values, by how each can be found.
        limit_s: of the search for names.
        clock: of that limit.
    """
    started_at = timestamp()
    facts = survey(alive())
    deleted = [] if before is None else before.deleted()
    wanted = [*(fact.array for fact in facts), *deleted]
    holders = find_holders(wanted, namespace, beside=beside, limit_s=limit_s, clock=clock)
    facts = share(facts, holders.names)
    listed = [fact for fact in facts if not fact.is_piece or id(fact.array) in holders.names]
    arrays = [
        HeldArray(
            shape=_shape(fact.array),
            dtype=words_for(fact.array.dtype).long,
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
        arrays=tuple(sorted(arrays, key=lambda each: -each.own_bytes)),
        deleted=tuple(_deleted(each, names) for each in deleted if (names := holders.names.get(id(each)))),
        started_at=started_at,
        search_complete=holders.complete,
        notes=_notes(len(facts) - len(listed), holders.complete),
        environment=probe(),
    )


def _deleted(array: Any, names: Sequence[str]) -> HeldArray:
    """Return what is left of it: what it was, and its names."""
    return HeldArray(
        shape=_shape(array),
        dtype=words_for(array.dtype).long,
        sharding="none any more",
        size_bytes=bytes_of(array.size, array.dtype),
        device_bytes=(),
        names=tuple(names),
    )


def _shape(array: Any) -> str:
    """Type and sizes, as JAX writes them."""
    return f"{words_for(array.dtype).short}[{','.join(map(str, array.shape))}]"


def _notes(pieces: int, complete: bool) -> tuple[Note, ...]:
    notes = []
    if pieces:
        notes.append(note("memory_use.pieces_not_listed", arrays=pieces))
    if not complete:
        notes.append(note("memory_use.search_cut_short"))
    return tuple(notes)
