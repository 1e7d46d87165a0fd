"""Bounds the share of the time per run that one function takes, and counts its calls."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from math import sqrt
from typing import NamedTuple

from .....records.call_stack import Frame, is_users
from .....records.inside import library_module
from ....record.evidence import Evidence, HostShare
from ....record.program import Program
from ...rewriting.syntax import Loop, first_line, last_name, tree_of_code
from ..host_time import best_run, names_of_program
from ..syntax import Function

#: With fewer samples in all, nothing is known of one function.
LEAST_SAMPLES = 10

#: A function has nearly all operations with at least this share of the samples in which one may have been called.
MOST_INSIDE = 0.9

#: Modules of JAX that have operations on arrays.
_OPERATIONS = ".numpy.", ".lax.", ".nn.", ".random."

#: Methods of arrays that call operations, in another module. An array is iterated by a generator.
_INDEXING = ".ArrayImpl.__getitem__", ".ArrayImpl.__iter__", "_iter.<locals>.<genexpr>", "_iter__.<locals>.<genexpr>"

#: Functions of JAX inside which those are called that ``jax.vmap`` and the like return, and that have a name scope.
_TRANSFORMING = ".traceback_util.", ".source_info_util."

#: How many standard deviations of a share of samples are added for an upper bound, and taken off for a lower one.
_DEVIATIONS = 2


class SourceRange(NamedTuple):
    """Some lines of a file or cell, with the last one."""

    file: str
    first: int
    last: int


class InsideFunction(NamedTuple):
    """The share of the time in which a function, or code that it called, was running.

    Attributes:
        share: its share of the samples in which operations may have been called.
        least_share: the share of operations that it has, at least.
        least_ns: the time in it, at least, without what compiling takes.
        most_ns: the same, at most.
    """

    share: float
    least_share: float
    least_ns: float
    most_ns: float


def inside_function(function: Function, file: str, evidence: Evidence) -> InsideFunction | None:
    """Return the share of the time that a function takes; ``None`` if there are too few samples to tell.

    If it runs under ``jax.grad`` or the like, :func:`inside_transformed` counts the backward pass as well.

    Compiled operations are called without a frame of Python, so that a sample may be of one even if the user's line
    called nothing: those count as well, but not those of a loader that calls no operation. The time of a sample is
    that since the one before, as there is none while C holds Python's lock.
    """
    first = first_line(function)
    inside = [
        each
        for each in evidence.functions
        if (each.function.function, each.function.file, each.function.line) == (function.name, file, first)
    ]
    calling = Calling.of(evidence)
    observed = evidence.observed
    observed_ns = observed.dispatch_ns - observed.compile_ns + (observed.code_wait_ns or 0)
    running = sum(each.time_ns for each in inside) / max(observed_ns, 1)
    return _share(sum(each.samples for each in inside if calling.may_call(each.called)), running, calling, evidence)


def inside_transformed(
    function: Function, file: str, called_at: Collection[SourceRange], evidence: Evidence
) -> InsideFunction | None:
    """Return the share of the time that the calls of a transformed function take, such as ``jax.grad(loss)``.

    Args:
        function: the function inside, such as ``loss``, which is running in the forward pass only.
        file: the file or cell that defines it.
        called_at: the lines that call the transformed function.
        evidence: the observations of the runs.
    """
    calling = Calling.of(evidence)
    inside = [
        each
        for each in evidence.host or ()
        if _is_inside(each.stack, function, file, called_at)
        or (each.line is not None and is_within(each.line, called_at) and _may_transform(each.called))
    ]
    running = sum(each.samples for each in inside) / max(sum(each.samples for each in evidence.host or ()), 1)
    return _share(sum(each.samples for each in inside if calling.may_be(each)), running, calling, evidence)


def _is_inside(stack: Collection[Frame], function: Function, file: str, called_at: Collection[SourceRange]) -> bool:
    """Return whether a stack has a function that some lines call."""
    return any(is_in(frame, function, file) for frame in stack) and any(is_within(each, called_at) for each in stack)


def is_mostly_called_at(
    called_at: Collection[SourceRange], function: Function, file: str, evidence: Evidence
) -> bool | None:
    """Return whether some lines call a function for most of its samples; ``None`` if there are too few to tell."""
    inside = [each for each in evidence.host or () if any(is_in(frame, function, file) for frame in each.stack)]
    count = sum(each.samples for each in inside)
    there = sum(each.samples for each in inside if _is_inside(each.stack, function, file, called_at))
    return None if count < LEAST_SAMPLES or not called_at else 2 * there > count


def inside_operations(evidence: Evidence) -> InsideFunction | None:
    """Return the time in eager operations of the user's lines; ``None`` if there are too few samples to tell.

    Where ``jax.grad`` or the like transforms functions that are not jitted, its time is a part of that: it traces
    them anew in each call.
    """
    samples, traces = evidence.host or (), _traces_eagerly(evidence)
    called = ((each.samples, each.in_jax or each.called) for each in samples)
    inside = sum(count for count, name in called if calls_operation(name) or (traces and _transforms(name)))
    return _share(inside, inside / max(sum(each.samples for each in samples), 1), Calling.of(evidence), evidence)


def inside_lines(lines: Collection[SourceRange], evidence: Evidence) -> InsideFunction | None:
    """Return the share of the time that some lines take, with what they call; ``None`` if it is unknown."""
    calling = Calling.of(evidence)
    inside = [each for each in evidence.host or () if any(is_within(frame, lines) for frame in _outwards(each))]
    running = sum(each.samples for each in inside) / max(sum(each.samples for each in evidence.host or ()), 1)
    return _share(sum(each.samples for each in inside if calling.may_be(each)), running, calling, evidence)


def _traces_eagerly(evidence: Evidence) -> bool:
    """Return whether operations were called by what ``jax.grad`` or the like returns, and no jitted function was."""
    transformed = [each for each in evidence.programs or () if each.transformed]
    return bool(transformed) and all(each.eager for each in transformed)


def _outwards(share: HostShare) -> Iterator[Frame]:
    """Yield the user's lines in a sample."""
    yield from () if share.line is None else (share.line,)
    yield from share.stack


def _share(inside: int, running: float, calling: Calling, evidence: Evidence) -> InsideFunction | None:
    """Return what samples tell of a part of the run; ``None`` if there are too few of them.

    Args:
        inside: those in it in which operations may have been called.
        running: its share of the time.
        calling: what calls operations.
        evidence: the observations of the runs.
    """
    everywhere = sum(each.samples for each in evidence.host or () if calling.may_be(each))
    if everywhere < LEAST_SAMPLES:
        return None
    samples, running = sum(each.samples for each in evidence.host or ()), min(running, 1.0)
    margin = _DEVIATIONS * sqrt(running * (1 - running) / samples) + 1 / samples
    best, share = best_run(evidence), min(inside / everywhere, 1.0)
    wall_ns = best.wall_ns - best.compile_ns
    return InsideFunction(
        share=share,
        least_share=at_least(share, everywhere),
        least_ns=max(running - margin, 0.0) * wall_ns,
        most_ns=min(running + margin, 1.0) * wall_ns,
    )


def at_least(share: float, samples: int) -> float:
    """Return Wilson's lower bound of a share of samples, which is below one if all of a few samples are in it."""
    square = _DEVIATIONS**2 / samples
    return (share + square / 2 - sqrt(square * (share * (1 - share) + square / 4))) / (1 + square)


def _may_transform(called: str) -> bool:
    """Return whether a function of a library may be what ``jax.grad`` or a library's own transform returns."""
    return _transforms(called) if called.startswith("jax.") else bool(called)


def _transforms(called: str) -> bool:
    """Return whether a function is JAX's own inside which those are called that ``jax.grad`` and the like return."""
    return called.startswith("jax.") and any(each in called for each in _TRANSFORMING)


class Calling(NamedTuple):
    """The code that calls eager operations, as the stacks of their programs show.

    Attributes:
        functions: the user's functions, by name and file.
        libraries: the names of packages.
    """

    functions: frozenset[tuple[str, str]]
    libraries: frozenset[str]

    @classmethod
    def of(cls, evidence: Evidence) -> Calling:
        """Read the stacks of the programs of some runs."""
        programs = [each for each in evidence.programs or () if each.eager]
        frames = {frame for each in programs for frame in (*frames_of(each), each.called_at) if frame is not None}
        modules = {library_module(file) for file in {each.file for each in frames}} - {None}
        return cls(
            frozenset((each.function.rpartition(".")[2], each.file) for each in frames if is_users(each)),
            frozenset(str(each).partition(".")[0] for each in modules),
        )

    def may_be(self, share: HostShare) -> bool:
        """Return whether samples may be of an operation, or of what calls one."""
        loader = share.loading[:-1]  # the last line is that of the loop
        if self.functions and loader and not any((each.function, each.file) in self.functions for each in loader):
            return False
        return self.may_call(share.called) or calls_operation(share.in_jax)

    def may_call(self, called: str) -> bool:
        """Return whether a line that called a function of a library may have called an operation of JAX."""
        return not called or _transforms(called) or self.calls(called)

    def calls(self, called: str) -> bool:
        """Return whether a function of a library is an operation of JAX, or the library calls some."""
        return called.partition(".")[0] in self.libraries or calls_operation(called)


def calls_operation(called: str) -> bool:
    """Return whether a function of a library is one of JAX's operations on arrays."""
    return called.startswith("jax.") and (any(each in called for each in _OPERATIONS) or called.endswith(_INDEXING))


def times_called(function: Function, file: str, evidence: Evidence) -> int | None:
    """Return how often a function is called per run, at most; ``None`` if that is unknown.

    The code tells if it calls the function itself, and not in a loop.
    """
    tree = tree_of_code(evidence.code)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and last_name(each.func) == function.name]
    repeated = {id(node) for loop in ast.walk(tree) if isinstance(loop, Loop) for node in ast.walk(loop)}
    if calls and not any(id(each) in repeated for each in calls):
        return len(calls)
    return least_called(function, file, evidence)


def least_called(function: Function, file: str, evidence: Evidence) -> int | None:
    """Return how often the operation is called that a function calls least; ``None`` if none of it is known."""
    use, programs = evidence.host_use, evidence.programs or ()
    names = {
        name
        for each in programs
        if each.eager and any(is_in(frame, function, file) for frame in frames_of(each))
        for name in names_of_program(each)
    }
    return min((each.count for each in use.dispatches if each.name in names), default=None) if use else None


def is_in(line: Frame, function: Function, file: str) -> bool:
    """Return whether a line is in a function. Names do not tell: those of programs may say where it is defined."""
    return line.file == file and first_line(function) <= line.line <= (function.end_lineno or 0)


def is_within(line: Frame, ranges: Collection[SourceRange]) -> bool:
    """Return whether a line is in one of some ranges."""
    return any(line.file == each.file and each.first <= line.line <= each.last for each in ranges)


def frames_of(program: Program) -> Iterator[Frame]:
    """Yield the calls that led to the operations of a program when it was traced, and when it ran first."""
    yield from program.called_from
    instructions = () if program.module is None else program.module.instructions.values()
    yield from (frame for each in instructions for frame in each.stack)


def frames_below(function: Function, file: str, programs: Iterable[Program]) -> Iterator[Frame]:
    """Yield the lines that were running inside a function when programs were traced, such as those of methods.

    A function that also leads to it, as what runs a cell may do twice on a stack, is none of them.
    """
    modules = (each.module for each in programs if each.module is not None)
    stacks = [each.stack for module in modules for each in module.instructions.values()]
    places = [
        (each, next((at for at, frame in enumerate(each) if is_in(frame, function, file)), None)) for each in stacks
    ]
    found = [(stack, at) for stack, at in places if at is not None]
    leading = {(frame.function, frame.file) for stack, at in found for frame in stack[:at]}
    for stack, at in found:
        yield from (frame for frame in stack[at + 1 :] if (frame.function, frame.file) not in leading)
