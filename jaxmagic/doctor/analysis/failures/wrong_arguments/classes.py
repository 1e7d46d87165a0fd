"""Explains classes that JAX cannot make pytrees of, and functions that change attributes of a traced object."""

from __future__ import annotations

import ast

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import Expression, expression_of, spelled
from .explained import Explained, Rule
from .operands import fact


def explain_no_dataclass(failure: Failure) -> Explained:
    """Explain ``jax.tree_util.register_dataclass`` for a class that is no dataclass."""
    kind = fact(failure, "type").rpartition(".")[2]
    jax = spelled(failure, "jax")
    return Explained(note("doctor.error_no_dataclass", type=kind), note("doctor.write_dataclass", type=kind, jax=jax))


def write_attributes(failure: Failure, parameter: str, changed: list[str]) -> Note:
    """Return the advice for a function that changes attributes of an argument: to get and to return them.

    Args:
        failure: the failure.
        parameter: the parameter that gets the object.
        changed: the attributes, such as ``"self.step"``.
    """
    failing, call = expression_of(failure), failure.call
    passed = {each.name: each.text for each in (() if call is None else call.arguments)}
    owner = passed.get(parameter) or receiver(failing)
    function = "" if failing is None else (failing.called or "").rpartition(".")[2]
    attributes = [f"{owner}{each.removeprefix(parameter)}" for each in changed]
    written = call is not None and call.returning is not None
    code = ""
    if failing is not None and not written and function.isidentifier() and _is_name(owner):
        code = _calling(failing, function, attributes, passed.get(parameter))
    return note(
        "doctor.write_attributes",
        function=function if function.isidentifier() else "",
        changed=", ".join(changed),
        parameter=parameter,
        code=code,
    )


def _calling(failing: Expression, function: str, attributes: list[str], passed: str | None) -> str:
    """Return the statement with a call that gets attributes in place of their object, and returns new ones."""
    match failing.statement:
        case ast.Expr(value=ast.Call() as call):
            targets = attributes
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call() as call):
            targets = [target, *attributes]
        case _:
            return ""
    given = [ast.unparse(each) for each in (*call.args, *call.keywords)]
    others = [each for each in given if each.rpartition("=")[2] != passed]
    return f"{', '.join(targets)} = {function}({', '.join([*attributes, *others])})" if call is failing.node else ""


def receiver(failing: Expression | None) -> str:
    """Return the object whose method is called."""
    function = failing.node.func if failing is not None and isinstance(failing.node, ast.Call) else None
    return ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""


def _is_name(text: str) -> bool:
    """Return whether an expression is a variable, or an attribute of one.

    >>> _is_name("a.b"), _is_name("Trainer()")
    (True, False)
    """
    return all(each.isidentifier() for each in text.split("."))


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "no dataclass", explain_no_dataclass,
        r"register_dataclass: data_fields and meta_fields are required when nodetype is not a dataclass\. "
        r"Got nodetype=<class '(?P<type>.+?)'>"),
)
# fmt: on
