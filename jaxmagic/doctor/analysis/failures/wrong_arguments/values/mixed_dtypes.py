"""Explains operands of different dtypes that JAX does not convert, and dtypes that an operation does not take."""

from __future__ import annotations

import ast
import re

from ......records.note import note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...dtypes import dtype_of, wider_dtype
from ...expression import expression_of, spelled, with_imports
from ..explained import Explained, Rule
from ..operands import arrays_of, fact, shortened

#: The types of Python's numbers, and how the dtypes begin that JAX gives to them.
_PYTHON = {"bool": "bool", "int": "int", "float": "float", "complex": "complex"}

#: How Python writes operations on bits, and other operations that masks do not have.
_BITWISE = {"and": "&", "or": "|", "xor": "^", "not": "~"}
_SHIFTS = {"shift_right_arithmetic": ">>", "shift_right_logical": ">>", "shift_left": "<<"}
_OPERATORS = {**_BITWISE, **_SHIFTS, "neg": "-", "sub": "-"}

#: Functions that write into their first operand.
_WRITING = ("dynamic_update_slice",)


def explain_dtypes(failure: Failure) -> Explained:
    """Explain operands of different dtypes in a function of ``lax``, or under strict promotion."""
    said = re.findall(r"\b(?!and\b)[\w<>]+", fact(failure, "dtypes"))
    operands = _with_dtypes(failure, said)
    jnp, function = spelled(failure, "jax.numpy"), fact(failure, "function")
    found = note(
        "doctor.error_dtypes",
        operands=_joined([f"{shortened(each.text)} is {dtype}" for each, dtype in operands]),
        dtypes=_joined(list(dict.fromkeys(said))),
        function=function,
        strict=bool(fact(failure, "strict")),
    )
    converting = fact(failure, "converting")
    remedy = note(
        "doctor.write_dtypes",
        converted=_converted(operands, jnp, function in _WRITING),
        converting=f"{jnp}.{converting}" if converting else "",
        strict=bool(fact(failure, "strict")),
    )
    return Explained(found, remedy, _with_function(failure, function, f"{jnp}.{converting}") if converting else None)


def _with_function(failure: Failure, function: str, replacement: str) -> str | None:
    """Return the statement with the function of ``jax.numpy`` in place of that of ``lax``, if the line calls it."""
    failing = expression_of(failure)
    if failing is None or not isinstance(failing.node, ast.Call):
        return None
    if failing.called not in (f"lax.{function}", f"{spelled(failure, 'jax.lax')}.{function}", f"jax.lax.{function}"):
        return None
    failing.node.func = ast.parse(replacement, mode="eval").body
    code = failing.with_node(failing.node)
    return None if code is None else with_imports(failure, code, "jax.numpy")


def _with_dtypes(failure: Failure, said: list[str]) -> list[tuple[Operand, str]]:
    """Return the operands with their dtypes; none if they are not exactly those of the message."""
    found = []
    for each in arrays_of(failure):
        python = _PYTHON.get(each.type or "", "?")
        dtype = dtype_of(each.type or "") or (each.type or "").partition("[")[0]
        dtype = next((name for name in said if name.rstrip("0123456789") == python), dtype)
        found.append((each, dtype))
    certain = {dtype for _, dtype in found} == set(said) and all(each.text for each, _ in found)
    return found if certain else []


def _joined(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _converted(operands: list[tuple[Operand, str]], jnp: str, to_first: bool) -> str:
    """Return the conversion of the narrower operand, or of the second one, such as ``jnp.asarray(i, x.dtype)``."""
    if len(operands) != 2 or not all(re.fullmatch(r"[^\W\d][\w.]*", each.text) for each, _ in operands):
        return ""
    (first, one), (second, other) = operands
    wide = wider_dtype(f"{_short(one)}[]", f"{_short(other)}[]")
    if not wide:
        return ""
    kept, converted = (first, second) if to_first or one == wide else (second, first)
    return f"{jnp}.asarray({converted.text}, {kept.text}.dtype)"


def _short(dtype: str) -> str:
    """Return the short name of a dtype, without which types do not name one.

    >>> _short("bfloat16"), _short("int32"), _short("bool")
    ('bf16', 'i32', 'bool')
    """
    return re.sub(r"^(bf|f|i|u|c)[a-z]+(?=\d)", r"\1", dtype)


def explain_refused_dtype(failure: Failure) -> Explained:
    """Explain an operation that does not take numbers of a dtype, such as ``&`` of floats and ``-`` of a mask."""
    operation, dtype = fact(failure, "operation"), fact(failure, "dtype")
    accepted, failing = fact(failure, "accepted"), expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else []
    operands = [each.text for each in arrays_of(failure) if dtype_of(each.type or "") == dtype]
    found = note(
        "doctor.error_refused_dtype",
        operand=shortened(operands[0]) if len(operands) == 1 else "",
        operation=_OPERATORS.get(operation, operation),
        dtype=dtype,
    )
    if operation in _BITWISE and "bool" in accepted:
        compared = any(isinstance(each, ast.Compare) for each in ast.walk(failing.statement)) if failing else False
        operator = _BITWISE[operation]
        return Explained(found, note("doctor.write_bitwise", operator=operator, compared=bool(sides) and compared))
    if dtype == "bool" and operation in ("neg", "sub"):
        return Explained(found, note("doctor.write_mask_operation", operation=operation))
    if operation in _SHIFTS and dtype.startswith(("float", "bfloat")):
        return Explained(
            found, note("doctor.write_shifted", operator=_SHIFTS[operation], jnp=spelled(failure, "jax.numpy"))
        )
    return Explained(found, note("doctor.write_accepted_dtype", floats="floating" in accepted))


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "dtypes", explain_dtypes,
        r"lax\.(?P<function>\w+) requires arguments to have the same dtypes, got (?P<dtypes>[\w, <>]+)\.(?: \(Tip: "
        r"jnp\.(?P<converting>\w+) is a similar function)?"),
    Rule("TypeError", "dtypes", explain_dtypes,
        r"(?P<function>pad) operand and padding_value must be same dtype: got (?P<dtypes>\w+ and \w+)\."),
    Rule("TypePromotionError", "dtypes", explain_dtypes,
        r"Input dtypes \((?P<dtypes>[^)]*)\) have no available implicit dtype promotion path(?P<strict> when "
        r"jax_numpy_dtype_promotion=strict)?"),
    Rule("TypeError", "refused dtype", explain_refused_dtype,
        r"(?P<operation>\w+) does not accept dtype (?P<dtype>\w+)(?: at position \d)?\. Accepted dtypes(?: at "
        r"position \d)? are subtypes of (?P<accepted>[\w, ]+)\."),
)
# fmt: on
