"""Finds the statements in a round of a loop that compute, and those that can follow them."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ....record.evidence import Evidence
from ....record.library_use import ModuleLibrary
from ....record.program import Program
from ...host.host_time import names_of_program
from ...host.syntax import Function, Loop
from ..jit.jittable import computes_only
from ..methods.own_class import OwnClass, used_of
from ..numbers.passed_numbers import numbers_in
from ..numbers.python_numbers import computes_numbers
from ..syntax import last_name, loaded, parameters, stored
from .counted_comprehensions import OPERATIONS, operations_counted
from .loop_facts import assigns, reads
from .while_loop import is_plain, unread

#: Functions of JAX that make a larger array of one that they get.
_GROWING = frozenset({"append", "column_stack", "concatenate", "hstack", "stack", "vstack"})

#: Functions of Python that read the value of an array.
_READING = frozenset({"bool", "float", "int"})

#: Comprehensions of a statement that call more operations than this stay outside jit, which unrolls them.
_MOST_COUNTED = 200

#: What leaves a loop or a function.
_LEAVING = ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await


#: With more programs of one operation than this, and fewer calls of each, its shapes vary from round to round.
_MOST_SHAPES = 3
_LEAST_CALLS = 4


class Place(NamedTuple):
    """The surroundings of a loop.

    Attributes:
        loop: the loop.
        scope: the function around it, or the cell or file.
        file: the file or cell.
        paths: what the names in the scope stand for.
        functions: the names of modules and functions.
        numbers: the variables that are numbers of Python.
        texts: the variables that may be texts, such as the name of a dtype.
        modules: the library of each variable that is a module, or has one inside, when the function begins.
        evidence: the observations of the runs.
        attributes: the variables that stand for attributes of objects, with these.
        own: the class of the method whose statements stand for a loop; ``None`` for a loop.
        static: the variables that stand for attributes which jit has to know, as for an optimizer.
    """

    loop: Loop
    scope: ast.AST
    file: str
    paths: Mapping[str, str]
    functions: set[str]
    numbers: set[str]
    texts: set[str]
    modules: Mapping[str, ModuleLibrary]
    evidence: Evidence
    attributes: Mapping[str, str] = MappingProxyType({})
    own: OwnClass | None = None
    static: frozenset[str] = frozenset()

    @property
    def local(self) -> set[str]:
        """The names that belong to the function, which code beside it does not see."""
        return stored(self.scope.body) | parameters(self.scope) if isinstance(self.scope, Function) else set()

    @property
    def objects(self) -> set[str]:
        """The objects whose attributes variables stand for."""
        return {each.partition(".")[0] for each in self.attributes.values()}


class Part(NamedTuple):
    """Consecutive statements of a round.

    Attributes:
        computed: those that become part of the jitted function.
        moved: those that follow its call.
    """

    computed: Sequence[ast.stmt]
    moved: Sequence[ast.stmt]

    @property
    def lines(self) -> tuple[int, int]:
        """The first line and the last one."""
        every = [*self.computed, *self.moved]
        return min(each.lineno for each in every), max(each.end_lineno or each.lineno for each in every)


class Item(NamedTuple):
    """A value that a round appends to a list or reads: the statement that computes it, and the one that does so."""

    computed: ast.stmt
    takes: ast.stmt


def block_around(loop: Loop, line: int) -> list[ast.stmt]:
    """Return the innermost block of statements in a loop that has a line."""
    body = loop.body
    while True:
        inner = [
            block
            for each in body
            if _has(each, line) and not isinstance(each, Function | Loop)
            for name in ("body", "orelse", "finalbody")
            if isinstance(block := getattr(each, name, None), list) and block
            if block[0].lineno <= line <= (block[-1].end_lineno or 0)
        ]
        if not inner:
            return body
        body = inner[0]


def part_around(line: int, place: Place) -> Part | None:
    """Return the statements around a line of a loop that compute, up to those that cannot follow them."""
    body = block_around(place.loop, line)
    at = next((number for number, each in enumerate(body) if _has(each, line)), None)
    if at is None or not computes(body[at], place):
        return None
    computed, moved, pending, before = [body[at]], list[ast.stmt](), list[ast.stmt](), list[ast.stmt]()
    for each in body[at + 1 :]:
        of_numbers, others = computes_numbers(each, place.numbers), (*moved, *pending)
        if computes(each, place) and not of_numbers and all(_may_follow(other, each) for other in others):
            computed.append(each)
            moved, pending = [*moved, *pending], []
        elif (item := item_of(each, place)) and all(_may_follow(one, item.computed) for one in others):
            moved, pending = [*moved, *pending, each], []
        elif of_numbers or _may_move(each):
            pending.append(each)
        else:
            break
    for each in reversed(body[:at]):
        if not (of_numbers := computes_numbers(each, place.numbers)) and computes(each, place):
            computed, moved, before = [each, *computed], [*before, *moved], []
        elif (of_numbers or _may_move(each)) and all(_may_follow(each, other) for other in computed):
            before.insert(0, each)
        else:
            break
    return Part(computed, moved)


def programs_at(part: Part, place: Place) -> list[Program]:
    """Return the programs of operations that the statements which compute were the first to call."""
    lines = {line for each in part.computed for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    return [
        each
        for each in place.evidence.programs or ()
        if each.eager and (at := each.called_at) is not None and at.file == place.file and at.line in lines
    ]


def vary(part: Part, place: Place) -> bool:
    """Return whether an operation in some statements had programs for nearly as many shapes as it had calls."""
    use = place.evidence.host_use
    programs = Counter(name for each in programs_at(part, place) for name in names_of_program(each))
    calls = () if use is None else use.dispatches
    return any(programs[each.name] > max(_MOST_SHAPES, each.count // _LEAST_CALLS) for each in calls)


def _has(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _may_move(statement: ast.stmt) -> bool:
    """Return whether a statement tells or collects something, and does not leave the loop."""
    return isinstance(statement, ast.Expr | ast.If) and not any(
        isinstance(each, _LEAVING) for each in ast.walk(statement)
    )


def _may_follow(moved: ast.stmt, computed: ast.stmt) -> bool:
    """Return whether a statement that comes before another one may follow it."""
    changed, read = assigns([computed]), reads(computed)
    return not (reads(moved) & changed) and not ((assigns([moved]) | _may_change(moved)) & (read | changed))


def _may_change(statement: ast.stmt) -> set[str]:
    """Return the variables whose objects a statement may change: those of methods, items, and what is passed on."""
    inside = (each for each in ast.walk(statement) if isinstance(each, ast.Subscript | ast.Attribute))
    found = loaded([each.value for each in inside if not isinstance(each.ctx, ast.Load)])
    for call in (each for each in ast.walk(statement) if isinstance(each, ast.Call)):
        if isinstance(call.func, ast.Attribute):
            found |= loaded([call.func.value])
        elif isinstance(call.func, ast.Name) and not hasattr(builtins, call.func.id):
            found |= loaded([*call.args, *call.keywords])
    return found


def computes(statement: ast.stmt, place: Place, *, reads_values: bool = True) -> bool:
    """Return whether jit can compile a statement, as far as its syntax and the names tell.

    Args:
        statement: the statement.
        place: the loop.
        reads_values: whether the waits at its lines are its own.
    """
    targets, own = assigns([statement]), place.own
    if place.objects & loaded([statement]) if own is None else used_of(own, [statement]) is None:
        return False
    defines = isinstance(statement, ast.FunctionDef) and own is not None
    if (
        not (is_plain(statement) or defines)
        or targets <= place.numbers
        or (reads_values and _waits_at(statement, place))
    ):
        return False
    if any(isinstance(each, ast.NamedExpr | ast.JoinedStr) for each in ast.walk(statement)):
        return False
    if any(isinstance(each, ast.comprehension) for each in ast.walk(statement)) and not _counts(statement, place):
        return False
    if any(_grows(each, targets) for each in ast.walk(statement)):
        return False
    calls = [each for each in ast.walk(statement) if isinstance(each, ast.Call)]
    if isinstance(place.loop, ast.While) and not calls and targets & loaded([place.loop.test]):
        return False  # a float of Python has 64 bits, so that the loop may end after another number of rounds
    called = {each.func.id for each in calls if isinstance(each.func, ast.Name)}
    made = set[str]() if own is None else {*own.made}
    known = place.functions | made
    if called & (place.local - made) or any(each not in known and not hasattr(builtins, each) for each in called):
        return False
    return computes_only(as_function([statement]), {**place.paths, **dict.fromkeys(targets, "")})


def _counts(statement: ast.stmt, place: Place) -> bool:
    """Return whether the comprehensions of a statement go over a few numbers, the same in each round."""
    inside = [each for each in ast.walk(statement) if isinstance(each, ast.ListComp | ast.GeneratorExp)]
    varying = assigns([place.loop]) & place.numbers
    if any(reads(each) & varying for each in inside):
        return False
    count = operations_counted(statement, numbers_in(place.scope, place.file, place.evidence))
    return count is not None and count <= _MOST_COUNTED


def _grows(node: ast.AST, targets: set[str]) -> bool:
    """Return whether an expression makes something larger of a variable that it is assigned to."""
    match node:
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return any(isinstance(each, ast.List | ast.ListComp | ast.Tuple) for each in (left, right))
        case ast.Call(func=called, args=args):
            return last_name(called) in _GROWING and bool(loaded(args) & targets)
    return False


def item_of(statement: ast.stmt, place: Place) -> Item | None:
    """Divide ``losses.append(jnp.mean(r))``, ``losses[step] = jnp.mean(r)``, and what is known to read an array.

    That is ``best = int(jnp.argmax(r))``.

    ``None`` if that is something else, or jit may not compile it.
    """
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=into), attr="append"), args=[value], keywords=[])
        ):
            inner, item = unread(value), f"{into}_item"
            takes = f"{into}.append({_as_read(value, inner, item)})"
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=into)) as target], value=value) if _is_collection(
            into, place
        ):
            inner, item = unread(value), f"{into}_item"
            takes = f"{ast.unparse(target)} = {_as_read(value, inner, item)}"
        case ast.Assign(
            targets=[ast.Name(id=into)], value=ast.Call(func=ast.Name(id=read), args=[inner], keywords=[])
        ) if read in _READING and _waits_at(statement, place):
            item = f"{into}_array"
            takes = f"{into} = {read}({item})"
        case _:
            return None
    if not isinstance(inner, OPERATIONS) or ast.unparse(unread(inner)) != ast.unparse(inner):
        return None
    computed = ast.copy_location(ast.Assign([ast.Name(item, ast.Store())], inner), statement)
    computed = ast.fix_missing_locations(computed)
    return Item(computed, ast.parse(takes).body[0]) if computes(computed, place, reads_values=False) else None


def _is_collection(name: str, place: Place) -> bool:
    """Return whether a variable is known to be a dictionary or a list, which has no views as arrays have."""
    nodes = [*ast.walk(place.scope)]
    times = sum(isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store) for each in nodes)
    literals = sum(
        isinstance(each.value, ast.Dict | ast.List) and [*map(ast.unparse, each.targets)] == [name]
        for each in nodes
        if isinstance(each, ast.Assign)
    )
    inputs = {each.path: each.type for each in place.evidence.inputs}
    return times == literals if times else inputs.get(name) in ("dict", "list")


def _as_read(value: ast.expr, inner: ast.expr, item: str) -> str:
    """Return the code for `item`, in place of `inner`, as ``float`` reads it in `value`, or as it is."""
    return item if ast.unparse(inner) == ast.unparse(value) else f"float({item})"


def _waits_at(statement: ast.stmt, place: Place) -> bool:
    """Return whether the code waits for values of arrays at the lines of a statement."""
    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    waits = (line for each in place.evidence.waits or () for line in (each.line, *each.stack) if line is not None)
    return any(each.file == place.file and each.line in lines for each in waits)


def as_function(statements: Sequence[ast.stmt], given: Sequence[str] = ()) -> ast.FunctionDef:
    """Return a function that consists of some statements."""
    made = ast.parse(f"def f({', '.join(given)}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = [*statements]
    return made
