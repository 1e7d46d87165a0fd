"""Translates the arguments of PyTorch's methods into those of JAX's functions: all of them, or none."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from .methods import ELSEWISE, ONE_BY_ONE, PAIRS_ALONG, PARAMETERS, REDUCTIONS, WITHOUT_EFFECT
from .renamed import RENAMED

#: Keywords that methods of PyTorch and functions of JAX have in common, apart from those with other names.
_SHARED = "min", "max", "axis", "dtype", "keepdims"

#: The parameters of PyTorch's ``norm()``.
_NORM = "p", "dim", "keepdim"


class Arguments(NamedTuple):
    """The arguments of JAX's function.

    Attributes:
        values: those by position.
        named: those by name.
        flat: whether the array is made one of one axis.
    """

    values: Sequence[ast.expr]
    named: Sequence[tuple[str, ast.expr]] = ()
    flat: bool = False


def translated(name: str, call: ast.Call) -> Arguments | None:
    """Return the arguments of JAX's function in place of a method; ``None`` if one of them has no counterpart.

    Args:
        name: the method.
        call: its call.
    """
    values = [*call.args]
    given = {each.arg or "": each.value for each in call.keywords if each.arg not in WITHOUT_EFFECT}
    if any(isinstance(each, ast.Starred) for each in values) or "" in given:
        return None
    if name == "norm":
        return _norm(values, given)
    placed = PARAMETERS.get(name, ())[len(values) :]
    values += [given.pop(each) for each in placed if each in given]
    if name == "unbind" and not values:
        values = [ast.Constant(0)]
    if name in REDUCTIONS and len(values) == 2:
        given["keepdim"] = values.pop()
    if any(isinstance(each, ast.Constant) and isinstance(each.value, bool) for each in values[1:]):
        return None  # keepdim, which is no second parameter in JAX
    if name in ONE_BY_ONE and len(values) > 1:
        return None
    named = [(RENAMED.get(each, each), value) for each, value in given.items()]
    return None if any(each not in _SHARED for each, _ in named) else Arguments(values, named)


def _norm(values: list[ast.expr], given: dict[str, ast.expr]) -> Arguments | None:
    """Return the arguments of ``jnp.linalg.norm``, whose ``ord`` for two axes is that of a matrix.

    >>> call = ast.parse("x.norm(1, dim=0, keepdim=True)", mode="eval").body
    >>> [(name, ast.unparse(value)) for name, value in translated("norm", call).named]
    [('ord', '1'), ('axis', '0'), ('keepdims', 'True')]
    """
    known = {**dict(zip(_NORM, values, strict=False)), **given}
    if len(values) > len(_NORM) or not known.keys() <= {*_NORM}:
        return None
    order, dim = known.pop("p", None), known.get("dim")
    plain = order is None or (isinstance(order, ast.Constant) and order.value in (None, "fro"))
    one = isinstance(dim.operand if isinstance(dim, ast.UnaryOp) else dim, ast.Constant)
    if isinstance(dim, ast.Tuple | ast.List):
        if len(dim.elts) != 2 or not plain:
            return None
        known["dim"] = ast.Tuple(dim.elts, ast.Load())
    else:
        is_nuclear = isinstance(order, ast.Constant) and order.value == "nuc"
        may_be_tuple = dim is not None and not one and not plain
        if may_be_tuple or (dim is None and (known or is_nuclear)):
            return None
    orders = [] if plain or order is None else [("ord", order)]
    named = [*orders, *((RENAMED[each], value) for each, value in known.items())]
    return Arguments([], named, flat=dim is None and not plain)


def differ_in_chain(statement: ast.AST, whole: ast.AST) -> bool:
    """Return whether other methods are called in a chain that mean something else in PyTorch than in JAX.

    They would run as they are: ``x.unsqueeze(0).repeat(3, 1)`` repeats each element, where PyTorch repeats the array.

    Args:
        statement: the statement.
        whole: the part of the chain that is replaced.
    """
    parents = {id(child): each for each in ast.walk(statement) for child in ast.iter_child_nodes(each)}
    chain: list[ast.AST] = [whole]
    while isinstance(outer := parents.get(id(chain[-1])), ast.Attribute | ast.Call | ast.Subscript):
        if (outer.func if isinstance(outer, ast.Call) else outer.value) is not chain[-1]:
            break
        chain.append(outer)
    inner: ast.AST | None = whole
    while inner is not None:
        chain.append(inner)
        inner = getattr(inner, "func", None) or getattr(inner, "value", None)
    return any(_means_something_else(each) for each in chain if each is not whole)


def _means_something_else(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="transpose"), args=[_, _]):
            return True
        case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords):
            named = {each.arg for each in keywords}
            if name in PAIRS_ALONG:
                return bool(args)
            return name in ELSEWISE and not named & {"ddof", "axis"}
    return False
