"""Explains a traced value that was used as a condition."""

from __future__ import annotations

import ast
import builtins

from ....records.note import Note, note
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .choices.branches import rewritten_if
from .choices.selection import may_be_traced, may_diverge, rewritten
from .dtypes import joined_dtypes
from .expression import (
    Expression,
    assigns,
    call,
    expression_of,
    is_jax,
    loop_of,
    passes,
    spelled,
    value_named,
    whole_test,
    with_imports,
)
from .known_values.defaults import replaced_default, tested_default
from .known_values.known_number import flag_in_container, known_number, perhaps_static
from .known_values.python_operand import joined_conditions, python_operand
from .known_values.size_use import size_use
from .known_values.sized_results import write_sized
from .known_values.static_argument import is_jitted_itself, library_remedy, static_argument, write_static
from .mask_rows import mask_remedy
from .origin import error_finding
from .wrong_arguments.values.membership import membership, selects

#: What makes a chained comparison more than comparisons of arrays, each of which is computed once.
_NOT_TWICE = ast.NamedExpr | ast.Await | ast.List | ast.Tuple | ast.Dict | ast.In | ast.NotIn | ast.Is | ast.IsNot

#: What needs a condition, where the values that it compares may decide sizes as well.
_OF_SIZES = "max", "min", "if", "while"

#: Statements and expressions with a condition.
_TESTING = ast.If, ast.While, ast.Assert, ast.IfExp


def explain_condition(failure: Failure) -> RuleFinding:
    """Explain ``TracerBoolConversionError``."""
    failing = expression_of(failure)
    use = "" if failing is None else use_of(failing)
    text = "" if failing is None else condition_of(failure, failing)
    remedy, code = _remedy(failure, failing, use)
    return error_finding(
        failure,
        found=note("doctor.error_condition", value=text, type=failure.type or "", use=use),
        remedy=remedy,
        code=code,
    )


def use_of(failing: Expression) -> str:
    """Return what needs the condition: ``"if"``, ``"while"``, ``"and"``, ``"max"``; empty if that is unknown."""
    node, parent = failing.node, failing.parent
    if isinstance(failing.statement, ast.Match) and _in_pattern(failing.statement, node):
        return "match"
    if isinstance(node, ast.Call) and not _is_tested(failing):
        filters = [each for part in node.args for each in ast.walk(part) if isinstance(each, ast.Call)]
        if any(ast.unparse(each.func) == "filter" for each in filters):
            return "filter"
        return "bool" if passes(node, "bool") else failing.called or ""
    if isinstance(failing.statement, ast.Assert) and _is_asserted(failing.statement.test, node):
        return "assert"
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


def _is_asserted(test: ast.expr, node: ast.AST) -> bool:
    """Return whether a node is what an assertion tests, or what it tests that this is not."""
    inner = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    return node in (test, inner) and not isinstance(inner, ast.BoolOp) and inner is not test


def _is_tested(failing: Expression) -> bool:
    """Return whether the result of the failing call is tested: from Python 3.13 on, a test has its position.

    The functions of Python that need a condition are built in.
    """
    parent = failing.parent
    tests = isinstance(parent, _TESTING) and parent.test is failing.node
    logical = isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))
    return (tests or logical) and not hasattr(builtins, failing.called or "")


def _in_pattern(statement: ast.Match, node: ast.AST) -> bool:
    return any(node is part for case in statement.cases for part in ast.walk(case.pattern))


def condition_of(failure: Failure, failing: Expression) -> str:
    """Return the text of the traced value; empty where it is a part of the expression, and unknown which."""
    node = failing.node
    if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp):
        node = node.test
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    if isinstance(node, ast.Call) and failing.called == "bool" and len(node.args) == 1 and node is failing.node:
        node = node.args[0]
    elif isinstance(node, ast.Call) and node is failing.node and not _is_tested(failing):
        return ""
    if isinstance(node, ast.BoolOp) or (isinstance(node, ast.Compare) and len(node.ops) > 1):
        return ""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return ""
    if use_of(failing) == "match" or not isinstance(node, ast.expr) or not may_be_traced(failure, node):
        return ""
    return ast.unparse(node)


def _remedy(failure: Failure, failing: Expression | None, use: str) -> tuple[Note, str | None]:
    jnp, lax = spelled(failure, "jax.numpy"), spelled(failure, "jax.lax")
    mapped = failure.mapped or bool(failure.vmapped)
    static = static_argument(failure, failing)
    certain = static is not None and static.certain == "yes"
    recursive = failure.decides == "recursion" and certain
    mode = certain and failing is not None and (use == "match" or selects(failing))
    if static is not None and (static.type in ("bool", "str") or recursive or mode or is_jitted_itself(failure)):
        return write_static(failure, static)
    if failure.library is not None:
        return library_remedy(failure, failing, failure.library), None
    flag = None if failing is None else flag_in_container(failure, condition_of(failure, failing))
    if flag is not None:
        return flag, None
    size = "" if failing is None or use not in _OF_SIZES else size_use(failure, failing)
    if size:
        number = static_argument(failure, failing, of_size=True)
        if use in ("max", "min") or (number is not None and number.certain == "yes"):
            return known_number(failure, failing, number, size)
        perhaps = perhaps_static(failure)
        if perhaps is not None:
            return perhaps, None
    if failure.decides is not None:
        jax = spelled(failure, "jax")
        return note("doctor.write_decided", decides=failure.decides, jax=jax, jnp=jnp, lax=lax, mapped=mapped), None
    given = tested_default(failure, failing) if failing is not None and use in ("if", "if … else", "not") else None
    if given is not None:
        return given
    receiver = None if failing is None else _receiver(failing)
    code = None if failing is None else rewritten_if(failure, failing) or rewritten(failure, failing)
    dtypes = {} if code is None else joined_dtypes(failure, code)
    code = code if dtypes.keys() <= {"dtype", "joined"} else None
    gradient = code is None or may_diverge(code)
    python = None if failing is None else python_operand(failure, failing)
    if python is not None and failing is not None and isinstance(failing.statement, ast.Assert):
        return note("doctor.write_assert"), None
    if python is not None and failing is not None:
        loop = loop_of(failing)
        if loop is not None and assigns(failure, loop, python):
            test = ast.unparse(loop.test)
            return note("doctor.write_while", lax=lax, chain=test, whole=whole_test(loop.test, jnp)), None
        looped = loop is not None
        return note(
            "doctor.write_nested", python=python, jnp=jnp, lax=lax, gradient=not looped, loop=looped, mapped=mapped
        ), None
    chain, whole = _unchained(failing)
    if use in ("if", "if … else", "match"):
        more: dict[str, bool | str] = {"gradient": gradient, "mapped": mapped, **dtypes}
        return note("doctor.write_selection", jnp=jnp, lax=lax, chain=chain, whole=whole, **more), code
    if use == "while":
        return note("doctor.write_while", lax=lax, chain=chain, whole=whole), code
    if use == "assert":
        return note("doctor.write_assert"), None
    default = None if failing is None else replaced_default(failure, failing, use)
    if default is not None:
        return default
    if use in ("and", "or", "not", "chain") and receiver is not None and not is_jax(failure, receiver):
        name = {"or": "logical_or", "not": "logical_not"}.get(use, "logical_and")
        return note("doctor.write_passed_condition", function=receiver, replacement=f"{jnp}.{name}"), None
    if use in ("and", "or", "not", "chain"):
        name = {"or": "logical_or", "not": "logical_not"}.get(use, "logical_and")
        operator = "" if use == "chain" else use
        return note(
            "doctor.write_logical", function=f"{jnp}.{name}", operator=operator, chain=chain, whole=whole
        ), code
    if use in ("max", "min"):
        replacement, whole = f"{jnp}.{use}imum", f"{jnp}.{use}"
        return note("doctor.write_extreme", function=use, replacement=replacement, whole=whole, **dtypes), code
    if use in ("any", "all") and not _takes_array(failure, failing):
        return note("doctor.write_reduced", function=use, replacement=f"{jnp}.{use}"), None
    if use in ("any", "all"):
        return note("doctor.write_function", function=use, replacement=f"{jnp}.{use}"), None
    if use == "in":
        return membership(failure, failing)
    method = use.rpartition(".")[2]
    if use == "sorted" or method == "sort":
        return note("doctor.write_sorted", function=use, jnp=jnp), _sorted(failure, failing)
    if "." in use and method in ("index", "count"):
        return note("doctor.write_found", function=use, jnp=jnp), None
    if method in ("compress", "extract") and use.partition(".")[0] in (jnp, spelled(failure, "jax")):
        return write_sized(failure, failing, use, method), None
    if use == "comprehension":
        return mask_remedy(failure), None
    if use == "bool":
        return note("doctor.write_kept_condition", jnp=jnp, lax=lax, gradient=True, mapped=mapped), None
    if use.partition(".")[0] in {jnp, lax, spelled(failure, "jax")} and "." in use:  # an argument such as top_k's k
        if static is None:
            return note("doctor.write_known_size"), None
        return write_static(failure, static)
    return note("doctor.write_no_condition", jnp=jnp, lax=lax, gradient=True), None


def _unchained(failing: Expression | None) -> tuple[str, str]:
    """Return the chained comparison that was tested, and the same as ``(a < b) & (b < c)``; empty without one."""
    nodes = () if failing is None else (failing.node, getattr(failing.node, "test", None))
    chain = next((each for each in nodes if isinstance(each, ast.Compare) and len(each.ops) > 1), None)
    if chain is None or any(isinstance(each, _NOT_TWICE) for each in ast.walk(chain)):
        return "", ""
    sides = [chain.left, *chain.comparators]
    parts = [
        ast.unparse(ast.Compare(left=left, ops=[op], comparators=[right]))
        for left, op, right in zip(sides, chain.ops, sides[1:], strict=False)
    ]
    return ast.unparse(chain), " & ".join(f"({each})" for each in parts)


def _receiver(failing: Expression) -> str | None:
    """Return the function that gets the failing expression as an argument, such as ``"nn.Dropout"``."""
    for each in ast.walk(failing.statement):
        given = [*each.args, *(pair.value for pair in each.keywords)] if isinstance(each, ast.Call) else []
        if isinstance(each, ast.Call) and any(failing.node in joined_conditions(argument) for argument in given):
            return ast.unparse(each.func)
    return None


def _sorted(failure: Failure, failing: Expression | None) -> str | None:
    """Return ``jnp.sort(x)`` for ``sorted(x)`` of an array with one axis."""
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    value = value_named(failure, ast.unparse(node.args[0]))
    if failing.called != "sorted" or value is None or "," in value.type or value.type.endswith("[]"):
        return None
    code = failing.with_node(call(f"{spelled(failure, 'jax.numpy')}.sort", *node.args))
    return None if code is None else with_imports(failure, code, "jax.numpy")


def _takes_array(failure: Failure, failing: Expression | None) -> bool:
    """Return whether the only argument of a call is surely an array, and no list and no generator."""
    node = None if failing is None else failing.node
    given = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else None
    if isinstance(given, ast.Compare):
        return may_be_traced(failure, given)
    return given is not None and value_named(failure, ast.unparse(given)) is not None
