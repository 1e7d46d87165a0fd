"""Finds the expression that led to an operation, and tells whether the operation computes its value or derivative."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ....record.failure import Failure
from ....record.not_finite import Made, Role
from ..expression import spelled, statements
from .domains import FUNCTIONS, MODULES, Place, operand_of

#: Operations that no derivative is computed with, unless it is that of a function which contains them.
_OWN = frozenset({"log", "log1p", "sqrt", "rsqrt", "atan2", "asin", "acos", "acosh", "atanh"})

#: Operations that a function or an operator applies, if it is none of those with a domain.
_APPLIED: dict[str | type[ast.operator], tuple[str, ...]] = {
    "arctan2": ("atan2",),
    "exp": ("exp",),
    "square": ("square", "integer_pow"),
    ast.Add: ("add",),
    ast.Sub: ("sub",),
    ast.Mult: ("mul",),
    ast.Pow: ("pow", "integer_pow", "square"),
    ast.Div: ("div",),
}

#: Operations that change the form of operands before any operation.
_FORM = frozenset({"broadcast_in_dim", "convert_element_type", "reshape"})

#: Operations with functions of their own, in which JAX does not say which operation it was.
WITH_BODIES = "scan", "while", "cond"

#: Functions that choose between values, so that another one is written already.
_CHOOSING = frozenset({"where", "select"})

#: Functions of linear algebra that return NaN or infinity, and the matrix that they need.
MATRICES = {
    **dict.fromkeys(("inv", "solve", "lu_solve", "solve_triangular"), "is not singular"),
    **dict.fromkeys(("cholesky", "cho_factor", "cho_solve"), "is positive definite"),
}

#: Modules of JAX with these functions.
ALGEBRA = "jax.numpy.linalg", "jax.scipy.linalg", "jax.lax.linalg"


class Written(NamedTuple):
    """The expression that led to an operation, in a tree of its own."""

    statement: ast.stmt
    node: ast.AST

    @property
    def ancestors(self) -> list[ast.AST]:
        """The nodes around the expression, the outermost first."""
        return [each for each in ast.walk(self.statement) if each is not self.node and self.node in ast.walk(each)]

    @property
    def is_chosen(self) -> bool:
        """Whether a function such as ``jnp.where`` around the expression chooses between it and another value."""
        calls = (each for each in self.ancestors if isinstance(each, ast.Call))
        return any(ast.unparse(each.func).rpartition(".")[2] in _CHOOSING for each in calls)


def written(made: Made) -> Written | None:
    """Parse the statement with the expression that led to an operation; ``None`` if that is unknown."""
    body = statements(made.statement) if made.statement is not None and made.node is not None else []
    nodes = list(ast.walk(body[0])) if body else []
    return Written(body[0], nodes[made.node]) if made.node is not None and made.node < len(nodes) else None


def text_of(made: Made) -> str:
    """Return the expression that led to an operation; empty if that is unknown."""
    found = written(made)
    return "" if found is None else ast.unparse(found.node)


def role_of(failure: Failure, made: Made, infinite: bool = False) -> Role:
    """Return what an operation computes for its expression, as far as what that applies tells.

    Args:
        failure: the error.
        made: the operation.
        infinite: whether it made infinity of finite operands, which no root does.
    """
    found = written(made)
    applied = () if found is None or made.operation in _FORM else _applied(failure, found.node)
    if made.role != "either" or found is None or not applied:
        return made.role
    if made.operation not in applied or (infinite and is_root(found.node)):
        return "derivative"
    return "value" if made.operation in _OWN else "either"


def applies(failure: Failure, made: Made) -> bool:
    """Return whether an expression applies an operation itself, and not a function that it calls."""
    found = written(made)
    return found is None or made.operation in _applied(failure, found.node)


def is_root(node: ast.AST) -> bool:
    """Return whether an expression is zero where its operand is: a square root, or a power with such an exponent."""
    if isinstance(node, ast.Call):
        exponent: ast.AST | None = node.args[1] if len(node.args) == 2 else None
        if ast.unparse(node.func).rpartition(".")[2] == "sqrt":
            return len(node.args) == 1
    else:
        exponent = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) else None
    return isinstance(exponent, ast.Constant) and isinstance(exponent.value, int | float) and exponent.value > 0


def matrix_in(failure: Failure, node: ast.AST) -> tuple[str, str] | None:
    """Return the function of linear algebra that a node calls, and the matrix that it needs; ``None`` for others."""
    if not isinstance(node, ast.Call):
        return None
    module, _, function = ast.unparse(node.func).rpartition(".")
    modules = (each.replace("jax.numpy", spelled(failure, "jax.numpy")) for each in ALGEBRA)
    return (function, MATRICES[function]) if module in modules and function in MATRICES else None


def place_in(failure: Failure, node: ast.AST) -> Place | None:
    """Return where the operand is in a node that applies an operation with a domain."""
    return operand_of(node, called_in(failure, node))


def _applied(failure: Failure, node: ast.AST) -> tuple[str, ...]:
    """Return the operations that a node applies to its operands; none if that is unknown."""
    if isinstance(node, ast.BinOp):
        return _APPLIED.get(type(node.op), ())
    module, _, function = called_in(failure, node).rpartition(".")
    if module not in MODULES:
        return ()
    return FUNCTIONS[function].operations if function in FUNCTIONS else _APPLIED.get(function, ())


def called_in(failure: Failure, node: ast.AST) -> str:
    """Return the function of JAX that a node calls; empty if it calls none that is known."""
    if not isinstance(node, ast.Call):
        return ""
    module, _, function = ast.unparse(node.func).rpartition(".")
    found = next((each for each in MODULES if spelled(failure, each) == module), "")
    return f"{found}.{function}" if found else ""
