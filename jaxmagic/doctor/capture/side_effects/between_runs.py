"""Decides between the runs of some code whether it may run again, and undoes what can be undone."""

from __future__ import annotations

from ....records.note import Note, note
from ..changes import Changed, Snapshot
from ..remedies.effects import Effects
from ..scope import Scope
from .random_generators import RandomGenerators

#: At most this many names are given as the reason.
_MOST_NAMES = 3


class BetweenRuns:
    """What changes from run to run.

    Numbers that the first run draws from random generators are its own. Those that later runs draw are put back, and
    the last run draws those of the first, so that its value is the same.

    Args:
        scope: the code.
        once: whether it runs only once.
        repeat: run it again even if it changes what it reads.
        verify: whether remedies are tried later, for which all changes have to be known.
    """

    def __init__(self, scope: Scope, *, once: bool, repeat: bool, verify: bool) -> None:
        self._scope = scope
        self._repeat = repeat
        self._last = Snapshot(scope.read(), scope.module_attributes()) if verify or not (once or repeat) else None
        self._effects = Effects(scope.reached(), self._last) if verify and self._last is not None else None
        generators = RandomGenerators({} if once else scope.reached())
        self._states, self.draw_again = generators.states, generators.states()
        self._put_back = None if once else self.draw_again

    def after_first(self, deleted: list[str]) -> Note | None:
        """Return why there is no other run, after the first one.

        Args:
            deleted: the paths of the arrays that it has deleted.
        """
        self._put_back = self._states()
        changed = [] if deleted else self._changed()
        if deleted:
            return None if self._repeat else note("doctor.once_donated", names=_listed(deleted))
        return note("doctor.once_changed", names=_listed(changed)) if changed else None

    def after_second(self) -> Note | None:
        """Return why there is no other run, after the second one: it has changed what the first had made."""
        changed = self._changed()
        return note("doctor.twice_changed", names=_listed(changed)) if changed else None

    def changed(self) -> list[Changed]:
        """Return what all runs have changed; only if remedies are tried."""
        return [] if self._effects is None else self._effects.changed()

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
