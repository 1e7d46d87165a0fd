"""Writes a loop of Python that only calls a jitted function as one call, inside of which ``jax.lax.scan`` loops."""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .....records.call_stack import Frame
from ...host.syntax import Loop, function_around, loop_around, tree_of
from ..changing_values import bound_by_loops
from ..rewritten import INSTEAD
from ..syntax import loaded, parameters, stored
from .shown_later import can_run_later

#: The parameter for the number of rounds.
_LENGTH = "length"


class _Round(NamedTuple):
    """A round of a loop: ``w, loss = step(w, x)``, and perhaps ``losses.append(float(loss))``.

    Attributes:
        called: the name under which the jitted function is called.
        results: the variables that the call assigns.
        given: those that it is passed.
        state: the one that is passed to the next round.
        kept: the one that is appended to a list; empty if none is.
        into: the list.
        reads: whether its value is read before.
        later: the statements that only show or keep what the call returns.
    """

    called: str
    results: tuple[str, ...]
    given: tuple[str, ...]
    state: str
    kept: str = ""
    into: str = ""
    reads: bool = False
    later: tuple[ast.stmt, ...] = ()


def scanned_loop(line: Frame) -> str | None:
    """Write the loop around a line as one call; ``None`` if it does more than this, or the code could not be pasted.

    Args:
        line: the line that calls a jitted function.
    """
    loop = loop_around(line)
    match loop:
        case ast.For(
            target=ast.Name(id=counter),
            iter=ast.Call(func=ast.Name(id="range"), args=[times], keywords=[]),
            body=[first, *others],
            orelse=[],
        ):
            pass
        case _:
            return None
    made, tree = _round(first, others), tree_of(line)
    if made is None or tree is None or not first.lineno <= line.line <= (first.end_lineno or 0):
        return None
    scope = function_around(line) or tree
    name = numbered(f"scan_{made.called}", loop, scope)
    inside = {id(each) for each in ast.walk(loop)}
    if counter in loaded(each for each in ast.walk(scope) if isinstance(each, ast.Name) and id(each) not in inside):
        return None
    if counter in (*made.given, *made.results) or {_LENGTH, "body"} & {*made.given, *made.results, made.called}:
        return None
    if name in loaded([tree]) | stored([tree]) or made.called in _local(line):
        return None
    if made.called in bound_by_loops(line.file, line.line):
        return None
    if made.later and not isinstance(times, ast.Constant | ast.Name | ast.Attribute):  # it is written twice
        return None
    if made.later and {*map(_all, made.results), _each(made.state)} & (loaded([scope]) | stored([scope])):
        return None
    return _written(made, name, times, counter)


def lines_shown_later(line: Frame) -> range:
    """Return the lines of a loop that stay in Python, as they only show or keep what its calls return; else none."""
    loop = loop_around(line)
    body = loop.body if isinstance(loop, ast.For) else []
    made = _round(body[0], body[1:]) if body else None
    if made is None or not made.later:
        return range(0)
    return range(made.later[0].lineno, (made.later[-1].end_lineno or made.later[-1].lineno) + 1)


def numbered(name: str, loop: Loop, scope: ast.AST) -> str:
    """Return a name for the function that replaces a loop, with a number if other loops precede it in the scope."""
    preceding = sum(isinstance(node, Loop) and node.lineno < loop.lineno for node in ast.walk(scope))
    return f"{name}_{preceding + 1}" if preceding else name


def _round(first: ast.stmt, others: Sequence[ast.stmt]) -> _Round | None:
    match first:
        case ast.Assign(
            targets=[ast.Tuple() | ast.Name() as target],
            value=ast.Call(func=ast.Name(id=called), args=arguments, keywords=[]),
        ):
            pass
        case _:
            return None
    targets = [target] if isinstance(target, ast.Name) else target.elts
    results = tuple(each.id for each in targets if isinstance(each, ast.Name))
    given = tuple(each.id for each in arguments if isinstance(each, ast.Name))
    carried = [each for each in results if each in given]
    if len(results) != len(targets) or len(set(results)) != len(results):
        return None
    if len(given) != len(arguments) or len(carried) != 1:
        return None
    made = _Round(called, results, given, carried[0])
    if not others:
        return made
    kept = _keeping(made, others)
    seldom = carried[0] in loaded(each for each in others if isinstance(each, ast.If))  # and takes memory in all
    fixed = given if seldom else {*given} - {*carried}
    if kept is None and can_run_later(others, fixed, results):
        return made._replace(later=tuple(others))
    return kept


def _keeping(made: _Round, statements: Sequence[ast.stmt]) -> _Round | None:
    """Return the round with what the only statement keeps of it; ``None`` if it does something else."""
    match statements[0] if len(statements) == 1 else None:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=into), attr="append"), args=[value], keywords=[])
        ) if into not in (*made.given, *made.results):
            pass
        case _:
            return None
    match value:
        case ast.Name(id=kept):
            reads = False
        case ast.Call(func=ast.Name(id="float"), args=[ast.Name(id=kept)], keywords=[]):
            reads = True
        case ast.Call(func=ast.Attribute(value=ast.Name(id=kept), attr="item"), args=[], keywords=[]):
            reads = True
        case _:
            return None
    return made._replace(kept=kept, into=into, reads=reads) if kept in made.results and kept != made.state else None


def _local(line: Frame) -> set[str]:
    """Return the names that belong to the function around a line, which code beside it does not see."""
    function = function_around(line)
    return set() if function is None else stored(function.body) | parameters(function)


def _written(made: _Round, name: str, times: ast.expr, counter: str) -> str:
    shown = loaded(made.later)
    others = [each for each in made.results if each != made.state or each in shown]
    stacked = others[0] if len(others) == 1 else f"({', '.join(others)})" if others else "None"
    given = list(dict.fromkeys(made.given))
    fixed = isinstance(times, ast.Constant)
    length = ast.unparse(times)
    declared, passed = ([], []) if fixed else ([_LENGTH], [f"{_LENGTH}={length}"])
    lines = [
        f"def {name}({', '.join([*given, *declared])}):",
        f"    def body({made.state}, _):",
        f"        {', '.join(made.results)} = {made.called}({', '.join(made.given)})",
        f"        return {made.state}, {stacked}",
        f"    return jax.lax.scan(body, {made.state}, length={length if fixed else _LENGTH})",
        f"{name} = jax.jit({name}{'' if fixed else f', static_argnames={_LENGTH!r}'})",
        INSTEAD,
    ]
    call = f"{name}({', '.join([*given, *passed])})"
    if made.later:
        return "\n".join([*lines, *_then_shown(made, call, others, f"for {counter} in range({length}):", counter)])
    lines.append(f"{made.state}, {stacked if others else '_'} = {call}")
    if made.kept:
        lines.append(f"{made.into}.extend({made.kept}{'.tolist()' if made.reads else ''})")
    if others:
        names = others[0] if len(others) == 1 else f"({', '.join(others)})"
        lines.append(f"{', '.join(others)} = jax.tree.map(lambda each: each[-1], {names})  # those of the last step")
    return "\n".join(lines)


def _then_shown(made: _Round, call: str, others: Sequence[str], loop: str, counter: str) -> Iterator[str]:
    """Yield the call, and a loop over what all rounds have returned that shows or keeps it."""
    names = [*map(_all, others)]
    together = names[0] if len(names) == 1 else f"({', '.join(names)})" if names else "_"
    at_once = f"  # {made.state} of all rounds at once" if made.state in others else ""
    yield f"{made.state}, {together} = {call}{at_once}"
    if names:
        yield f"{together} = jax.device_get({together})"
    yield f"{loop}  # after all rounds"
    own = {made.state: _each(made.state)}  # the variable keeps what the last round returned
    for each in others:
        yield f"    {own.get(each, each)} = jax.tree.map(lambda each: each[{counter}], {_all(each)})"
    for statement in made.later:
        yield textwrap.indent(ast.unparse(_Renamed(own).visit(copy.deepcopy(statement))), "    ")


class _Renamed(ast.NodeTransformer):
    """Gives variables other names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node


def _each(name: str) -> str:
    """Return the name of the value of one round, beside that of the last one."""
    return f"each_{name}"


def _all(name: str) -> str:
    """Return the name of the values of all rounds."""
    return f"all_{name}"
