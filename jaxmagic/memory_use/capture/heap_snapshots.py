"""Takes heap profiles before and after some code. Failures become notes, and stop nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...records.call_stack import Frame
from ...records.cell_names import known_as
from ...records.note import Note, note
from ...runtime.clock import timestamp
from ..analysis.heap import without_internals
from ..record.heap import HeapDifference, HeapProfile
from .library_calls import with_inside
from .pprof import heap_data, read_heap


class HeapWatch:
    """Takes a profile before the code and one after it, both outside of the measured time.

    Args:
        keep: called with the later profile, as ``pprof`` reads it.

    Attributes:
        notes: what failed, and why.
    """

    def __init__(self, keep: Callable[[bytes], object] | None = None) -> None:
        self.notes: list[Note] = []
        self._keep = keep
        self._before: tuple[bytes, str, tuple[Note, ...]] | None = None

    def start(self) -> None:
        """Take the earlier profile. It is read later, because reading it would take memory in the timeline."""
        self._before = self._take("before")

    def stop(self) -> HeapDifference | None:
        """Take the later profile, keep it, and read both; ``None`` if the later one could not be taken or read."""
        taken, before = self._take("after"), self._before
        self._before = None
        if taken is None:
            return None
        if self._keep is not None:
            try:
                self._keep(taken[0])
            except Exception as error:
                self.notes.append(note("memory_use.heap_not_written", error=str(error)))
        after = self._read(*taken)
        return None if after is None else HeapDifference(before=before and self._read(*before), after=after)

    def _take(self, when: str) -> tuple[bytes, str, tuple[Note, ...]] | None:
        now = timestamp()
        try:
            data, notes = heap_data()
        except Exception as error:  # whatever a backend without heap profiles raises
            failure = f"{type(error).__name__}: {error}"
            self.notes.append(note("memory_use.no_heap_profile", when=when, error=failure))
            return None
        return data, now, notes

    def _read(self, data: bytes, started_at: str, notes: tuple[Note, ...]) -> HeapProfile | None:
        """Read a profile, with the user's own calls only: JAX's calls can differ from run to run."""
        try:
            return replace(_named(without_internals(with_inside(read_heap(data, started_at)))), notes=notes)
        except Exception as error:
            self.notes.append(note("memory_use.heap_unreadable", error=str(error)))
            return None


def _named(profile: HeapProfile) -> HeapProfile:
    """Add the names of notebook cells to the calls."""
    stacks = {each.stack for each in profile.samples}
    names = {file: known_as(file) for file in {frame.file for stack in stacks for frame in stack}}

    def named(frame: Frame) -> Frame:
        return frame if names[frame.file] == frame.file else replace(frame, cell=names[frame.file])

    known = {stack: tuple(map(named, stack)) for stack in stacks}
    return replace(profile, samples=tuple(replace(each, stack=known[each.stack]) for each in profile.samples))
