"""Explains rules of ``custom_vjp`` and ``custom_jvp`` that do not fit their function."""

from __future__ import annotations

import ast
from typing import Any

from ......records.note import note
from .....record.failure import Failure
from ...messages import short_type
from ..explained import Explained, Rule
from ..operands import fact


def explain_cotangents(failure: Failure) -> Explained:
    """Explain a backward rule that returns another number or another structure of cotangents."""
    needed, returned = _tree(fact(failure, "needed")), _tree(fact(failure, "returned"))
    arguments = len(needed) if isinstance(needed, tuple) else 0
    if returned is _UNKNOWN or not arguments:
        count = -1
    else:
        count = len(returned) if isinstance(returned, tuple | list) else 0
    path = _difference(needed, returned) if count == arguments else ""
    return Explained(
        note("doctor.error_cotangents", arguments=arguments, count=count, path=path), note("doctor.write_cotangents")
    )


#: Stands for a pytree with nodes of other classes.
_UNKNOWN = object()


def _tree(text: str) -> Any:
    """Return containers with a zero for each leaf.

    >>> _tree("({'w': *}, None)")
    ({'w': 0}, None)
    """
    try:
        return ast.literal_eval(text.replace("*", "0"))
    except (ValueError, SyntaxError):
        return _UNKNOWN


def _difference(one: Any, other: Any) -> str:
    """Return the path to the first node at which two pytrees differ; empty if they do not.

    >>> _difference(({"b": 0, "w": 0}, 0), ({"b": 0, "w": (0, 0)}, 0))
    "[0]['w']"
    """
    if other is None and one is not None:  # None is a cotangent for any argument
        return ""
    pairs: list[tuple[Any, Any, Any]] = []
    if isinstance(one, tuple | list) and type(one) is type(other) and len(one) == len(other):
        pairs = [(place, *pair) for place, pair in enumerate(zip(one, other, strict=True))]
    elif isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [(key, one[key], other[key]) for key in one]
    elif one != other:
        return "."
    paths = ((key, _difference(*pair)) for key, *pair in pairs)
    return next((f"[{key!r}]{path.removesuffix('.')}" for key, path in paths if path), "")


def explain_cotangent_type(failure: Failure) -> Explained:
    """Explain a backward rule that returns a cotangent of another type than its argument."""
    needed, returned = short_type(fact(failure, "needed")), short_type(fact(failure, "returned"))
    found = note("doctor.error_cotangent_type", path=fact(failure, "path"), needed=needed, returned=returned)
    return Explained(found, note("doctor.write_cotangent_type"))


def explain_rule_pair(failure: Failure) -> Explained:
    """Explain a forward rule or a JVP rule that does not return a pair."""
    rule, function, forward = (fact(failure, each) for each in ("rule", "function", "forward"))
    found = note(
        "doctor.error_rule_pair",
        rule=rule,
        function=function,
        several=fact(failure, "value").startswith(("(", "[")),
        forward=bool(forward),
    )
    if forward:
        return Explained(found, note("doctor.write_forward_pair", function=function))
    return Explained(found, note("doctor.write_tangent_pair", function=function))


def explain_rule_output(failure: Failure) -> Explained:
    """Explain a rule whose first result differs from what its function returns."""
    names = "rule", "function", "returned", "needed"
    rule, function, returned, needed = (" ".join(fact(failure, each).split()) for each in names)
    return Explained(
        note(
            "doctor.error_rule_output",
            rule=rule,
            function=function,
            returned=returned,
            needed=needed.removesuffix("."),
        ),
        note("doctor.write_rule_output", function=function, forward=bool(fact(failure, "forward"))),
    )


def explain_tangent_output(failure: Failure) -> Explained:
    """Explain a JVP rule whose tangent does not fit its output."""
    needed, returned = short_type(fact(failure, "needed")), short_type(fact(failure, "returned"))
    return Explained(
        note("doctor.error_tangent_output", needed=needed, returned=returned), note("doctor.write_tangent_output")
    )


def explain_forward_mode(failure: Failure) -> Explained:
    """Explain forward mode through a function that has a rule for reverse mode alone."""
    return Explained(note("doctor.error_forward_mode"), note("doctor.write_reverse_mode"))


def explain_closure(failure: Failure) -> Explained:
    """Explain a ``custom_vjp`` function that uses a traced value of the function around it."""
    function, names = fact(failure, "function"), fact(failure, "names")
    return Explained(
        note("doctor.error_closure", function=function, names=names),
        note("doctor.write_closure", function=function, names=names),
    )


_FORWARD = r"Custom VJP (?P<forward>fwd) rule (?P<rule>.+?) for function (?P<function>.+?) must produce a pair "
_JVP = r"Custom JVP rule (?P<rule>.+?) for function (?P<function>.+?) must produce a pair "
_OUTPUT = (
    r"[\s\S]*?but instead the (?:fwd|JVP) rule output's first element had [\w/ ]+:\s*(?P<returned>[\s\S]+?)"
    r"\s+while the [\s\S]+? had output [\w/ ]+:\s*(?P<needed>[\s\S]+)"
)

#: The messages that are explained here. A traced value in a closure has a message of its own, that of a leak.
# fmt: off
RULES = (
    Rule("TypeError", "cotangents", explain_cotangents,
        r"Custom VJP bwd rule [\s\S]*?but got bwd output structure PyTreeDef\((?P<returned>.*)\) for primal input "
        r"structure PyTreeDef\((?P<needed>.*)\)\."),
    Rule("ValueError", "cotangent type", explain_cotangent_type,
        r"Custom VJP bwd rule [\s\S]*?but at output(?P<path>\S*) the bwd rule produced an output of \S+ "
        r"(?P<returned>\S+) corresponding to an input of \S+ (?P<needed>\S+?),? "),
    Rule("TypeError", "rule pair", explain_rule_pair,
        rf"{_FORWARD}[\s\S]*?but instead of a pair the fwd rule .+? produced (?P<value>[\s\S]*)"),
    Rule("TypeError", "rule pair", explain_rule_pair,
        rf"{_JVP}\(list or tuple of length two\) representing primal and tangent outputs, but got "
        r"(?P<value>[\s\S]*)"),
    Rule("TypeError", "rule output", explain_rule_output, _FORWARD + _OUTPUT),
    Rule("TypeError", "rule output", explain_rule_output, _JVP + _OUTPUT),
    Rule("TypeError", "tangent output", explain_tangent_output,
        r"Custom JVP rule must produce primal and tangent outputs with corresponding shapes and dtypes\. Expected "
        r"(?P<needed>\S+) \(tangent type of \S+\) but got (?P<returned>\S+)\.$"),
    Rule("TypeError", "forward mode", explain_forward_mode,
        r"can't apply forward-mode autodiff \(jvp\) to a custom_vjp function"),
    Rule("UnexpectedTracerError", "closure", explain_closure, r"(?!)"),
)
# fmt: on
