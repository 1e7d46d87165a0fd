"""Finds logarithms of what is positive but for rounding, and writes them without the number that has underflowed."""

from __future__ import annotations

import ast

from ....record.failure import Failure
from ..expression import spelled
from .operations import called_in

#: Functions that return no negative number.
_POSITIVE = frozenset({"exp", "exp2", "softmax", "sigmoid", "expit", "softplus", "cosh", "pdf"})

#: Reductions that return no negative number of numbers that are not negative.
_REDUCTIONS = frozenset({"sum", "mean", "prod", "max", "min"})

#: Functions of `jax.nn`, and those that compute their logarithm.
_LOGS = {"softmax": "log_softmax", "sigmoid": "log_sigmoid"}

#: The options that ``sum`` and ``logsumexp`` share, and those of ``softmax`` and ``log_softmax``.
_OPTIONS = frozenset({"axis", "keepdims"})


def underflowed(failure: Failure, node: ast.AST) -> ast.expr | None:
    """Return the operand of a logarithm that is never negative, so that it was 0 or infinite by rounding alone.

    Another number in its place would change the result where it is finite otherwise. ``None`` for other nodes.
    """
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    name = called_in(failure, node).removeprefix("jax.numpy.").removeprefix("jax.lax.")
    if name not in ("log", "log2", "log10"):
        return None
    return node.args[0] if _is_positive(node.args[0]) else None


def stable(failure: Failure, node: ast.AST) -> str:
    """Write the natural logarithm of a sum of exponentials, or of a probability, anew; empty for others."""
    operand = underflowed(failure, node)
    if operand is None or not isinstance(node, ast.Call) or not called_in(failure, node).endswith(".log"):
        return ""
    nn, jnp = f"{spelled(failure, 'jax')}.nn", spelled(failure, "jax.numpy")
    match operand:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr="sum"), args=[summed, *_]) if module == jnp:
            exponent, options = _exponent(summed, jnp), [*operand.args[1:]]
        case ast.Call(func=ast.Attribute(value=summed, attr="sum")):
            exponent, options = _exponent(summed, jnp), [*operand.args]
        case ast.Call(func=function, args=[argument, *options]) if _is_axis(operand, options, frozenset({"axis"})):
            name = _LOGS.get(ast.unparse(function).removeprefix(f"{nn}."), "")
            return _written(f"{nn}.{name}", argument, operand, options) if name else ""
        case _:
            return ""
    if exponent is None or not _is_axis(operand, options, _OPTIONS):
        return ""
    return _written(f"{nn}.logsumexp", exponent, operand, options)


def _written(function: str, argument: ast.expr, call: ast.Call, options: list[ast.expr]) -> str:
    parts = [*map(ast.unparse, (argument, *options, *call.keywords))]
    return f"{function}({', '.join(parts)})"


def _is_axis(call: ast.Call, positional: list[ast.expr], options: frozenset[str]) -> bool:
    """Return whether a call has no options but some, of which the axis may be given by position."""
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    return not starred and len(positional) <= 1 and all(each.arg in options for each in call.keywords)


def _exponent(node: ast.AST, jnp: str) -> ast.expr | None:
    """Return the argument of an exponential function; ``None`` for other nodes."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        return node.args[0] if ast.unparse(node.func) == f"{jnp}.exp" else None
    return None


def _is_positive(node: ast.AST) -> bool:
    """Return whether an expression is mathematically positive, as far as functions and operators tell."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and node.value > 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        return _is_positive(node.left) and _is_positive(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):  # weights of a mixture are positive as well
        return any(_is_positive(each) and not isinstance(each, ast.Constant) for each in (node.left, node.right))
    if not isinstance(node, ast.Call):
        return False
    owner, _, function = ast.unparse(node.func).rpartition(".")
    if function in _POSITIVE:
        return True
    reduced = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) and owner else [])]
    return function == "prod" or (function in _REDUCTIONS and any(map(_is_positive, reduced)))
