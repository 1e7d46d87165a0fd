"""Finds arrays that each run keeps alive beyond its end, and those that are alive during all runs.

Arrays are held weakly, and listed between runs only. Names are searched for, and garbage is collected, only if arrays
of an earlier run are still alive after later ones.
"""

from __future__ import annotations

import gc
import weakref
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from ...memory_use.analysis.leaks import general
from ...memory_use.capture.array_survey import Fact, alive, share, survey
from ...memory_use.capture.holders import find_holders
from ...runtime.around import is_exactly
from ...runtime.private_api import local_devices
from ..record.evidence import KeptArrays
from ..record.placement import LEAST_ALONE, DeviceArrays

#: Less than this per run is not looked at: code that collects a loss per step is usual.
_LEAST_BYTES = 2**18

#: At least this many runs have to follow the one whose arrays are still alive.
_LEAST_LATER = 2

#: Weak references by id.
_References = dict[int, "weakref.ref[Any]"]


class ArrayMarks:
    """The arrays that were alive before the first run, after it, and after the second one."""

    def __init__(self) -> None:
        self._marks: list[_References] = []

    def mark(self) -> None:
        """Remember which arrays are alive now."""
        self._marks.append({id(array): weakref.ref(array) for array in alive()})

    def resident_bytes(self) -> int | None:
        """Return the bytes of arrays on each device, at least, that were alive before the first run and are now."""
        return min((each.size_bytes for each in self.by_device({}, None)), default=None)

    def by_device(self, namespace: Mapping[str, Any], limit_bytes: int | None) -> tuple[DeviceArrays, ...]:
        """Return the arrays on each device that were alive before the first run and are now.

        Args:
            namespace: the variables of the code, to name arrays.
            limit_bytes: the memory of a device; without it, no array is named.
        """
        if not self._marks:
            return ()
        found = [each() for each in self._marks[0].values()]
        facts = share(survey(each for each in found if each is not None))
        devices = local_devices()
        least_bytes = LEAST_ALONE * limit_bytes if limit_bytes and len(devices) > 1 else float("inf")
        totals, alone = Counter[str](), dict[str, list[Fact]]()
        for fact in facts:
            totals.update(fact.own_bytes())
            if fact.place.devices == 1 and fact.place.names and fact.size_bytes >= least_bytes:
                alone.setdefault(fact.place.names[0], []).append(fact)
        large = [fact.array for each in alone.values() for fact in each]
        names = find_holders(large, dict(namespace)).names if large else {}
        return tuple(
            DeviceArrays(
                device=device,
                size_bytes=totals[device],
                alone=tuple(
                    (held_by[0].removeprefix("__main__."), fact.size_bytes)
                    for fact in alone.get(device, ())
                    if (held_by := names.get(id(fact.array)))
                ),
            )
            for device in (f"{each.platform}:{each.id}" for each in devices)
        )

    def kept(self, namespace: Mapping[str, Any], later: int) -> tuple[KeptArrays, ...] | None:
        """Return what the second run and all later ones keep, by the names that hold it, largest first.

        Args:
            namespace: the variables of the code.
            later: the number of runs after the second one.

        Returns:
            ``None`` if the code did not run often enough.
        """
        if len(self._marks) < 3 or later < _LEAST_LATER:
            return None
        _, first, second = self._marks[:3]
        grown = _grown(first, second, later)
        if sum(sum(each.own_bytes().values()) for each in grown) < _LEAST_BYTES:
            return ()
        del grown
        gc.collect()
        grown = [each for each in _grown(first, second, later) if not _is_bounded(each.array)]
        return _named(grown, namespace, later + 1)


def _grown(first: _References, second: _References, later: int) -> list[Fact]:
    """Return the arrays that the second run made, and of which later runs made as many, if all are alive."""
    now = alive()
    made = [array for array in now if _has(second, array) and not _has(first, array)]
    since = Counter(_type(array) for array in now if not _has(second, array))
    count = Counter(map(_type, made))
    return share(survey(array for array in made if since[_type(array)] >= later * count[_type(array)]))


def _has(references: _References, array: Any) -> bool:
    reference = references.get(id(array))
    return reference is not None and reference() is array


def _type(array: Any) -> tuple[Any, ...]:
    return array.shape, array.dtype, array.sharding


def _is_bounded(array: Any) -> bool:
    """Return whether an array is in a container that drops the oldest."""
    return any(is_exactly(each, deque) and each.maxlen is not None for each in gc.get_referrers(array))


def _named(facts: list[Fact], namespace: Mapping[str, Any], runs: int) -> tuple[KeptArrays, ...]:
    """Return the arrays that the user's variables hold, by the names of these; results of cells do not count."""
    names = find_holders([each.array for each in facts], dict(namespace)).names
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for fact in facts:
        held_by = [general(each.removeprefix("__main__.")) for each in names.get(id(fact.array), ())]
        if held_by and not held_by[0].startswith(("(", "Out[")):
            sizes[held_by[0]] += sum(fact.own_bytes().values())
            counts[held_by[0]] += 1
    return tuple(
        KeptArrays(name=name, arrays=counts[name], size_bytes=size_bytes, runs=runs)
        for name, size_bytes in sizes.most_common()
    )
