"""Groups the compilations of one function by the kind of their cause."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath
from typing import NamedTuple

from ....compilation.analysis.advice import is_backward
from ....compilation.analysis.remedies import ALSO
from ....compilation.record.compilation import Cause, Compilation
from ....records.call_stack import Frame, Stack, is_users
from ....records.inside import library_module
from ....timing.record import Timing
from ....xla.hlo import HloModule
from ...record.evidence import Evidence
from ...record.program import Program
from ..host.host_time import names_of_program

#: Where a static argument that is a function is defined, as the reason has it: ``_body_fn (util.py:388)``.
_DEFINED_AT = re.compile(r"re-created\b.*?\((\S[^()]*):\d+\)")

#: How a reason ends that tells one difference alone, from an earlier call of the run or of another one.
_EARLIER = "before", "in an earlier measurement"

#: The shape of an array with axes; scalars come and go as XLA folds constants.
_ARRAY = re.compile(r"\w+\[[\d,]+\]")


class Group(NamedTuple):
    """The compilations of one function for one kind of cause, after those that would be spared with them.

    So many of them, the first ones, happened in earlier measurements.
    """

    function: str
    location: str | None
    kind: str
    compilations: list[Compilation]
    earlier: int = 0

    @property
    def cost_ns(self) -> int:
        """The time of all of them."""
        return sum(each.total_ns for each in self.compilations)

    @property
    def first_run_ns(self) -> int:
        """The time of those in the first run, or of all if it has none of them."""
        return sum(each.total_ns for each in self.compilations[self.earlier :]) or self.cost_ns

    @property
    def eager(self) -> bool:
        """Whether these are programs of an operation outside of ``jit``."""
        return all(each.eager for each in self.compilations)

    @property
    def own_name(self) -> str:
        """The name of the function without the class or function around it, which Equinox tells."""
        return own_name(self.function)

    @property
    def same_function(self) -> tuple[str, str | None]:
        """The name and the place that identify the function."""
        return self.function, self.location


class Alike(NamedTuple):
    """The programs of a function, by what differs between them.

    Attributes:
        programs: how many there are.
        forms: how many kinds of operations, with their parameters, and shapes they have.
        kinds: how many kinds there are if those with other constants count as another kind.
    """

    programs: int
    forms: int
    kinds: int

    @property
    def repeating(self) -> int:
        """How many programs repeat the operations and shapes of another."""
        return self.programs - self.forms

    @property
    def same_constants(self) -> bool:
        """Whether programs with the same operations and shapes have the same constants as well."""
        return self.kinds == self.forms


def median_ns(group: Group, runs: Sequence[Timing]) -> int:
    """Return how long a function compiles in a run, for these kinds of causes."""
    compilations = ([each for each in run.compilations if counts(each)] for run in runs)
    keys = {(*group.same_function, each.cause.kind) for each in group.compilations}
    times = sorted(
        sum(each.total_ns for each in run if (*function_of(each), each.cause.kind) in keys) for run in compilations
    )
    return times[(len(times) - 1) // 2]


def counts(compilation: Compilation) -> bool:
    """Return whether XLA compiled, and on the thread of the code."""
    return compilation.compiled and compilation.thread is None


def own_name(function: str) -> str:
    """Return the name of a function without the class or function around it: ``step`` for ``Trainer.step``."""
    return function.rpartition(".")[2]


def function_of(compilation: Compilation) -> tuple[str, str | None]:
    """Return what tells the function of a compilation from others."""
    return compilation.function, compilation.location


def grouped(compilations: Sequence[Compilation]) -> list[Group]:
    """Group compilations by function and cause, in the order in which they appear."""
    groups: dict[tuple[str, str | None, str], Group] = {}
    for each in compilations:
        key = (*function_of(each), each.cause.kind)
        groups.setdefault(key, Group(*key, [])).compilations.append(each)
    return list(groups.values())


def in_first_run(group: Group, evidence: Evidence) -> list[Compilation]:
    """Return what the first run compiled of the function of a group, for whatever reason."""
    return [each for each in evidence.first.compilations if counts(each) and function_of(each) == group.same_function]


def for_shapes(group: Group) -> Group | None:
    """Return the programs for other shapes among those of a function that is re-created, or its static argument.

    ``None`` if neither is. Functions that are called once each have none: there, a shape is no cause of its own.
    """
    shapes = [each for each in group.compilations if each.cause.kind == "shape"]
    if group.eager or not (group.kind == "new function" or (group.kind == "static value" and shapes)):
        return None
    return group._replace(kind="shape", compilations=shapes, earlier=0)


def avoidable(group: Group) -> Group:
    """Return a group with the compilations alone that its remedy spares.

    Under ``jax.jit(jax.grad(f))``, the forward and the backward pass are one program. By experiment, this compiles
    about as long as the forward pass alone.
    """
    if group.kind != "transformation":
        return group
    return group._replace(compilations=[each for each in group.compilations if is_backward(each)])


def differing(compilations: Sequence[Compilation]) -> list[Cause]:
    """Return the causes of the last three compilations that name two values which differ."""
    last = [each.cause for each in compilations[-3:]]
    return [each for each in last if each.now and each.before and each.now != each.before]


def programs_of(group: Group, evidence: Evidence) -> list[Program]:
    """Return the programs of a function that ran in the first run."""
    programs = [each for each in evidence.programs or () if each.eager == group.eager]
    if group.location is None or is_librarys(group):  # programs only know where the user's functions are
        return [each for each in programs if group.function in names_of_program(each)]
    return [each for each in programs if (each.function, each.location) == group.same_function]


def library_called(group: Group, evidence: Evidence) -> str | None:
    """Return the library's function that the user's line calls, and that jits a new function or passes it to a loop.

    One that passes it as a static argument counts as well. Empty if its name is unknown; ``None`` if the user's own
    code does so, or if that is unknown.
    """
    makes_functions = group.kind == "new function" and (group.eager or is_librarys(group))
    if not makes_functions and not makes_static_functions(group, evidence):
        return None
    called = {
        _called_library(instruction.stack, program.called_at)
        for program in programs_of(group, evidence)
        if program.module is not None
        for instruction in program.module.instructions.values()
        if instruction.stack
    }
    outermost = called.pop() if len(called) == 1 else None
    if outermost is None:
        return "" if is_librarys(group) else None
    return outermost.library or ""


def makes_static_functions(group: Group, evidence: Evidence) -> bool:
    """Return whether a library makes the functions anew that its own jitted function gets as a static argument."""
    if group.kind != "static value" or not is_librarys(group):
        return False
    places = [_DEFINED_AT.search(each.cause.reason) for each in group.compilations if each.cause.kind == group.kind]
    lines = [each.called_at for each in programs_of(group, evidence) if each.called_at is not None]
    users = {name for line in lines for name in (line.cell, PurePath(line.file).name)}
    return bool(places) and all(each is not None and each[1] not in users for each in places)


def varying_shapes(group: Group, evidence: Evidence) -> list[str]:
    """Return the arguments of a function that have several shapes in the first run, as far as is known."""
    shapes: dict[str, set[str]] = {}
    for program in programs_of(group, evidence):
        for each in () if program.module is None else program.module.inputs:
            shapes.setdefault(each.name, set()).add(each.shape.partition("[")[2])
    return [name for name, seen in shapes.items() if len(seen) > 1]


def is_librarys(group: Group) -> bool:
    """Return whether a library defines the function."""
    return group.location is not None and library_module(group.location.rpartition(":")[0]) is not None


def _called_library(stack: Stack, line: Frame | None) -> Frame | None:
    """Return the outermost call of a library that a line of the user's code has made."""
    if line is None:
        return None
    at = [each for each, frame in enumerate(stack) if (frame.file, frame.line) == (line.file, line.line)]
    below = takewhile(lambda frame: not is_users(frame), stack[at[-1] + 1 :] if at else ())
    return next((frame for frame in below if library_module(frame.file)), None)


def forms_of(group: Group, evidence: Evidence) -> int:
    """Return how many kinds of programs a function has that differ in operations or shapes, as far as is known.

    One whose shapes were not read has those of the others, if these have the same, and otherwise some of its own.
    """
    alike: dict[object, list[HloModule | None]] = {}
    for each in programs_of(group, evidence):
        if each.equations is not None:
            alike.setdefault(_operations(each), []).append(each.module)
    return sum(map(_kinds_of_shapes, alike.values()))


def repeating(group: Group, evidence: Evidence) -> int:
    """Return how many programs repeat the operations and shapes of another, as far as is known."""
    return len(programs_of(group, evidence)) - forms_of(group, evidence)


def alike(group: Group, evidence: Evidence) -> Alike | None:
    """Return how the programs of a function compare; ``None`` if unknown for one, or if there is no other."""
    kinds = [each.kind for each in programs_of(group, evidence)]
    known = [each for each in kinds if each is not None]
    if len(known) < max(len(kinds), 2):
        return None
    return Alike(len(known), len({each.operations for each in known}), len({each.constants for each in known}))


def passable(group: Group) -> bool:
    """Return whether what differs in static values might be passed as arrays, or is known to be avoidable."""
    return all(each.cause.remedy or only_numbers_differ(each.cause) for each in group.compilations)


def _kinds_of_shapes(modules: Sequence[HloModule | None]) -> int:
    known = [each for each in modules if each is not None]
    shapes = {_shapes(each) for each in known}
    return len(shapes) + len(modules) - len(known) if len(shapes) > 1 else 1


def _operations(program: Program) -> frozenset[object]:
    return frozenset((each.primitive, each.dtype, each.line, each.count) for each in program.equations or ())


def _shapes(module: HloModule) -> tuple[object, ...]:
    outputs, inside = tuple(each.shape for each in module.outputs), module.instructions.values()
    return outputs, frozenset(each.shape for each in inside if _ARRAY.fullmatch(each.shape))


def only_argument(group: Group) -> str | None:
    """Return the one argument that differs in all of them; ``None`` if others do as well, or if it has no name."""
    causes = [each.cause for each in group.compilations]
    ends = ((f"{each.now} now, {each.before} {when}" for when in _EARLIER) for each in causes)
    alone = all(each.reason.endswith(tuple(end)) for each, end in zip(causes, ends, strict=True))
    arguments = {each.argument for each in causes}
    return arguments.pop() if alone and len(arguments) == 1 else None


def settings_of(group: Group) -> list[str]:
    """Return the settings of JAX that differ; empty if one is unknown or the mesh, or if more than them differs."""
    settings = list(dict.fromkeys(each.cause.argument or "" for each in group.compilations))
    alone = all(ALSO not in (each.cause.remedy or "") for each in group.compilations)  # no remedy for more
    return settings if alone and all(each.startswith("jax_") for each in settings) else []


def only_numbers_differ(cause: Cause) -> bool:
    """Return whether two static values are alike but for numbers in them, such as ``(1, 0.5)`` and ``(2, 0.5)``."""
    try:
        return _skeleton(ast.literal_eval(cause.now or "")) == _skeleton(ast.literal_eval(cause.before or ""))
    except (SyntaxError, ValueError):
        return False


def _skeleton(value: object) -> object:
    """Return a value with its numbers replaced by their types."""
    if isinstance(value, tuple | list):
        return type(value), tuple(map(_skeleton, value))
    if isinstance(value, dict):
        return tuple((key, _skeleton(each)) for key, each in value.items())
    return type(value) if isinstance(value, int | float | complex) and not isinstance(value, bool) else value


def values_of_first(group: Group, evidence: Evidence) -> Cause | None:
    """Return what differed in the first run; a later run compiles for the same values again."""
    if group.kind not in ("new function", "static value"):
        return None
    own = [each.cause for each in reversed(in_first_run(group, evidence)) if each.cause.kind == group.kind]
    return next((each for each in own if each.argument and each.remedy), None)


def within_first(group: Group, evidence: Evidence) -> Cause | None:
    """Return what differed between new objects of the first run; ``None`` if later runs say the same."""
    if group.kind != "static value" or not group.compilations[-1].cause.new_objects:
        return None
    own = [each.cause for each in in_first_run(group, evidence) if each.cause.kind == group.kind]
    differ = [each for each in own if each.new_objects]
    told = {each.cause.reason for each in group.compilations}
    return differ[-1] if differ and differ[-1].reason not in told else None
