"""Advises what to write for functions whose results are as long as the values say: a size, or only a count."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import Expression, gets_traced, spelled, statements, value_named
from .size_use import size_use
from .static_argument import is_jitted_itself

#: Those of them that return the elements or places where a condition is true.
_WHERE_TRUE = "nonzero", "where", "argwhere", "flatnonzero", "compress", "extract"

#: Functions whose result has a size that depends on values, and that take ``size=``.
SIZED = (*_WHERE_TRUE, "unique", "intersect1d", "union1d", "setdiff1d")

#: Functions whose result has a size that depends on values, and the argument that says how long it is.
LENGTHS = {"bincount": "length", "repeat": "total_repeat_length"}


def write_sized(failure: Failure, failing: Expression | None, function: str, name: str, replaced: str = "") -> Note:
    """Return the advice for a function whose result is as long as the values say.

    Args:
        failure: what is known about the failure.
        failing: the failing expression, which calls the function.
        function: the function of ``jax.numpy``, as it is called.
        name: its name in ``jax.numpy``.
        replaced: the function of NumPy that is called in its place, if any.
    """
    jnp = spelled(failure, "jax.numpy")
    known = failing is not None and name in SIZED and function.rpartition(".")[2] == name
    counted, count = _count(failure, failing, name, jnp) if known and failing is not None else ("", "")
    return note(
        "doctor.write_sized",
        function=function,
        jnp=jnp,
        argument=LENGTHS.get(name, ""),
        jitted=not replaced and is_jitted_itself(failure),
        replaced=replaced,
        counted=counted,
        count=count,
    )


def is_sized(failure: Failure, failing: Expression, node: ast.Call, name: str, method: bool = False) -> bool:
    """Return whether the length of what a function of NumPy returns depends on traced values.

    Args:
        failure: what is known about the failure.
        failing: the failing expression.
        node: the call of the function.
        name: its name, without the module.
        method: whether it is called as a method of an array.
    """
    if name == "where":
        return len(node.args) + len(node.keywords) == 1
    if name != "repeat":
        return name in (*SIZED, *LENGTHS)
    given = [*node.args[0 if method else 1 :][:1], *(each.value for each in node.keywords if each.arg == "repeats")]
    value = value_named(failure, ast.unparse(given[0])) if given else None
    number = value is not None and value.type.endswith("[]")  # which may be static
    return bool(given) and not number and gets_traced(failure, failing, given[0])


def _count(failure: Failure, failing: Expression, name: str, jnp: str) -> tuple[str, str]:
    """Return the length for which alone a result is computed, and code that counts; empty if there is none."""
    node = failing.node
    if not isinstance(node, ast.Call) or node.keywords:
        return "", ""
    lengths = _lengths(failure, failing, node, name)
    texts = {ast.unparse(each) for _, each in lengths}
    if len(texts) != 1:
        return "", ""
    given = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
    sizes = [size_use(failure, replace(failing, statement=one, node=each)) for one, each in lengths]
    text = "" if given is None or any(sizes) else ast.unparse(given)
    count = ""
    if text and name in _WHERE_TRUE:
        count = f"{jnp}.count_nonzero({text})"
    elif text and name == "unique" and len(node.args) == 1:
        count = f"{jnp}.count_nonzero({jnp}.unique({text}, size={jnp}.size({text}), return_counts=True)[1])"
    return texts.pop(), count


def _lengths(failure: Failure, failing: Expression, node: ast.Call, name: str) -> list[tuple[ast.stmt, ast.expr]]:
    """Return the expressions that read the length of a result, with their statements; none if others use it, too."""
    statement = failing.statement
    uses: Sequence[tuple[ast.stmt, ast.expr]] = [(statement, node)]
    if isinstance(statement, ast.Assign) and statement.value is node and isinstance(statement.targets[0], ast.Name):
        variable = statement.targets[0].id
        body = [one for text in failure.body for one in statements(text)]
        names = [(one, each) for one in body for each in ast.walk(one) if isinstance(each, ast.Name)]
        names = [(one, each) for one, each in names if each.id == variable]
        uses = [(one, each) for one, each in names if isinstance(each.ctx, ast.Load)]
        if len(names) != len(uses) + 1 or len(statement.targets) > 1:
            return []
    lengths = [(one, _length(one, each, name)) for one, each in uses]
    found = [(one, each) for one, each in lengths if each is not None]
    return found if len(found) == len(uses) else []


def _length(statement: ast.stmt, node: ast.expr, name: str) -> ast.expr | None:
    """Return ``len(x)``, ``x.size`` or ``x.shape[0]`` around the result ``x`` of a function; ``None`` for others."""
    parents = {each: parent for parent in ast.walk(statement) for each in ast.iter_child_nodes(parent)}
    if name in ("nonzero", "where"):  # which return an array for each axis
        match parents.get(node):
            case ast.Subscript(slice=ast.Constant(value=int())) as node:
                pass
            case _:
                return None
    match parents.get(node):
        case ast.Call(func=ast.Name(id="len"), args=[_]) as length:
            return length
        case ast.Attribute(attr="size") as length if name != "argwhere":
            return length
        case ast.Attribute(attr="shape") as shape:
            length_ = parents.get(shape)
            first = isinstance(length_, ast.Subscript) and ast.unparse(length_.slice) == "0"
            return length_ if first and isinstance(length_, ast.Subscript) else None
        case _:
            return None
