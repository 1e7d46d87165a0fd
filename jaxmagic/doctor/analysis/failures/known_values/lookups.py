"""Advises what to write where a traced value chooses an item of a list, a tuple or a dictionary."""

from __future__ import annotations

import ast
from dataclasses import replace

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import Expression, call, operands_in, spelled, statements, with_imports
from ..wrong_arguments.values.python_values import of_table
from .joined_lists import is_joined, joined_lists
from .static_argument import StaticArgument, write_static


def looked_up(failure: Failure, failing: Expression, static: StaticArgument | None) -> tuple[Note, str | None] | None:
    """Return the advice for a number by which Python looks up an item; ``None`` for others.

    An array in its place would be no index of a list, and no key.
    """
    kinds, jnp = dict(failure.said), spelled(failure, "jax.numpy")
    later = _chooses_later(failure, failing)
    table = _lookup(failing, known=bool(kinds.get("elements") or kinds.get("dictionary")))
    if static is not None and static.certain == "yes" and (table is not None or later):
        return write_static(failure, static)
    if table is None:
        return None
    if kinds.get("dictionary"):
        return of_table(failure, table, traced=True) or (note("doctor.write_no_hash", jnp=jnp, traced=True), None)
    return choice(failure, table, jnp), indexed(failure, table)


def _lookup(failing: Expression, *, known: bool) -> Expression | None:
    """Return ``a[i]`` in place of ``a[int(i)]``, also for ``a.get(int(i))``; ``None`` without a lookup.

    Args:
        failing: the failing expression, whose statement is changed.
        known: whether `a` is known to be a list, a tuple or a dictionary; else it has to be written there.
    """
    node, nodes = failing.node, [*ast.walk(failing.statement)]
    kept = _unconverted(node)
    for each in nodes if kept is not None else ():
        match each:
            case ast.Subscript(slice=key) | ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]):
                written = isinstance(each, ast.Subscript) and isinstance(each.value, ast.List | ast.Tuple)
                if not (known or written) or all(part is not node for part in operands_in(key)):
                    continue
                for outer in (each, *operands_in(key)):
                    for name, value in ast.iter_fields(outer):
                        if value is node:
                            setattr(outer, name, kept)
                        elif isinstance(value, list):
                            setattr(outer, name, [kept if item is node else item for item in value])
                around = next((outer for outer in nodes if each in ast.iter_child_nodes(outer)), None)
                return replace(failing, node=each, parent=around)
    return None


def _unconverted(node: ast.AST) -> ast.expr | None:
    """Return what a call makes a number of, as ``int(i)`` and ``i.item()`` do."""
    match node:
        case ast.Call(args=[value, *_]) | ast.Call(func=ast.Attribute(value=value)):
            return value
    return None


def _chooses_later(failure: Failure, failing: Expression) -> bool:
    """Return whether a later statement calls ``functions[i]`` with the variable to which the number is assigned."""
    targets = failing.statement.targets if isinstance(failing.statement, ast.Assign) else []
    names = {each.id for each in targets if isinstance(each, ast.Name) and failing.parent is failing.statement}
    nodes = [node for text in failure.read_by for each in statements(text) for node in ast.walk(each)]
    called = [each.func for each in nodes if isinstance(each, ast.Call)]
    indices = [each.slice for each in called if isinstance(each, ast.Subscript)]
    return any(isinstance(each, ast.Name) and each.id in names for each in indices)


def choice(failure: Failure, failing: Expression | None, jnp: str) -> Note:
    """Return the advice for an index of a Python sequence: with an array, or with a function of JAX for functions."""
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Subscript):
        return note("doctor.write_index", jnp=jnp)
    items, index = ast.unparse(node.value), ast.unparse(node.slice)
    elements = dict(failure.said).get("elements", "")
    if elements in ("text", "shapes", "objects"):
        lax = spelled(failure, "jax.lax")
        return note("doctor.write_element", elements=elements, items=items, index=index, jnp=jnp, lax=lax)
    if isinstance(failing.parent, ast.Call) and failing.parent.func is node:
        given = ", ".join(ast.unparse(each) for each in failing.parent.args)
        return note("doctor.write_switch", items=items, index=index, given=given, lax=spelled(failure, "jax.lax"))
    if elements == "functions":
        return note("doctor.write_switch", items=items, index=index, given="x", lax=spelled(failure, "jax.lax"))
    if elements == "ragged" or is_joined(failing, lists=elements in ("lists", "rows", "ragged")):
        return joined_lists(failure, failing, jnp)
    return note("doctor.write_index", jnp=jnp, items=items, index=index)


def table_of(failure: Failure, failing: Expression | None, jnp: str) -> str:
    """Return ``jnp.array(items)[i]`` for ``items[i]`` if the items are known to make one array; empty otherwise."""
    node = None if failing is None else failing.node
    if not isinstance(node, ast.Subscript) or dict(failure.said).get("elements") != "array":
        return ""
    return ast.unparse(ast.Subscript(value=call(f"{jnp}.array", node.value), slice=node.slice, ctx=ast.Load()))


def indexed(failure: Failure, failing: Expression | None) -> str | None:
    """Return ``jnp.array([1, 2])[i]`` for ``[1, 2][i]``."""
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.List | ast.Tuple):
        return None
    if not all(isinstance(each, ast.Constant) and type(each.value) in (int, float) for each in node.value.elts):
        return None
    table = call(f"{spelled(failure, 'jax.numpy')}.array", node.value)
    code = failing.with_node(ast.Subscript(value=table, slice=node.slice, ctx=ast.Load()))
    return None if code is None else with_imports(failure, code, "jax.numpy")
