"""Writes what a method computes with the attributes of its object as jitted functions, which the method calls."""

from __future__ import annotations

import ast
import builtins
import copy
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from .....records.call_stack import Frame
from ....analysis import written_paths
from ....record.evidence import Evidence, HostShare, Input
from ...host.functions.inputs_inside import inputs_inside, renamed
from ...host.functions.inside_function import SourceRange, is_within
from ...host.syntax import function_around
from ..jit.obstacles import obstacles
from ..loops.attributes import with_variables
from ..loops.jitted_round import JittedRound, written_together
from ..loops.loop_facts import assigns
from ..loops.part_function import Written, operations_of, written
from ..loops.round_parts import Part, Place, computes
from ..loops.while_loop import functions_of
from ..meanings import paths_in
from ..numbers.passed_numbers import numbers_passed
from ..numbers.python_numbers import python_numbers
from ..numbers.texts import texts_in
from ..rewritten import in_function
from ..syntax import have_own_lines, loaded, parameters, stored, tree_of, tree_run
from .own_class import method_at, own_class


class JittedMethod(NamedTuple):
    """A method with jitted functions in place of what it computes.

    Attributes:
        round: the code, and the lines that it replaces.
        method: the name of the method.
        static: the arguments of the jitted functions that are static.
        donated: the attributes whose arrays they change in place.
    """

    round: JittedRound
    method: str
    static: tuple[str, ...]
    donated: tuple[str, ...]


def jitted_method(evidence: Evidence) -> JittedMethod | None:
    """Write the method in which most samples are, and most of which jit is known to take; ``None`` without one.

    Args:
        evidence: the observations of the runs.
    """
    samples = Counter[int]()
    found = dict[int, tuple[ast.FunctionDef, Frame]]()
    for each in evidence.host or ():
        for frame in _frames(each):
            method = function_around(frame)
            if isinstance(method, ast.FunctionDef) and method_at(method, frame.file) is not None:
                found.setdefault(id(method), (method, frame))
                samples[id(method)] += each.samples
    for key, count in samples.most_common():
        one = _written(*found[key], evidence)
        if one is not None and 2 * _samples_in(one.round.lines, evidence) > count:
            return one
    return None


def _samples_in(lines: Collection[SourceRange], evidence: Evidence) -> int:
    shares = evidence.host or ()
    return sum(each.samples for each in shares if any(is_within(at, lines) for at in _frames(each)))


def _frames(share: HostShare) -> list[Frame]:
    """Return the user's lines in a sample, each once."""
    return [each for each in dict.fromkeys((share.line, *share.stack)) if each is not None]


def _written(method: ast.FunctionDef, line: Frame, evidence: Evidence) -> JittedMethod | None:
    tree, inputs = tree_of(line.file), inputs_inside(line, evidence, first=True)
    inside = replace(evidence, inputs=tuple(renamed(inputs | _more(inputs, evidence))))
    inputs = {each.path: each for each in inside.inputs}
    own = own_class(method, line.file, inputs, evidence)
    if tree is None or own is None or any(isinstance(each, ast.Yield | ast.Await) for each in ast.walk(method)):
        return None
    scope = copy.copy(method)
    loop = ast.copy_location(ast.While(ast.Constant(True), method.body, []), method)
    scope.body = [loop]
    paths = paths_in(method, line.file, evidence.names)
    known = functions_of(tree, line.file, paths, evidence)
    texts = texts_in(method, tree_run(line.file, evidence))
    numbers = python_numbers(method, numbers_passed(method, line.file, evidence))
    modules = {name: each.library for name, each in inputs.items() if each.library is not None}
    place = Place(loop, scope, line.file, paths, known, numbers, texts, modules, inside, own=own)
    place = with_variables(place, loaded([method]) | stored([method]) | parameters(method) | {*dir(builtins)})
    every, taken = list[Written](), loaded([tree]) | stored([tree]) | place.attributes.keys()
    for part in _parts(place):
        one = written(part, place, taken, number=len(every))
        every += [] if one is None else [one]
        taken |= set() if one is None else one.names
    if not every or not all(have_own_lines(each.part.computed, line.file) for each in every):
        return None
    statements = [node for each in every for node in each.part.computed]
    first, last = every[0].part.lines[0], every[-1].part.lines[1]
    made = JittedRound(
        written_together(every, place.loop.body, place, in_function(method.name, first, last)),
        replace(line, line=first),
        tuple(SourceRange(line.file, *each.part.lines) for each in every),
        sum(operations_of(each.part) for each in every),
        len(statements),
        compiles=True,
    )
    static = dict.fromkeys(name for each in every for name in each.static)
    donated = dict.fromkeys(name for each in every for name in each.donated)
    return JittedMethod(made, method.name, tuple(static), tuple(donated))


def _more(inputs: Mapping[str, Input], evidence: Evidence) -> dict[str, Input]:
    """Return the attributes that are inputs by other names, and modules of Equinox, by their names in a method."""
    found = dict[str, Input]()
    for name, held in inputs.items():
        for each in held.members if name.isidentifier() else ():
            path = f"{name}.{each.name}"
            if each.home.startswith("equinox."):
                found[path] = Input(path=path, kind="other", type="Module", library="equinox")
            inner = evidence.inputs if each.same_as else ()
            same = (one for one in inner if written_paths.is_within(one.path, each.same_as))
            found |= {path + one.path[len(each.same_as) :]: one for one in same}
    return found


def _parts(place: Place) -> Iterator[Part]:
    """Yield the statements of a method that compute, as far as they follow each other."""
    together = list[ast.stmt]()
    for each in (*place.loop.body, ast.Pass()):
        if not isinstance(each, ast.Pass) and _is_part(each, place):
            together.append(each)
        elif together:
            yield Part(together, [])
            together = []


def _is_part(statement: ast.stmt, place: Place) -> bool:
    """Return whether a statement can be a part of a jitted function.

    It changes no array of NumPy in an attribute, and gives no container another name: jit would return two of them.
    """
    inputs = {each.path: each.kind for each in place.evidence.inputs}
    of_numpy = any(inputs.get(each) == "numpy array" for each in assigns([statement]) & place.attributes.keys())
    once = obstacles([(ast.Module([statement], []), place.file)], place.evidence.names)
    value = getattr(statement, "value", None)
    names_again = isinstance(value, ast.Name) and inputs.get(value.id) == "other"
    return computes(statement, place) and not (of_numpy or names_again or once)
