"""Explains NaN or infinity under ``jax_debug_nans``."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping
from typing import NamedTuple

from ....records.note import note
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .expression import expression_of, spelled
from .origin import error_finding, evidence_of

_DIVISOR = "a divisor other than zero, and a finite dividend"
_BASE = "a base that is not negative, or an integer exponent"

#: Operations that return NaN or infinity outside of their domain, and how the domain is worded.
_DOMAINS = {
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


class _Operand(NamedTuple):
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
_Place = tuple[ast.AST, str, int | None, _Operand]

_POSITIVE = _Operand(("log", "log2", "log10"), 0, "x > 0")
_QUOTIENT = _Operand(("div", "true_divide", "rem"), 1, "x != 0")
_POWER = _Operand(("pow", "power"), 0, "x >= 0", steep="0")
_INVERSE_POWER = _Operand(("pow", "power"), 0, "x > 0")
_SINE = _Operand(("asin", "acos", "arcsin", "arccos"), 0, "{jnp}.abs(x) <= 1", 0, steep="-1 and 1")
_COSH = _Operand(("acosh", "arccosh"), 0, "x >= 1", 2, steep="1")
_TANH = _Operand(("atanh", "arctanh"), 0, "{jnp}.abs(x) < 1", 0)

#: Functions of JAX that apply such an operation to their argument as it is.
_FUNCTIONS = {
    **dict.fromkeys(("log", "log2", "log10"), _POSITIVE),
    "log1p": _Operand(("log1p",), 0, "x > -1"),
    "sqrt": _Operand(("sqrt",), 0, "x >= 0", steep="0"),
    "rsqrt": _Operand(("rsqrt",), 0, "x > 0"),
    **dict.fromkeys(("divide", "true_divide", "floor_divide", "div"), _QUOTIENT),
    **dict.fromkeys(("remainder", "mod", "fmod", "rem"), _QUOTIENT),
    **dict.fromkeys(("power", "float_power", "pow"), _POWER),
    **dict.fromkeys(("arcsin", "arccos", "asin", "acos"), _SINE),
    **dict.fromkeys(("arccosh", "acosh"), _COSH),
    **dict.fromkeys(("arctanh", "atanh"), _TANH),
}

#: Modules of JAX with these functions.
_MODULES = "jax.numpy", "jax.lax"

#: Methods of arrays, and functions of Python, that can be called twice.
# fmt: off
_PURE = frozenset((
    "abs", "astype", "clip", "dot", "max", "mean", "min", "prod", "ravel", "reshape", "std", "sum", "transpose",
    "var",
))
# fmt: on

#: Functions with an infinite derivative at zero or at the edge of their domain: where() behind them is too late.
_STEEP = re.compile(r"sqrt|norm|std|log|pow|arc|acos|asin|reciprocal|hypot")

#: Operations with functions of their own, in which JAX does not say which operation it was.
_WITH_BODIES = "scan", "while", "cond"

#: Functions of linear algebra that return NaN or infinity, and the matrix that they need.
_MATRICES = {
    **dict.fromkeys(("inv", "solve", "lu_solve", "solve_triangular"), "is not singular"),
    **dict.fromkeys(("cholesky", "cho_factor", "cho_solve"), "is positive definite"),
}

#: Modules of JAX with these functions.
_ALGEBRA = "jax.numpy.linalg", "jax.scipy.linalg", "jax.lax.linalg"

#: A longer example is not shown.
_LONGEST = 200


def explain_not_finite(failure: Failure) -> RuleFinding:
    """Explain ``FloatingPointError`` of JAX's debugging flags."""
    said, jnp = dict(failure.said), spelled(failure, "jax.numpy")
    if "inside" in said:
        step, length = int(said["step"]), int(said["length"])
        example, steep = _inside_loop(failure, said) or ("", "")
        inside_loop = note(
            "doctor.error_in_loop",
            loop=said["loop"],
            location=failure.line or "",
            step=step,
            index=said["index"],
            length=length,
        )
        return RuleFinding(
            rule="error",
            found=note("doctor.error_not_finite", operation=said["inside"], returned=said.get("returned", "")),
            line=said["inside at"],
            source=said["inside source"] or None,
            evidence=(
                inside_loop,
                *(evidence_of(failure) if failure.library is None else ()),  # which is about the line of the loop
            ),
            remedy=note(
                "doctor.write_in_domain",
                domain=_DOMAINS.get(said["inside"], ""),
                jnp=jnp,
                infinite=said.get("returned") == "inf",
                example=example,
                steep=steep,
            ),
        )
    module, _, function = said.get("called", "").rpartition(".")
    matrix = _MATRICES.get(function, "") if module in _ALGEBRA else ""
    operation = function if matrix else failure.detail or ""
    domain = _DOMAINS.get(_bare(operation), "")
    example, steep = _in_domain(failure, _bare(operation)) or ("", "")
    inside = _bare(operation) in _WITH_BODIES
    return error_finding(
        failure,
        found=note("doctor.error_not_finite", operation=operation, inside=inside, returned=said.get("returned", "")),
        remedy=note("doctor.write_disable_jit", jax=spelled(failure, "jax"), check=said.get("checked in a block", ""))
        if inside
        else note("doctor.write_matrix", function=function, needs=matrix, jnp=jnp)
        if matrix
        else note(
            "doctor.write_in_domain",
            domain=domain,
            jnp=jnp,
            example=example,
            steep=steep,
            inside=bool(domain) and not example and not _is_written(failure, _bare(operation)),
            infinite=said.get("returned") == "inf",
        ),
    )


def _bare(operation: str) -> str:
    return operation.removeprefix("jit(").removesuffix(")")


def _in_domain(failure: Failure, operation: str) -> tuple[str, str] | None:
    """Return the failing expression with its operand kept in the domain, and where its derivative is infinite.

    ``None`` if the operand cannot be read.

    The expression itself has to apply the operation: not a function that it calls, and not JAX in a derivative of it.
    """
    said, failing = dict(failure.said), expression_of(failure)
    if failing is None or failure.library is not None or said.get("location", failure.line) != failure.line:
        return None
    node = copy.deepcopy(failing.node)
    given = _operand(node, said.get("called", ""), operation)
    if given is None:
        return None
    return _mended(failure, node, given)


def _inside_loop(failure: Failure, said: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the same for a line inside of a loop, of which only the line and the operation are known.

    The line has to apply the operation in one place, and may call nothing else: that could apply it as well.
    """
    try:
        (statement,) = ast.parse(said["inside source"].strip()).body
    except (SyntaxError, ValueError):
        return None
    modules = {spelled(failure, each): each for each in _MODULES}
    found, calls = [], 0
    for each in ast.walk(statement):
        module, _, function = ast.unparse(each.func).rpartition(".") if isinstance(each, ast.Call) else ("", "", "")
        calls += isinstance(each, ast.Call)
        given = _operand(each, f"{modules.get(module, '')}.{function}", said["inside"])
        if given is not None:
            found.append((each, given))
    if len(found) != 1 or calls > isinstance(found[0][0], ast.Call):
        return None
    return _mended(failure, *found[0])


def _mended(failure: Failure, node: ast.AST, given: _Place) -> tuple[str, str] | None:
    owner, name, place, needs = given
    field = getattr(owner, name)
    operand = field if place is None else field[place]
    if isinstance(operand, ast.Constant) or not _is_repeatable(failure, operand) or _is_steep(operand):
        return None
    kept = _kept(failure, operand, needs)
    if place is None:
        setattr(owner, name, kept)
    else:
        field[place] = kept
    text = ast.unparse(ast.fix_missing_locations(node))
    return (text, needs.steep) if len(text) <= _LONGEST else None


def _is_written(failure: Failure, operation: str) -> bool:
    """Return whether the failing expression applies an operation itself, as far as it can be read."""
    failing = expression_of(failure)
    for each in ast.walk(failing.node) if failing is not None and failure.library is None else ():
        function = f"jax.numpy.{ast.unparse(each.func).rpartition('.')[2]}" if isinstance(each, ast.Call) else ""
        if _operand(each, function, operation) is not None:
            return True
    return False


def _operand(node: ast.AST, called: str, operation: str) -> _Place | None:
    """Return where the operand of an operation is in the node that applies it."""
    found: _Place | None = None
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
            needs = _FUNCTIONS.get(function) if module in _MODULES else None
            starred = any(isinstance(each, ast.Starred) for each in arguments)
            if needs is not None and not starred and needs.position < len(arguments):
                found = node, "args", needs.position, needs
    return found if found is not None and operation in found[3].operations else None


def _kept(failure: Failure, operand: ast.expr, needs: _Operand) -> ast.expr:
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


def _is_repeatable(failure: Failure, operand: ast.expr) -> bool:
    """Return whether an expression computes the same twice and changes nothing: a layer may do neither."""
    jax = {spelled(failure, each) for each in ("jax", *_MODULES)}
    for each in ast.walk(operand):
        if isinstance(each, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(each, ast.Call):
            text = ast.unparse(each.func)
            if text.partition(".")[0] not in jax and text.rpartition(".")[2] not in _PURE:
                return False
    return True


def _is_steep(operand: ast.expr) -> bool:
    """Return whether an operand is computed by what may have an infinite derivative where it is out of the domain."""
    calls = (ast.unparse(each.func).rpartition(".")[2] for each in ast.walk(operand) if isinstance(each, ast.Call))
    powers = (
        each.right for each in ast.walk(operand) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Pow)
    )
    whole = (isinstance(each, ast.Constant) and type(each.value) is int and each.value > 0 for each in powers)
    return any(map(_STEEP.search, calls)) or not all(whole)
