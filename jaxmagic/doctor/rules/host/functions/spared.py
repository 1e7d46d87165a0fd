"""Estimates what jitting a function spares: the idle time of its operations, without what its own calls take then."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from .....records.call_stack import Frame, is_users
from .....records.note import Note, note
from ....record.evidence import Dispatch, Evidence
from ...rewriting.syntax import last_name
from ...rule import lacks_events
from ..host_time import HostTime, best_run
from ..syntax import Function, function_around
from .first_called import OPERATORS, first_calls
from .functions_run import functions_run
from .inside_function import (
    InsideFunction,
    SourceRange,
    frames_below,
    frames_of,
    inside_function,
    inside_operations,
    inside_transformed,
    is_in,
    is_within,
    times_called,
)

#: A call of a jitted function takes about this many times as long as one of an operation: it has more arguments and
#: results, and JAX copies each Python number. Measured with three arrays and two numbers, and with one array.
OWN_CALL = 1.5

#: With a larger share of the operations, it is not said that others are called elsewhere.
NEARLY_ALL = 0.95


class Spared(NamedTuple):
    """The time per run that jitting a function saves.

    Attributes:
        time_ns: the idle time of the function's operations in an undisturbed run, less the time that the calls of
            the jitted function take.
        evidence: notes about operations that are called elsewhere.
        own_ns: how long the calls of the jitted function take.
    """

    time_ns: float
    evidence: tuple[Note, ...] = ()
    own_ns: float = 0.0


class Part(NamedTuple):
    """What is to be jitted: a function, or what ``jax.grad`` or the like makes of it.

    Attributes:
        function: the definition of the function.
        file: the file or cell that defines it.
        called_at: the lines that call it transformed; empty if the function itself is jitted.
    """

    function: Function
    file: str
    called_at: tuple[SourceRange, ...] = ()


def spared_by(
    part: Part,
    calls: Sequence[Dispatch],
    evidence: Evidence,
    time: HostTime,
    *,
    whole: bool,
    compiles: bool = False,
) -> Spared:
    """Estimate what jitting a function spares of the idle time of operations.

    Args:
        part: what is to be jitted.
        calls: the calls of eager operations, also of those that other code calls.
        evidence: the observations of the runs.
        time: the time of the host.
        whole: whether the function is known to call nearly all of them.
        compiles: whether jit compiles all that the function does, so that its time is spared, but for what the device
            needs, which is no more than for the whole run. That is more than the idle time where Python needs longer
            between operations, as when ``jax.grad`` traces a function in each call.
    """
    cost_ns = operations_ns(calls, evidence, time)
    least_ns, told = 0.0, tuple[Note, ...]()
    function, file, called_at = part
    if whole:
        inside = inside_function(function, file, evidence) if compiles else None
    else:
        inside = (
            inside_transformed(function, file, called_at, evidence)
            if called_at
            else inside_function(function, file, evidence)
        )
        first = _first_called(part, calls, evidence)
        sampled, least = (1.0, 0.0) if inside is None else (inside.share, inside.least_share)
        share = min(sampled, 1.0 if first is None else max(first, least))
        cost_ns = min(cost_ns * share, cost_ns if inside is None else inside.most_ns)
        if inside is None and first is None:
            told = (note("doctor.not_jitted_unknown", function=function.name),)
        elif share > NEARLY_ALL:
            pass
        elif share == sampled:
            told = (note("doctor.not_jitted_inside", function=function.name, share=share),)
        elif share == first:
            told = (note("doctor.not_jitted_first_called", function=function.name, share=share),)
    if inside is not None and (compiles or called_at):
        least_ns = without_device(inside, evidence, time)
    own_ns = _own_calls_ns(part, calls, evidence, time)
    return Spared(max(max(cost_ns, least_ns) - own_ns, 0.0), told, own_ns)


def operations_ns(calls: Sequence[Dispatch], evidence: Evidence, time: HostTime) -> float:
    """Return how long the device is idle because of eager operations.

    That is the idle time just before and during their calls, and at least the time in their functions, by samples,
    less all that the device needs, and what is copied or waited for: their Python may take long, as that of a slice
    does. Idle time at the calls of jitted functions is not theirs.

    Args:
        calls: the calls of eager operations.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    idle_ns = sum(each.exposed_ns for each in calls) * time.exposed_scale
    others_ns = sum(each.exposed_ns for each in time.use.dispatches if each not in calls) * time.exposed_scale
    inside = inside_operations(evidence)
    if inside is None:
        return idle_ns
    moving_ns = sum(each.put_ns for each in time.use.dispatches) + (best_run(evidence).code_wait_ns or 0)
    return max(idle_ns, min(without_device(inside, evidence, time) - moving_ns, time.spare_ns - others_ns))


def without_device(inside: InsideFunction, evidence: Evidence, time: HostTime) -> float:
    """Return the time in a function, at least, without what compiling takes and what the device needs.

    That is unknown where only a part of the run was recorded.
    """
    if lacks_events(evidence):
        return 0.0
    return inside.least_ns - sum(each.busy_ns for each in time.use.dispatches)


def _own_calls_ns(part: Part, calls: Sequence[Dispatch], evidence: Evidence, time: HostTime) -> float:
    """Return how long the calls of the function take once it is jitted: each longer than one of an operation.

    JAX calls both through the same path, as an eager operation is a jitted function of its own. In a first run, that
    is no more than the idle time before it, as operations are compiled in their first calls.
    """
    return own_calls_ns(times_called(part.function, part.file, evidence) or 1, calls, evidence, time)


def own_calls_ns(times: int, calls: Sequence[Dispatch], evidence: Evidence, time: HostTime) -> float:
    """Return how long a jitted function of some operations takes if it is called a number of times."""
    each_ns = max(call_ns(calls, evidence, time), longest_call_ns(calls, times, evidence, time))
    return OWN_CALL * each_ns * times


def call_ns(calls: Sequence[Dispatch], evidence: Evidence, time: HostTime) -> float:
    """Return how long the host calls an operation, on average."""
    calls_ns = sum(each.host_ns for each in calls)
    if not evidence.repeated:
        calls_ns = min(calls_ns, sum(each.exposed_ns for each in calls))
    return calls_ns / max(sum(each.count for each in calls), 1) * time.exposed_scale


def longest_call_ns(calls: Sequence[Dispatch], times: int, evidence: Evidence, time: HostTime) -> float:
    """Return how long the host calls the operation that takes longest, of those that each of some calls may contain.

    The CPU computes small operations within their calls, as a product, and does so in a program that contains them.

    Args:
        calls: the calls of operations.
        times: how often the code that calls them is called.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    often = [each for each in calls if each.count >= times]
    return max((call_ns([each], evidence, time) for each in often), default=0.0)


def _first_called(part: Part, calls: Sequence[Dispatch], evidence: Evidence) -> float | None:
    """Return the share of the idle time whose operations a function, or one that it calls, was the first to call.

    One of its own programs may also be that of an operation in the code around, as often as this calls the function.
    ``None`` if it is unknown which lines called them.
    """
    function, file, called_at = part
    inside = functions_run(function, file, evidence)
    around, called = _operations_around(inside, evidence), times_called(function, file, evidence) or 1
    eager = [each for each in evidence.programs or () if each.eager and each.called_at is not None]
    below = {(each.file, each.line) for each in frames_below(function, file, eager)}

    def is_own(line: Frame) -> bool:
        return _is_in(line, inside) or (line.file, line.line) in below or is_within(line, called_at)

    found_ns, known_ns = 0.0, 0.0
    for call, first in first_calls(is_own, calls, evidence):
        others = called if first == 1 and call.name.strip("_") in around else 0
        known_ns += call.exposed_ns
        found_ns += call.exposed_ns * max(first - others / call.count, 0.0)
    return found_ns / known_ns if known_ns else None


def _operations_around(inside: Sequence[tuple[Function, str]], evidence: Evidence) -> set[str]:
    """Return the names of the operations that stand in other functions which led to operations, by their syntax."""
    frames = {frame for each in evidence.programs or () if each.eager for frame in frames_of(each) if is_users(frame)}
    functions = [function_around(each) for each in frames if not _is_in(each, inside)]
    nodes = [node for each in functions if each is not None for node in ast.walk(each)]
    called = {last_name(each.func) or "" for each in nodes if isinstance(each, ast.Call)}
    operators = (type(each.op) for each in nodes if isinstance(each, ast.BinOp | ast.UnaryOp))
    return called | {OPERATORS[each][0] for each in operators if each in OPERATORS}


def _is_in(line: Frame, functions: Sequence[tuple[Function, str]]) -> bool:
    return any(is_in(line, each, file) for each, file in functions)
