"""Translates the arguments of PyTorch's methods into those of JAX's functions: all of them, or none."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from .methods import ONE_BY_ONE, PARAMETERS, REDUCTIONS, WITHOUT_EFFECT
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
