"""Explains functions that JAX calls with other arguments than they take, and values in place of functions."""

from __future__ import annotations

import ast
import re

from ......records.note import note
from .....record.failure import Failure
from ...expression import Expression, expression_of
from ..explained import Explained, Rule
from ..operands import fact, shortened


def explain_signature(failure: Failure) -> Explained:
    """Explain a function that JAX calls with another number of arguments than it takes."""
    failing, function = expression_of(failure), re.sub(r".*<(?!lambda>)\w+>\.", "", fact(failure, "function"))
    called = "" if failing is None else failing.called or ""
    takes, given = int(fact(failure, "takes") or -1), int(fact(failure, "given") or -1)
    if "." in function:  # a method, of which Python counts self as well
        takes = given = -1
    rule, wrapped = fact(failure, "rule"), fact(failure, "wrapped")
    found = note(
        "doctor.error_signature",
        called="" if rule else called,
        function=function,
        takes=takes,
        given=given,
        missing=fact(failure, "missing"),
    )
    if rule:
        nondiff = int(fact(failure, "nondiff"))
        return Explained(found, note("doctor.write_rule_parameters", rule=rule, function=wrapped, nondiff=nondiff))
    return Explained(found, note("doctor.write_signature", called=called))


def explain_other_arguments(failure: Failure) -> Explained:
    """Explain a function of JAX, or one that it transforms, that gets other arguments than it takes."""
    failing = expression_of(failure)
    function = fact(failure, "function")
    if function:
        found = note(
            "doctor.error_misfit",
            function=function,
            called="" if failing is None else shortened(failing.called or ""),
            parameters=fact(failure, "parameters"),
            missing=fact(failure, "missing"),
            unexpected=fact(failure, "unexpected"),
            twice=fact(failure, "twice"),
            positional=int(fact(failure, "positional") or -1),
            named=fact(failure, "named"),
            jitted=bool(fact(failure, "jitted")),
        )
        return Explained(found, note("doctor.write_misfit", function=function, missing=fact(failure, "missing")))
    found = note(
        "doctor.error_other_arguments",
        called="" if failing is None else shortened(failing.called or ""),
        missing=fact(failure, "missing"),
        given=int(fact(failure, "given") or 0),
    )
    return Explained(found, note("doctor.write_other_arguments", parameters=fact(failure, "parameters")))


def explain_callable(failure: Failure) -> Explained:
    """Explain a result in place of a function, as in ``jax.jit(f(x))``."""
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    called = "" if failing is None else failing.called or ""
    generator = fact(failure, "generator")
    if generator:
        found = note("doctor.error_generator", function=generator, called=called)
        return Explained(found, note("doctor.write_no_generator"))
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    single = isinstance(first, ast.Call) and isinstance(node, ast.Call) and len(node.args) == 1
    found = note(
        "doctor.error_callable",
        called=called,
        text=shortened(ast.unparse(first)) if isinstance(first, ast.Call) and single else "",
    )
    if fact(failure, "functions") and called.rpartition(".")[2] not in ("cond", "switch"):
        return Explained(found, note("doctor.write_order", called=called))
    branches = bool(fact(failure, "functions"))
    code = _with_function(failing, first) if single and failing is not None and isinstance(first, ast.Call) else None
    return Explained(found, note("doctor.write_callable", called=called, branches=branches), code)


def _with_function(failing: Expression, result: ast.Call) -> str | None:
    """Return ``jax.grad(f)(x)`` for ``jax.grad(f(x))``, and ``g = jax.jit(f)`` for ``g = jax.jit(f(x))``."""
    node, parent = failing.node, failing.parent
    if not isinstance(node, ast.Call):
        return None
    function = ast.Call(func=node.func, args=[result.func], keywords=node.keywords)
    if isinstance(parent, ast.Assign) and ast.unparse(node.func).rpartition(".")[2] == "jit":
        return failing.with_node(function)
    new = ast.Call(func=function, args=result.args, keywords=result.keywords)
    if not isinstance(parent, ast.Call) or parent.func is not node:
        return failing.with_node(new)
    given = [ast.unparse(each) for each in (*parent.args, *parent.keywords)]
    known = [ast.unparse(each) for each in (*result.args, *result.keywords)]
    whole = Expression(failing.statement, parent, None)
    return whole.with_node(new) if known[: len(given)] == given else None


#: The messages that are explained here. Python words the first two, if JAX calls a function of the user's.
# fmt: off
RULES = (
    Rule("TypeError", "signature", explain_signature,
        r"(?P<function>[\w.<>]+)\(\) takes (?P<takes>\d+) positional arguments? but (?P<given>\d+) (?:was|were) "
        r"given$"),
    Rule("TypeError", "signature", explain_signature,
        r"(?P<function>[\w.<>]+)\(\) missing \d+ required positional arguments?: (?P<missing>.+)$"),
    Rule("TypeError", "callable", explain_callable,
        r"Expected a callable value, got "),
    Rule("TypeError", "callable", explain_callable,
        r"lax\.\w+: (?P<functions>[\w ]+) arguments? should be (?:a )?callable"),
    Rule("TypeError", "callable", explain_callable,
        r"Expected a function, got a generator function: <function (?P<generator>\S+) at"),
)
# fmt: on
