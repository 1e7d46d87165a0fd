"""Finds the large arrays in attributes that a jitted function may change in place, as it donates them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from .....records.cell_names import cells_with
from ....analysis.donating.held_values import ABOUT, KEEPS_NOTHING, REDUCES
from ..syntax import Function, last_name, stored, tree_of, tree_run
from .own_class import OwnClass

#: Smaller arrays are copied in little time.
_LEAST_BYTES = 2**20

#: Functions that make an array which nothing else holds.
_MAKING = frozenset(
    f"{module}.{name}{like}"
    for module in ("jnp", "jax.numpy")
    for name in ("empty", "full", "ones", "zeros")
    for like in ("", "_like")
)

#: Functions that return numbers of an axis, so that JAX takes some items of an array and makes a new one.
_INDEXING = frozenset({"arange", "argmax", "argmin", "argsort", "choice", "integers", "permutation", "randint"})

#: What may read attributes without their names.
_UNSEEN = frozenset({"__dict__", "attrgetter", "getattr", "setattr", "vars"})


def donated_attributes(
    own: OwnClass, computed: Sequence[ast.stmt], given: Collection[str], attributes: Mapping[str, str]
) -> dict[str, str]:
    """Return the arguments that statements change a part of, with their attributes, if nothing else keeps the arrays.

    Args:
        own: the class.
        computed: the statements, with variables in place of attributes.
        given: what the function gets that they become.
        attributes: the variables that stand for attributes, with these.
    """
    arrays = {path: each.size_bytes for path, each in own.inputs.items() if each.kind == "jax array"}
    large = {each for each in given if arrays.get(attributes.get(each, ""), 0) >= _LEAST_BYTES}
    updated = {ast.unparse(array) for each in computed if (array := _updated(each)) is not None}
    known = [tree_run(own.file, own.evidence), *map(tree_of, cells_with(own.file))]
    tree = ast.Module([each for one in known if one is not None for each in one.body], [])
    starts = {(each.lineno, each.col_offset) for each in computed}
    here = {
        id(node)
        for each in ast.walk(own.method)
        if isinstance(each, ast.stmt) and (each.lineno, each.col_offset) in starts
        for node in ast.walk(each)
    }
    found = {name: attributes[name] for name in given if name in large & updated}
    return {name: each for name, each in found.items() if not _is_kept(each.rpartition(".")[2], tree, here)}


def _updated(statement: ast.AST) -> ast.expr | None:
    """Return ``x`` on the right of ``x = x.at[i].set(y)``, or in a call of ``dynamic_update_slice``."""
    match statement:
        case ast.Assign(
            targets=[target],
            value=ast.Call(func=ast.Attribute(value=ast.Subscript(value=ast.Attribute(value=array, attr="at")))),
        ):
            pass
        case ast.Assign(targets=[target], value=ast.Call(func=called, args=[array, *_])):
            if not (last_name(called) or "").startswith("dynamic_update"):
                return None
        case _:
            return None
    return array if ast.unparse(array) == ast.unparse(target) else None


def _is_kept(attribute: str, tree: ast.Module, here: Collection[int]) -> bool:
    """Return whether anything else may hold an array that an attribute holds, as far as code tells.

    Args:
        attribute: the name of the attribute.
        tree: all code that is known.
        here: the nodes that become a jitted function, by their ids: what they return is new.
    """
    nodes = [*ast.walk(tree)]
    classes = (each.body for each in nodes if isinstance(each, ast.ClassDef))
    if any(attribute in stored(part for part in body if not isinstance(part, Function)) for body in classes):
        return True  # all objects of the class hold it
    if any(_may_be_read(each, attribute) for each in nodes):
        return True
    new = {id(target) for each in nodes for target in _given_new(each)}
    indices = _indices(tree)
    read = {id(part) for each in nodes for part in _only_read(each, indices)} | new
    inner = {id(node) for each in _passed_on(nodes) for node in ast.walk(each)}
    return any(
        id(each) not in here and (id(each) not in read or id(each) in inner)
        for each in nodes
        if isinstance(each, ast.Attribute) and each.attr == attribute
    )


def _may_be_read(node: ast.AST, attribute: str) -> bool:
    """Return whether a node may read an attribute in another way than by its name."""
    match node:
        case ast.Constant(value=value):
            return value == attribute
        case ast.MatchClass(kwd_attrs=names):
            return attribute in names
        case ast.Call(func=called) if ast.unparse(called) in ("copy", "copy.copy"):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _UNSEEN
    return False


def _given_new(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the attribute to which a statement assigns a new array, and the one that it makes this of."""
    match node:
        case ast.Assign(targets=[target], value=ast.Call(func=called)) if ast.unparse(called) in _MAKING:
            yield target
        case ast.AnnAssign(target=target, value=ast.Call(func=called)) if ast.unparse(called) in _MAKING:
            yield target
        case ast.Assign(targets=[target]) if (array := _updated(node)) is not None:
            yield from (target, array)


def _only_read(node: ast.AST, indices: Collection[str]) -> Iterator[ast.expr]:
    """Yield what a node only reads: the result holds nothing of it."""
    match node:
        case ast.Attribute(value=array, attr=name) if name in ABOUT:
            yield array
        case ast.Call(func=ast.Attribute(value=array, attr=name)) if name in REDUCES:
            yield array
        case ast.Call(func=ast.Name(id=name), args=given) if name in KEEPS_NOTHING:
            yield from given
        case ast.Subscript(value=array, slice=index) if _takes_items(index, indices):
            yield array


def _takes_items(index: ast.expr, indices: Collection[str]) -> bool:
    """Return whether an index is a number or an array: JAX returns the array itself for a slice of all of it."""
    match index:
        case ast.Constant(value=value) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return type(value) is int
        case ast.Name(id=name):
            return name in indices
        case ast.Call(func=called):
            return last_name(called) in _INDEXING
        case ast.BinOp(op=ast.Sub() | ast.Mod() | ast.FloorDiv()):
            return True  # of no tuple
    return False


def _indices(tree: ast.Module) -> set[str]:
    """Return the variables that hold nothing but numbers or arrays of these wherever code assigns them."""
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found[name] = found.get(name, 0) + 1
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _takes_items(value, ()):
                found[name] = found.get(name, 0) - 1
    return {name for name, count in found.items() if not count}


def _passed_on(nodes: Sequence[ast.AST]) -> list[ast.AST]:
    """Return the functions that code passes on or decorates, and those that they call: jit keeps what they read."""
    called = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
    functions = [each for each in nodes if isinstance(each, Function)]
    names = {
        last_name(each)
        for each in nodes
        if isinstance(each, ast.Name | ast.Attribute) and id(each) not in called and isinstance(each.ctx, ast.Load)
    }
    found = dict[int, ast.AST]()
    pending = [each for each in functions if getattr(each, "name", None) in names]
    pending += [each for each in functions if isinstance(each, ast.Lambda) or each.decorator_list]
    while pending:
        each = pending.pop()
        if id(each) not in found:
            found[id(each)] = each
            inside = {last_name(node.func) for node in ast.walk(each) if isinstance(node, ast.Call)}
            pending += [one for one in functions if getattr(one, "name", None) in inside]
    return [*found.values()]
