"""Explains ``x.at[i]`` that is called, computed with, or has no index."""

from __future__ import annotations

import ast

from ......records.note import Note, note
from .....record.failure import Failure
from ...choices.selection import may_diverge
from ...expression import Expression, call, expression_of, spelled, value_named, with_imports
from ..explained import Explained, Rule
from ..operands import fact
from .masked import masked, traced_mask, with_known

#: The method of ``x.at[i]`` for each augmented assignment.
METHODS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}

#: Names of other libraries for methods of ``x.at[i]``.
_NAMES = {"sub": "subtract", "div": "divide", "pow": "power", "assign": "set", "update": "set", "minimum": "min"}


def stored(failure: Failure, failing: Expression, target: ast.Subscript) -> tuple[Note, str | None]:
    """Return the advice for an assignment into a NumPy array, and ``x = jnp.asarray(x).at[0].set(1)`` if it fits."""
    array, held = ast.unparse(target.value), dict(failure.said).get("stored", "")
    jnp = spelled(failure, "jax.numpy")
    remedy = note("doctor.write_stored", array=array, jnp=jnp, view=held == "view")
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    match failing.statement:
        case ast.Assign(targets=[single], value=value) if single is target:
            fits = not any(isinstance(each, ast.List | ast.Compare) for each in parts)
            method = "set"
        case ast.AugAssign(op=op, value=value) if type(op) in METHODS:  # an index of constants has no element twice
            fits = all(isinstance(each, ast.Slice | ast.Constant) for each in parts)
            method = METHODS[type(op)]
        case _:
            return remedy, None
    if not fits or held != "floats" or (failure.type or "bool").startswith("bool"):
        return remedy, None
    at = ast.Attribute(value=call(f"{jnp}.asarray", target.value), attr="at", ctx=ast.Load())
    element = ast.Subscript(value=at, slice=target.slice, ctx=ast.Load())
    code = f"{array} = {ast.unparse(element)}.{method}({ast.unparse(value)})"
    return remedy, with_imports(failure, code, "jax.numpy")


def explain_at_use(failure: Failure) -> Explained:
    """Explain ``x.at[0] += 1``, ``x.at[0](1)``, ``x.at(0)`` and ``x.at.set(1)``."""
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    method = fact(failure, "method")
    found = note("doctor.error_at_use", method=method, index=bool(fact(failure, "index")))
    if failing is None or node is None:
        return Explained(found, note("doctor.write_at_use"))
    match node:
        case ast.AugAssign(target=ast.Subscript(value=ast.Attribute(value=array, attr="at"), slice=index) as target):
            chosen = chosen_by_mask(failure, node, target, array)
            if chosen is not None:
                return Explained(found, chosen[0], None if is_outer(failure, array) else chosen[1])
            if not takes(failure, index):
                return Explained(found, note("doctor.write_at_use"))
    code = _mended(failing, node, method, failure.holder == "open")
    name = ast.Name((code or "").partition(" = ")[0])
    if code is not None and not isinstance(failing.statement, ast.Assign) and is_outer(failure, name):
        code = None
    return Explained(found, note("doctor.write_at_use"), code)


def is_outer(failure: Failure, array: ast.expr) -> bool:
    """Return whether an array is a variable that may be one of another function."""
    name = array.id if isinstance(array, ast.Name) else ""
    return name.isidentifier() and failure.stack[-1].function != "<module>" and name not in failure.parameters


def chosen_by_mask(
    failure: Failure, statement: ast.stmt, target: ast.Subscript, array: ast.expr
) -> tuple[Note, str | None] | None:
    """Return how a mask chooses between new and old elements, with code; ``None`` for any other index.

    A mask with known elements counts only if there is code for it: ``x.at[mask]`` takes it as well.

    Args:
        failure: the failure.
        statement: the statement that assigns.
        target: its target, such as ``x[mask]`` or ``x.at[mask]``.
        array: the array in it.
    """
    known = with_known(failure)
    mask = traced_mask(known, target.slice)
    if mask is None:
        return None
    new: ast.expr | None = None
    if isinstance(statement, ast.Assign) and statement.targets == [target]:
        new = statement.value
    elif isinstance(statement, ast.AugAssign):
        new = ast.BinOp(left=array, op=statement.op, right=statement.value)
    code = None if new is None or mask is not target.slice else masked(known, array, mask, new)
    if code is None and traced_mask(failure, target.slice) is None:
        return None
    root = array.id if isinstance(array, ast.Name) and array.id in failure.parameters else ""
    remedy = note(
        "doctor.write_masked",
        array=ast.unparse(array),
        mask=ast.unparse(mask),
        jnp=spelled(failure, "jax.numpy"),
        written=code is not None,
        root=root,
        taken=fact(failure, "taken"),
        back=fact(failure, "back"),
        gradient=code is not None and may_diverge(code),
    )
    return remedy, code


def takes(failure: Failure, index: ast.expr) -> bool:
    """Return whether ``x.at[i]`` may take an index, as far as it shows: no list, text, float or traced bound."""
    for each in index.elts if isinstance(index, ast.Tuple) else [index]:
        if isinstance(each, ast.List | ast.JoinedStr):
            return False
        if isinstance(each, ast.Constant) and not isinstance(each.value, int | type(None)) and each.value is not ...:
            return False
        parts = [part for part in ast.walk(each) if isinstance(part, ast.Name | ast.Attribute | ast.Subscript)]
        if isinstance(each, ast.Slice) and any(value_named(failure, ast.unparse(part)) for part in parts):
            return False
    return True


def _mended(failing: Expression, node: ast.AST, method: str, is_held: bool) -> str | None:
    """Return the statement with a method of ``x.at[i]``, or with its element.

    Args:
        failing: the failing expression.
        node: its node.
        method: the method that there is not.
        is_held: whether the array is known to be in a variable or a container that takes another one.
    """
    match node:
        case ast.AugAssign(target=ast.Subscript(value=ast.Attribute(value=array, attr="at")) as at):
            if type(node.op) not in METHODS or not is_held:
                return None
            return f"{ast.unparse(array)} = {ast.unparse(at)}.{METHODS[type(node.op)]}({ast.unparse(node.value)})"
        case ast.Call(func=ast.Subscript(value=ast.Attribute(attr="at")) as at, args=[_], keywords=[]):
            value = ast.Call(func=ast.Attribute(at, "set", ast.Load()), args=node.args, keywords=[])
            return _assigned(failing, node, value)
        case ast.Call(func=ast.Attribute(attr="at") as at, args=[index], keywords=[]):
            return failing.with_node(ast.Subscript(at, index, ast.Load()))
        case ast.BinOp(left=left, right=right):
            return failing.with_node(ast.BinOp(_element(left), node.op, _element(right)))
        case ast.Attribute(value=ast.Subscript()) if method in _NAMES:
            return failing.with_node(ast.Attribute(node.value, _NAMES[method], ast.Load()))
    return None


def _assigned(failing: Expression, node: ast.Call, value: ast.Call) -> str | None:
    """Return the statement with a call in it; one that is nothing else assigns the new array."""
    at = value.func.value if isinstance(value.func, ast.Attribute) else None
    owner = at.value.value if isinstance(at, ast.Subscript) and isinstance(at.value, ast.Attribute) else None
    alone = isinstance(failing.statement, ast.Expr) and failing.statement.value is node
    if alone and isinstance(owner, ast.Name):
        return f"{owner.id} = {ast.unparse(value)}"
    return failing.with_node(value)


def _element(node: ast.expr) -> ast.expr:
    """Return ``x[i]`` for ``x.at[i]``."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=array, attr="at"), slice=index):
            return ast.Subscript(array, index, ast.Load())
    return node


#: The messages that are explained here, which Python words.
# fmt: off
RULES = (
    Rule("TypeError", "at use", explain_at_use,
        r"unsupported operand type\(s\) for [^\n]*'_IndexUpdateRef'"),
    Rule("TypeError", "at use", explain_at_use,
        r"'_IndexUpdateRef' object is not callable"),
    Rule("TypeError", "at use", explain_at_use,
        r"'(?P<index>_IndexUpdateHelper)' object is not callable"),
    Rule("TypeError", "at use", explain_at_use,
        r"'_IndexUpdateRef' object does not support item assignment"),
    Rule("AttributeError", "at use", explain_at_use,
        r"'(?P<index>_IndexUpdateHelper)' object has no attribute '(?P<method>\w+)'"),
    Rule("AttributeError", "at use", explain_at_use,
        r"'_IndexUpdateRef' object has no attribute '(?P<method>\w+)'"),
)
# fmt: on
