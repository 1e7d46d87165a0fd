"""Writes a part of a round of a loop as a jitted function, if jit is known to take it."""

from __future__ import annotations

import ast
import builtins
import copy
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ....record.evidence import Input
from ....record.jitted_names import StaticParameters
from ...host.functions.functions_run import calls_unknown, functions_run, waits_in
from ...host.syntax import Function
from ..changing_values import bound_by_loops, changing_read
from ..jit.arguments import given_by, static_option, untraced
from ..jit.jittable import computes_only, has_sizes, takes_arrays
from ..jit.module_jit import jit_of, libraries_called, libraries_used
from ..jit.obstacles import obstacles
from ..jit.results import changed_results, narrowed, needs_numbers
from ..meanings import USUAL, paths_in
from ..methods.donated_attributes import donated_attributes
from ..methods.own_class import does_more, modules_run, used_of
from ..methods.own_object import with_object
from ..methods.passed_variables import can_be_passed
from ..numbers.narrow import computed as evaluated
from ..numbers.narrow import traced
from ..numbers.passed_numbers import defaults, numbers_in
from ..numbers.python_numbers import python_numbers
from ..syntax import last_name, loaded, parameters, tree_of
from .attributes import with_attributes
from .computed_numbers import ComputedNumbers, multiply
from .counted_comprehensions import OPERATIONS
from .loop_facts import assigns, reads
from .round_parts import Part, Place, as_function, item_of, vary
from .scanned_loop import numbered
from .traced_indices import WHOLE, TracedIndices, has_partial, is_array

#: What an input is that jit takes.
_ARRAYS = "jax array", "numpy array"

#: With fewer operations in it, as far as its syntax tells, a jitted function saves nothing.
_LEAST_OPERATIONS = 2

#: What the names of several functions in a round begin with.
_ORDINALS = "", "second_", "third_", "fourth_"


class Written(NamedTuple):
    """A part of a round as code.

    Attributes:
        part: the part.
        beside: the jitted function.
        inside: what calls it in the loop.
        names: the names that this adds.
        static: the arguments of the function that are static.
        donated: the attributes that it donates.
    """

    part: Part
    beside: str
    inside: str
    names: set[str]
    static: tuple[str, ...] = ()
    donated: tuple[str, ...] = ()


def written(part: Part, place: Place, taken: set[str], number: int) -> Written | None:
    """Return a part as code; ``None`` if jit may not compile it, would keep what changes, or would save nothing.

    Args:
        part: the part.
        place: the loop, and what is known of its variables.
        taken: the names that the code cannot add.
        number: how many parts are written before it.
    """
    if operations_of(part) < _LEAST_OPERATIONS or part.lines[0] == place.loop.lineno or vary(part, place):
        return None
    values = numbers_in(place.scope, place.file, place.evidence)
    items, numbers = TracedIndices(place, values), ComputedNumbers(place, values)

    def rewritten(statement: ast.stmt) -> ast.stmt:
        new: ast.stmt = numbers.visit(items.visit(copy.deepcopy(statement)))
        return new

    computed = [rewritten(each) for each in part.computed]
    moved, own = list[ast.stmt](), set[str]()
    for each in part.moved:
        item = item_of(each, place)
        if item is None:
            moved.append(each)
        else:
            computed.append(rewritten(item.computed))
            moved.append(item.takes)
            own |= assigns([item.computed])
    passed_for = {**items.arguments, **numbers.arguments}
    own |= {*passed_for}
    given, results = _given(computed, place), _results(computed, part, place, loaded(moved))
    name = _name(place, taken, number)
    if given is None or not results or name is None or own & taken or _are_numbers(results, place):
        return None
    static = [each for each in given if each in place.static or has_sizes(as_function(computed, given), {each})]
    jit, needed = _jit(computed, given, place)
    if not jit or {*static} & (assigns([place.loop]) | numbers.arguments.keys()):
        return None
    if place.own is None and has_partial(computed, part, place):
        return None
    method = place.own
    if method is not None:
        modules = {each for each, path in {**USUAL, **place.paths}.items() if path}
        defined = {*dir(builtins), *modules, *place.functions}
        passable = can_be_passed(method, given, results, computed, place.attributes, defined)
        if not passable or {*static} - place.static:
            return None
    if not _can_be_jitted(as_function(computed, given), frozenset(static), place):
        return None
    known = ((each, evaluated(ast.parse(passed_for.get(each, each), mode="eval").body, values)) for each in given)
    taken_as = {each: traced(number) for each, number in known if number is not None and each not in static}
    if multiply({*given} & assigns([place.loop]), place.scope):  # until jit does not take it
        return None
    if narrowed(as_function(computed, given), taken_as, place.file, place.evidence):
        return None
    passed = ", ".join(passed_for.get(each, each) for each in given)
    text, returned = "\n".join(map(ast.unparse, computed)), ", ".join(results)
    if method is not None and method.owner in loaded(computed):
        object_ = with_object(method, computed, given, place.attributes)
        if object_ is None:
            return None
        text = "\n".join([*object_.begin, with_attributes(text, place.attributes)])
        returned = ", ".join(place.attributes.get(each, each) for each in results)
        passed = ", ".join(filter(None, [passed, *object_.given.values()]))
        given, static = [*given, *object_.given], [*static, *object_.static]

    donated = donated_attributes(method, computed, given, place.attributes) if method and jit == "jax.jit" else {}
    options = static_option(static, [*donated]) if jit == "jax.jit" else ""

    def beside() -> Iterator[str]:
        yield from filter(None, (needed, WHOLE if items.slices else ""))
        yield from () if options else (f"@{jit}",)
        yield f"def {name}({', '.join(given)}):"
        yield textwrap.indent(text, "    ")
        yield f"    return {returned}"
        yield from (f"{name} = jax.jit({name}{options})",) if options else ()

    inside = [f"{', '.join(results)} = {name}({passed})", *map(ast.unparse, moved)]
    return Written(part, "\n".join(beside()), "\n".join(inside), {name, *own}, tuple(static), (*donated.values(),))


def _are_numbers(results: Sequence[str], place: Place) -> bool:
    """Return whether a result is a number of Python, if parameters have their defaults: jit would make an array."""
    given = defaults(place.scope) if isinstance(place.scope, Function) else ()
    return place.own is None and bool({*results} & python_numbers(place.scope, {*place.numbers, *given}))


def _jit(statements: Sequence[ast.stmt], given: Sequence[str], place: Place) -> tuple[str, str]:
    """Return the jit for a function of some statements, and the import that it needs; empty if none does.

    ``jax.jit`` does not take modules of Equinox, and does not keep what is changed in those of flax.nnx.
    ``eqx.filter_jit`` compiles for each value of a number of Python.
    """
    function, names = as_function(statements, given), place.evidence.names
    libraries = {library for name, library in place.modules.items() if re.split(r"\W", name)[0] in given}
    libraries |= libraries_called(place.evidence) | libraries_used([(function, place.file)], names)
    if not libraries:
        return "jax.jit", ""
    changing = set() if place.own is None else place.own.changing
    changing |= {name for name, each in place.attributes.items() if each.rpartition(".")[2] in changing}
    varying = {*given} & place.numbers & (assigns([place.loop]) | changing)
    return jit_of("equinox", function, place.file, names) if libraries == {"equinox"} and not varying else ("", "")


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
    inputs = {each.path: each for each in place.evidence.inputs}
    variables = (
        place.local
        | place.static
        | assigns([place.loop])
        | {each for each, one in inputs.items() if one.kind in _ARRAYS}
    )
    owners = {_root(each) for each in calls if isinstance(each, ast.Attribute)} - variables - {None}
    owners |= set() if place.own is None else {place.own.owner}
    known = {name for name in (*found,) if name not in variables and hasattr(builtins, name)}
    given = [each for each in found if each not in owners | known | (place.functions - variables)]
    if owners & place.modules.keys() or {*given} & _changed_in_place(place):
        return None
    if ({*found} - {*given}) & bound_by_loops(place.file, place.loop.lineno):
        return None
    taken = (_is_taken(each, statements, place, inputs) for each in given if each not in place.static)
    return given if all(taken) else None


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
    if name in place.texts:
        return False
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


def _results(statements: Sequence[ast.stmt], part: Part, place: Place, following: set[str]) -> list[str]:
    """Return what statements assign and others read, or the next round; all that a cell assigns.

    Args:
        statements: the statements of the jitted function.
        part: the part of the round that they come from.
        place: the loop.
        following: what is read after the call of the function.
    """
    names = [node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name)]
    made = [each for each in dict.fromkeys(names) if each in assigns(statements)]
    if not isinstance(place.scope, Function):
        return made
    own = {id(node) for each in (*part.computed, *part.moved) for node in ast.walk(each)}
    others = {
        node.id
        for node in ast.walk(place.scope)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in own
    }
    carried = {*(_given(statements, place) or ())} if place.own is None else set[str]()
    return [each for each in made if each in others | carried | following | place.attributes.keys()]


def _name(place: Place, taken: set[str], number: int) -> str | None:
    """Return a name for the function that is not taken; ``None`` also where a round has many of them."""
    prefix = f"{place.scope.name}_" if isinstance(place.scope, Function) else "one_"
    prefix = "jitted_" if place.own is not None else prefix
    prefix += "".join(_ORDINALS[number : number + 1])
    ends: Sequence[str] = ("step", "round") if place.own is None else (place.own.method.name.strip("_"),)
    ends = ends if number < len(_ORDINALS) else ()
    names = (numbered(f"{prefix}{each}", place.loop, place.scope) for each in ends)
    return next((each for each in names if each not in taken), None)


def _can_be_jitted(function: ast.FunctionDef, static: frozenset[str], place: Place) -> bool:
    """Return whether jit can compile a function, and what it calls, and keeps nothing that changes."""
    evidence, names = place.evidence, place.evidence.names
    if not takes_arrays(function, untraced(evidence.inputs), static):
        return False
    functions, known = functions_run(function, place.file, evidence), set[int]()
    if place.own is not None:
        use = used_of(place.own, function.body)
        if use is None or does_more(modules_run(evidence), evidence, place.own.owner):
            return False
        functions += [each for one in use.functions for each in functions_run(*one, evidence)]
        known = {id(each) for each, _ in use.functions}
    others = functions[1:]
    owner = set() if place.own is None else {place.own.owner}
    numbers = place.numbers & parameters(function) if owner else ()
    if numbers and any(has_sizes(each, parameters(each) - owner) for each, _ in others):
        return False
    if any(needs_numbers(changed_results(each, file, evidence)) for each, file in others):
        return False
    if _passes_static(function, parameters(function) - static, evidence.static, tree_of(place.file)):
        return False
    if not all(id(each) in known or computes_only(each, paths_in(each, file, names)) for each, file in others):
        return False
    unknown = waits_in(others, evidence) or calls_unknown(functions, evidence)
    outside = others if place.own is None else [each for each in others if not place.own.has(*each)]
    changing = changing_read(outside, evidence) - owner
    return not (obstacles(functions, names) or changing or unknown)


def _passes_static(
    function: ast.FunctionDef, traced: set[str], declared: Sequence[StaticParameters], tree: ast.Module | None
) -> bool:
    """Return whether a function passes traced values for static arguments of jitted functions, as far as is known."""
    static = {each.function: {*each.names} for each in declared if each.names}
    nodes = [*ast.walk(tree)] if tree is not None else []
    defined = {each.name: each for each in nodes if isinstance(each, Function)}
    for call in (each for each in ast.walk(function) if isinstance(each, ast.Call)):
        name = last_name(call.func) or ""
        given = dict(given_by(call, defined.get(name)))
        unnamed = call.args if name not in defined else []
        passed = [*unnamed, *(value for key, value in given.items() if key in static.get(name, ()))]
        if name in static and loaded(passed) & traced:
            return True
    return False


def operations_of(part: Part) -> int:
    """Return how many operations a part of a round has, as far as the syntax tells."""
    return sum(isinstance(node, OPERATIONS) for each in part.computed for node in ast.walk(each))
