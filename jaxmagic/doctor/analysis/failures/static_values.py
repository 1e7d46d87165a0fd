"""Explains a static argument that is not hashable."""

from __future__ import annotations

import ast
import math
import re

from ....records.note import Note, note
from ...record.failing_code import Passed
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .expression import before_dot, expression_of
from .origin import error_finding

#: A longer text of an argument is cut.
_LONGEST = 200

#: A longer text of an argument is left out of advised code.
_LONGEST_CODE = 40

#: Hashable values with the same items, by the type of a value that is not hashable.
_HASHABLE = {"list": "tuple({})", "set": "frozenset({})", "dict": "tuple(sorted({}.items()))"}

#: An element of an argument.
_ELEMENT = re.compile(r"(\w+)\[(\d+)\]")

_ARRAYS = "ArrayImpl", "ndarray", "array"


def explain_static(failure: Failure) -> RuleFinding:
    """Explain "Non-hashable static arguments are not supported"."""
    kind = (failure.detail or "").rpartition(".")[2]
    argument = _argument(failure, kind)
    part, part_type = _inside(argument)
    function = failure.call.function if failure.call is not None else ""
    if kind.endswith("Tracer"):
        return _traced(failure, function)
    remedy, code = _remedy(failure, argument, kind)
    return error_finding(
        failure,
        found=note(
            "doctor.error_static",
            argument="" if argument is None else argument.name,
            text="" if argument is None else argument.text[:_LONGEST],
            function=function,
            type=kind,
            part=part,
            part_type=part_type,
        ),
        remedy=remedy,
        code=code,
    )


def _traced(failure: Failure, function: str) -> RuleFinding:
    """Explain a traced value that is passed for a static argument."""
    static = (
        [] if failure.call is None else [each for each in failure.call.arguments if each.name in failure.call.static]
    )
    traced = [each for each in static if each.type == "array"]
    one = traced[0] if len(traced) == 1 else None
    return RuleFinding(
        rule="error",
        found=note(
            "doctor.error_static_traced",
            argument="" if one is None else one.name,
            text="" if one is None else one.text[:_LONGEST],
            function=function,
        ),
        line=failure.line,
        source=failure.source,
        remedy=note("doctor.write_static_too", argument="" if one is None else one.name),
    )


def _argument(failure: Failure, kind: str) -> Passed | None:
    """Return the static argument with the type that JAX names; ``None`` if it is unknown which one that is."""
    call = failure.call
    if call is None:
        return None
    static = [each for each in call.arguments if each.name in call.static]
    named = "array" if kind in _ARRAYS and kind != "ndarray" else kind
    matching = [each for each in static if each.type == named]
    if len(matching) == 1:
        return matching[0]
    unknown = [each for each in static if each.type is None]
    return unknown[0] if not matching and len(unknown) == 1 else None


def _inside(argument: Passed | None) -> tuple[str, str]:
    """Return the first part inside an argument that cannot be hashed, and its type; empty without one."""
    if argument is None or not argument.unhashable or argument.unhashable[0][0] == argument.name:
        return "", ""
    return argument.unhashable[0]


def _remedy(failure: Failure, argument: Passed | None, kind: str) -> tuple[Note, str | None]:
    name = "" if argument is None else argument.name
    part, part_type = _inside(argument)
    if argument is not None and part:
        return _of_part(failure, argument, part, part_type)
    if kind in _ARRAYS:
        text = "" if argument is None or len(argument.text) > _LONGEST_CODE else argument.text
        return note("doctor.write_not_static", argument=name, text=text, size=_size(argument)), None
    code = _converted(failure, argument, kind)
    if kind == "list":
        if code is None and argument is not None and argument.hashable and ".items()" not in argument.hashable:
            code = _with(failure, argument, ast.parse(argument.hashable, mode="eval").body)
        return note("doctor.write_tuple", argument=name), code
    if kind == "dict" and code is not None and failure.call is not None:
        function = failure.call.function
        code = f"# In {function}, before anything else:\n{name} = dict({name})\n# The call:\n{code}"
        return note("doctor.write_pairs", argument=name, function=function), code
    if kind in ("dict", "set"):
        return note("doctor.write_hashable", argument=name, type=kind), code
    return note("doctor.write_frozen", argument=name, type=kind), None


def _size(argument: Passed | None) -> str:
    """Return whether an array has one element, one axis or several; empty if that is unknown."""
    if argument is None or argument.shape is None:
        return ""
    return "one" if math.prod(argument.shape) == 1 else "axis" if len(argument.shape) == 1 else "axes"


def _of_part(failure: Failure, argument: Passed, part: str, type: str) -> tuple[Note, str | None]:
    """Return the advice for a part inside a tuple or a frozen dataclass that cannot be hashed."""
    function = failure.call.function if failure.call is not None else ""
    code = _with(failure, argument, ast.parse(argument.hashable, mode="eval").body) if argument.hashable else None
    dicts = [each for each, kind in argument.unhashable if kind == "dict"]
    places = [_ELEMENT.fullmatch(each) for each in dicts]
    if code is not None and dicts:
        lines = [
            f"{each[1]} = (*{each[1]}[:{each[2]}], dict({each[0]}), *{each[1]}[{int(each[2]) + 1}:])"
            for each in places
            if each is not None
        ]
        before = "\n".join(lines)
        code = (
            f"# In {function}, before anything else:\n{before}\n# The call:\n{code}" if None not in places else None
        )
    if type == "array" and argument.jit:
        return note("doctor.write_filter_jit", argument=argument.name, function=function, jit=argument.jit), None
    if type == "array":
        return note("doctor.write_not_static", argument=part), None
    if type == "list":
        return note("doctor.write_tuple", argument=part), code
    if type == "dict" and code is not None:
        return note("doctor.write_pairs", argument=part, function=function), code
    if type in ("dict", "set"):
        return note("doctor.write_hashable", argument=part, type=type), code
    return note("doctor.write_frozen", argument=part, type=type), None


def _converted(failure: Failure, argument: Passed | None, kind: str) -> str | None:
    """Return the call with a hashable value of the same items, if these are numbers or text."""
    if argument is None or not argument.flat or kind not in _HASHABLE:
        return None
    given = ast.parse(argument.text, mode="eval").body
    new = ast.parse(_HASHABLE[kind].format(before_dot(argument.text)), mode="eval").body
    new = ast.Tuple(elts=given.elts, ctx=ast.Load()) if isinstance(given, ast.List) else new
    return _with(failure, argument, new)


def _with(failure: Failure, argument: Passed, new: ast.expr) -> str | None:
    """Return the call with another expression for an argument."""
    failing = expression_of(failure)
    if failing is None or not isinstance(failing.node, ast.Call):
        return None
    given = [*failing.node.args, *(each.value for each in failing.node.keywords)]
    places = [each for each in given if ast.unparse(each) == argument.text]
    if len(places) != 1:
        return None
    old = places[0]
    failing.node.args = [new if each is old else each for each in failing.node.args]
    for each in failing.node.keywords:
        each.value = new if each.value is old else each.value
    return failing.with_node(failing.node)
