"""Finds functions that convert the same arrays of NumPy, with the same values, each time that a loop calls them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterator

from .....records.call_stack import Frame
from .....records.note import note
from ....record.conversion import Conversion
from ....record.evidence import Evidence
from ....record.finding import RuleFinding
from ...rewriting.syntax import last_name, loaded
from ...rule import source_at
from ..host_time import COPIES, SEVERAL, HostTime, matters
from ..syntax import Comprehension, Loop, around, assigned, function_around, loop_around
from .converted_again import conversions_ns, loop_of
from .donated_copies import may_be_donated

#: Less than this per run is no finding.
_LEAST_BYTES = 2**20


def converted_unchanged(
    rule: str, evidence: Evidence, time: HostTime, told: Collection[str | None] = ()
) -> Iterator[RuleFinding]:
    """Find calls in loops below which the same arrays are converted each time.

    What is converted in the loop itself is that of :func:`.converted_again`.

    Args:
        rule: the name of the rule.
        evidence: the observations of the runs.
        time: the time of the host.
        told: the locations of lines whose conversions another finding has.
    """
    call = next((each for each in time.use.dispatches if each.name in COPIES), None)
    converted = [each for each in evidence.conversions if not each.function]
    all_bytes = sum(each.count * each.size_bytes for each in converted)
    by_line: dict[Frame, list[Conversion]] = {}
    for each in converted:
        line = None if each.line.location in told else _calling_line(each)
        if line is not None and each.same_values and each.count >= SEVERAL and not _is_donated(each, evidence):
            by_line.setdefault(line, []).append(each)
    for line, found in by_line.items() if call is not None else ():
        spared_bytes = sum((each.count - 1) * each.size_bytes for each in found)
        cost_ns = conversions_ns(call, evidence, time) * spared_bytes / all_bytes if call is not None else 0.0
        if spared_bytes >= _LEAST_BYTES and matters(cost_ns, evidence):
            yield _finding(rule, line, found, cost_ns)


def _is_donated(conversion: Conversion, evidence: Evidence) -> bool:
    return may_be_donated(conversion.type, evidence)


def _calling_line(conversion: Conversion) -> Frame | None:
    """Return the innermost line that a loop repeats, leading to a conversion; ``None`` if that is its own line.

    A loop around the line itself may go over the arrays.
    """
    own = conversion.line
    if loop_around(own) is not None and not _goes_over(own):
        return None
    stack = itertools.pairwise((own, *conversion.called_from))
    return next((line for below, line in stack if _is_repeated(line, below.function)), None)


def _is_repeated(line: Frame, called: str) -> bool:
    """Return whether a line is in a loop, or calls a function in a comprehension or by ``map``."""
    if loop_around(line) is not None:
        return True
    for node in ast.walk(around(line)[-1]) if around(line) else ():
        match node:
            case ast.Call(func=ast.Name(id="map"), args=[function, *_]):
                if last_name(function) == called or (isinstance(function, ast.Lambda) and called == "<lambda>"):
                    return True
            case ast.Call(func=function) if last_name(function) == called and loop_of(node, line) is not None:
                return True
    return False


def _goes_over(line: Frame) -> bool:
    """Return whether a statement in a loop, or a comprehension in it, converts what the loop assigns."""
    loop, statement = loop_around(line), around(line)[-1]
    inner = [each for each in ast.walk(statement) if isinstance(each, Loop | Comprehension)]
    names = {name for each in (loop, *inner) if each is not None for name in assigned(each)}
    calls = [each for each in ast.walk(statement) if isinstance(each, ast.Call)]
    given = [argument for each in calls if last_name(each.func) in ("array", "asarray") for argument in each.args[:1]]
    return bool(given) and all(loaded([each]) & names for each in given)


def _finding(rule: str, line: Frame, found: list[Conversion], cost_ns: float) -> RuleFinding:
    places = dict.fromkeys(each.line.location for each in sorted(found, key=lambda each: each.line.line))
    functions = {frame.function for each in found for frame in _below(each, line)}
    function = functions.pop() if len(functions) == 1 else ""
    code = _once_code(line, function, found)
    return RuleFinding(
        rule=rule,
        found=note(
            "doctor.converted_unchanged",
            function=function,
            arrays=len(found),
            count=max(each.count for each in found),
            size_bytes=sum(each.count * each.size_bytes for each in found),
        ),
        line=line.location,
        source=source_at(line),
        evidence=(note("doctor.converted_at", lines=", ".join(places)),),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=note("doctor.converted_before", function=function, whole=int(code is not None)),
        code=code,
    )


def _below(conversion: Conversion, line: Frame) -> list[Frame]:
    """Return the line just below another one on the way to a conversion: that of the function which it calls."""
    stack = [conversion.line, *conversion.called_from]
    return [stack[stack.index(line) - 1]]


def _once_code(line: Frame, name: str, found: list[Conversion]) -> str | None:
    """Return the call in front of the loop, if all that the function does is to convert; ``None`` otherwise.

    The loop may neither assign nor change the result, nor anything that the call is given.
    """
    loop, statement = loop_around(line), around(line)[-1]
    function = function_around(found[0].line)
    if loop is None or function is None or function.name != name or not _only_converts(function, found):
        return None
    match statement:
        case ast.Assign(targets=[ast.Name(id=result)], value=ast.Call(func=called) as call):
            pass
        case _:
            return None
    times = [each.id for each in ast.walk(loop) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    if last_name(called) != name or times.count(result) > 1 or loaded([call]) & assigned(loop):
        return None
    return None if _changed(loop, result) else f"{ast.unparse(statement)}  # before the loop, and not in it"


def _only_converts(function: ast.FunctionDef | ast.AsyncFunctionDef, found: list[Conversion]) -> bool:
    """Return whether a function does nothing but return arrays, all of which are converted at known lines."""
    body = [
        each for each in function.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
    match body:
        case [ast.Return(value=ast.Dict(values=values))]:
            pass
        case [ast.Return(value=ast.Tuple(elts=values) | ast.List(elts=values))]:
            pass
        case [ast.Return(value=ast.expr() as value)]:
            values = [value]
        case _:
            return False
    lines = [each.line.line for each in found]
    calls = [each for each in values if isinstance(each, ast.Call) and last_name(each.func) in ("array", "asarray")]
    plain = all(not any(isinstance(one, ast.Call) for one in ast.walk(each.args[0])) for each in calls if each.args)
    known = all(any(each.lineno <= line <= (each.end_lineno or 0) for line in lines) for each in calls)
    return len(calls) == len(values) == len(found) and plain and known


def _changed(loop: ast.AST, name: str) -> bool:
    """Return whether a loop may change what a variable holds, by an item, an attribute or a method."""
    for node in ast.walk(loop):
        match node:
            case ast.Subscript(value=ast.Name(id=owner)) | ast.Attribute(value=ast.Name(id=owner)) if (
                owner == name and not isinstance(node.ctx, ast.Load)
            ):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=attr)) if owner == name:
                if attr not in ("items", "keys", "values", "get"):
                    return True
            case ast.AugAssign(target=ast.Name(id=owner)) if owner == name:
                return True
    return False
