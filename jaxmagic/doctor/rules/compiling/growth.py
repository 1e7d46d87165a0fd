"""Recognizes an argument that the code itself makes longer before each call, such as a cache of keys or tokens."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ....records.call_stack import Frame
from ...analysis.written_paths import root_of
from ...record.evidence import Evidence
from ...record.program import Program
from ..host.dependencies import derived_from, names_read, targets_of
from ..host.host_time import names_of_program
from ..host.syntax import arguments_at, around, assigned, called_as, function_around, loop_around, own_nodes, site_of
from ..rewriting.bucket_sizes import shapes_of, varying_axis
from ..rewriting.syntax import last_name
from .recompilations import Group, programs_of

#: At least this share of the sizes are larger than the one before.
_MOST = 0.75

#: Functions that join arrays.
_JOINING = frozenset({"append", "column_stack", "concat", "concatenate", "dstack", "hstack", "insert", "vstack"})

#: Methods that make a list longer.
_LENGTHENING = frozenset({"append", "extend", "insert"})


class Growth(NamedTuple):
    """An argument that grows from call to call.

    Attributes:
        argument: its name.
        axis: the axis along which it grows.
        step: by how much, if that is always the same; else 0.
        returned: whether the function that takes it returns it longer.
    """

    argument: str
    axis: int
    step: int
    returned: bool


def growth(group: Group, evidence: Evidence) -> Growth | None:
    """Return how the argument grows that a function compiles again for; ``None`` if it does not, or may not.

    Its sizes alone do not tell: data may be sorted by length. The function has to return it longer, as in
    ``cache = step(cache)``, or the code around the call has to append to it.
    """
    name = group.compilations[-1].cause.argument
    if name is None or any(each.cause.argument != name for each in group.compilations):
        return None
    shapes = shapes_of(each.cause.now or "" for each in group.compilations)
    axis = varying_axis(shapes)
    if axis is None or len(shapes) != len(group.compilations):
        return None
    steps = [after[axis] - before[axis] for before, after in pairwise(shapes)]
    if sum(step > 0 for step in steps) < _MOST * len(steps):
        return None
    programs = programs_of(group, evidence)
    site = site_of(group.own_name, programs, evidence)
    called = called_as(group.own_name, programs, evidence)
    expression = None if site is None else _passed(site, called, programs, name)
    returned = site is not None and expression is not None and _is_carried(site, called, expression)
    if not returned and not (site is not None and expression is not None and _is_lengthened(site, expression)):
        known = site is not None and expression is not None and isinstance(around(site)[-1], ast.Assign)
        returned = not known and _returns_next(programs, name)
        if not returned and not _is_joined(shapes, evidence):
            return None
    return Growth(name, axis, steps[0] if len(set(steps)) == 1 else 0, returned)


def _passed(site: Frame, function: str, programs: Sequence[Program], argument: str) -> ast.expr | None:
    """Return what a call passes for an argument, or for the container that has it."""
    given = arguments_at(site, function, programs[0].arguments) if programs else {}
    return given.get(root_of(argument))


def _is_carried(site: Frame, function: str, passed: ast.expr) -> bool:
    """Return whether a call's result is assigned to what the next call is passed, as in ``y, k = step(k)``."""
    statement = around(site)[-1]
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call) or last_name(value.func) != function:
        return False
    return bool((targets_of(statement, None) & names_read(passed)) - _replaced(site))


def _replaced(site: Frame) -> set[str]:
    """Return the variables that each round of the loop around a line assigns anew before it."""
    loop = loop_around(site)
    before = [] if loop is None else [each for each in own_nodes(loop) if isinstance(each, ast.Assign)]
    assigns = [each for each in before if (each.end_lineno or each.lineno) < site.line]
    found = {name for each in assigns for name in targets_of(each, None) - names_read(each.value)}
    return found | (assigned(loop.target) if isinstance(loop, ast.For) else set())


def _is_lengthened(site: Frame, passed: ast.expr) -> bool:
    """Return whether the code around a call appends to what the call is passed, or to what that is made from."""
    scope = loop_around(site) or function_around(site) or around(site)[0]
    statements = [each for each in own_nodes(scope) if isinstance(each, ast.stmt)]
    grown = {name for each in statements for name in lengthened(each)}
    return bool(grown and names_read(passed) & derived_from(scope, grown))


def lengthened(statement: ast.stmt) -> set[str]:
    """Return the variables that a statement makes longer by joining something to them.

    >>> lengthened(ast.parse("k = jnp.concatenate([k, y[None]])").body[0])
    {'k'}
    >>> lengthened(ast.parse("k = jnp.concatenate([y, z])").body[0])
    set()
    """
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method))) if method in _LENGTHENING:
            return names_read(owner)
        case ast.AugAssign(value=ast.List()) | ast.AugAssign(value=ast.Tuple()):
            return targets_of(statement, None)
        case ast.Assign() | ast.AnnAssign() if statement.value is not None:
            return targets_of(statement, None) & {name for each in _joined(statement.value) for name in each}
    return set()


def _joined(value: ast.expr) -> Iterator[set[str]]:
    """Yield the names that an expression joins something to."""
    for node in ast.walk(value):
        match node:
            case ast.Call(func=function, args=arguments) if last_name(function) in _JOINING:
                yield {name for each in arguments for name in names_read(each)}
            case ast.BinOp(op=ast.Add(), left=left, right=ast.List() | ast.Tuple()):
                yield names_read(left)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                yield {name for each in elements if isinstance(each, ast.Starred) for name in names_read(each.value)}


def _returns_next(programs: Sequence[Program], argument: str) -> bool:
    """Return whether programs of a function return an array of the type that the next one takes."""
    modules = [each.module for each in programs if each.module is not None]
    taken = {each.shape for module in modules for each in module.inputs if each.name == argument}
    returns = 0
    for module in modules:
        own = {each.shape for each in module.inputs if each.name == argument}
        returns += bool(({each.shape for each in module.outputs} & taken) - own)
    return len(taken) > 1 and returns >= _MOST * (len(modules) - 1)


def _is_joined(shapes: Sequence[tuple[int, ...]], evidence: Evidence) -> bool:
    """Return whether a line outside of jit appends to an array of these shapes."""
    wanted, made = set(shapes), set()
    for program in evidence.programs or ():
        line = program.called_at
        joins = program.eager and line is not None and _JOINING.intersection(names_of_program(program))
        if joins and line is not None and program.module is not None and lengthened_at(line):
            made |= set(shapes_of(each.shape for each in program.module.outputs))
    return len(wanted & made) >= _MOST * len(wanted)


def lengthened_at(line: Frame) -> bool:
    """Return whether the statement of a line makes a variable longer."""
    nodes = around(line)
    return bool(nodes) and isinstance(nodes[-1], ast.stmt) and bool(lengthened(nodes[-1]))
