"""Bounds what jitting one function can spare, by the time in which it was running."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from ...record.evidence import Evidence
from ..rewriting.syntax import first_line
from .host_time import best_run
from .syntax import Function

#: With fewer samples in all, nothing is known of one function.
_LEAST_SAMPLES = 10

#: A function has all operations if it has at least this share of the samples in which one may have been called.
MOST_INSIDE = 0.9

#: How many standard deviations of a share of samples are added for an upper bound.
_DEVIATIONS = 2


class InsideFunction(NamedTuple):
    """The part of a run in which a function was running, or what it called.

    Attributes:
        share: its share of the samples in which operations may have been called; one if it has nearly all of them.
        most_ns: the time in it, at most.
    """

    share: float
    most_ns: float


def inside_function(function: Function, file: str, evidence: Evidence) -> InsideFunction | None:
    """Return how much of a run a function has; ``None`` if there are too few samples to tell.

    Compiled operations are called without a frame of Python, so that a sample may be of one even if the user's line
    called nothing: those count as well. The time of a sample is that since the one before, as there is none while C
    holds Python's lock.
    """
    first = first_line(function)
    inside = [
        each
        for each in evidence.functions
        if (each.function.function, each.function.file, each.function.line) == (function.name, file, first)
    ]
    samples = sum(each.samples for each in evidence.host or ())
    everywhere = sum(each.samples for each in evidence.host or () if may_call_operation(each.called))
    if everywhere < _LEAST_SAMPLES:
        return None
    observed_ns = evidence.observed.dispatch_ns + (evidence.observed.code_wait_ns or 0)
    running = min(sum(each.time_ns for each in inside) / max(observed_ns, 1), 1.0)
    most = running + _DEVIATIONS * sqrt(running * (1 - running) / samples) + 1 / samples
    share = sum(each.samples for each in inside if may_call_operation(each.called)) / everywhere
    return InsideFunction(1.0 if share >= MOST_INSIDE else share, min(most, 1.0) * best_run(evidence).wall_ns)


def may_call_operation(called: str) -> bool:
    """Return whether a line that called a function of a library may have called an operation of JAX."""
    return not called or calls_operation(called)


def calls_operation(called: str) -> bool:
    """Return whether a function of a library is one of JAX's operations on arrays."""
    return called.startswith("jax.") and (".numpy." in called or ".lax." in called)
