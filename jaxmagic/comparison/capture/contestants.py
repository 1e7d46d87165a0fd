"""The candidates of a comparison while it is measured: who is still in, and who is compared with whom."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from ...benchmarking.capture.runner import Runner
from ...runtime import jax_errors
from ..record.candidate import Work

_Found = TypeVar("_Found")


#: A function, its positional and its keyword arguments.
Call = tuple[Any, Sequence[Any], Mapping[str, Any]]


class Entry(NamedTuple):
    """A candidate that has not been measured yet.

    Attributes:
        runner: calls it.
        code: its source, for the record.
        folded: whether it is known to compute nothing at run time.
        like: the label of the one whose output it should have; the baseline's if left out.
        work: says how much a call does. It is asked when all times have been taken, because it may trace the code.
        call: returns the function that the candidate calls, its positional and its keyword arguments; ``None`` if the
            candidate does more than call one function.
    """

    runner: Runner
    code: str | None = None
    folded: bool = False
    like: str | None = None
    work: Callable[[], Work] | None = None
    call: Callable[[], Call] | None = None


#: Told of a candidate that cannot be measured, and why.
Failed = Callable[[str, Exception], None]


class AllFailed(Exception):
    """No candidate is left to be measured."""


class Contestants:
    """The candidates that have not failed.

    Args:
        entries: all of them, by their labels.
        baseline: the label of the one that the others are compared with; the first that is left, if it fails.
        failed: told of each candidate that raises, which is left out then. What they raise is raised if ``None``.

    Attributes:
        baseline: as it is now.
        called: whether any of them was called to its end.
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
        """The candidates that are left, by their labels."""
        return self._left.items()

    def of_each(self, measure: Callable[[str, Entry], _Found]) -> dict[str, _Found]:
        """Measure each candidate; one that raises is out.

        Raises:
            AllFailed: every candidate did.
        """
        found = {}
        for label, entry in tuple(self._left.items()):
            try:
                found[label] = measure(label, entry)
                self.called = True
            except Exception as error:
                self.drop(label, error)
        return found

    def drop(self, label: str, error: Exception) -> None:
        """Go on without a candidate.

        Raises:
            Exception: `error`, if nobody wants to be told of it, or it is about an array that was used up.
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
        """Name the candidate in what is raised within."""
        try:
            yield
        except Exception as error:
            name_candidate(error, label)
            raise

    def forget_values(self) -> None:
        """Let go of what calls have returned."""
        for entry in self._left.values():
            entry.runner.value = None


def name_candidate(error: Exception, label: str) -> None:
    """Add to an exception which candidate raised it, once."""
    note = f"This was the candidate {label!r}."
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
