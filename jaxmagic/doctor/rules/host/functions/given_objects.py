"""Tells which objects a line passes to the functions that it calls: modules, and what a function may change."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .....records.call_stack import Frame
from ....record.evidence import Evidence, Input
from ....record.library_use import ModuleLibrary
from ....record.program import Program
from ...rewriting.jit.module_jit import jit_in_code
from ..syntax import around, function_around, own_nodes, tree_of
from .inputs_inside import inputs_inside, renamed

#: Types of objects that hold arrays, or functions, and that jitted functions do not change.
_CONTAINERS = frozenset({"dict", "list", "tuple", "module", "type"})


class GivenModules(NamedTuple):
    """The modules that a line passes.

    Attributes:
        library: their library.
        names: their names on this line.
        jit: the jit of the library, as the code writes it.
    """

    library: ModuleLibrary
    names: tuple[str, ...]
    jit: str


def gives_an_object(line: Frame, evidence: Evidence, programs: Sequence[Program] = ()) -> bool:
    """Return whether calls on a line are given an object that they may change, such as a module of flax nnx.

    Args:
        line: the line.
        evidence: what is known about the variables of the code.
        programs: the programs that it runs.
    """
    return "nnx" in _modules_seen(line, programs).values() or any(
        each.library == "nnx" or (each.kind in ("object", "other") and each.type not in _CONTAINERS)
        for each in _given(line, evidence)
    )


def modules_given(line: Frame, evidence: Evidence, programs: Sequence[Program] = ()) -> GivenModules | None:
    """Return the modules that calls on a line are given; ``None`` without any, and for those of several libraries.

    Args:
        line: the line.
        evidence: what is known about the variables of the code.
        programs: the programs that it runs.
    """
    inputs = {each.path: each.library for each in _given(line, evidence) if each.library is not None}
    modules = inputs or _modules_seen(line, programs)
    libraries = {*modules.values()}
    if len(libraries) != 1:
        return None
    (library,) = libraries
    return GivenModules(library, tuple(modules), jit_in_code(library, evidence))


def _modules_seen(line: Frame, programs: Sequence[Program]) -> dict[str, ModuleLibrary]:
    """Return the modules that calls on a line are given, by their names there, as they were when programs began."""
    here = [each for each in programs if each.called_at is not None and each.called_at.file == line.file]
    seen = {name: each.library for each in here if each.library is not None for name in each.modules}
    return {text: seen[text] for text in map(ast.unparse, _nodes_given(line)) if text in seen}


def _given(line: Frame, evidence: Evidence) -> list[Input]:
    """Return what calls on a line are given, by its names there, in their order.

    For variables that the code assigns, as ``model`` in ``model = step(model)``, it is what they begin with.
    """
    inputs = inputs_inside(line, evidence, first=True)
    inputs = {name: inputs[value] for name, value in _copied(line) if value in inputs} | inputs
    names = dict.fromkeys(each.id for each in _nodes_given(line) if isinstance(each, ast.Name) and each.id in inputs)
    return renamed({each: inputs[each] for each in names})


def _nodes_given(line: Frame) -> Iterator[ast.expr]:
    """Yield the expressions in the arguments of calls on a line, but not the functions that are called there."""
    calls = [node for each in around(line)[-1:] for node in ast.walk(each) if isinstance(node, ast.Call)]
    called = {id(each.func) for each in calls}
    given = [each for call in calls for each in (*call.args, *(keyword.value for keyword in call.keywords))]
    nodes = (node for each in given for node in ast.walk(each))
    yield from (node for node in nodes if isinstance(node, ast.expr) and id(node) not in called)


def _copied(line: Frame) -> Iterator[tuple[str, str]]:
    """Yield the variables of the function or cell around a line to which it assigns another one, and that one."""
    for node in own_nodes(function_around(line) or tree_of(line) or ast.Module([], [])):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=value)):
                yield name, value
