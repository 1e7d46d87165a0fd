"""Explains a traced value that was used as a condition."""

from __future__ import annotations

import ast

from ....records.note import Note, note
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .expression import Expression, expression_of, spelled
from .origin import evidence_of
from .selection import rewritten
from .static_argument import static_argument, static_decorator

#: Statements and expressions with a condition.
_TESTING = ast.If, ast.While, ast.Assert, ast.IfExp


def explain_condition(failure: Failure) -> RuleFinding:
    """Explain ``TracerBoolConversionError``."""
    failing = expression_of(failure)
    use = "" if failing is None else use_of(failing)
    text = "" if failing is None else condition_of(failing)
    remedy, code = _remedy(failure, failing, use)
    return RuleFinding(
        rule="error",
        found=note("doctor.error_condition", value=text, type=failure.type or "", use=use),
        line=failure.line,
        source=failure.source,
        evidence=evidence_of(failure),
        remedy=remedy,
        code=code,
    )


def use_of(failing: Expression) -> str:
    """Return what needs the condition: ``"if"``, ``"while"``, ``"and"``, ``"max"``; empty if that is unknown."""
    node, parent = failing.node, failing.parent
    if isinstance(node, ast.Call):
        return failing.called or ""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return "not"
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return "in"
    for each in (node, parent):
        if isinstance(each, ast.If | ast.While | ast.Assert | ast.IfExp) and node in (each, each.test):
            return {ast.If: "if", ast.While: "while", ast.Assert: "assert", ast.IfExp: "if … else"}[type(each)]
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return "chain"
    for each in (node, parent):
        if isinstance(each, ast.BoolOp):
            return "and" if isinstance(each.op, ast.And) else "or"
    if isinstance(parent, ast.UnaryOp):
        return "not"
    if isinstance(parent, ast.comprehension):
        return "comprehension"
    return ""


def condition_of(failing: Expression) -> str:
    """Return the text of the traced value; empty where it is a part of the expression, and unknown which."""
    node = failing.node
    if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp):
        node = node.test
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    if isinstance(node, ast.Call) and failing.called == "bool" and len(node.args) == 1 and node is failing.node:
        node = node.args[0]
    elif isinstance(node, ast.Call) and node is failing.node:
        return ""
    if isinstance(node, ast.BoolOp) or (isinstance(node, ast.Compare) and len(node.ops) > 1):
        return ""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return ""
    return ast.unparse(node)


def _remedy(failure: Failure, failing: Expression | None, use: str) -> tuple[Note, str | None]:
    jnp, lax = spelled(failure, "jax.numpy"), spelled(failure, "jax.lax")
    static = static_argument(failure, failing)
    if failure.library is not None:
        called = None if failing is None else failing.called
        return note("doctor.write_library", function=called or failure.library.function), None
    if static is not None and static.type in ("bool", "str"):
        remedy = note("doctor.write_static", argument=static.name, type=static.type, function=_function(failure))
        return remedy, static_decorator(failure, static.name)
    code = None if failing is None else rewritten(failure, failing)
    if use in ("if", "if … else"):
        return note("doctor.write_selection", jnp=jnp, lax=lax), code
    if use == "while":
        return note("doctor.write_while", lax=lax), code
    if use == "assert":
        return note("doctor.write_assert"), None
    default = None if failing is None else _default(failure, failing)
    if default is not None:
        return note("doctor.write_default", operator=use, first=default[0], other=default[1], jnp=jnp), None
    if use in ("and", "or", "not", "chain"):
        name = {"or": "logical_or", "not": "logical_not"}.get(use, "logical_and")
        return note("doctor.write_logical", function=f"{jnp}.{name}", operator="" if use == "chain" else use), code
    if use in ("max", "min"):
        return note("doctor.write_extreme", function=use, replacement=f"{jnp}.{use}imum", whole=f"{jnp}.{use}"), code
    if use in ("any", "all"):
        return note("doctor.write_function", function=use, replacement=f"{jnp}.{use}"), None
    if use == "in":
        return note("doctor.write_membership", jnp=jnp), None
    if use == "comprehension":
        return note("doctor.write_mask", jnp=jnp), None
    if use == "bool":
        return note("doctor.write_kept_condition", jnp=jnp, lax=lax), None
    return note("doctor.write_no_condition", jnp=jnp, lax=lax), None


def _default(failure: Failure, failing: Expression) -> tuple[str, str] | None:
    """Return the operands of ``a or b`` that is no condition: one of them is assigned or passed on."""
    whole = next((each for each in (failing.node, failing.parent) if isinstance(each, ast.BoolOp)), None)
    if whole is None or len(whole.values) != 2 or (failure.type or "bool").startswith("bool"):
        return None
    tests = [each.test for each in ast.walk(failing.statement) if isinstance(each, _TESTING)]
    inside = any(whole is part for test in tests for part in ast.walk(test))
    return None if inside else (ast.unparse(whole.values[0]), ast.unparse(whole.values[1]))


def _function(failure: Failure) -> str:
    return failure.traced.function if failure.traced is not None else "the function"
