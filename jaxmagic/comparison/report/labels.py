"""Writes the labels of candidates as sentences have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ...records.names import in_sentence, shortened
from ..record.candidate import Candidate
from ..record.comparison import Comparison
from ..record.sweep import Point, Sweep

#: The most characters of a label; longer labels are cut.
LONGEST_LABEL = 40

Compared = TypeVar("Compared", Comparison, Sweep)


def for_sentences(record: Compared) -> Compared:
    """Return a record with the labels that its sentences have: long ones are cut, and code and words are in quotes.

    All sentences are written from this record. Pictures and tables have the labels that were given.
    """
    labels = list(record)
    short = zip(labels, shortened(labels, LONGEST_LABEL), strict=True)
    known = {label: cut if in_sentence(label) == label else in_sentence(cut) for label, cut in short}
    return _relabelled(record, lambda label: known.get(label) or in_sentence(label))


def _relabelled(record: Compared, written: Callable[[str], str]) -> Compared:
    baseline = written(record.baseline)
    if isinstance(record, Comparison):
        candidates = tuple(_candidate(each, written) for each in record.candidates)
        return replace(record, baseline=baseline, twice=written(record.twice), candidates=candidates)
    points = tuple(_point(each, written) for each in record.points)
    return replace(record, baseline=baseline, labels=tuple(map(written, record.labels)), points=points)


def _point(point: Point, written: Callable[[str], str]) -> Point:
    comparison = None if point.comparison is None else _relabelled(point.comparison, written)
    failures = tuple(replace(each, label=each.label and written(each.label)) for each in point.failures)
    return replace(point, comparison=comparison, failures=failures)


def _candidate(candidate: Candidate, written: Callable[[str], str]) -> Candidate:
    check, like = candidate.check, candidate.like
    if check is not None:
        check = replace(check, like=check.like and written(check.like))
    return replace(candidate, label=written(candidate.label), like=like and written(like), check=check)
