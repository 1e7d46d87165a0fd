"""Explains boolean masks that are traced, and writes what they do with ``jnp.where``."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import NamedTuple

from ....records.note import note
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .expression import Expression, call, expression_of, spelled, statements, value_named, with_imports
from .origin import evidence_of
from .selection import common_shape, shape_of


def explain_mask(failure: Failure) -> RuleFinding:
    """Explain ``NonConcreteBooleanIndexError``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    update = _update(node)
    indexed = node if isinstance(node, ast.Subscript) else None if update is None else update.indexed
    array = "" if indexed is None else ast.unparse(indexed.value if update is None else update.array)
    index = "" if indexed is None else _index_text(indexed)
    mask = None if indexed is None else traced_mask(failure, indexed.slice)
    return RuleFinding(
        rule="error",
        found=note(
            "doctor.error_mask",
            array=array,
            mask=index if mask is None else ast.unparse(mask),
            index=index,
            type=failure.type or "",
        ),
        line=failure.line,
        source=failure.source,
        evidence=evidence_of(failure),
        remedy=note("doctor.write_mask", jnp=spelled(failure, "jax.numpy")),
        code=None if failing is None else _rewritten(failure, failing),
    )


def _rewritten(failure: Failure, failing: Expression) -> str | None:
    code = _updated(failure, failing) or _reduced(failure, failing) or _changed(failure, failing)
    for _ in range(_MOST_READS):
        left = None if code is None else _masked_read(failure, code)
        if left is None:
            return code
        shape = _mask_shape(failure, left.node.slice) if isinstance(left.node, ast.Subscript) else None
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
    """Return ``jnp.where(m, 0, x)`` for ``x.at[m].set(0)``, and ``jnp.where(m, x + 1, x)`` for ``x.at[m].add(1)``."""
    update = _update(failing.node)
    value = None if update is None else value_named(failure, ast.unparse(update.array))
    if update is None or value is None or not value.type.startswith(("f", "bf")):
        return None
    if not value.type.endswith((failure.type or "?").removeprefix("bool")):
        return None
    given = update.value
    given = given.operand if isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.USub) else given
    if not isinstance(given, ast.Constant) or type(given.value) not in (int, float):
        return None
    operators: dict[str, ast.operator] = {"add": ast.Add(), "multiply": ast.Mult()}
    new = update.value
    if update.method in operators:
        new = ast.BinOp(left=update.array, op=operators[update.method], right=update.value)
    elif update.method != "set":
        return None
    where = call(f"{spelled(failure, 'jax.numpy')}.where", update.indexed.slice, new, update.array)
    code = failing.with_node(where)
    return None if code is None else with_imports(failure, code, "jax.numpy")


class _Reduction(NamedTuple):
    """A call such as ``x[m].sum()`` or ``jnp.sum(x[m])``."""

    call: ast.Call
    name: str
    is_method: bool


def _reduction(failing: Expression, node: ast.Subscript, jnp: str) -> _Reduction | None:
    """Return the call that reduces what is selected, without other arguments."""
    calls = [each for each in ast.walk(failing.statement) if isinstance(each, ast.Call)]
    outer = next((each for each in calls if failing.parent in (each, each.func)), None)
    if outer is None or outer.keywords or not isinstance(outer.func, ast.Attribute):
        return None
    if outer.func.value is node and not outer.args:
        return _Reduction(outer, outer.func.attr, is_method=True)
    of_jax = outer.args == [node] and ast.unparse(outer.func.value) == jnp
    return _Reduction(outer, outer.func.attr, is_method=False) if of_jax else None


def _reduced(failure: Failure, failing: Expression) -> str | None:
    """Return ``jnp.where(m, x, 0).sum()`` for ``x[m].sum()``, and ``x.prod(where=m)`` for ``x[m].prod()``."""
    node, jnp = failing.node, spelled(failure, "jax.numpy")
    value = value_named(failure, ast.unparse(node.value)) if isinstance(node, ast.Subscript) else None
    if not isinstance(node, ast.Subscript) or value is None or value.type.startswith("bool"):
        return None
    found = _reduction(failing, node, jnp)
    if found is None or not value.type.endswith((failure.type or "?").removeprefix("bool")):
        return None
    outer, name, floats = found.call, found.name, value.type.startswith(("f", "bf"))
    where = [ast.keyword(arg="where", value=node.slice)]
    if name == "sum" and found.is_method:
        code = failing.with_node(call(f"{jnp}.where", node.slice, node.value, ast.Constant(value=0)))
        return None if code is None else with_imports(failure, code, "jax.numpy")
    if name == "median" and not found.is_method and floats:
        outer.func = ast.parse(f"{jnp}.nanmedian", mode="eval").body
        outer.args = [call(f"{jnp}.where", node.slice, node.value, ast.parse(f"{jnp}.nan", mode="eval").body)]
        return failing.with_node(node)
    if name in _EXTREMES and floats:
        initial = ast.parse(f"{_EXTREMES[name]}{jnp}.inf", mode="eval").body
        where.append(ast.keyword(arg="initial", value=initial))
    elif name not in _WITH_WHERE:
        return None
    if found.is_method:
        outer.func = ast.Attribute(value=node.value, attr=name, ctx=ast.Load())
    else:
        outer.args = [node.value]
    outer.keywords = where
    code = failing.with_node(node)
    return None if code is None else with_imports(failure, code, "jax.numpy")


def _index_text(node: ast.Subscript) -> str:
    """Return an index as it is written: slices stand in no parentheses.

    >>> _index_text(ast.parse("x[:, m]", mode="eval").body), _index_text(ast.parse("x[m]", mode="eval").body)
    (':, m', 'm')
    """
    return ast.unparse(ast.Subscript(value=ast.Name(id="x"), slice=node.slice)).removeprefix("x[").removesuffix("]")


def traced_mask(failure: Failure, index: ast.expr) -> ast.expr | None:
    """Return the part of an index that is a mask whose elements are traced: no ``x.at[index]`` takes it."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return next((each for each in parts if _is_traced_mask(failure, each)), None)


def _is_traced_mask(failure: Failure, index: ast.expr) -> bool:
    match index:
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_traced_mask(failure, operand)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return _is_traced_mask(failure, left) or _is_traced_mask(failure, right)
        case ast.Compare(left=left, ops=[_], comparators=[right]):
            names = {each.id for side in (left, right) for each in ast.walk(side) if isinstance(each, ast.Name)}
            return (
                any(value_named(failure, each) is not None for each in names) and _mask_shape(failure, index) != "[]"
            )
    value = value_named(failure, ast.unparse(index))
    return value is not None and value.type.startswith("bool") and not value.type.endswith("[]")


def _mask_shape(failure: Failure, mask: ast.expr) -> str | None:
    """Return the shape of comparisons of arithmetic, and of what ``&``, ``|`` and ``~`` make of them."""
    match mask:
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _mask_shape(failure, operand)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            shapes = {_mask_shape(failure, left), _mask_shape(failure, right)}
            return shapes.pop() if len(shapes) == 1 else None
        case ast.Compare(left=left, ops=[_], comparators=[right]):
            return common_shape(failure, left, right)
    value = value_named(failure, ast.unparse(mask))
    return None if value is None or not value.type.startswith("bool") else value.type.removeprefix("bool")


def _whole(node: ast.expr, mask: str) -> ast.expr:
    """Return arithmetic with whole arrays in place of what a mask selects of them: ``2 * y`` for ``2 * y[m]``."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return ast.BinOp(left=_whole(left, mask), op=op, right=_whole(right, mask))
        case ast.UnaryOp(op=op, operand=operand):
            return ast.UnaryOp(op=op, operand=_whole(operand, mask))
        case ast.Subscript(value=value, slice=index) if ast.unparse(index) == mask:
            return value
    return node


def masked(failure: Failure, array: ast.expr, mask: ast.expr, new: ast.expr) -> str | None:
    """Return ``x = jnp.where(x < 0, 0, x)`` for ``x[x < 0] = 0``; ``None`` if its shape or dtype may be another."""
    value = value_named(failure, ast.unparse(array))
    if value is None or not isinstance(array, ast.Name):
        return None
    new = _whole(new, ast.unparse(mask))
    dtype, shape = value.type[: value.type.find("[")], value.type[value.type.find("[") :]
    names = [value_named(failure, each.id) for each in ast.walk(new) if isinstance(each, ast.Name)]
    numbers = [each.value for each in ast.walk(new) if isinstance(each, ast.Constant)]
    floats = dtype.startswith(("f", "bf"))
    kept = all(each is None or each.type.startswith(f"{dtype}[") for each in names)
    kept = kept and dtype != "bool" and all(type(each) is int or floats for each in numbers)
    kept = kept and (floats or not any(isinstance(each, ast.Div) for each in ast.walk(new)))
    if not kept or _mask_shape(failure, mask) != shape or shape_of(failure, new) not in ("[]", shape):
        return None
    where = call(f"{spelled(failure, 'jax.numpy')}.where", mask, new, array)
    return with_imports(failure, f"{array.id} = {ast.unparse(where)}", "jax.numpy")
