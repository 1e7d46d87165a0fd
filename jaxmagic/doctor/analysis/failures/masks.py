"""Explains boolean masks that are traced, and writes what they do with ``jnp.where``."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import NamedTuple

from ....records.note import note
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .choices.selection import may_diverge
from .expression import Expression, call, expression_of, spelled, statements, value_named, with_imports
from .mask_rows import index_text, mask_remedy, wide_mask
from .origin import error_finding
from .wrong_arguments.values.masked import OPERATORS, chosen, mask_shape, masked, traced_mask


def explain_mask(failure: Failure) -> RuleFinding:
    """Explain ``NonConcreteBooleanIndexError``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    update = _update(node)
    indexed = node if isinstance(node, ast.Subscript) else None if update is None else update.indexed
    array = "" if indexed is None else ast.unparse(indexed.value if update is None else update.array)
    index = "" if indexed is None else index_text(indexed.slice)
    mask = None if indexed is None else traced_mask(failure, indexed.slice)
    code = None if failing is None else _rewritten(failure, failing)
    return error_finding(
        failure,
        found=note(
            "doctor.error_mask",
            array=array,
            mask=index if mask is None else ast.unparse(mask),
            index=index,
            type=failure.type or "",
        ),
        remedy=mask_remedy(
            failure,
            array,
            None if indexed is None else indexed.slice,
            gradient=code is not None and may_diverge(code),
        ),
        code=code,
    )


def _rewritten(failure: Failure, failing: Expression) -> str | None:
    code = _updated(failure, failing) or _reduced(failure, failing) or _changed(failure, failing)
    for _ in range(_MOST_READS):
        left = None if code is None else _masked_read(failure, code)
        if left is None:
            return None if code is None or _updates_at_mask(failure, code) else code
        shape = mask_shape(failure, left.node.slice) if isinstance(left.node, ast.Subscript) else None
        code = None if shape is None else _reduced(replace(failure, type=f"bool{shape}"), left)
    return None


#: No statement with more reads of masked arrays is rewritten.
_MOST_READS = 8


def _masked_read(failure: Failure, code: str) -> Expression | None:
    """Return what is still indexed with a mask in a statement that has been rewritten, or may be."""
    *_, statement = statements(code)
    nodes = list(ast.walk(statement))
    parents = {id(inner): each for each in nodes for inner in ast.iter_child_nodes(each)}
    for each in nodes:
        if isinstance(each, ast.Subscript) and _may_have_mask(failure, each):
            return Expression(statement, each, parents.get(id(each)))
    return None


def _updates_at_mask(failure: Failure, code: str) -> bool:
    """Return whether a statement still has ``x.at[mask]`` with a traced mask."""
    return any(
        isinstance(each, ast.Subscript)
        and isinstance(each.value, ast.Attribute)
        and each.value.attr == "at"
        and traced_mask(failure, each.slice) is not None
        for each in ast.walk(statements(code)[-1])
    )


def _may_have_mask(failure: Failure, node: ast.Subscript) -> bool:
    """Return whether an array is read at an index that is a traced mask, or is computed so that it may be one."""
    if isinstance(node.value, ast.Attribute) and node.value.attr == "at":
        return False
    if traced_mask(failure, node.slice) is not None:
        return True
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    computed = [each for each in parts if isinstance(each, ast.Call | ast.Compare | ast.UnaryOp | ast.BoolOp)]
    names = (each.id for part in computed for each in ast.walk(part) if isinstance(each, ast.Name))
    return any(value_named(failure, each) is not None for each in names)


def _changed(failure: Failure, failing: Expression) -> str | None:
    """Return ``x = jnp.where(m, x + 1, x)`` for ``x[m] += 1``, and ``x = jnp.where(m, y, x)`` for ``x[m] = y[m]``."""
    node = failing.node
    match failing.statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == ast.unparse(target.slice):
                return masked(failure, target.value, target.slice, value)
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value) if node is target:
            new = ast.BinOp(left=target.value, op=op, right=value)
            return masked(failure, target.value, target.slice, new)
    return None


#: Reductions, as methods or functions, that leave elements out with ``where``.
_WITH_WHERE = "sum", "mean", "prod", "std", "var", "any", "all"

#: Those that need besides what they return for no element at all: infinity, with this sign.
_EXTREMES = {"max": "-", "min": ""}


class _Update(NamedTuple):
    """An update ``array.at[mask].set(value)``."""

    array: ast.expr
    indexed: ast.Subscript
    method: str
    value: ast.expr


def _update(node: ast.AST | None) -> _Update | None:
    """Return the parts of an update with one value."""
    if (
        not isinstance(node, ast.Call)
        or len(node.args) != 1
        or node.keywords
        or not isinstance(node.func, ast.Attribute)
    ):
        return None
    indexed = node.func.value
    if not isinstance(indexed, ast.Subscript) or not isinstance(indexed.value, ast.Attribute):
        return None
    if indexed.value.attr != "at":
        return None
    return _Update(indexed.value.value, indexed, node.func.attr, node.args[0])


def _updated(failure: Failure, failing: Expression) -> str | None:
    """Return ``jnp.where(m, 0, x)`` for ``x.at[m].set(0)``, and ``jnp.where(m, x + 1, x)`` for ``x.at[m].add(1)``.

    In ``x.at[m].set(-x[m])``, Python names ``x[m]``, which it evaluates first.
    """
    node, jnp = failing.node, spelled(failure, "jax.numpy")
    of = None if failure.type is None else failure.type.removeprefix("bool")
    for each in ast.walk(failing.statement):
        update = _update(each)
        if update is None or not any(part is node for part in ast.walk(each)):
            continue
        mask, new = update.indexed.slice, update.value
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice) != ast.unparse(mask):
            continue
        if update.method in OPERATORS:
            new = ast.BinOp(left=update.array, op=OPERATORS[update.method](), right=new)
        elif update.method in ("min", "max"):
            new = call(f"{jnp}.{update.method}imum", update.array, new)
        elif update.method != "set":
            continue
        where = chosen(failure, update.array, mask, new, of)
        code = None if where is None else Expression(failing.statement, each, None).with_node(where)
        if code is not None:
            return with_imports(failure, code, "jax.numpy")
    return None


class _Reduction(NamedTuple):
    """A call such as ``x[m].sum()`` or ``jnp.sum(x[m])``."""

    call: ast.Call
    name: str
    is_method: bool


def _reduction(failing: Expression, node: ast.Subscript, jnp: str) -> _Reduction | None:
    """Return the call that reduces what is selected, at most along the axis of the mask."""
    calls = [each for each in ast.walk(failing.statement) if isinstance(each, ast.Call)]
    outer = next((each for each in calls if failing.parent in (each, each.func)), None)
    if outer is None or not isinstance(outer.func, ast.Attribute):
        return None
    if outer.func.value is node and _along_mask(node, outer.args, outer.keywords):
        return _Reduction(outer, outer.func.attr, is_method=True)
    of_jax = outer.args[:1] == [node] and ast.unparse(outer.func.value) == jnp
    along = _along_mask(node, outer.args[1:], outer.keywords)
    return _Reduction(outer, outer.func.attr, is_method=False) if of_jax and along else None


def _along_mask(node: ast.Subscript, args: list[ast.expr], keywords: list[ast.keyword]) -> bool:
    """Return whether a reduction has no argument, or as its axis the one of a mask over one axis."""
    axes = [*args, *(each.value for each in keywords if each.arg == "axis")]
    if len(axes) != len(args) + len(keywords) or len(axes) > 1:
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    place = next((place for place, each in enumerate(parts) if not isinstance(each, ast.Slice)), None)
    return not axes or (isinstance(axes[0], ast.Constant) and axes[0].value == place)


def _has_axis(reduction: _Reduction) -> bool:
    """Return whether a reduction has an axis as its argument."""
    return len(reduction.call.args) + len(reduction.call.keywords) > int(not reduction.is_method)


def _reduced(failure: Failure, failing: Expression) -> str | None:
    """Return ``jnp.where(m, x, 0).sum()`` for ``x[m].sum()``, and ``x.prod(where=m)`` for ``x[m].prod()``."""
    node, jnp = failing.node, spelled(failure, "jax.numpy")
    value = value_named(failure, ast.unparse(node.value)) if isinstance(node, ast.Subscript) else None
    if not isinstance(node, ast.Subscript) or value is None or value.type.startswith("bool"):
        return None
    found, mask = _reduction(failing, node, jnp), wide_mask(failure, ast.unparse(node.value), node.slice)
    if found is None or mask is None or (_has_axis(found) and "," in (failure.type or "")):
        return None
    outer, name, floats = found.call, found.name, value.type.startswith(("f", "bf"))
    where = [ast.keyword(arg="where", value=mask)]
    if name == "sum" and found.is_method:
        code = failing.with_node(call(f"{jnp}.where", mask, node.value, ast.Constant(value=0)))
        return None if code is None else with_imports(failure, code, "jax.numpy")
    if name == "median" and not found.is_method and floats:
        outer.func = ast.parse(f"{jnp}.nanmedian", mode="eval").body
        selected = call(f"{jnp}.where", mask, node.value, ast.parse(f"{jnp}.nan", mode="eval").body)
        outer.args = [selected, *outer.args[1:]]
        return failing.with_node(node)
    if name in _EXTREMES and floats:
        initial = ast.parse(f"{_EXTREMES[name]}{jnp}.inf", mode="eval").body
        where.append(ast.keyword(arg="initial", value=initial))
    elif name not in _WITH_WHERE:
        return None
    if found.is_method:
        outer.func = ast.Attribute(value=node.value, attr=name, ctx=ast.Load())
    else:
        outer.args = [node.value, *outer.args[1:]]
    outer.keywords = [*outer.keywords, *where]
    code = failing.with_node(node)
    return None if code is None else with_imports(failure, code, "jax.numpy")
