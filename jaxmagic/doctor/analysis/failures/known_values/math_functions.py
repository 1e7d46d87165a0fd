"""Writes functions of ``jax.numpy`` in place of those of Python's ``math``."""

from __future__ import annotations

import ast

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import Expression, call, gets_traced, spelled, with_imports

#: Functions of Python's ``math`` that ``jax.numpy`` has, too, with its name for each.
MATH = {
    **{name: name for name in ("sqrt", "sin", "cos", "tan", "exp", "log", "log2", "log10", "sinh", "cosh", "tanh")},
    "hypot": "hypot",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "fabs": "abs",
    "pow": "power",
    **{name: name for name in ("log1p", "expm1", "degrees", "radians", "isnan", "isinf", "isfinite", "copysign")},
    **{name: name for name in ("floor", "ceil", "trunc", "fmod")},
}

#: Functions of Python's ``math`` with two arguments, by the name in ``jax.numpy``.
_PAIRS = "hypot", "arctan2", "power", "copysign", "fmod"

#: Functions of Python's ``math`` that ``jax.scipy.special`` has, with its name for each.
SPECIAL = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}


def functions_of_math(failure: Failure, failing: Expression | None, called: str) -> tuple[Note, str | None]:
    """Return the advice for all functions of ``math`` in the failing statement that get traced values.

    There is no code if one of them cannot be replaced: it would fail next.

    Args:
        failure: the error.
        failing: the failing expression.
        called: the function that it calls, which can be replaced.
    """
    jnp = spelled(failure, "jax.numpy")
    functions, complete = {called: f"{jnp}.{MATH[called.removeprefix('math.')]}"}, True
    for node in () if failing is None else ast.walk(failing.statement):
        text = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if failing is None or not text.startswith("math.") or node is failing.node:
            continue
        if isinstance(node, ast.Call) and gets_traced(failure, failing, node):
            name = MATH.get(text.removeprefix("math."), "")
            functions |= {text: f"{jnp}.{name}"} if name else {}
            complete = complete and bool(name) and _is_same(node, name)
            node.func = call(f"{jnp}.{name}").func if name else node.func
    whole = None if failing is None else _whole_call(failing.node, jnp)
    if failing is not None and whole is not None and len(functions) == 1:
        narrows = whole.endswith(".astype(int)")  # Python's integers have no largest one
        code = None if narrows else failing.with_node(ast.parse(whole, mode="eval").body)
        code = None if code is None else with_imports(failure, code, "jax.numpy")
        return note("doctor.write_function", function=ast.unparse(failing.node), replacement=whole), code
    code = replaced(failure, failing, functions[called]) if complete else None
    if len(functions) == 1:
        return note("doctor.write_function", function=called, replacement=functions[called]), code
    texts, names = ", ".join(functions), ", ".join(functions.values())
    return note("doctor.write_functions", functions=texts, replacements=names), code


def _whole_call(node: ast.AST, jnp: str) -> str | None:
    """Return what replaces a call that ``jax.numpy`` has under the same name with other arguments or another type.

    >>> _whole_call(ast.parse("math.log(x, 2)", mode="eval").body, "jnp")
    'jnp.log(x) / jnp.log(2)'
    """
    match node:
        case ast.Call(func=ast.Attribute(attr="log"), args=[value, base]):
            return f"{jnp}.log({ast.unparse(value)}) / {jnp}.log({ast.unparse(base)})"
        case ast.Call(func=ast.Attribute(attr="floor" | "ceil" | "trunc" as name), args=[value]):
            return f"{jnp}.{name}({ast.unparse(value)}).astype(int)"
    return None


def _is_same(node: ast.Call, replacement: str) -> bool:
    """Return whether a function of ``jax.numpy`` takes the arguments of a call of ``math`` and returns its type."""
    count = 2 if replacement in _PAIRS else 1
    return not node.keywords and len(node.args) == count and replacement not in ("floor", "ceil", "trunc")


def replaced(failure: Failure, failing: Expression | None, replacement: str) -> str | None:
    """Return the statement with another function."""
    if failing is None or not isinstance(failing.node, ast.Call):
        return None
    if not _is_same(failing.node, replacement.rpartition(".")[2]):
        return None
    code = failing.with_node(call(replacement, *failing.node.args))
    return None if code is None else with_imports(failure, code, "jax.numpy")
