"""Finds variables of the code around a function that it assigns, and which of them jit may leave traced values in."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from .....records.cell_names import cells_with
from ....record.evidence import LibraryNames
from ...rewriting.jit.caveats import Caveats
from ...rewriting.loops.loop_facts import assigns, reads
from ...rewriting.meanings import Paths, path_at, paths_in
from ...rewriting.syntax import parameters, tree_of
from ..syntax import Function, own_nodes

#: Functions of Python that return no array, or fail for traced values.
_PLAIN = frozenset({
    "bool", "callable", "chr", "complex", "float", "format", "hasattr", "hash", "id", "int", "isinstance", "len",
    "ord", "print", "range", "repr", "str", "type",
})  # fmt: skip

#: Functions of Python that return an array only if they are given one.
_PASSING = frozenset({
    "abs", "dict", "divmod", "enumerate", "list", "max", "min", "pow", "reversed", "round", "set", "sorted", "sum",
    "tuple", "zip",
})  # fmt: skip

#: Modules whose functions return no arrays of JAX, and those whose functions do only if they are given one.
_PLAIN_MODULES, _PASSING_MODULES = ("datetime", "math", "os", "time"), ("copy", "itertools", "numpy", "random")

#: Methods that return Python's values, and attributes that are known while JAX traces; attributes that are arrays.
_READING, _KNOWN = frozenset({"item", "tolist"}), frozenset({"dtype", "itemsize", "nbytes", "ndim", "shape", "size"})
_VIEWS = frozenset({"T", "at", "flat", "imag", "mT", "real"})


class _Kind(IntEnum):
    """The kinds of values that an expression may have while JAX traces the function."""

    PLAIN = 0  # a value of Python
    CONCRETE = 1  # whatever the code outside has made; computing with it may trace
    TRACED = 2


class _Binding(NamedTuple):
    """A value that a variable gets, or that what it holds is given, as by a method."""

    name: str
    value: ast.expr
    given: bool = False


def rebound(function: Function, file: str, names: Sequence[LibraryNames]) -> Caveats:
    """Return facts about the variables around a function that it assigns: which, and which of them may be traced.

    Args:
        function: the function that is to be jitted.
        file: its file or cell.
        names: the objects behind the names that it reads.
    """
    assigned = {name for name in _declared(function) if name in assigns(function.body)}
    if not assigned:
        return {}
    paths = paths_in(function, file, names)
    outer = _outside(function, file, paths)
    bindings = list(_bindings(own_nodes(function)))
    start = {
        name: _Kind.PLAIN if _is_set_first(name, function) else outer.get(name, _Kind.CONCRETE) for name in assigned
    }
    others = _stored(own_nodes(function)) - {each.name for each in bindings}  # such as those of with
    start |= dict.fromkeys(parameters(function) | others, _Kind.TRACED)
    kinds = _kinds(bindings, start, outer, paths)
    traced = sorted(name for name in assigned if kinds[name] is _Kind.TRACED)
    facts: Caveats = {"rebinds": ", ".join(sorted(assigned))}
    return facts | ({"traced": ", ".join(traced)} if traced else {})


def _declared(function: ast.AST) -> set[str]:
    declared = (each.names for each in own_nodes(function) if isinstance(each, ast.Global | ast.Nonlocal))
    return {name for names in declared for name in names}


def _is_set_first(name: str, function: Function) -> bool:
    """Return whether a function assigns a variable before it reads it, whatever it does."""
    first = next(each for each in function.body if name in reads(each) | assigns([each]))
    return isinstance(first, ast.Assign | ast.AnnAssign) and name not in reads(first)


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    return {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _outside(function: Function, file: str, paths: Paths) -> dict[str, _Kind]:
    """Return what the variables of the code around a function hold: values of Python, or whatever is not traced."""
    trees = [tree for each in cells_with(file) if (tree := tree_of(each)) is not None]
    functions = [each for tree in trees for each in ast.walk(tree) if isinstance(each, Function)]
    around = [each for each in functions if each is not function and any(node is function for node in ast.walk(each))]
    bindings = [found for scope in (*trees, *around) for found in _bindings(own_nodes(scope))]
    start = dict.fromkeys((name for each in around for name in parameters(each)), _Kind.CONCRETE)
    for each in functions:
        if each is not function and (names := _declared(each)):
            bindings += [found for found in _bindings(own_nodes(each)) if found.name in names]
            start |= dict.fromkeys(parameters(each) - start.keys(), _Kind.CONCRETE)
    return {name: min(kind, _Kind.CONCRETE) for name, kind in _kinds(bindings, start, {}, paths).items()}


def _kinds(
    bindings: Sequence[_Binding], start: Mapping[str, _Kind], outer: Mapping[str, _Kind], paths: Paths
) -> dict[str, _Kind]:
    """Return what variables may be, from what they are at first and from all that is assigned to them."""
    kinds = {each.name: outer.get(each.name, _Kind.CONCRETE) for each in bindings if each.given}
    kinds |= dict.fromkeys((each.name for each in bindings if not each.given), _Kind.PLAIN)
    kinds |= start
    for _ in range(2 * len(kinds)):  # each may rise twice
        for name, value, _ in bindings:
            kinds[name] = max(kinds[name], _kind(value, {**outer, **kinds}, paths))
    return kinds


def _bindings(nodes: Iterable[ast.AST]) -> Iterator[_Binding]:
    """Yield what is assigned to variables, or put into them."""
    for node in nodes:
        match node:
            case ast.AugAssign(target=target, op=op, value=value):
                yield from _bound(target, ast.BinOp(target, op, value))
            case ast.For(target=target, iter=items) | ast.comprehension(target=target, iter=items):
                yield from _bound_to_items(target, items)
            case ast.NamedExpr(target=target, value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _bound(target, value)
            case ast.Assign(targets=targets, value=value):
                yield from (found for target in targets for found in _bound(target, value))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=given):  # such as append
                yield from (_Binding(name, each, given=True) for each in given)


def _bound(target: ast.expr, value: ast.expr) -> Iterator[_Binding]:
    match target, value:
        case ast.Name(id=name), _:
            yield _Binding(name, value)
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
            values = getattr(value, "elts", [])
            written = len(values) == len(targets) and not any(isinstance(each, ast.Starred) for each in values)
            for number, each in enumerate(targets):
                yield from _bound(each, values[number] if written else _item(value))
        case ((ast.Starred(value=inner) | ast.Attribute(value=inner) | ast.Subscript(value=inner)), _):
            yield from _bound(inner, value)


def _bound_to_items(target: ast.expr, items: ast.expr) -> Iterator[_Binding]:
    match target, items:
        case ast.Tuple(elts=[number, item]), ast.Call(func=ast.Name(id="enumerate"), args=[given, *_]):
            yield from _bound(number, ast.Constant(0))
            yield from _bound_to_items(item, given)
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=given) if len(targets) == len(given):
            for each, part in zip(targets, given, strict=True):
                yield from _bound_to_items(each, part)
        case _:
            yield from _bound(target, _item(items))


def _item(value: ast.expr) -> ast.expr:
    return ast.Subscript(value, ast.Constant(0), ast.Load())


def _kind(value: ast.expr, kinds: Mapping[str, _Kind], paths: Paths) -> _Kind:
    """Return what an expression may be, as far as the syntax tells."""

    def most(values: Iterable[ast.expr | None]) -> _Kind:
        return max((_kind(each, kinds, paths) for each in values if each is not None), default=_Kind.PLAIN)

    def computed(values: Iterable[ast.expr | None]) -> _Kind:
        return _Kind.TRACED if most(values) else _Kind.PLAIN

    match value:
        case ast.Constant() | ast.JoinedStr() | ast.Lambda() | ast.UnaryOp(op=ast.Not()) | ast.Slice():
            return _Kind.PLAIN
        case ast.Name(id=name):
            return kinds.get(name, _Kind.CONCRETE)
        case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values) | ast.BoolOp(values=values):
            return most(values)
        case ast.Dict(keys=keys, values=values):
            return most([*keys, *values])
        case ast.IfExp(body=one, orelse=other):
            return most([one, other])
        case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.GeneratorExp(elt=one) | ast.DictComp(value=one):
            return most([one])
        case ast.NamedExpr(value=one) | ast.Starred(value=one):
            return most([one])
        case ast.BinOp(left=left, right=right):
            return computed([left, right])
        case ast.UnaryOp(operand=operand):
            return computed([operand])
        case ast.Compare(ops=ops, left=left, comparators=others):
            asked = all(isinstance(each, ast.Is | ast.IsNot | ast.In | ast.NotIn) for each in ops)
            return _Kind.PLAIN if asked else computed([left, *others])
        case ast.Subscript(value=whole, slice=index):
            return computed([whole, index])
        case ast.Attribute(value=whole, attr=name):
            if name in _KNOWN or path_at(value, paths).startswith(("math.", "numpy.")):
                return _Kind.PLAIN
            return computed([whole]) if name in _VIEWS else most([whole])
        case ast.Call(func=called, args=args, keywords=keywords):
            return _kind_of_call(called, computed([*args, *(each.value for each in keywords)]), kinds, paths)
    return _Kind.TRACED


def _kind_of_call(called: ast.expr, given: _Kind, kinds: Mapping[str, _Kind], paths: Paths) -> _Kind:
    """Return what a call returns, by what it is given."""
    path = path_at(called, paths)
    module = path.partition(".")[0]
    is_module = "." in path and not path.startswith(".")
    if path in _PLAIN or (is_module and module in _PLAIN_MODULES):
        return _Kind.PLAIN
    if path in _PASSING or (is_module and module in _PASSING_MODULES):
        return given
    match called:
        case ast.Attribute(attr=name) if name in _READING:
            return _Kind.PLAIN
        case ast.Attribute(value=owner) if _kind(owner, kinds, paths) is _Kind.PLAIN:  # a method of a text, or a list
            return given
    return _Kind.TRACED
