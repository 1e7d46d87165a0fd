"""Explains positional arguments that methods have in PyTorch alone, and ``del`` of an element of an array."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failure import Failure
from ...expression import Expression, expression_of, spelled, value_named
from ..explained import Explained, Rule
from ..operands import fact, shortened
from .renamed import INDICES, values_and_indices


def explain_kept_axis(failure: Failure) -> Explained:
    """Explain ``x.sum(1, True)``."""
    failing, place = expression_of(failure), int(fact(failure, "place"))
    node = None if failing is None or failure.library is not None else failing.node
    called = "" if failing is None else failing.called or ""
    name, code, indices = called.rpartition(".")[2], None, ""
    other = name if name in (*INDICES, "std", "var") else ""
    if failing is not None and isinstance(node, ast.Call) and len(node.args) == place + 1:
        node.keywords.insert(0, ast.keyword(arg="keepdims", value=node.args.pop()))
        if name in INDICES:
            indices, code = values_and_indices(failing, node)
        elif not other:
            code = failing.with_node(node)
    found = note("doctor.error_kept_axis", function=shortened(called), parameter=fact(failure, "parameter"))
    jnp = spelled(failure, "jax.numpy")
    remedy = note("doctor.write_renamed", keywords="keepdims=", other=other, indices=indices, jnp=jnp)
    return Explained(found, remedy, code)


def explain_flattened(failure: Failure) -> Explained:
    """Explain ``x.flatten(1)``."""
    failing, start = expression_of(failure), int(fact(failure, "start"))
    node = None if failing is None or failure.library is not None else failing.node
    array, code = "x", None
    if failing is not None and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        array = ast.unparse(node.func.value)
        simple = isinstance(node.func.value, ast.Name | ast.Attribute | ast.Subscript)
        if simple:
            code = failing.with_node(ast.parse(_reshaped(array, start), mode="eval").body)
    found = note("doctor.error_flattened", array=shortened(array))
    new = _reshaped(array if code is not None else "x", start)
    return Explained(found, note("doctor.write_attribute", replacement=new), code)


def _reshaped(array: str, start: int) -> str:
    return f"{array}.reshape(*{array}.shape[:{start}], -1)" if start else f"{array}.reshape(-1)"


def explain_tiled(failure: Failure) -> Explained:
    """Explain ``x.repeat(2, 3)``."""
    failing, jnp = expression_of(failure), spelled(failure, "jax.numpy")
    node = None if failing is None or failure.library is not None else failing.node
    array, replacement, code = "x", f"{jnp}.tile(x, (m, n))", None
    if failing is not None and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        array = ast.unparse(node.func.value)
        sizes = node.args[0] if len(node.args) == 1 else ast.Tuple(node.args, ast.Load())
        replacement = f"{jnp}.tile({array}, {ast.unparse(sizes)})"
        code = failing.with_node(ast.parse(replacement, mode="eval").body)
    found = note("doctor.error_tiled", array=shortened(array))
    return Explained(found, note("doctor.write_tiled", replacement=shortened(replacement)), code)


def explain_deleted_item(failure: Failure) -> Explained:
    """Explain ``del x[0]``."""
    failing, jnp = expression_of(failure), spelled(failure, "jax.numpy")
    target = _deleted(failing)
    array, index = ("x", "index") if target is None else (ast.unparse(target.value), ast.unparse(target.slice))
    is_slice = target is not None and any(isinstance(each, ast.Slice | ast.Tuple) for each in ast.walk(target.slice))
    known = target is not None and isinstance(target.value, ast.Name) and not is_slice
    index = "index" if is_slice else index
    code = f"{array} = {jnp}.delete({array}, {index}, axis=0)"
    traced = target is not None and any(
        isinstance(each, ast.Name) and value_named(failure, each.id) is not None for each in ast.walk(target.slice)
    )
    certain = known and not traced
    found = note("doctor.error_deleted_item", array=shortened(array) if target is not None else "")
    return Explained(found, note("doctor.write_deleted_item", code=shortened(code)), code if certain else None)


def _deleted(failing: Expression | None) -> ast.Subscript | None:
    statement = None if failing is None else failing.statement
    targets = statement.targets if isinstance(statement, ast.Delete) else []
    return targets[0] if len(targets) == 1 and isinstance(targets[0], ast.Subscript) else None


#: The message that is explained here, which is Python's.
RULES = (Rule("AttributeError", "deleted item", explain_deleted_item, r"__delitem__$"),)
