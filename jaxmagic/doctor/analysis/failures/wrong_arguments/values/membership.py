"""Advises what to write for ``in``: Python compares with one item after the other, JAX all elements at once."""

from __future__ import annotations

import ast

from ......records.note import Note, note
from .....record.failure import Failure
from ...expression import Expression, call, spelled, value_named, with_imports


def is_membership(node: ast.AST | None) -> bool:
    """Return whether an expression is ``x in y``, or ``x not in y``."""
    return isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn)


def selects(failing: Expression) -> bool:
    """Return whether a condition compares a value with a few constants, as ``x if mode in (1, 2) else y`` does."""
    node = failing.node
    if not is_membership(node) or isinstance(failing.parent, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr):
        return False
    items = node.comparators[0] if isinstance(node, ast.Compare) else None
    return isinstance(items, ast.List | ast.Tuple | ast.Set) and all(
        isinstance(each, ast.Constant) for each in items.elts
    )


def membership(failure: Failure, failing: Expression | None) -> tuple[Note, str | None]:
    """Return the advice, and ``y = jnp.isin(x, jnp.array([1, 2]))`` for ``y = x in [1, 2]`` if that fits."""
    node, jnp = None if failing is None else failing.node, spelled(failure, "jax.numpy")
    if failing is None or not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return note("doctor.write_membership", jnp=jnp), None
    items = node.comparators[0]
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    traced = any(value_named(failure, each) is not None for each in names)
    if _is_array(failure, items):
        equal = ast.Compare(left=items, ops=[ast.Eq()], comparators=[node.left])
        found = ast.Call(ast.Attribute(value=equal, attr="any", ctx=ast.Load()), args=[], keywords=[])
        return note("doctor.write_any_equal", jnp=jnp, traced=traced), _written(failing, node, found, jnp)
    listed = items.elts if isinstance(items, ast.List | ast.Tuple | ast.Set) else []
    numbers = all(isinstance(each, ast.Constant) and type(each.value) in (int, float) for each in listed)
    remedy = note("doctor.write_membership", jnp=jnp, traced=traced)
    if failure.kind == "truth" and not (listed and numbers):  # a comparison with an item has several elements
        return note("doctor.write_identity", jnp=jnp, traced=traced), None
    if not (listed and numbers) or value_named(failure, ast.unparse(node.left)) is None:
        return remedy, None
    found = call(f"{jnp}.isin", node.left, call(f"{jnp}.array", ast.List(elts=listed, ctx=ast.Load())))
    code = _written(failing, node, found, jnp)
    return remedy, None if code is None else with_imports(failure, code, "jax.numpy")


def _is_array(failure: Failure, node: ast.expr) -> bool:
    text = ast.unparse(node)
    given = next((each for each in failure.operands if each.text == text), None)
    return value_named(failure, text) is not None or (given is not None and given.shape is not None)


def _written(failing: Expression, node: ast.Compare, found: ast.expr, jnp: str) -> str | None:
    """Return the statement with another expression, negated for ``not in``; ``None`` for a condition."""
    if not isinstance(failing.parent, ast.stmt):
        return None
    return failing.with_node(call(f"{jnp}.logical_not", found) if isinstance(node.ops[0], ast.NotIn) else found)
