"""Keeps track of the candidates that have not failed while a comparison is measured, and of their baseline."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from ...benchmarking.capture.runner import Runner
from ...runtime import jax_errors
from ..record.candidate import Work

_Result = TypeVar("_Result")


#: A function, its positional and its keyword arguments.
Call = tuple[Any, Sequence[Any], Mapping[str, Any]]


class Entry(NamedTuple):
    """A candidate that has not been measured yet.

    Attributes:
        runner: calls the candidate.
        code: its source, for the record.
        folded: see :attr:`~jaxmagic.benchmarking.record.samples.Conditions.folded`.
        like: the label of the candidate whose output it should have; the baseline if left out.
        work: computes the work of a call. It runs after all times have been taken, because it may trace the code.
        call: returns the function that the candidate calls, its positional and its keyword arguments; ``None`` if the
            candidate does more than call one function.
    """

    runner: Runner
    code: str | None = None
    folded: bool = False
    like: str | None = None
    work: Callable[[], Work] | None = None
    call: Callable[[], Call] | None = None


#: Receives the label of a candidate that cannot be measured, and its error.
Failed = Callable[[str, Exception], None]


class AllFailed(Exception):
    """No candidate is left to be measured."""


class Contestants:
    """The candidates that have not failed.

    Args:
        entries: all candidates, by their labels.
        baseline: the label of the candidate that the others are compared with. If it fails, the first of the
            remaining ones takes its place.
        failed: receives each candidate that raises, which is then dropped. If ``None``, the exception is raised.

    Attributes:
        baseline: the label of the current baseline.
        called: whether a call of any candidate has succeeded.
    """

    def __init__(self, entries: Mapping[str, Entry], baseline: str, failed: Failed | None) -> None:
        self.baseline = baseline
        self.called = False
        self._left = dict(entries)
        self._failed = failed

    def __getitem__(self, label: str) -> Entry:
        return self._left[label]

    def __contains__(self, label: str) -> bool:
        return label in self._left

    def __len__(self) -> int:
        return len(self._left)

    def items(self) -> ItemsView[str, Entry]:
        """Return the remaining candidates, by their labels."""
        return self._left.items()

    def of_each(self, measure: Callable[[str, Entry], _Result]) -> dict[str, _Result]:
        """Measure each candidate, and drop those that raise.

        Raises:
            AllFailed: every candidate raised.
        """
        results = {}
        for label, entry in tuple(self._left.items()):
            try:
                results[label] = measure(label, entry)
                self.called = True
            except Exception as error:
                self.drop(label, error)
        return results

    def drop(self, label: str, error: Exception) -> None:
        """Continue without a candidate.

        Raises:
            Exception: `error`, if nothing receives failures, or if it is about an array that was donated or deleted.
            AllFailed: no candidate is left.
        """
        if self._failed is None or jax_errors.met_a_deleted_array(error):
            name_candidate(error, label)
            raise error
        self._failed(label, error)
        self._left.pop(label).runner.value = None
        if not self._left:
            raise AllFailed
        if self.baseline not in self._left:
            self.baseline = next(iter(self._left))

    @contextmanager
    def named(self, label: str) -> Iterator[None]:
        """Add the candidate's label to exceptions in this context."""
        try:
            yield
        except Exception as error:
            name_candidate(error, label)
            raise

    def forget_values(self) -> None:
        """Release the values that calls have returned."""
        for entry in self._left.values():
            entry.runner.value = None


def name_candidate(error: Exception, label: str) -> None:
    """Add a note to an exception that names the candidate which raised it, once."""
    note = f"This was the candidate {label!r}."
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
