"""Explains text, objects and dates that no JAX array holds, and text as an index."""

from __future__ import annotations

import ast
import re

from ......records.note import note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import Expression, expression_of, spelled
from ..explained import Explained, Rule
from ..operands import fact, shortened

#: How NumPy names the dtypes of values that are no numbers, in its letters and in words.
_DTYPES = {
    "text": r"[<>|=]?[US]\d*$|str|bytes",
    "objects": r"[<>|=]?O$|object",
    "dates": r"[<>|=]?[mM]8|datetime|timedelta",
}


def explain_non_number(failure: Failure) -> Explained:
    """Explain values that an array of JAX cannot hold."""
    failing = expression_of(failure)
    called = "" if failing is None or failure.library is not None else failing.called or ""
    operand, holds = _operand(failure)
    asked = fact(failure, "asked").rpartition(".")[2]
    holds = "none" if fact(failure, "none") else _kind_of(fact(failure, "dtype") or asked) or holds
    if holds == "objects" and fact(failure, "value") and operand is not None and operand.type == "dict":
        holds = "dict"
    elif holds == "objects" and fact(failure, "value") and operand is not None and _is_single(operand):
        holds = "object"
    argument = "" if operand is None else shortened(operand.text)
    is_none = holds == "none" and operand is not None and operand.type == "NoneType"
    found = note(
        "doctor.error_non_number",
        argument=argument,
        holds="object" if is_none else holds,
        asked=asked,
        function=called,
    )
    remedy = note(
        "doctor.write_non_number",
        argument=argument,
        holds=holds,
        jax=spelled(failure, "jax"),
        jnp=spelled(failure, "jax.numpy"),
        np=spelled(failure, "numpy"),
    )
    return Explained(found, remedy)


def _operand(failure: Failure) -> tuple[Operand | None, str]:
    """Return the argument that holds no numbers, and what it holds instead; the only one if no type is known."""
    positional = [each for each in failure.operands if each.keyword is None and each.text]
    for each in positional:
        holds = _kind_of((each.type or "").rpartition("[")[0]) or _kind_of(each.type or "")
        if holds or each.type == "dict":
            return each, holds
    return (positional[0] if len(positional) == 1 else None), ""


def _is_single(operand: Operand) -> bool:
    """Return whether a value is known to be no array and no sequence."""
    return operand.shape is None and operand.type not in (None, "list", "tuple") and "[" not in (operand.type or "")


def _kind_of(dtype: str) -> str:
    """Return what an array with a dtype holds; empty if that is none of those that are explained.

    >>> _kind_of("<U3"), _kind_of("object"), _kind_of("float32")
    ('text', 'objects', '')
    """
    return next((kind for kind, pattern in _DTYPES.items() if re.match(pattern, dtype)), "")


def explain_string_index(failure: Failure) -> Explained:
    """Explain ``x["a"]`` for an array."""
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    index = fact(failure, "index")
    first = re.match(r"\((b?'[^']*'|b?\"[^\"]*\")[,)]", index)  # JAX up to 0.8 names the whole index
    return string_index(node, first[1] if first else index)


def string_index(node: ast.AST | None, index: str) -> Explained:
    """Explain text as an index in the failing expression, if that is known.

    Args:
        node: the expression; a method of ``x.at[…]`` may be called on it.
        index: the text, in quotes.
    """
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    array = node.value if isinstance(node, ast.Subscript) else None
    if isinstance(array, ast.Attribute) and array.attr == "at":
        array = array.value
    found = note(
        "doctor.error_string_index", array="" if array is None else shortened(ast.unparse(array)), index=index
    )
    return Explained(found, note("doctor.write_string_index"))


def index_of_text(failing: Expression | None) -> str:
    """Return the index of the failing expression if it is text, or a list of text; empty for another one."""
    node = None if failing is None else failing.node
    index = node.slice if isinstance(node, ast.Subscript) else None
    parts = index.elts if isinstance(index, ast.List | ast.Tuple) else [index]
    text = any(isinstance(each, ast.Constant) and type(each.value) in (str, bytes) for each in parts)
    return ast.unparse(index) if text and index is not None else ""


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "non-number", explain_non_number,
        r"(?P<value>Value) '[\s\S]*' with dtype (?P<dtype>\S+) is not a valid JAX array type\."),
    Rule("TypeError", "non-number", explain_non_number,
        r"Dtype (?P<dtype>\S+) is not a valid JAX array type\."),
    Rule("TypeError", "non-number", explain_non_number,
        r"Error interpreting argument to \w+ as a JAX value\. The problematic value is of type <class "
        r"'numpy\.ndarray'>"),
    Rule("TypeError", "non-number", explain_non_number,
        r"JAX only supports number(?:, bool, and string| and bool) dtypes, got dtype (?:<class ')?(?P<asked>[\w.]+)"),
    Rule("ValueError", "non-number", explain_non_number,
        r"(?P<none>None) is not a valid value for jnp\.array"),
    Rule("TypeError", "string index", explain_string_index,
        r"JAX does not support string indexing; got idx=(?P<index>[\s\S]+)"),
)
# fmt: on
