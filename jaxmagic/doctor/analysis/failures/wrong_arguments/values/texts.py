"""Explains a text among operands, and an array where Python needs one integer."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import Expression, expression_of, spelled, with_operand
from ..explained import Explained, Rule
from ..operands import fact, shortened
from .carried import explain_carried
from .integers import explain_traced_integer


def explain_text(failure: Failure) -> Explained:
    """Explain a string as an operand of an operator, and convert one that is a number in quotes."""
    failing = None if failure.library is not None else expression_of(failure)
    place = next((number for number, each in enumerate(failure.operands) if each.type in ("str", "bytes")), None)
    operand = None if place is None else failure.operands[place]
    operator = _operator(failing)
    found = note(
        "doctor.error_listed",
        argument="" if operand is None else shortened(operand.text),
        type=fact(failure, "type") or (operand.type if operand is not None and operand.type else "str"),
        function=operator or fact(failure, "function") or "the operator",
    )
    number = None if operand is None else _number(operand)
    code = None if failing is None or place is None or number is None else with_operand(failing, place, number)
    return Explained(found, note("doctor.write_as_number", number=number or ""), code)


def explain_scalar_index(failure: Failure) -> Explained:
    """Explain an array where Python needs one integer; it repeats a text for ``text * array``."""
    if any(each.type in ("str", "bytes") for each in failure.operands):
        return explain_text(failure)
    return (
        explain_carried(failure)
        or explain_traced_integer(failure)
        or Explained(
            note("doctor.error_scalar_index"),
            note("doctor.write_scalar_index", jnp=spelled(failure, "jax.numpy"), traced=bool(failure.values)),
        )
    )


def _number(operand: Operand) -> str | None:
    """Return the function that makes a number of a text; ``None`` if it is none.

    >>> _number(Operand(text="lr", type="str", string="0.1")), _number(Operand(text="mode", type="str", string="sum"))
    ('float', None)
    """
    for function in (int, float):
        try:
            function(operand.string or "")
            return function.__name__
        except ValueError:
            continue
    return None


def _operator(failing: Expression | None) -> str:
    node = None if failing is None else failing.node
    if not isinstance(node, ast.BinOp):
        return ""
    written = ast.unparse(ast.BinOp(left=ast.Name("a"), op=node.op, right=ast.Name("b")))
    return written[1:-1].strip()


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "text", explain_text,
        r"unsupported operand type\(s\) for (?P<function>\S+)(?: or pow\(\))?: '(?:[\w.]*ArrayImpl|\w+Tracer)' and "
        r"'(?P<type>str|bytes)'"),
    Rule("TypeError", "text", explain_text,
        r"unsupported operand type\(s\) for (?P<function>\S+)(?: or pow\(\))?: '(?P<type>str|bytes)' and "
        r"'(?:[\w.]*ArrayImpl|\w+Tracer)'"),
    Rule("TypeError", "text", explain_text,
        r'can only concatenate (?P<type>str) \(not "(?:[\w.]*ArrayImpl|\w+Tracer)"\) to str'),
    Rule("TypeError", "scalar index", explain_scalar_index,
        r"Only integer scalar arrays can be converted to a scalar index"),
)
# fmt: on
