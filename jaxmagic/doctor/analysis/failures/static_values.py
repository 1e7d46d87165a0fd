"""Explains a static argument that is not hashable."""

from __future__ import annotations

import ast
import math
from typing import NamedTuple

from ....records.note import Note, note
from ...record.failing_code import Passed
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .expression import expression_of, spelled, with_imports
from .origin import error_finding

#: A longer text of an argument is cut.
_LONGEST = 200

#: A longer text of an argument is left out of advised code.
_LONGEST_CODE = 40

#: The comment before a call, behind what is to be written in its function.
CALL = "# The call:"

#: Types of dictionaries.
_DICTIONARIES = "dict", "OrderedDict", "defaultdict", "Counter"

#: Types whose values are converted without a change of their class.
_CONTAINERS = "list", "set", "deque", "array", *_DICTIONARIES

#: So many parts of an argument are named, and this stands between them.
_MOST_PARTS, _SEPARATOR = 4, "; "

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
            itself=argument is not None and argument.unhashable[:1] == ((argument.name, kind),),
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
    """Return the first part inside an argument that cannot be hashed, and its type; empty without one.

    A list or a dictionary is no part of itself, but what it holds may be: then a tuple of it cannot be hashed either.
    """
    parts = () if argument is None else argument.unhashable
    return next((each for each in parts if argument is not None and each[0] != argument.name), ("", ""))


def _remedy(failure: Failure, argument: Passed | None, kind: str) -> tuple[Note, str | None]:
    name = "" if argument is None else argument.name
    if kind in _ARRAYS:
        text = "" if argument is None or len(argument.text) > _LONGEST_CODE else argument.text
        return note("doctor.write_not_static", argument=name, text=text, size=_size(argument)), None
    code = _code(failure, argument) if argument is not None else None
    parts = () if argument is None else argument.unhashable
    if argument is not None and (len(parts) > 1 or (parts and parts[0][0] != name)):
        return _of_parts(failure, argument, code)
    function = failure.call.function if failure.call is not None else ""
    why = _why(argument)
    if kind in ("list", "deque"):
        return note("doctor.write_tuple", argument=name), code
    if kind in _DICTIONARIES and code is not None:
        pairs = note(
            "doctor.write_pairs",
            argument=name,
            function=function,
            untraced=why.part,
            untraced_type=why.type,
            needed=why.needed,
        )
        return pairs, code
    if kind in ("set", *_DICTIONARIES):
        hashable = note(
            "doctor.write_hashable",
            argument=name,
            type="set" if kind == "set" else "dict",
            untraced=why.part,
            untraced_type=why.type,
            needed=why.needed,
        )
        return hashable, code
    return note("doctor.write_frozen", argument=name, type=kind), code


class _Why(NamedTuple):
    """Why an argument has to stay static, as far as that is known.

    Attributes:
        part: a part of it that jit cannot trace.
        type: the type of that part.
        needed: the expression that needs its Python value.
    """

    part: str = ""
    type: str = ""
    needed: str = ""


def _why(argument: Passed | None) -> _Why:
    return _Why() if argument is None else _Why(*argument.untraced, argument.needed)


def _code(failure: Failure, argument: Passed) -> str | None:
    """Return the call with what can be hashed in place of an argument, and what the function makes of it."""
    if not argument.hashable or failure.call is None:
        return None
    call = _with(failure, argument, ast.parse(argument.hashable, mode="eval").body)
    if call is None:
        return None
    before = _imported(failure, "\n".join(argument.restored))
    call = _imported(failure, call)
    if loose := _not_frozen(argument):
        decorator = with_imports(failure, f"@{spelled(failure, 'dataclasses')}.dataclass(frozen=True)", "dataclasses")
        decorated = f"# In place of the decorator of {loose}, and then make it again:\n{decorator}"
        middle = f"# In {failure.call.function}, before anything else:\n{before}\n" if before else ""
        return f"{decorated}\n{middle}{CALL}\n{call}"
    return f"# In {failure.call.function}, before anything else:\n{before}\n{CALL}\n{call}" if before else call


def _not_frozen(argument: Passed) -> str:
    """Return the dataclass that is not frozen of an argument that can be converted; empty without one."""
    kinds = dict.fromkeys(kind for _, kind in argument.unhashable if kind not in _CONTAINERS)
    return ", ".join(kinds) if argument.hashable else ""


def _imported(failure: Failure, code: str) -> str:
    """Put imports before code that needs them."""
    used = {"numpy": "np.asarray(", "dataclasses": "dataclasses.replace("}
    return with_imports(failure, code, *(module for module, text in used.items() if text in code))


def _size(argument: Passed | None) -> str:
    """Return whether an array has one element, one axis or several; empty if that is unknown."""
    if argument is None or argument.shape is None:
        return ""
    return "one" if math.prod(argument.shape) == 1 else "axis" if len(argument.shape) == 1 else "axes"


def _of_parts(failure: Failure, argument: Passed, code: str | None) -> tuple[Note, str | None]:
    """Return the advice for what cannot be hashed inside an argument."""
    name, function = argument.name, failure.call.function if failure.call is not None else ""
    (part, type), why = _inside(argument), _why(argument)
    if code is not None:
        told = argument.unhashable[:_MOST_PARTS]
        converted = note(
            "doctor.write_converted",
            argument=name,
            function=function,
            parts=_SEPARATOR.join(each for each, _ in told),
            types=_SEPARATOR.join(kind for _, kind in told),
            more=len(argument.unhashable) - len(told),
            read_back=bool(argument.restored),
            frozen=_not_frozen(argument),
            untraced=why.part,
            untraced_type=why.type,
            needed=why.needed,
        )
        return converted, code
    arrays = [each for each, kind in argument.unhashable if kind == "array"]
    if arrays and argument.jit:
        return note("doctor.write_filter_jit", argument=name, function=function, jit=argument.jit), None
    if arrays and argument.unhashable[0][0] == name:
        return note("doctor.write_array_apart", argument=name, array=arrays[0], more=len(arrays) > 1), None
    if arrays:
        return note("doctor.write_not_static", argument=arrays[0]), None
    first, kind = argument.unhashable[0]
    if kind in _CONTAINERS and type in _CONTAINERS:
        parts = note(
            "doctor.write_parts",
            argument=name,
            part=part,
            type=type,
            untraced=why.part,
            untraced_type=why.type,
            needed=why.needed,
        )
        return parts, None
    return note("doctor.write_frozen", argument=first, type=kind, part=part if first == name else ""), None


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
