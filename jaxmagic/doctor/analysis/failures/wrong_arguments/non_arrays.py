"""Explains arguments and results that are no arrays, no numbers and no pytrees of them."""

from __future__ import annotations

import re

from .....records.note import note
from ....record.failure import Failure, Operand
from ..expression import expression_of, spelled
from ..static_argument import static_decorator
from .explained import Explained
from .operands import fact, shortened

#: Types whose values are equal if they mean the same, so that a static argument compiles once per meaning.
_PLAIN = (
    "str",
    "bytes",
    "function",
    "builtin_function_or_method",
    "type",
    "PjitFunction",
    "custom_jvp",
    "custom_vjp",
    "ufunc",
)


def explain_not_array(failure: Failure) -> Explained:
    """Explain an argument that JAX cannot trace, and make it static where it selects a program."""
    kind = fact(failure, "type").rpartition(".")[2]
    path = "" if failure.library is not None else fact(failure, "path")
    name, inside = _split(path)
    call, failing = failure.call, expression_of(failure)
    passed = None if call is None else next((each for each in call.arguments if each.name == name), None)
    operand = _operand(failure, kind)
    text = operand.text if operand is not None else ""
    if passed is not None:
        text = passed.text + inside if passed.text.isidentifier() or not inside else ""
    found = note(
        "doctor.error_not_array",
        argument=shortened(text),
        parameter=path,
        function="" if failing is None else failing.called or "",
        type=kind,
    )
    collected = inside and name in ("args", "kwargs")  # by a function that takes any arguments
    if not path or collected or (failure.detail or "").partition(".")[0] == "jax":
        return Explained(found, note("doctor.write_array", type=kind))
    if inside.startswith("."):
        return Explained(found, note("doctor.write_object", argument=name, type=kind))
    if inside:
        return Explained(found, note("doctor.write_taken_out", path=path, argument=name))
    if name == "self":
        return Explained(found, note("doctor.write_self", type=kind))
    if kind == "ndarray":
        return Explained(found, note("doctor.write_numbers", jnp=spelled(failure, "jax.numpy")))
    if kind not in _PLAIN:
        return Explained(found, note("doctor.write_static_or_pytree", argument=name, type=kind))
    remedy = note("doctor.write_static_argument", argument=name, anew=kind == "function")
    return Explained(found, remedy, static_decorator(failure, name))


def _split(path: str) -> tuple[str, str]:
    """Split ``opts['m']`` into the parameter and the place in it.

    >>> _split("opts['m']"), _split("mode")
    (('opts', "['m']"), ('mode', ''))
    """
    match = re.match(r"\w*", path)
    name = match[0] if match is not None else ""
    return name, path[len(name) :]


def _operand(failure: Failure, kind: str) -> Operand | None:
    """Return the only argument of the failing call with a type, or the only such item of one."""
    items = (part for each in failure.operands for part in (each, *each.items))
    matching = [each for each in items if each.type == kind]
    return matching[0] if len(matching) == 1 else None


def explain_result(failure: Failure) -> Explained:
    """Explain a traced function that returns something else than arrays."""
    path = fact(failure, "path")
    return Explained(
        note(
            "doctor.error_result",
            function=fact(failure, "function"),
            location=fact(failure, "location"),
            path=path if path.startswith(("[", ".")) else "",
            type=fact(failure, "type").rpartition(".")[2],
            transform=fact(failure, "transform") or "vmap",
        ),
        note("doctor.write_result"),
    )
