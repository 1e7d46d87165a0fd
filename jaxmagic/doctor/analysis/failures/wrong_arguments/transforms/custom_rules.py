"""Explains rules of ``custom_vjp`` and ``custom_jvp`` that do not fit their function."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import replace
from typing import Any

from ......records.note import Note, note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import call, spelled
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
    failure = _checked(failure, arguments)
    path = _difference(needed, returned) if count == arguments else ""
    expected, got = (_at(tree, path) for tree in (needed, returned)) if path else ("", "")
    return _of_rule(
        failure,
        note(
            "doctor.error_cotangents",
            arguments=arguments,
            count=count,
            path=_argument(failure, path),
            names=fact(failure, "arguments"),
            expected=expected,
            got=got,
            rule=fact(failure, "rule"),
            function=fact(failure, "of"),
        ),
        note("doctor.write_cotangents"),
        _with_tuple(failure, arguments, count),
    )


def _checked(failure: Failure, arguments: int) -> Failure:
    """Leave out the names of arguments if there is another number of them, and the rule if it may be another one."""
    if len(fact(failure, "arguments").split(", ")) == arguments:
        return failure
    apart = ("of", "arguments") if fact(failure, "running") else _OF_RULE
    return replace(failure, said=tuple((name, each) for name, each in failure.said if name not in apart))


def _of_rule(failure: Failure, found: Note, remedy: Note, code: ast.expr | None = None) -> Explained:
    """Make the explanation of a rule, with its lines, and with what it has to return where that is known."""
    rule, at, returned_at, line = (fact(failure, key) for key in ("rule", "rule at", "returned at", "returned line"))
    evidence = (note("doctor.error_rule_at", rule=rule, at=at, returned_at=returned_at, code=line),) if at else ()
    new = None if code is None else ast.unparse(ast.fix_missing_locations(code))
    if new is not None:
        where = rule if not fact(failure, "lambda") else ""
        new = f"# In {where}:\nreturn {new}" if where else f"# What the rule returns:\n{new}"
    return Explained(found, remedy, new, evidence)


def _argument(failure: Failure, path: str) -> str:
    """Write ``[1]['w']`` as ``params['w']`` with the name of the argument, if that is known."""
    names, match = fact(failure, "arguments").split(", "), re.match(r"\[(\d+)\]", path)
    place = int(match[1]) if match is not None else len(names)
    known = fact(failure, "arguments") and match is not None and place < len(names)
    return f"{names[place]}{path[match.end() :]}" if known and match is not None else path


def _value(failure: Failure) -> ast.expr | None:
    """Return what the rule returns, as it is written at the only place; ``None`` if that is unknown."""
    text = fact(failure, "returned code")
    return ast.parse(text, mode="eval").body if text else None


def _with_tuple(failure: Failure, arguments: int, count: int) -> ast.expr | None:
    """Return ``(g,)`` for ``g``, and a tuple without the ``None`` of arguments that have no cotangent."""
    value = _value(failure)
    if count == 0 and arguments == 1 and value is not None and not isinstance(value, ast.Tuple | ast.Dict):
        return ast.Tuple([value], ast.Load())
    if not isinstance(value, ast.Tuple) or len(value.elts) != count or count <= arguments:
        return None
    is_none = [isinstance(each, ast.Constant) and each.value is None for each in value.elts]
    apart = fact(failure, "apart").split(", ") if fact(failure, "apart") else []
    if sum(is_none) == len(apart) == count - arguments:  # those in nondiff_argnums
        return ast.Tuple([each for each, none in zip(value.elts, is_none, strict=True) if not none], ast.Load())
    return None


#: The facts about a rule and its function that no message says.
_OF_RULE = "rule", "rule at", "of", "arguments", "apart", "returned code", "returned at", "returned line"

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


def _at(tree: Any, path: str) -> str:
    """Return the part of a pytree at a path, with a star for each leaf; empty if it is not known."""
    for key in re.findall(r"\[([^\]]+)\]", path):
        try:
            tree = tree[ast.literal_eval(key)]
        except (KeyError, IndexError, TypeError, ValueError, SyntaxError):
            return ""
    return re.sub(r"\b0\b", "*", repr(tree)) if tree is not _UNKNOWN else ""


def explain_cotangent_type(failure: Failure) -> Explained:
    """Explain a backward rule that returns a cotangent of another type than its argument."""
    needed, returned = short_type(fact(failure, "needed")), short_type(fact(failure, "returned"))
    path = fact(failure, "path")
    found = note(
        "doctor.error_cotangent_type",
        path=_argument(failure, path),
        needed=needed,
        returned=returned,
        rule=fact(failure, "rule"),
        function=fact(failure, "of"),
    )
    axes = _summed(needed, returned)
    remedy = note("doctor.write_cotangent_type", axes=", ".join(map(str, axes)))
    return _of_rule(failure, found, remedy, _with_sum(failure, path, axes))


def _summed(needed: str, returned: str) -> tuple[int, ...]:
    """Return the leading axes that an argument lacks of those of its cotangent, as one that was broadcast does."""
    less, more = (Operand(text="", type=each).shape for each in (needed, returned))
    if less is None or more is None or len(less) >= len(more) or more[len(more) - len(less) :] != less:
        return ()
    return tuple(range(len(more) - len(less)))


def _with_sum(failure: Failure, path: str, axes: tuple[int, ...]) -> ast.expr | None:
    """Return what the rule returns with a sum over axes in one of the cotangents."""
    value, match = _value(failure), re.fullmatch(r"\[(\d+)\]", path)
    if not axes or match is None or not isinstance(value, ast.Tuple | ast.List) or int(match[1]) >= len(value.elts):
        return None
    total = call(f"{spelled(failure, 'jax.numpy')}.sum", value.elts[int(match[1])])
    over = ast.Constant(axes[0]) if len(axes) == 1 else ast.Tuple([ast.Constant(each) for each in axes], ast.Load())
    total.keywords = [ast.keyword(arg="axis", value=over)]
    value.elts[int(match[1])] = total
    return value


def _is_sequence(text: str) -> bool:
    """Return whether a text is that of a tuple or a list, rather than of an array, which is written without commas.

    >>> [_is_sequence(each) for each in ("(Array(1.), 2)", "[1.0, 2.0]", "[1. 2.]", "Traced<f32[2]>")]
    [True, True, False, False]
    """
    return text.startswith("(") or (text.startswith("[") and "," in text)


def explain_rule_pair(failure: Failure) -> Explained:
    """Explain a forward rule or a JVP rule that does not return a pair."""
    rule, function, forward = (fact(failure, each) for each in ("rule", "function", "forward"))
    found = note(
        "doctor.error_rule_pair",
        rule=rule,
        function=function,
        several=_is_sequence(fact(failure, "value")),
        forward=bool(forward),
    )
    if forward:
        return _of_rule(failure, found, note("doctor.write_forward_pair", function=function))
    value = _value(failure)
    pair = None if value is None or not _is_tangent(failure, value) else _pair(failure, function, value)
    return _of_rule(failure, found, note("doctor.write_tangent_pair", function=function), pair)


def _is_tangent(failure: Failure, value: ast.expr) -> bool:
    """Return whether an expression is linear in the tangents of the arguments, as far as it names them."""
    names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
    return not isinstance(value, ast.Tuple | ast.List) and not names.isdisjoint(fact(failure, "tangents").split(", "))


def _pair(failure: Failure, function: str, tangent: ast.expr) -> ast.expr | None:
    """Return the pair of an output and its tangent."""
    primals = fact(failure, "parameters").split(", ")
    if len(primals) != 2 or not function.isidentifier():  # or arguments in nondiff_argnums come first
        return None
    output = call(function, ast.Starred(ast.Name(primals[0], ast.Load()), ast.Load()))
    return ast.Tuple([output, tangent], ast.Load())


def explain_rule_output(failure: Failure) -> Explained:
    """Explain a rule whose first result differs from what its function returns."""
    names = "rule", "function", "returned", "needed"
    rule, function, returned, needed = (" ".join(fact(failure, each).split()) for each in names)
    return _of_rule(
        failure,
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
    found = note(
        "doctor.error_tangent_output",
        needed=needed,
        returned=returned,
        rule=fact(failure, "rule"),
        function=fact(failure, "of"),
    )
    return _of_rule(failure, found, note("doctor.write_tangent_output"))


def explain_tangent_structure(failure: Failure) -> Explained:
    """Explain a JVP rule whose tangent is another pytree than its output."""
    needed, returned, rule, function = (fact(failure, each) for each in ("needed", "returned", "rule", "function"))
    found = note("doctor.error_tangent_structure", needed=needed, returned=returned, rule=rule, function=function)
    value, total = _value(failure), None
    match value:
        case ast.Tuple(elts=[output, ast.Tuple(elts=parts)]) if needed == "*" and len(parts) > 1:
            new = functools.reduce(lambda one, other: ast.BinOp(one, ast.Add(), other), parts)
            total = ast.Tuple([output, new], ast.Load())
    return _of_rule(failure, found, note("doctor.write_tangent_structure", summed=total is not None), total)


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
    Rule("TypeError", "tangent structure", explain_tangent_structure,
        r"Custom JVP rule (?P<rule>.+?) for function (?P<function>.+?) must produce primal and tangent outputs with "
        r"equal container \(pytree\) structures, but got PyTreeDef\((?P<needed>.*)\) and "
        r"PyTreeDef\((?P<returned>.*)\) respectively\.$"),
    Rule("TypeError", "forward mode", explain_forward_mode,
        r"can't apply forward-mode autodiff \(jvp\) to a custom_vjp function"),
    Rule("UnexpectedTracerError", "closure", explain_closure, r"(?!)"),
)
# fmt: on
