"""Keeps the operand of an operation in its domain, with the user's own expression."""

from __future__ import annotations

import ast
import copy
import re
from typing import NamedTuple

from ....record.failure import Failure
from ..expression import expression_of, spelled

_DIVISOR = "a divisor other than zero, and a finite dividend"
_BASE = "a base that is not negative, or an integer exponent"

#: Operations that return NaN or infinity outside of their domain, and how the domain is worded.
DOMAINS = {
    "log": "positive",
    "log2": "positive",
    "log10": "positive",
    "log1p": "greater than -1",
    "sqrt": "not negative",
    "rsqrt": "positive",
    "div": _DIVISOR,
    "true_divide": _DIVISOR,
    "rem": _DIVISOR,
    "asin": "between -1 and 1",
    "acos": "between -1 and 1",
    "arcsin": "between -1 and 1",
    "arccos": "between -1 and 1",
    "acosh": "at least 1",
    "atanh": "between -1 and 1, both excluded",
    "pow": _BASE,
    "power": _BASE,
}


#: The same where the derivative has to be finite as well, if that is less.
STRICT_DOMAINS = {
    "sqrt": "positive",
    "asin": "between -1 and 1, both excluded",
    "acos": "between -1 and 1, both excluded",
    "acosh": "greater than 1",
    "pow": "a base that is positive",
}


class Operand(NamedTuple):
    """The operand of a function that has to be in its domain.

    Attributes:
        operations: the operations in which JAX may report the NaN.
        position: its position among the arguments.
        test: the condition for it, with ``x`` in its place.
        replacement: a number in the domain, with a finite derivative.
        steep: where in the domain the derivative is infinite.
    """

    operations: tuple[str, ...]
    position: int
    test: str
    replacement: int = 1
    steep: str = ""


#: Where an operand is: the node with it, the name of its field, its number there, and what it needs.
Place = tuple[ast.AST, str, int | None, Operand]

_POSITIVE = Operand(("log", "log2", "log10"), 0, "x > 0")
_QUOTIENT = Operand(("div", "true_divide", "rem"), 1, "x != 0")
_POWER = Operand(("pow", "power"), 0, "x >= 0", steep="0")
_INVERSE_POWER = Operand(("pow", "power"), 0, "x > 0")
_SINE = Operand(("asin", "acos", "arcsin", "arccos"), 0, "{jnp}.abs(x) <= 1", 0, steep="-1 and 1")
_COSH = Operand(("acosh", "arccosh"), 0, "x >= 1", 2, steep="1")
_TANH = Operand(("atanh", "arctanh"), 0, "{jnp}.abs(x) < 1", 0)

#: Functions of JAX that apply such an operation to their argument as it is.
FUNCTIONS = {
    **dict.fromkeys(("log", "log2", "log10"), _POSITIVE),
    "log1p": Operand(("log1p",), 0, "x > -1"),
    "sqrt": Operand(("sqrt",), 0, "x >= 0", steep="0"),
    "rsqrt": Operand(("rsqrt",), 0, "x > 0"),
    **dict.fromkeys(("divide", "true_divide", "floor_divide", "div"), _QUOTIENT),
    **dict.fromkeys(("remainder", "mod", "fmod", "rem"), _QUOTIENT),
    **dict.fromkeys(("power", "float_power", "pow"), _POWER),
    **dict.fromkeys(("arcsin", "arccos", "asin", "acos"), _SINE),
    **dict.fromkeys(("arccosh", "acosh"), _COSH),
    **dict.fromkeys(("arctanh", "atanh"), _TANH),
}

#: Modules of JAX with these functions.
MODULES = "jax.numpy", "jax.lax"

#: Methods of arrays, and functions of Python, that can be called twice.
# fmt: off
_PURE = frozenset((
    "abs", "astype", "clip", "dot", "max", "mean", "min", "prod", "ravel", "reshape", "std", "sum", "transpose",
    "var",
))
# fmt: on

#: Functions with an infinite derivative at zero or at the edge of their domain: where() behind them is too late.
_STEEP = re.compile(r"sqrt|norm|std|log|pow|arc|acos|asin|reciprocal|hypot")

#: A longer example is not shown.
_LONGEST = 200


def in_domain(failure: Failure, operation: str) -> tuple[str, str] | None:
    """Return the failing expression with its operand kept in the domain, and where its derivative is infinite.

    ``None`` if the operand cannot be read.

    The expression itself has to apply the operation: not a function that it calls, and not JAX in a derivative of it.
    """
    said, failing = dict(failure.said), expression_of(failure)
    if failing is None or failure.library is not None or said.get("location", failure.line) != failure.line:
        return None
    node = copy.deepcopy(failing.node)
    given = operand_of(node, said.get("called", ""), operation)
    if given is None:
        return None
    return mended(failure, node, given)


def mended(failure: Failure, node: ast.AST, given: Place) -> tuple[str, str] | None:
    """Return a node with its operand kept in the domain, and where its derivative is infinite; ``None`` if it cannot.

    Args:
        failure: the error.
        node: the node, which is changed.
        given: where its operand is.
    """
    owner, name, place, needs = given
    field = getattr(owner, name)
    operand = field if place is None else field[place]
    if isinstance(operand, ast.Constant) or not is_repeatable(failure, operand) or is_steep(operand):
        return None
    kept = _kept(failure, operand, needs)
    if place is None:
        setattr(owner, name, kept)
    else:
        field[place] = kept
    text = ast.unparse(ast.fix_missing_locations(node))
    return (text, needs.steep) if len(text) <= _LONGEST else None


def is_written(failure: Failure, operation: str) -> bool:
    """Return whether the failing expression applies an operation itself, as far as it can be read."""
    failing = expression_of(failure)
    for each in ast.walk(failing.node) if failing is not None and failure.library is None else ():
        function = f"jax.numpy.{ast.unparse(each.func).rpartition('.')[2]}" if isinstance(each, ast.Call) else ""
        if operand_of(each, function, operation) is not None:
            return True
    return False


def operand_of(node: ast.AST, called: str, operation: str | None = None) -> Place | None:
    """Return where the operand of an operation is in the node that applies it.

    Args:
        node: the node.
        called: the function that it calls, with its module.
        operation: the operation; ``None`` for any.
    """
    found: Place | None = None
    match node:
        case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod()):
            found = node, "right", None, _QUOTIENT
        case ast.AugAssign(op=ast.Div() | ast.FloorDiv() | ast.Mod()):
            found = node, "value", None, _QUOTIENT
        case ast.BinOp(op=ast.Pow(), right=ast.UnaryOp(op=ast.USub())):
            found = node, "left", None, _INVERSE_POWER
        case ast.BinOp(op=ast.Pow(), right=exponent):
            smooth = (
                isinstance(exponent, ast.Constant) and isinstance(exponent.value, int | float) and exponent.value >= 1
            )
            found = node, "left", None, _POWER._replace(steep="") if smooth else _POWER
        case ast.Call(args=arguments):
            module, _, function = called.rpartition(".")
            needs = FUNCTIONS.get(function) if module in MODULES else None
            starred = any(isinstance(each, ast.Starred) for each in arguments)
            if needs is not None and not starred and needs.position < len(arguments):
                found = node, "args", needs.position, needs
    return found if found is not None and operation in (None, *found[3].operations) else None


def _kept(failure: Failure, operand: ast.expr, needs: Operand) -> ast.expr:
    """Return ``jnp.where(z > 0, z, 1)`` for ``z``."""
    jnp = spelled(failure, "jax.numpy")
    pattern = f"{jnp}.where({needs.test.format(jnp=jnp)}, x, {needs.replacement})"
    return _Filled(operand).visit(ast.parse(pattern, mode="eval").body)  # type: ignore[no-any-return]


class _Filled(ast.NodeTransformer):
    """Puts an operand in place of ``x``."""

    def __init__(self, operand: ast.expr) -> None:
        self.operand = operand

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.operand if node.id == "x" else node


def is_repeatable(failure: Failure, operand: ast.expr) -> bool:
    """Return whether an expression computes the same twice and changes nothing: a layer may do neither."""
    jax = {spelled(failure, each) for each in ("jax", *MODULES)}
    for each in ast.walk(operand):
        if isinstance(each, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(each, ast.Call):
            text = ast.unparse(each.func)
            if text.partition(".")[0] not in jax and text.rpartition(".")[2] not in _PURE:
                return False
    return True


def is_steep(operand: ast.expr) -> bool:
    """Return whether an operand is computed by what may have an infinite derivative where it is out of the domain."""
    calls = (ast.unparse(each.func).rpartition(".")[2] for each in ast.walk(operand) if isinstance(each, ast.Call))
    powers = (
        each.right for each in ast.walk(operand) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Pow)
    )
    whole = (isinstance(each, ast.Constant) and type(each.value) is int and each.value > 0 for each in powers)
    return any(map(_STEEP.search, calls)) or not all(whole)
