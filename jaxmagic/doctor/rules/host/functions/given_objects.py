"""Tells which objects a line passes to the functions that it calls: modules, and what a function may change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .....records.call_stack import Frame
from ....record.evidence import Evidence, Input, ModuleLibrary
from ...rewriting.module_jit import jit_in_code
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


def gives_an_object(line: Frame, evidence: Evidence) -> bool:
    """Return whether calls on a line are given an object that they may change, such as a module of flax nnx."""
    return any(
        each.library == "nnx" or (each.kind in ("object", "other") and each.type not in _CONTAINERS)
        for each in _given(line, evidence)
    )


def modules_given(line: Frame, evidence: Evidence) -> GivenModules | None:
    """Return the modules that calls on a line are given; ``None`` without any, and for those of several libraries."""
    modules = {each.path: each.library for each in _given(line, evidence) if each.library is not None}
    libraries = {*modules.values()}
    if len(libraries) != 1:
        return None
    (library,) = libraries
    return GivenModules(library, tuple(modules), jit_in_code(library, evidence))


def _given(line: Frame, evidence: Evidence) -> list[Input]:
    """Return what calls on a line are given, by its names there, in their order.

    For variables that the code assigns, as ``model`` in ``model = step(model)``, it is what they begin with.
    """
    calls = [node for each in around(line)[-1:] for node in ast.walk(each) if isinstance(node, ast.Call)]
    called = {id(each.func) for each in calls}
    given = [each for call in calls for each in (*call.args, *(keyword.value for keyword in call.keywords))]
    nodes = [node for each in given for node in ast.walk(each) if id(node) not in called]
    inputs = inputs_inside(line, evidence, first=True)
    inputs = {name: inputs[value] for name, value in _copied(line) if value in inputs} | inputs
    names = dict.fromkeys(each.id for each in nodes if isinstance(each, ast.Name) and each.id in inputs)
    return renamed({each: inputs[each] for each in names})


def _copied(line: Frame) -> Iterator[tuple[str, str]]:
    """Yield the variables of the function or cell around a line to which it assigns another one, and that one."""
    for node in own_nodes(function_around(line) or tree_of(line) or ast.Module([], [])):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=value)):
                yield name, value
