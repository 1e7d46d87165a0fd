"""Decides between the runs of some code whether it may run again, and undoes what can be undone."""

from __future__ import annotations

from ....records.note import Note, note
from ....runtime.private_api import profiler_running
from ..changes import MOST_OBJECTS, Changed, Snapshot
from ..remedies.effects import Effects
from ..scope import Scope
from .random_generators import RandomGenerators
from .written_files import WrittenFiles

#: At most this many names are given as the reason.
_MOST_NAMES = 3


class BetweenRuns:
    """The changes between one run of some code and the next.

    Numbers that the first run draws from random generators are its own. Those that later runs draw are put back, and
    the last run draws those of the first, so that its value is the same.

    Args:
        scope: the code.
        notes: gets the reason why there is no other run.
        once: whether it runs only once.
        repeat: run it again even if it changes what it reads.
        verify: whether remedies are tried later, for which all changes have to be known.
    """

    def __init__(self, scope: Scope, notes: list[Note], *, once: bool, repeat: bool, verify: bool) -> None:
        self._scope = scope
        self._notes = notes
        self._was_profiled = profiler_running()
        self._repeat = repeat
        self._last = Snapshot(scope.read(), scope.module_attributes()) if verify or not (once or repeat) else None
        self._effects = Effects(scope.reached(), self._last) if verify and self._last is not None else None
        generators = RandomGenerators(scope.reached() if verify or not once else {})
        self.drawn = generators.drawn()
        self._states, self.draw_again = generators.states, generators.states()
        self._put_back = None if once else self.draw_again
        self._written = WrittenFiles()
        self.observing_files = self._written.observed

    def may_follow_first(self, deleted: list[str]) -> bool:
        """Return whether there is another run, after the first one; or else note why not.

        Args:
            deleted: the paths of the arrays that it has deleted.
        """
        self._put_back = self._states()
        if profiler_running() and not self._was_profiled:
            self._notes.append(note("doctor.once_profiler"))
            return False
        if deleted and not self._repeat:
            self._notes.append(note("doctor.once_donated", names=_listed(deleted)))
            return False
        changed = self._changed()
        if changed:
            self._notes.append(note("doctor.once_changed", names=_listed(changed)))
        elif self._last is not None and not self._last.whole and not self._repeat:
            self._notes.append(note("doctor.changes_of_some", objects=MOST_OBJECTS))
        return not changed and (self._repeat or not self._has_written())

    def _has_written(self) -> bool:
        """Return whether the first run wrote files or started programs, and note it."""
        paths, started, traced = list(self._written.paths), list(self._written.started), self._written.traced
        if traced:
            self._notes.append(note("doctor.once_traced"))
        elif paths:
            self._notes.append(note("doctor.once_written", names=_listed(paths)))
        elif started:
            self._notes.append(note("doctor.once_started", names=_listed(started)))
        return traced or bool(paths) or bool(started)

    def may_follow_second(self) -> bool:
        """Return whether there is another run, after the second one; it may change what the first has made."""
        changed = self._changed()
        if changed:
            self._notes.append(note("doctor.twice_changed", names=_listed(changed)))
        return not changed

    def changed(self) -> list[Changed]:
        """Return what all runs have changed, and what the first one wrote or started; only if remedies are tried."""
        if self._effects is None:
            return []
        written = [
            *self._written.paths,
            *self._written.started,
            *(["a trace of JAX's profiler"] if self._written.traced else []),
        ]
        return [*self._effects.changed(), *(Changed(each, by_function=True) for each in written)]

    def end(self) -> None:
        """Put back the numbers that were drawn from random generators after the first run; a second time, nothing."""
        if self._put_back is not None:
            self._put_back()
        self._put_back = None

    def _changed(self) -> list[str]:
        """Return the paths of what has changed since the last call, if that is a reason not to run again."""
        if self._last is None:
            return []
        changed = [] if self._repeat else self._last.changed()
        if not changed:
            self._last = Snapshot(self._scope.read(), self._scope.module_attributes())
            if self._effects is not None:
                self._effects.later(self._last)
        return changed


def _listed(paths: list[str]) -> str:
    return ", ".join(paths[:_MOST_NAMES])
