"""Writes the part of a loop that computes as a jitted function, which each round calls."""

from __future__ import annotations

import ast
import builtins
import copy
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .....records.call_stack import Frame
from ....record.evidence import Evidence, Input
from ...host.functions.inputs_inside import inputs_inside, renamed
from ...host.functions.inside_function import SourceRange
from ...host.host_time import names_of_program
from ...host.syntax import Function, function_around, loop_around, tree_of
from ..called_function import changing_read
from ..jit_arguments import static_option, untraced
from ..jit_obstacles import functions_run, obstacles
from ..jittable import computes_only, has_sizes, takes_arrays
from ..meanings import paths_in
from ..module_jit import libraries_called
from ..rewritten import in_loop
from ..syntax import loaded, stored
from .loop_facts import assigns, reads
from .python_numbers import python_numbers
from .round_parts import OPERATIONS, Part, Place, as_function, item_of, part_around, programs_at
from .scanned_loop import numbered
from .traced_indices import WHOLE, TracedIndices, has_partial, is_array
from .while_loop import functions_of

#: With fewer operations in it, as far as its syntax tells, a jitted function saves nothing.
_LEAST_OPERATIONS = 2

#: With more programs of one operation than this, and fewer calls of each, its shapes vary from round to round.
_MOST_SHAPES = 3
_LEAST_CALLS = 4


class JittedRound(NamedTuple):
    """Code to paste, and what it replaces.

    Attributes:
        code: the code.
        line: a line of them.
        lines: the lines that become part of a jitted function, or follow its call.
        operations: how many operations are in a round, as far as the syntax tells.
        statements: how many statements compute.
    """

    code: str
    line: Frame
    lines: SourceRange
    operations: int
    statements: int


def jitted_round(line: Frame, evidence: Evidence, functions: Collection[str] = frozenset()) -> JittedRound | None:
    """Write what the loop around a line computes as a jitted function; ``None`` if it is not known that jit takes it.

    Args:
        line: a line of the loop, which is part of that function.
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
    place = Place(loop, scope, line.file, paths, known, python_numbers(scope), inside)
    part = part_around(line.line, place)
    if part is None:
        return None
    operations = sum(isinstance(node, OPERATIONS) for each in part.computed for node in ast.walk(each))
    if operations < _LEAST_OPERATIONS or part.lines[0] == loop.lineno or _vary(part, place):
        return None
    code = _written(part, place, tree)
    return (
        None
        if code is None
        else JittedRound(code, line, SourceRange(line.file, *part.lines), operations, len(part.computed))
    )


def _vary(part: Part, place: Place) -> bool:
    """Return whether an operation in some statements had programs for nearly as many shapes as it had calls."""
    use = place.evidence.host_use
    programs = Counter(name for each in programs_at(part, place) for name in names_of_program(each))
    calls = () if use is None else use.dispatches
    return any(programs[each.name] > max(_MOST_SHAPES, each.count // _LEAST_CALLS) for each in calls)


def _written(part: Part, place: Place, tree: ast.Module) -> str | None:
    """Return the code; ``None`` if jit may not compile it, or would keep what changes."""
    items = TracedIndices(place)
    computed = [items.visit(copy.deepcopy(each)) for each in part.computed]
    moved, own = list[ast.stmt](), set[str]()
    for each in part.moved:
        item = item_of(each, place)
        if item is None:
            moved.append(each)
        else:
            computed.append(items.visit(copy.deepcopy(item.computed)))
            moved.append(item.appends)
            own |= assigns([item.computed])
    own |= {*items.arguments}
    given, results = _given(computed, place), _results(computed, part, place)
    name = _name(place, tree)
    if given is None or not results or name is None or own & (loaded([tree]) | stored([tree])):
        return None
    static = [each for each in given if has_sizes(as_function(computed, given), {each})]
    if {*static} & assigns([place.loop]) or has_partial(items.slices, part, place):
        return None
    if not _can_be_jitted(as_function(computed, given), frozenset(static), place):
        return None
    passed = ", ".join(items.arguments.get(each, each) for each in given)

    def lines() -> Iterator[str]:
        yield from (WHOLE,) if items.slices else ()
        yield from () if static else ("@jax.jit",)
        yield f"def {name}({', '.join(given)}):"
        yield from (f"    {ast.unparse(each)}" for each in computed)
        yield f"    return {', '.join(results)}"
        yield from (f"{name} = jax.jit({name}{static_option(static)})",) if static else ()
        yield in_loop(*part.lines)
        yield f"{', '.join(results)} = {name}({passed})"
        yield from map(ast.unparse, moved)

    return "\n".join(lines())


def _given(statements: Sequence[ast.stmt], place: Place) -> list[str] | None:
    """Return what statements read from before them, also globals, whose values jit would keep.

    ``None`` if some of it is nothing that jit takes.
    """
    assigned: set[str] = set()
    found: dict[str, None] = {}
    for each in statements:
        found |= dict.fromkeys(sorted(reads(each) - assigned))
        assigned |= assigns([each])
    calls = [node.func for each in statements for node in ast.walk(each) if isinstance(node, ast.Call)]
    owners = {_root(each) for each in calls if isinstance(each, ast.Attribute)} - place.local - {None}
    known = {name for name in (*found,) if name not in place.local and hasattr(builtins, name)}
    given = [each for each in found if each not in owners | known | (place.functions - place.local)]
    inputs = {each.path: each for each in place.evidence.inputs}
    of_inputs = any(each in inputs and inputs[each].library is not None for each in (*given, *owners))
    if of_inputs or libraries_called(place.evidence):
        return None  # modules, whose changes jax.jit does not keep
    if {*given} & _changed_in_place(place):
        return None
    return given if all(_is_taken(each, statements, place, inputs) for each in given) else None


def _changed_in_place(place: Place) -> set[str]:
    """Return the variables on which the loop calls methods for their effect, as lists that grow."""
    effects = [each.value for each in ast.walk(place.loop) if isinstance(each, ast.Expr)]
    calls = [each.func for each in effects if isinstance(each, ast.Call)]
    return {each.value.id for each in calls if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)}


def _root(node: ast.expr) -> str | None:
    """Return ``a`` for ``a.b.c``; ``None`` if it is no name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_taken(name: str, statements: Sequence[ast.stmt], place: Place, inputs: Mapping[str, Input]) -> bool:
    """Return whether a variable may be an array or a pytree, as far as its attributes and indices tell."""
    for node in (node for each in statements for node in ast.walk(each)):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=attr) if owner == name:
                inside = any(each.startswith(f"{name}.") for each in inputs)
                if attr != "at" and not hasattr(np.ndarray, attr) and not inside:
                    return False
            case ast.Subscript(value=ast.Name(id=owner), slice=index) if owner == name:
                several = isinstance(index, ast.Tuple | ast.Slice)
                if loaded([index]) & place.numbers and not several and not is_array(name, place):
                    return False
    return True


def _results(statements: Sequence[ast.stmt], part: Part, place: Place) -> list[str]:
    """Return what statements assign and others read, or the next round; all that a cell assigns."""
    names = [node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name)]
    made = [each for each in dict.fromkeys(names) if each in assigns(statements)]
    if not isinstance(place.scope, Function):
        return made
    own = {id(node) for each in part.computed for node in ast.walk(each)}
    others = {
        node.id
        for node in ast.walk(place.scope)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in own
    }
    carried = {*(_given(statements, place) or ())}
    return [each for each in made if each in others | carried or each.endswith("_item")]


def _name(place: Place, tree: ast.Module) -> str | None:
    """Return a name for the function that is not taken."""
    prefix = f"{place.scope.name}_" if isinstance(place.scope, Function) else "one_"
    taken = loaded([tree]) | stored([tree])
    names = (numbered(f"{prefix}{each}", place.loop, place.scope) for each in ("step", "round"))
    return next((each for each in names if each not in taken), None)


def _can_be_jitted(function: ast.FunctionDef, static: frozenset[str], place: Place) -> bool:
    """Return whether jit can compile a function, and what it calls, and keeps nothing that changes."""
    evidence = place.evidence
    if not takes_arrays(function, untraced(evidence.inputs), static):
        return False
    functions = functions_run(function, place.file, evidence)
    others = functions[1:]
    if not all(computes_only(each, paths_in(each, file, evidence.names)) for each, file in others):
        return False
    waiting = {(each.line.function, each.line.file) for each in evidence.waits or () if each.line is not None}
    own = {id(each): (each.name, file) for each, file in others}.values()
    return not (obstacles(functions, evidence.names) or changing_read(others, evidence) or {*own} & waiting)
