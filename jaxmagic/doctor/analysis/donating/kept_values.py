"""Follows values through code, and tells whether anything may read one after a call has used it up."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from typing import NamedTuple

from ..written_paths import is_path, variable_of
from .held_values import FOR_GOOD, MEANWHILE, HeldValues, read_at_once

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_Loop = ast.For | ast.AsyncFor | ast.While


class _Held(NamedTuple):
    """The values that each name may hold at some point of the code.

    Attributes:
        same: pairs of names, of which one may hold what the other holds, or a part of it.
        gone: the names that may hold what was used up.
    """

    same: frozenset[tuple[str, str]] = frozenset()
    gone: frozenset[str] = frozenset()

    def like(self, names: Collection[str]) -> set[str]:
        """Return names, and those that may hold the same."""
        return {*names, *(one for one, other in self.same if other in names)}

    def sharing(self, name: str, others: Collection[str]) -> _Held:
        """Return this once what a name holds, or what has no name, holds besides what others hold."""
        ones = {name} if name in (FOR_GOOD, MEANWHILE) else self.like({name})
        both = ((one, other) for one in ones for other in self.like(others) if one != other)
        return self._replace(same=self.same | {pair for one, other in both for pair in ((one, other), (other, one))})

    def without(self, name: str) -> _Held:
        """Return this once a name holds something else."""
        return _Held(frozenset(each for each in self.same if name not in each), self.gone - {name})


def _joined(states: Iterable[_Held]) -> _Held:
    every = list(states)
    return _Held(frozenset().union(*(each.same for each in every)), frozenset().union(*(each.gone for each in every)))


def is_kept(
    tree: ast.Module,
    variable: str,
    uses: Collection[ast.stmt],
    functions: Collection[str],
    *,
    is_array: bool = False,
) -> bool:
    """Return whether code may read what a variable held when a statement used it up, or keeps that for later.

    Reading the variable again is safe once it holds the result. Another name for the former value is not, nor a list
    that holds it, nor what a function may have kept of it that is not known. The code may run again.

    Args:
        tree: the code.
        variable: the name of the variable.
        uses: the statements that use up what it holds, or a part of it.
        functions: the names of functions that keep nothing of their arguments and return something new.
        is_array: whether it is known to hold an array, of which a part is another array.
    """
    flow = _Flow(variable, uses, functions, is_array)
    read_later, begun = _read_in_scopes(tree), _Held()
    while True:
        state = flow.block(tree.body, begun)
        state = state.sharing(FOR_GOOD, flow.values.of(_shown(tree)))
        if variable in read_later or flow.kept or state.gone or flow.gone & read_later:
            return True
        again = _joined([begun, state.without(MEANWHILE), *flow.returned])
        if again == begun:
            return False
        begun = again


def _shown(tree: ast.Module) -> ast.expr | None:
    """Return the expression that IPython displays, and keeps in ``Out``."""
    last = tree.body[-1] if tree.body else None
    return last.value if isinstance(last, ast.Expr) else None


def _read_in_scopes(tree: ast.AST) -> set[str]:
    """Return the names that functions and classes in some code read from outside: nobody knows when."""
    found: set[str] = set()
    for each in ast.walk(tree):
        if isinstance(each, _Scope):
            body = [each.body] if isinstance(each, ast.Lambda) else each.body
            names = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Name)]
            own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
            if not isinstance(each, ast.ClassDef):
                own |= {node.arg for node in ast.walk(each.args) if isinstance(node, ast.arg)}
            found |= {node.id for node in names} - own
    return found


class _Flow:
    """Follows what a variable holds through statements.

    Attributes:
        kept: whether something that is not known may read what was used up, or a name that may hold it is read.
        gone: all names that ever held what was used up.
        values: reads expressions.
        returned: what holds what where the code ends early.
    """

    def __init__(self, variable: str, uses: Collection[ast.stmt], functions: Collection[str], is_array: bool) -> None:
        self.kept = False
        self.gone: set[str] = set()
        self.returned: list[_Held] = []
        self._variable = variable
        self.values = HeldValues(functions, {variable} if is_array else ())
        self._uses = set(map(id, uses))
        self._loops: list[tuple[list[_Held], list[_Held]]] = []
        self._tries: list[list[_Held]] = []

    def block(self, body: Iterable[ast.stmt], state: _Held) -> _Held:
        """Return what holds what once some statements have run."""
        for each in body:
            state = self._statement(each, state)
            for states in self._tries:
                states.append(state)
        return state

    def _statement(self, node: ast.stmt, state: _Held) -> _Held:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                state, _ = self._read(test, state)
                return _joined([self.block(body, state), self.block(orelse, state)])
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, state)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    state, held = self._read(item.context_expr, state)
                    if item.optional_vars is not None:
                        state = self._assign(item.optional_vars, None, held, state)
                return self.block(body, state)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                self._tries.append([state])
                state = self.block(orelse, self.block(body, state))
                raised = _joined(self._tries.pop())
                return self.block(finalbody, _joined([state, *(self.block(one.body, raised) for one in handlers)]))
            case ast.Match(subject=subject, cases=cases):
                state, held = self._read(subject, state)
                ways = [self._case(each, held, state) for each in cases]
                return _joined([state, *ways])
            case ast.Break() | ast.Continue():
                self._loops[-1][isinstance(node, ast.Continue)].append(state)
            case ast.Return(value=value):
                state, held = (state, set()) if value is None else self._read(value, state)
                self.returned.append(state.sharing(FOR_GOOD, held).without(MEANWHILE))
            case ast.Delete(targets=targets):
                for each in targets:
                    state = state.without(each.id) if isinstance(each, ast.Name) else self._read(each, state)[0]
            case ast.Assign(targets=targets, value=value):
                pairs = [pair for target in targets for pair in pairs_of(target, value)]
                return self._assigned(node, value, pairs, state)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return self._assigned(node, value, [(target, value)], state)
            case ast.AugAssign(target=target, value=value):
                state, held = self._read(value, self._read(target, state)[0])
                if self.values.may_join([value], node.op, held):
                    state = state.sharing(variable_of(target), held)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                held = set()
                for at_once in read_at_once(node):
                    state, more = self._read(at_once, state)
                    held |= more
                return state.without(name).sharing(name, held)
            case _:
                for part in ast.iter_child_nodes(node):
                    if isinstance(part, ast.expr):
                        state, _ = self._read(part, state)
        return state

    def _case(self, case: ast.match_case, held: set[str], state: _Held) -> _Held:
        for each in ast.walk(case.pattern):
            name = getattr(each, "name", None) or getattr(each, "rest", None)
            state = state.without(name).sharing(name, held) if name else state
        return self.block(case.body, state if case.guard is None else self._read(case.guard, state)[0])

    def _loop(self, node: _Loop, state: _Held) -> _Held:
        while True:
            breaks: list[_Held] = []
            continues: list[_Held] = []
            self._loops.append((breaks, continues))
            if isinstance(node, ast.While):
                head, _ = self._read(node.test, state)
                begun = head
            else:
                head, held = self._read(node.iter, state)
                begun = self._assign(node.target, None, held, head)
            ended = self.block(node.body, begun)
            self._loops.pop()
            again = _joined([state, ended, *continues])
            if again == state:
                return _joined([self.block(node.orelse, head), *breaks])
            state = again

    def _assigned(
        self, node: ast.stmt, value: ast.expr, pairs: list[tuple[ast.expr, ast.expr]], state: _Held
    ) -> _Held:
        state, _ = self._read(value, state)
        held = [self.values.of(each) for _, each in pairs]
        if id(node) in self._uses:
            gone = state.like({self._variable}) - {self._variable}
            self.kept |= bool(gone & {FOR_GOOD, MEANWHILE})
            self.gone |= gone
            state = state._replace(gone=state.gone | gone)
        for (target, part), names in zip(pairs, held, strict=True):
            state = self._assign(target, part, names, state)
        return state

    def _assign(self, target: ast.expr, value: ast.expr | None, held: set[str], state: _Held) -> _Held:
        match target:
            case ast.Name(id=name):
                others = state.like(held)
                return state.sharing(name, others) if name in held else state.without(name).sharing(name, others)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for each in elements:
                    state = self._assign(each, None, held, state)
                return state
            case ast.Starred(value=inner):
                return self._assign(inner, value, held, state)
        state, _ = self._read(target, state)
        root = variable_of(target)
        if root in held and not (value is not None and _is_of_itself(target, value)):
            state = state.sharing(FOR_GOOD, {root})
        return state.sharing(root, held)

    def _read(self, node: ast.expr, state: _Held) -> tuple[_Held, set[str]]:
        """Read an expression: return what holds what afterwards, and which names the value may come from."""
        self.kept |= any(isinstance(each, ast.Name) and each.id in state.gone for each in ast.walk(node))
        self.values.puts.clear()
        held = self.values.of(node)
        for name, names in self.values.puts:
            state = state.sharing(name, names)
        return state, held


def pairs_of(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return the parts of what is assigned with their values, if both are written out."""
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        parts = [*target.elts, *value.elts]
        if len(target.elts) == len(value.elts) and not any(isinstance(each, ast.Starred) for each in parts):
            return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _is_of_itself(target: ast.expr, value: ast.expr) -> bool:
    """Return whether a value reads nothing of the target's variable but the target: ``s.p = s.p.reshape(3)``."""
    path, root = ast.unparse(target), variable_of(target)
    reads = [each for each in ast.walk(value) if isinstance(each, ast.Name) and each.id == root]
    return len(reads) == sum(is_path(each) and ast.unparse(each) == path for each in ast.walk(value))
