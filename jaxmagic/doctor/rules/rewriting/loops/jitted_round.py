"""Writes the parts of a loop that compute as jitted functions, which each round calls."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from .....records.call_stack import Frame
from ....record.evidence import Evidence
from ...host.functions.inputs_inside import inputs_inside, renamed
from ...host.functions.inside_function import SourceRange
from ...host.syntax import Function, function_around, loop_around, tree_of
from ..meanings import paths_in
from ..numbers.passed_numbers import numbers_passed
from ..numbers.python_numbers import python_numbers
from ..numbers.texts import texts_in
from ..rewritten import in_loop
from ..syntax import have_own_lines, loaded, stored, tree_run
from .attributes import with_attributes, with_variables
from .part_function import Written, operations_of, written
from .round_parts import (
    Part,
    Place,
    block_around,
    part_around,
)
from .while_loop import functions_of


class JittedRound(NamedTuple):
    """Code to paste, and what it replaces.

    Attributes:
        code: the code.
        line: a line of them.
        lines: for each jitted function, the lines that become part of it, or follow its call.
        operations: how many operations are in these functions, as far as the syntax tells.
        statements: how many statements compute.
        calls: how often the code is called per run; 0 if each round calls it.
        compiles: whether nothing but what is compiled is in these lines.
    """

    code: str
    line: Frame
    lines: tuple[SourceRange, ...]
    operations: int
    statements: int
    calls: int = 0
    compiles: bool = False


def jitted_round(line: Frame, evidence: Evidence, functions: Collection[str] = frozenset()) -> JittedRound | None:
    """Write what the loop around a line computes as jitted functions; ``None`` if it is not known that jit takes it.

    Where Python reads a value within a round, as ``int`` does, one function ends and another one begins.

    Args:
        line: a line of the loop, which is part of one of these functions.
        evidence: the objects behind names.
        functions: the names of functions besides those that the file defines.
    """
    loop, tree = loop_around(line), tree_of(line)
    if loop is None or tree is None:
        return None
    scope = function_around(line) or tree
    paths = paths_in(scope, line.file, evidence.names)
    known = {*functions, *functions_of(tree, line.file, paths, evidence)}
    inside = replace(evidence, inputs=tuple(renamed(inputs_inside(line, evidence))))
    begin = inputs_inside(line, evidence, first=True)
    modules = {name: each.library for name, each in begin.items() if each.library is not None}
    taken = loaded([tree]) | stored([tree])
    texts = texts_in(scope, tree_run(line.file, evidence))
    passed = numbers_passed(scope, line.file, evidence) if isinstance(scope, Function) else ()
    numbers = python_numbers(scope, passed)
    place = Place(loop, scope, line.file, paths, known, numbers, texts, modules, inside)
    place = with_variables(place, taken)
    taken |= place.attributes.keys()
    block, main = block_around(place.loop, line.line), part_around(line.line, place)
    parts = [] if main is None else [main]
    for each in block if parts else ():
        part = part_around(each.lineno, place)
        parts += [part] if part is not None and not any(_overlap(part, other) for other in parts) else []
    every = list[Written]()
    for part in sorted(parts, key=lambda each: each.lines):
        function = written(part, place, taken, number=len(every))
        every += [] if function is None else [function]
        taken |= set() if function is None else function.names
    whole = all(have_own_lines([*each.part.computed, *each.part.moved], line.file) for each in every)
    code = written_together(every, block, place) if whole and any(each.part is main for each in every) else None
    if code is None:
        return None
    return JittedRound(
        code,
        line,
        tuple(SourceRange(line.file, *each.part.lines) for each in every),
        sum(operations_of(each.part) for each in every),
        sum(len(each.part.computed) for each in every),
    )


def _overlap(part: Part, other: Part) -> bool:
    (first, last), (begin, end) = part.lines, other.lines
    return first <= end and begin <= last


def written_together(every: Sequence[Written], block: Sequence[ast.stmt], place: Place, where: str = "") -> str:
    """Return the code for some parts, with what is between them.

    Args:
        every: the parts.
        block: the statements among which they are.
        place: the loop.
        where: the comment that says what they replace; that they are in a loop if left out.
    """
    first, last = every[0].part.lines[0], every[-1].part.lines[1]
    inside = list[str]()
    own = {id(each): one for one in every for each in (*one.part.computed, *one.part.moved)}
    for each in block:
        function = own.get(id(each))
        if function is not None:
            inside += [] if function.inside in inside else [function.inside]
        elif first <= each.lineno <= last:
            inside.append(ast.unparse(each))
    instead = with_attributes("\n".join(inside), place.attributes)
    return "\n".join([*(each.beside for each in every), where or in_loop(first, last), instead])
