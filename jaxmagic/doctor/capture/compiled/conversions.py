"""Observes which arrays of NumPy are converted, or passed to a jitted function, where, and how often."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....records.call_stack import Frame
from ....runtime.around import is_exactly
from ....runtime.copies import observe_conversions, observe_passed
from ....runtime.tracing import is_array
from ...record.conversion import Conversion
from ..changes import reach
from ..contents import content_of
from ..frames import known
from ..host_lines import lines_of, outwards
from .device_puts import MOST, SeenArray, part_of

#: Smaller arrays that are passed are left out.
_LEAST_PASSED_BYTES = 2**14


@dataclass(kw_only=True)
class _Converted(SeenArray):
    """An array that was converted or passed, with the lines that led there, its size, the function and its place."""

    called_from: tuple[Frame, ...]
    size_bytes: int
    function: str
    place: int | None
    leaves: int


class Conversions:
    """The arrays of NumPy that were converted or passed so far; they are held weakly."""

    def __init__(self) -> None:
        self._converted: dict[Any, _Converted] = {}

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Observe what is converted and passed in the block; nothing if this JAX cannot be observed."""
        with ExitStack() as observing:
            for undo in (observe_conversions(self._notice), observe_passed(self._notice_passed)):
                if undo is not None:
                    observing.callback(undo)
            yield

    def _notice(self, array: Any, result: Any) -> None:
        if is_exactly(array, np.ndarray) and is_array(result):
            self._add(array, f"{result.dtype}", result.nbytes, "")

    def _notice_passed(self, function: str, leaves: Sequence[Any]) -> bool:
        arrays = [(place, each) for place, each in enumerate(leaves) if is_exactly(each, np.ndarray)]
        large = [(place, each) for place, each in arrays if each.nbytes >= _LEAST_PASSED_BYTES]
        for place, each in large:
            self._add(each, f"{each.dtype}", each.nbytes, function, place, len(leaves))
        return bool(large)

    def _add(
        self, array: Any, dtype: str, size_bytes: int, function: str, place: int | None = None, leaves: int = 0
    ) -> None:
        lines = lines_of(outwards(sys._getframe(1)))
        owner, part = part_of(array)
        key = id(owner), part, function, place, *lines[:1]
        seen = self._converted.get(key)
        if seen is not None and seen.is_of(owner, part):
            seen.again(array)
        elif lines and len(self._converted) < MOST:
            self._converted[key] = _Converted(
                line=lines[0],
                type=f"{dtype}[{','.join(map(str, array.shape))}]",
                on_host=True,
                owner=weakref.ref(owner),
                part=part,
                called_from=lines[1:],
                size_bytes=size_bytes,
                function=function,
                place=place,
                leaves=leaves,
            )

    def described(self, variables: Mapping[str, Any]) -> tuple[Conversion, ...]:
        """Describe them, after the run has ended.

        Args:
            variables: the variables of the code, to name arrays that were passed.
        """
        passed = any(each.function for each in self._converted.values())
        reached = [each for each in reach(variables) if is_exactly(each.value, np.ndarray)] if passed else []
        paths = {part_of(each.value)[1]: each.path for each in reversed(reached)}
        return tuple(
            Conversion(
                line=line,
                called_from=tuple(filter(None, map(known, each.called_from))),
                count=each.count,
                size_bytes=each.size_bytes,
                type=each.type,
                same_values=each.same is True and not _has_changed(each),
                function=each.function,
                path=paths.get(each.part, "") if each.function and each.owner() is not None else "",
                place=each.place,
                leaves=each.leaves,
            )
            for each in self._converted.values()
            if (line := known(each.line)) is not None
        )


def _has_changed(seen: SeenArray) -> bool:
    """Return whether an array has other values than when it was compared last; a view is not looked at."""
    owner = seen.owner()
    return owner is not None and part_of(owner)[1] == seen.part and content_of(owner) != seen.content
