"""What has failed in the records of a page: the page says it, or the build fails.

A page that runs ends with a hidden cell: ``from failures import failures`` and an assertion on the session's history.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

from jaxmagic import Benchmark, Comparison, Diagnosis, MemoryProfile, Profile, Sweep, Timing


def failures(records: Iterable[object]) -> list[str]:
    """A line for each failure in records: an error, an output that differs, a profile without device time."""
    return [f"{type(each).__name__}: {found}" for each in records for found in _of(each)]


@singledispatch
def _of(record: object) -> list[str]:
    return []


@_of.register
def _(record: Timing | Benchmark | Diagnosis) -> list[str]:
    return [record.error] if record.error else []


@_of.register
def _(record: MemoryProfile) -> list[str]:
    return _of(record.timing)


@_of.register
def _(record: Profile) -> list[str]:
    return [record.error or "no device time"] if record.error or not record.device_ns else []


@_of.register
def _(record: Comparison) -> list[str]:
    found = [record.error] if record.error else []
    return found + [
        f"{each.label} computes something else" for each in record.candidates if each.check and not each.check.passed
    ]


@_of.register
def _(record: Sweep) -> list[str]:
    found = [f"{each.label or 'setup'}: {each.error}" for point in record.points for each in point.failures]
    return found + [each for point in record.points if point.comparison for each in _of(point.comparison)]
