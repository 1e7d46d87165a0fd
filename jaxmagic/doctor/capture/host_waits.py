"""Records at which of the user's lines the code itself waits for results."""

from __future__ import annotations

import sys
from collections import defaultdict

from ...interrupts import begins, ends
from ...records.call_stack import Frame
from ...timing.capture.waits import WaitLog
from ..record.evidence import WAITING_JIT, HostWait
from .frames import known
from .host_lines import lines_of, outwards, place_of
from .host_use import mark_wait

#: The module in whose functions it waits; no other wait is there.
_WAITING_MODULE = "equinox._jit"


class WaitPlaces:
    """Records the waits of the thread that starts it, by line.

    Attributes:
        paused: whether nothing is recorded, as at the start; a stopwatch of the same thread waits, too.
    """

    def __init__(self) -> None:
        self.paused = True
        self._log = WaitLog()
        self._found: dict[tuple[Frame | None, str, str], list[int]] = defaultdict(list)
        self._stacks: dict[tuple[Frame | None, str, str], tuple[Frame, ...]] = {}

    @begins("stop")
    def start(self) -> None:
        """Prepare to record, which begins when `paused` is cleared."""
        self._log.start(noticed=self._notice)

    @ends
    def stop(self) -> tuple[HostWait, ...] | None:
        """Stop, and return the waits, longest first; ``None`` if waits cannot be observed on this JAX."""
        self._log.stop()
        if not self._log.heard:
            return None
        waits = (
            HostWait(
                line=known(line),
                function=function,
                library=called or None,
                count=len(times),
                wait_ns=sum(times),
                stack=tuple(filter(None, map(known, self._stacks[line, called, function]))),
            )
            for (line, called, function), times in self._found.items()
        )
        return tuple(sorted(waits, key=lambda each: -each.wait_ns))

    def _notice(self, function: str, wait_ns: int) -> None:
        if self.paused:
            return
        mark_wait(function, wait_ns)
        line, called = place_of(outwards(sys._getframe(2)))
        if sys._getframe(2).f_globals.get("__name__") == _WAITING_MODULE:
            called = WAITING_JIT
        if called.startswith("jax."):  # as people write it: ``__float__`` rather than ``_value``
            called, function = "", called.rpartition(".")[2]
        key = line, called, function
        if key not in self._stacks:
            self._stacks[key] = lines_of(outwards(sys._getframe(2)))
        self._found[key].append(wait_ns)
