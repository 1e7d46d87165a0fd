"""Tells what the statements of a method use of their object, and whether jit may trace methods that they call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .....records.cell_names import cells_with
from ....analysis.written_paths import is_within
from ....record.evidence import Evidence, Input
from ...host.functions.functions_run import waits_in
from ...host.functions.inside_function import frames_of
from ...host.syntax import Function
from ..changing_values import changing_read
from ..jit.jittable import computes_only
from ..jit.module_jit import methods_run
from ..jit.obstacles import obstacles
from ..meanings import paths_in
from ..syntax import TRANSFORMATIONS, last_name, tree_of, tree_run
from .class_chain import MAKING, OneClass, class_chain, class_named, methods_of
from .known_attributes import with_known

#: Modules of classes whose objects do nothing but compute, however they are called.
_PURE = "optax.", "flax.linen."

#: Packages whose functions compute only.
_COMPUTING = "jax.", "optax.", "flax.linen."


class OwnClass(NamedTuple):
    """The class of a method, as far as its code tells.

    Attributes:
        owner: the name of the object in the method, such as ``"self"``.
        methods: the methods of the object, also those of base classes, with their files.
        method: the method.
        file: its file or cell.
        inputs: what the code reads, by its name in the method.
        made: the functions that the method defines, or makes by ``jax.grad`` or the like.
        changing: the attributes of any object that code assigns or changes, but for what fills an object.
        evidence: the observations of the runs.
    """

    owner: str
    methods: Mapping[str, tuple[Function, str]]
    method: ast.FunctionDef
    file: str
    inputs: Mapping[str, Input]
    made: frozenset[str]
    changing: frozenset[str]
    evidence: Evidence

    def has(self, function: Function, file: str) -> bool:
        """Return whether a function is defined in the method."""
        lines = range(self.method.lineno, (self.method.end_lineno or self.method.lineno) + 1)
        return file == self.file and function.lineno in lines


class Use(NamedTuple):
    """The attributes and methods that statements use while jit traces them, apart from their arguments.

    Attributes:
        functions: the methods that they call, with those that these call, and their files.
        traced: the attributes that these methods read and that jit traces.
        static: those that it has to know.
    """

    functions: tuple[tuple[Function, str], ...] = ()
    traced: tuple[str, ...] = ()
    static: tuple[str, ...] = ()


def own_class(method: ast.FunctionDef, file: str, inputs: Mapping[str, Input], evidence: Evidence) -> OwnClass | None:
    """Return the class of a method; ``None`` if its objects may be of another class, or may change unseen.

    Args:
        method: the method.
        file: its file or cell.
        inputs: what the code reads, by its name in the method.
        evidence: the observations of the runs.
    """
    node, given = method_at(method, file), [*method.args.posonlyargs, *method.args.args]
    object_ = inputs.get(given[0].arg) if given else None
    if node is None or object_ is None or not object_.can_change or method.decorator_list:
        return None
    own = OneClass(node, file)
    first = own if object_.type == node.name else class_named(object_.type, file)
    chain = [] if first is None else class_chain(first)
    if own not in chain:
        return None
    made = frozenset(name for each in ast.walk(method) if each is not method for name in _made_by(each))
    changing = frozenset(_changing([each.node for each in chain], file, evidence))
    return OwnClass(given[0].arg, methods_of(chain), method, file, inputs, made, changing, evidence)


def _made_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called)):
            yield from (name,) if last_name(called) in TRANSFORMATIONS else ()


def _changing(classes: Sequence[ast.ClassDef], file: str, evidence: Evidence) -> Iterator[str]:
    """Yield the attributes that any code that is known assigns or changes, but for what fills an object."""
    making = [each for node in classes for each in node.body if isinstance(each, Function) and each.name == MAKING]
    filling = {id(inner) for each in making for inner in ast.walk(each)}
    trees = [tree_run(file, evidence), *map(tree_of, cells_with(file))]
    for each in (inner for tree in trees if tree is not None for inner in ast.walk(tree)):
        if id(each) not in filling:
            yield from _changed_by(each)


def _changed_by(node: ast.AST) -> Iterator[str]:
    """Yield the attributes that a node assigns, or changes inside: by an index, or by a method called for effect."""
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del(), attr=name):
            yield name
            yield from _attributes_in(node.value)
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            yield from _attributes_in(node.value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))):
            yield from _attributes_in(owner)


def _attributes_in(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.value


def used_of(own: OwnClass, nodes: Sequence[ast.AST]) -> Use | None:
    """Return what some statements use of the object; ``None`` if jit may not take it, or if they do not only read.

    Args:
        own: the class.
        nodes: the statements, with variables in place of the attributes that the jitted function gets.
    """
    if not _only_read(own.owner, nodes):
        return None
    held = {each.name for each in own.inputs[own.owner].members}
    found, traced, static = dict[int, tuple[Function, str]](), set[str](), set[str]()
    pending = [(name, False) for each in nodes for name in _read(own.owner, each)]
    while pending:
        name, in_method = pending.pop()
        method = own.methods.get(name)
        if method is not None:
            inner = None if name in own.changing | held else _of_method(own, *method)
            if inner is None:
                return None
            pending += [(each, True) for each in inner if id(method[0]) not in found]
            found[id(method[0])] = method
        elif in_method and _is_traced(own, name):
            traced.add(name)
        elif in_method and is_static(own, name):
            static.add(name)
        else:
            return None
    return Use(tuple(found.values()), tuple(sorted(traced)), tuple(sorted(static)))


def _only_read(owner: str, nodes: Iterable[ast.AST]) -> bool:
    """Return whether nodes do nothing else with an object than reading its attributes."""
    every = [each for node in nodes for each in ast.walk(node)]
    read = {id(each.value) for each in every if isinstance(each, ast.Attribute) and _is_read(each, owner)}
    return all(id(each) in read for each in every if isinstance(each, ast.Name) and each.id == owner)


def _is_read(node: ast.AST, owner: str) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name), ctx=ast.Load()):
            return name == owner
    return False


def _read(owner: str, node: ast.AST) -> Iterator[str]:
    """Yield the names of the attributes that a node reads of an object."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and _is_read(each, owner):
            yield each.attr


def _of_method(own: OwnClass, method: Function, file: str) -> list[str] | None:
    """Return the attributes that a method reads; ``None`` if it may do more than compute, or is none of an object."""
    given = [*method.args.posonlyargs, *method.args.args]
    if not isinstance(method, ast.FunctionDef) or method.decorator_list or not given:
        return None
    paths = paths_in(method, file, own.evidence.names)
    read = [each for part in method.body for each in _read(given[0].arg, part)]
    known = frozenset(f"{given[0].arg}.{each}" for each in read if is_static(own, each))
    if not computes_only(with_known(method, known), paths, known) or not _only_read(given[0].arg, method.body):
        return None
    return read


def _is_traced(own: OwnClass, name: str) -> bool:
    """Return whether an attribute holds an array, or a container of arrays."""
    path = f"{own.owner}.{name}"
    data = own.inputs.get(path)
    if data is None or data.kind == "jax array":
        return data is not None
    return data.kind == "other" and any(
        each.kind == "jax array" and is_within(inner, path) for inner, each in own.inputs.items()
    )


def is_static(own: OwnClass, name: str) -> bool:
    """Return whether an attribute may be static.

    That is a number or None that does not change, or what does nothing but compute.
    """
    data = own.inputs.get(f"{own.owner}.{name}")
    if data is not None:
        return (data.kind == "number" or data.type == "NoneType") and name not in own.changing
    return is_tool(own, f"{own.owner}.{name}")


def is_tool(own: OwnClass, path: str) -> bool:
    """Return whether an attribute holds what does nothing but compute, as an optimizer of optax does."""
    owner, _, name = path.rpartition(".")
    members = own.inputs[own.owner].members if owner == own.owner else ()
    member = next((each for each in members if each.name == name), None)
    return member is not None and (member.home.startswith(_PURE) or member.public.startswith(_COMPUTING))


def modules_run(evidence: Evidence) -> list[tuple[Function, str]]:
    """Return the methods of the user's modules of a library that were seen to call operations."""
    programs = [each for each in evidence.programs or () if each.eager]
    return methods_run((frame for each in programs for frame in frames_of(each)), of_modules=True)


def does_more(functions: Sequence[tuple[Function, str]], evidence: Evidence, owner: str) -> bool:
    """Return whether some functions wait for values, or do what jit would do only once."""
    changing = changing_read(functions, evidence) - {owner}
    return bool(changing or obstacles(functions, evidence.names) or waits_in(functions, evidence))


def method_at(node: Function, file: str) -> ast.ClassDef | None:
    """Return the class that a function is a method of; ``None`` if it is none."""
    tree = tree_of(file)
    classes = (each for each in ast.walk(tree or ast.Module([], [])) if isinstance(each, ast.ClassDef))
    return next((each for each in classes if node in each.body), None)
