"""Sets random generators of NumPy and Python back, so that runs that the user has not asked for draw no numbers."""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....runtime.around import is_exactly
from ..changes import reach

#: Sets generators to the states that they had.
SetBack = Callable[[], None]


class RandomGenerators:
    """The random generators of NumPy and Python: the global ones, and those that some variables lead to.

    Args:
        variables: the variables by name.
    """

    def __init__(self, variables: Mapping[str, Any]) -> None:
        reached = [each.value for each in reach(variables)]
        self._generators = [each.bit_generator for each in reached if is_exactly(each, np.random.Generator)]
        self._legacy = [np.random, *(each for each in reached if is_exactly(each, np.random.RandomState))]
        self._plain = [random, *(each for each in reached if is_exactly(each, random.Random))]

    def states(self) -> SetBack:
        """Return what sets all of them to the states that they have now."""
        states = [each.state for each in self._generators]
        legacy, plain = [each.get_state() for each in self._legacy], [each.getstate() for each in self._plain]

        def set_back() -> None:
            for generator, state in zip(self._generators, states, strict=True):
                generator.state = state
            for old, state in zip(self._legacy, legacy, strict=True):
                old.set_state(state)
            for own, state in zip(self._plain, plain, strict=True):
                own.setstate(state)

        return set_back

    def drawn(self) -> Callable[[], bool]:
        """Return what tells whether numbers have been drawn since."""
        before = self._as_bytes()
        return lambda: self._as_bytes() != before

    def _as_bytes(self) -> bytes:
        legacy, plain = [each.get_state() for each in self._legacy], [each.getstate() for each in self._plain]
        return pickle.dumps([[each.state for each in self._generators], legacy, plain])

    def in_trials(self) -> Callable[[], SetBack]:
        """Return what makes a preparation of runs, with which two versions of some code draw the same numbers.

        The first run of each draws other numbers than its later runs. So the outputs of code that keeps the numbers
        of its first run, as a jitted function does, differ.
        """
        first = self.states()
        for generator in self._generators:
            generator.random_raw()
        for old in self._legacy:  # a second normal number may be kept
            old.standard_normal(), old.random()
        for own in self._plain:
            own.gauss(0, 1), own.random()
        later = self.states()

        def preparation() -> SetBack:
            states = itertools.chain([first], itertools.repeat(later))
            return lambda: next(states)()

        return preparation

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Leave them as they were."""
        set_back = self.states()
        try:
            yield
        finally:
            set_back()
