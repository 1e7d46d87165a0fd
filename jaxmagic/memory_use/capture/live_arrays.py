"""Lists the live arrays of every backend, their memory on each device, and which were made since a snapshot.

JAX counts the shards of an array as arrays of their own once they were accessed, for which printing is enough; a
copy to the device of an array shares its memory, too. Here memory counts once: two arrays share memory if they begin
at the same address of the same device. Nothing is waited for, and no array is read.
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
    """The arrays that were alive at one moment. It keeps none of them alive.

    Attributes:
        references: weak references to the arrays, by their ids.
        device_bytes: bytes of arrays on each device, by its name.
    """

    references: dict[int, weakref.ref[Any]]
    device_bytes: tuple[tuple[str, int], ...]

    @property
    def total_bytes(self) -> int:
        """Bytes on all devices together."""
        return sum(each for _, each in self.device_bytes)

    def has(self, array: Any) -> bool:
        """Return whether this array was alive then; another array may have got its id since."""
        reference = self.references.get(id(array))
        return reference is not None and reference() is array

    def deleted(self) -> list[Any]:
        """Return the arrays that were donated or deleted since, but are still referenced."""
        arrays = [reference() for reference in self.references.values()]
        return [array for array in arrays if array is not None and array.is_deleted()]


def snapshot() -> Snapshot:
    """Remember the arrays that are alive now, to find those that are made later."""
    facts = share(survey(alive()))
    device_bytes: Counter[str] = Counter()
    for fact in facts:
        device_bytes.update(fact.own_bytes())
    references = {id(fact.array): weakref.ref(fact.array) for fact in facts}
    return Snapshot(references=references, device_bytes=tuple(device_bytes.items()))


def list_live_arrays(
    namespace: dict[str, Any],
    *,
    before: Snapshot | None = None,
    beside: dict[str, Any] | None = None,
    limit_s: float = 0.5,
    clock: Clock = now_ns,
) -> LiveArrays:
    """List the arrays that are alive now, largest first, and the names in `namespace` that hold them.

    This starts no backend. Before a backend has started, there are no arrays.

    Args:
        namespace: names and values, such as those of a notebook. If these are the globals of a module, that module is
            not searched again.
        before: the arrays that are not new.
        beside: further values to search, by their names.
        limit_s: time limit of the search for names.
        clock: the clock of that limit.
    """
    started_at = timestamp()
    facts = survey(alive())
    deleted = [] if before is None else before.deleted()
    wanted = [*(fact.array for fact in facts), *deleted]
    holders = find_holders(wanted, namespace, beside=beside, limit_s=limit_s, clock=clock)
    facts = share(facts, holders.names)
    listed = [fact for fact in facts if not fact.is_shared or id(fact.array) in holders.names]
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
    """Describe a deleted array by its former shape and its names."""
    return HeldArray(
        shape=_shape(array),
        dtype=words_for(array.dtype).long,
        sharding="deleted",
        size_bytes=bytes_of(array.size, array.dtype),
        device_bytes=(),
        names=tuple(names),
    )


def _shape(array: Any) -> str:
    """Return element type and shape as JAX writes them."""
    return f"{words_for(array.dtype).short}[{','.join(map(str, array.shape))}]"


def _notes(shards: int, complete: bool) -> tuple[Note, ...]:
    notes = []
    if shards:
        notes.append(note("memory_use.shards_not_listed", arrays=shards))
    if not complete:
        notes.append(note("memory_use.search_cut_short"))
    return tuple(notes)
