"""Observes which arrays ``jax.device_put`` moves between devices, where, and how often."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ....records.call_stack import Frame
from ....runtime.executed_programs import observe_device_puts
from ....runtime.tracing import is_array
from ...record.placement import DevicePut
from ..frames import known
from ..host_lines import place_of
from .placements import Passed, described_placements, moved_bytes

#: The most arrays that are noted.
_MOST = 1000


@dataclass
class _Moved:
    """An array that was placed at a line, and how often; it may have been there already."""

    line: Frame | None
    type: str
    passed: Passed
    count: int = 0


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
        if not is_array(array) or not is_array(result):
            return
        needed, line = result.sharding, place_of(sys._getframe(1))[0]
        for each in self._moved:
            if each.line == line and each.passed.array() is array and each.passed.needed == needed:
                each.count += 1
                return
        moved = moved_bytes(array, needed)
        if len(self._moved) < _MOST:
            passed = Passed(len(self._moved), weakref.ref(array), needed, moved)
            sizes = ",".join(map(str, array.shape))
            self._moved.append(_Moved(line, f"{array.dtype}[{sizes}]", passed, count=1))

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
            )
            for number, each in enumerate(self._moved)
            if each.passed.moved_bytes
        )

    def _places(self, moved: _Moved) -> int:
        """Return to how many different shardings an array was brought."""
        array = moved.passed.array()
        same = (each for each in self._moved if each is moved or (array is not None and each.passed.array() is array))
        return len({each.passed.needed for each in same})
