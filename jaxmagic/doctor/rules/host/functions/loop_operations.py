"""Bounds which of the eager operations some loops call: by the lines that called them first, and by their syntax."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from .....records.call_stack import Frame
from ....record.evidence import Dispatch, Evidence
from ...rewriting.meanings import Paths, path_at, paths_in
from ...rewriting.numbers.python_numbers import is_number, python_numbers
from ...rewriting.syntax import Loop, last_name
from ..host_time import eager_calls, names_of_program
from ..syntax import Comprehension, Function, around
from .first_called import OPERATORS
from .functions_run import defined
from .inside_function import is_in

#: Modules whose functions call no operation of JAX.
_PLAIN_MODULES = frozenset({
    "collections", "copy", "datetime", "functools", "itertools", "json", "math", "numpy", "os", "random", "re",
    "time",
})  # fmt: skip

#: Methods of Python's containers and texts, and functions of Python that may call operations of arrays.
_PLAIN_METHODS = frozenset({"append", "extend", "format", "insert", "items", "join", "keys", "values"})
_OPERATING = {"abs": "abs", "divmod": "divmod", "pow": "power", "round": "round", "sum": "add"}

#: Operations of an index, and of a loop that goes over an array.
_INDEXING = frozenset({"dynamic_index_in_dim", "dynamic_slice", "gather", "getitem", "slice", "squeeze", "unstack"})

#: What the names of some operations have in front of those of the methods that call them.
_REDUCING = "reduce_"

#: Functions called by functions are followed down to this depth.
_DEEPEST = 3


class _Called(NamedTuple):
    """The calls in some code: names that may be operations of JAX, and functions of the user's."""

    names: set[str]
    functions: list[tuple[Function, str]]


def share_called(loops: Sequence[Loop | ast.Call], scope: ast.AST, file: str, evidence: Evidence) -> float:
    """Return the share of the idle time at eager operations that some loops call, at most.

    An operation that other lines called first counts if the loops, or functions of the user's that they call, have
    its name in their syntax. One that no line is known to have called first counts if they may call any.

    Args:
        loops: the loops, and calls of ``map``.
        scope: the function, cell or file that has them.
        file: the file or cell.
        evidence: the observations of the runs.
    """
    calls = [] if evidence.host_use is None else eager_calls(evidence, evidence.host_use)
    repeated = {id(each): each for loop in loops for each in _repeated(loop)}
    called = _called(repeated.values(), scope, file, evidence)
    if not called.names:
        return 0.0
    lines = {line for each in loops for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    beside = _called_beside(lines, repeated.keys(), scope, file, evidence)

    def is_inside(line: Frame, name: str) -> bool:
        own = line.file == file and line.line in lines and name not in beside
        return own or any(is_in(line, *each) for each in called.functions)

    def is_called(call: Dispatch) -> bool:
        programs = [each for each in evidence.programs or () if each.eager and call.name in names_of_program(each)]
        first = [each.called_at for each in programs if each.called_at is not None]
        name = call.name.strip("_")
        named = not called.names.isdisjoint((name, name.removeprefix(_REDUCING)))
        return named or not first or any(is_inside(each, name) for each in first)

    weights = [(call, call.exposed_ns or call.count) for call in calls]
    total = sum(weight for _, weight in weights)
    return sum(weight for call, weight in weights if is_called(call)) / total if total else 1.0


def _called(nodes: Iterable[ast.AST], scope: ast.AST, file: str, evidence: Evidence, depth: int = 0) -> _Called:
    """Return what some nodes of a scope call, directly or through functions of the user's."""
    numbers = python_numbers(scope) | _counters(scope)
    paths, found = paths_in(scope, file, evidence.names), _Called(set(), [])
    for each in nodes:
        names = set(_operations(each, numbers, paths))
        functions = [one for name in _functions(each, names) for one in defined(name, file, evidence)]
        if not functions:
            found.names.update(names)
        for one, place in functions if depth < _DEEPEST else ():
            inner = _called(ast.walk(one), one, place, evidence, depth + 1)
            found.names.update(inner.names)
            found.functions.extend([(one, place), *inner.functions])
    return found


def _functions(node: ast.AST, names: Collection[str]) -> Iterator[str]:
    """Yield the names of functions that a call may run: what it calls, and what it passes, as to ``map``."""
    if isinstance(node, ast.Call):
        yield from names
        yield from (each.id for each in node.args if isinstance(each, ast.Name))


def _called_beside(
    lines: Collection[int], own: Collection[int], scope: ast.AST, file: str, evidence: Evidence
) -> set[str]:
    """Return the names of what may be operations in nodes on some lines, but those nodes that have these ids."""
    statements = {id(node): node for line in lines for node in around(Frame(function="", file=file, line=line))[-1:]}
    nodes = {id(each): each for node in statements.values() for each in ast.walk(node)}
    others = [each for address, each in nodes.items() if address not in own]
    return _called(others, scope, file, evidence, _DEEPEST).names


def _counters(scope: ast.AST) -> set[str]:
    """Return the variables of comprehensions that count."""
    every = (each for each in ast.walk(scope) if isinstance(each, ast.comprehension))
    counting = (each for each in every if isinstance(each.iter, ast.Call) and last_name(each.iter.func) == "range")
    return {each.target.id for each in counting if isinstance(each.target, ast.Name)}


def _repeated(loop: Loop | ast.Call) -> Iterator[ast.AST]:
    """Yield the nodes that a loop runs in each round, with the loop itself."""
    begun = [loop.iter] if isinstance(loop, ast.For) else []
    begun += [loop.generators[0].iter] if isinstance(loop, Comprehension) else []
    begun += loop.args[1:] if isinstance(loop, ast.Call) else []
    once = {id(each) for outer in begun for each in ast.walk(outer)}
    return (each for each in ast.walk(loop) if id(each) not in once)


def _operations(node: ast.AST, numbers: set[str], paths: Paths) -> Iterator[str]:
    """Yield the names of the operations that a node may call: of a call, the name of what it calls."""
    match node:
        case ast.BinOp(op=operator, left=left, right=right) | ast.AugAssign(op=operator, target=left, value=right):
            yield from () if _are_plain([left, right], numbers) else OPERATORS.get(type(operator), ())
        case ast.UnaryOp(op=operator, operand=operand):
            yield from () if _are_plain([operand], numbers) else OPERATORS.get(type(operator), ())
        case ast.Compare(ops=operators, left=left, comparators=others):
            if not _are_plain([left, *others], numbers):
                yield from (name for each in operators for name in OPERATORS.get(type(each), ()))
        case ast.Call(func=called) if not _is_plain_call(node, numbers, paths):
            name = last_name(called) or ""
            yield _OPERATING.get(name, name)
        case ast.Subscript(ctx=ast.Load()) if not is_number(node, numbers):
            yield from _INDEXING
        case ast.For(iter=ast.Name() | ast.Attribute()) | ast.comprehension(iter=ast.Name() | ast.Attribute()):
            yield from _INDEXING


def _are_plain(operands: Sequence[ast.expr], numbers: set[str]) -> bool:
    """Return whether operands are numbers of Python, or one of them is a text."""
    return all(is_number(each, numbers) for each in operands) or any(map(_is_text, operands))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_plain_call(call: ast.Call, numbers: set[str], paths: Paths) -> bool:
    """Return whether a call is of a function of Python or NumPy, or of a method of a text, number or container."""
    path, function = path_at(call.func, paths), call.func
    if hasattr(builtins, path):
        return path not in _OPERATING or all(is_number(getattr(each, "elt", each), numbers) for each in call.args)
    if "." in path and path.partition(".")[0] in _PLAIN_MODULES:
        return True
    return isinstance(function, ast.Attribute) and (
        is_number(function.value, numbers)
        or _is_text(function.value)
        or (function.attr in _PLAIN_METHODS and not path.startswith("jax"))
    )
