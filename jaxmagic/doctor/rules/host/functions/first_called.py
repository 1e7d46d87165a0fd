"""Bounds which of the eager operations some lines call: by the lines that called them first, and by their syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from .....records.call_stack import Frame
from ....record.evidence import Dispatch, Evidence
from ...rewriting import syntax
from ...rewriting.syntax import last_name
from ..host_time import names_of, names_of_program
from ..syntax import Function, around, own_nodes
from .functions_run import defined, functions_run
from .inside_function import SourceRange, frames_of, is_in, is_within

#: The names of the operations that Python's operators call, the most frequent one first.
OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Add: ("add",),
    ast.Sub: ("subtract",),
    ast.Mult: ("multiply",),
    ast.Div: ("true_divide", "divide"),
    ast.MatMult: ("matmul", "dot", "dot_general"),
    ast.Pow: ("integer_pow", "power", "float_power", "square", "multiply", "reciprocal"),
    ast.FloorDiv: ("floor_divide",),
    ast.Mod: ("remainder",),
    ast.USub: ("negative",),
    ast.Invert: ("invert", "bitwise_not"),
    ast.BitAnd: ("bitwise_and", "and"),
    ast.BitOr: ("bitwise_or", "or"),
    ast.BitXor: ("bitwise_xor", "xor"),
    ast.LShift: ("left_shift",),
    ast.RShift: ("right_shift",),
    ast.Eq: ("equal",),
    ast.NotEq: ("not_equal",),
    ast.Lt: ("less", "greater"),
    ast.Gt: ("greater", "less"),
    ast.LtE: ("less_equal", "greater_equal"),
    ast.GtE: ("greater_equal", "less_equal"),
}

#: Operations that prepare the operands of others.
_PREPARING = frozenset({"convert_element_type", "broadcast_in_dim", "broadcast", "copy"})

#: Functions of Python that call no operation of an array, and methods of lists.
_PLAIN = frozenset(
    {"append", "bool", "enumerate", "float", "int", "isinstance", "len", "print", "range", "str", "zip"}
)

#: Attributes of arrays that call operations.
_ATTRIBUTES = frozenset({"T", "at", "imag", "mT", "real"})


def first_calls(
    is_own: Callable[[Frame], bool], calls: Sequence[Dispatch], evidence: Evidence
) -> Iterator[tuple[Dispatch, float]]:
    """Yield the operations of which the lines that called them first are known, with the share of own lines.

    An operation with several programs, as for several shapes, counts with the share of them that it called first.
    """
    eager = [each for each in evidence.programs or () if each.eager]
    for call in calls:
        programs = (each for each in eager if call.name in names_of_program(each))
        lines = [each.called_at for each in programs if each.called_at is not None]
        if lines:
            yield call, sum(map(is_own, lines)) / len(lines)


def first_called(is_own: Callable[[Frame], bool], calls: Sequence[Dispatch], evidence: Evidence) -> float | None:
    """Return the share of the idle time at operations that some lines called first; ``None`` if that is unknown."""
    known = list(first_calls(is_own, calls, evidence))
    total_ns = sum(call.exposed_ns for call, _ in known)
    return sum(call.exposed_ns * share for call, share in known) / total_ns if total_ns else None


def is_called_in(lines: Collection[SourceRange], evidence: Evidence) -> Callable[[Frame], bool]:
    """Return a function that tells whether a line is among some lines, or in a function that these call."""
    names = {
        (name, each.file)
        for each in lines
        for node in _nodes(each)
        if isinstance(node, ast.Call)
        for name in (last_name(node.func), *(last_name(given) for given in node.args))
        if name
    }
    found = [each for name, file in names for each in defined(name, file, evidence)]
    inside = [each for function, file in found for each in functions_run(function, file, evidence)]
    return lambda line: is_within(line, lines) or any(is_in(line, function, file) for function, file in inside)


def most_called(lines: Collection[SourceRange], calls: Sequence[Dispatch], evidence: Evidence) -> float:
    """Return the share of the idle time at operations that some lines may call, with the functions that they call.

    An operation that other lines called first may be called again with the same program, unless these lines call none
    but those of operators, or would have been the first.
    """
    total_ns = sum(each.exposed_ns for each in calls)
    possible_ns = sum(each.exposed_ns for each in calls if _may_call(lines, each.name, evidence))
    return possible_ns / total_ns if total_ns else 1.0


def _may_call(lines: Collection[SourceRange], name: str, evidence: Evidence) -> bool:
    programs = [each for each in evidence.programs or () if each.eager and name in names_of_program(each)]
    first = [each.called_at for each in programs if each.called_at is not None]
    led = any(is_within(frame, lines) for each in programs for frame in frames_of(each))
    if len(first) < len(programs) or not programs or led or any(is_within(each, lines) for each in first):
        return True
    jitted = names_of(evidence, eager=False)
    return any(
        name.strip("_") in _of_operators(each)
        or not (_has_operators_only(each, jitted) or all(_ran_before(each, line) for line in first))
        for each in lines
    )


def _nodes(lines: SourceRange) -> Iterator[ast.AST]:
    """Yield the nodes of some lines, without statements that only contain them."""
    for node in ast.walk(syntax.tree_of(lines.file) or ast.Module([], [])):
        first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        compound = isinstance(node, ast.stmt) and hasattr(node, "body")
        if first is not None and first <= lines.last and lines.first <= (first if compound else last or first):
            yield node


def _of_operators(lines: SourceRange) -> frozenset[str]:
    """Return the names of the operations that the operators in some lines may call."""
    operators = {
        type(operator)
        for node in _nodes(lines)
        for operator in (*getattr(node, "ops", ()), *filter(None, [getattr(node, "op", None)]))
    }
    return _PREPARING.union(*(OPERATORS.get(each, ()) for each in operators))


def _has_operators_only(lines: SourceRange, jitted: Collection[str]) -> bool:
    """Return whether some lines call no operation but by operators, as far as their syntax tells."""
    nodes = list(_nodes(lines))
    called = {id(each.func): each for each in nodes if isinstance(each, ast.Call)}
    return bool(nodes) and not any(
        isinstance(each, ast.Subscript | ast.Starred | ast.Lambda | ast.comprehension | ast.With | ast.FormattedValue)
        or (isinstance(each, ast.Call) and last_name(each.func) not in {*_PLAIN, *jitted})
        or (isinstance(each, ast.Attribute) and id(each) not in called and each.attr in _ATTRIBUTES)
        or (isinstance(each, ast.For) and not _is_plain(each.iter, {"range", "enumerate"}))
        or (isinstance(each, ast.Assign) and _unpacks(each) and not _is_plain(each.value, jitted))
        for each in nodes
    )


def _unpacks(node: ast.Assign) -> bool:
    return any(isinstance(each, ast.Tuple | ast.List) for each in node.targets)


def _is_plain(node: ast.expr, names: Collection[str]) -> bool:
    """Return whether an expression is a tuple, or calls one of some functions."""
    return isinstance(node, ast.Tuple) or (isinstance(node, ast.Call) and last_name(node.func) in names)


def _ran_before(lines: SourceRange, later: Frame) -> bool:
    """Return whether some lines ran before a line, in each call of their function, with all that they call."""
    first = around(Frame(function="", file=lines.file, line=lines.first))
    other = around(later) if later.file == lines.file and later.line > lines.last else []
    scope = next((at for at in range(len(first) - 1, -1, -1) if isinstance(first[at], Function | ast.Module)), 0)
    if (
        not other
        or first[: scope + 1] != other[: scope + 1]
        or any(isinstance(each, Function) for each in other[scope + 1 :])
    ):
        return False
    between = [each for each in first[scope + 1 : -1] if not isinstance(each, ast.With)]
    perhaps = ast.IfExp | ast.BoolOp | ast.Lambda | ast.comprehension
    return (
        all(isinstance(each, ast.For | ast.While) and each in other for each in between)
        and not hasattr(first[-1], "body")
        and not any(isinstance(each, perhaps) for node in first[-1:] for each in (node, *own_nodes(node)))
    )
