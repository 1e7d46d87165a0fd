"""Observes which arrays ``jax.device_put`` moves, where, and how often."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....records.call_stack import Frame
from ....runtime.around import is_exactly
from ....runtime.copies import observe_device_puts
from ....runtime.tracing import is_array
from ...record.placement import DevicePut
from ..contents import content_of
from ..frames import known
from ..host_lines import outwards, place_of
from .placements import Passed, described_placements, moved_bytes

#: The most arrays that are noted.
MOST = 1000


@dataclass(kw_only=True)
class SeenArray:
    """An array that was placed or converted at a line, and how often; it may have been there already.

    A view of an array of NumPy is the same one each time if it shows the same part of the same array: ``for b in x``
    makes new views in every epoch.
    """

    line: Frame | None
    type: str
    on_host: bool
    owner: weakref.ref[Any]
    part: tuple[Any, ...]
    count: int = 1
    content: object = None
    same: bool | None = None

    def is_of(self, owner: Any, part: tuple[Any, ...]) -> bool:
        """Return whether this is a part of an array that is still alive."""
        return owner is not None and self.owner() is owner and self.part == part

    def again(self, array: Any) -> None:
        """Count another time, and compare an array of NumPy at the times 2, 3, 5, 9, 17 and so on."""
        self.count += 1
        since_second = self.count - 2
        if self.on_host and self.same is not False and not since_second & (since_second + 1):
            before, self.content = self.content, content_of(array)
            self.same = self.content == before if since_second else None


@dataclass(kw_only=True)
class _Moved(SeenArray):
    """An array that was placed, and where it lay."""

    passed: Passed


class DevicePuts:
    """The arrays that ``jax.device_put`` moved so far; they are held weakly."""

    def __init__(self) -> None:
        self._moved: list[_Moved] = []

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Observe what moves in the block; nothing if this JAX cannot be observed."""
        undo = observe_device_puts(self._notice)
        try:
            yield
        finally:
            if undo is not None:
                undo()

    def _notice(self, array: Any, result: Any) -> None:
        on_host = is_exactly(array, np.ndarray)
        if not (on_host or is_array(array)) or not is_array(result):
            return
        needed, line = result.sharding, place_of(outwards(sys._getframe(1)))[0]
        owner, part = part_of(array) if on_host else (array, ())
        for each in self._moved:
            if each.is_of(owner, part) and each.line == line and each.passed.needed == needed:
                each.again(array)
                return
        moved = moved_bytes(result, needed, from_host=True) if on_host else moved_bytes(array, needed)
        if len(self._moved) < MOST:
            passed = Passed(len(self._moved), weakref.ref(array), needed, moved)
            sizes = ",".join(map(str, array.shape))
            moved_array = _Moved(
                line=line,
                type=f"{array.dtype}[{sizes}]",
                passed=passed,
                on_host=on_host,
                owner=weakref.ref(owner),
                part=part,
            )
            self._moved.append(moved_array)

    def described(self, variables: Mapping[str, Any]) -> tuple[DevicePut, ...]:
        """Describe them.

        Args:
            variables: the variables of the code, to name arrays.
        """
        placements = {
            each.parameter: each for each in described_placements([each.passed for each in self._moved], variables)
        }
        return tuple(
            DevicePut(
                line=known(each.line),
                count=each.count,
                moved_bytes=each.passed.moved_bytes,
                type=each.type,
                placement=placements.get(number),
                places=self._places(each),
                on_host=each.on_host,
                same_values=not each.on_host or each.same is True,
            )
            for number, each in enumerate(self._moved)
            if each.passed.moved_bytes
        )

    def _places(self, moved: _Moved) -> int:
        """Return to how many different shardings an array was brought."""
        owner = moved.owner()
        same = (each for each in self._moved if each is moved or each.is_of(owner, moved.part))
        return len({each.passed.needed for each in same})


def part_of(array: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the array that owns the memory of an array of NumPy, and which part of it this is."""
    owner = array.base if is_exactly(array.base, np.ndarray) else array
    return owner, (array.ctypes.data, array.shape, array.strides, array.dtype.str)
