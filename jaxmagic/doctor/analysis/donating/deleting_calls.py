"""Finds calls that would delete what they are given if the called function donated it, and writes copies of that."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..written_paths import called_name, is_path
from .rebinding import ReplacedArguments, is_held

#: Functions that return a copy of the array that they are given.
_COPIES = frozenset({"jnp.array", "jnp.copy", "jax.numpy.array", "jax.numpy.copy"})

_LOOPS = ast.For, ast.AsyncFor, ast.While, ast.comprehension


class DeletingCall(NamedTuple):
    """A call of a function that passes what the code may use afterwards.

    Attributes:
        node: the call.
        passed: what it passes, by parameter; ``None`` where that is not written out.
        rarely: whether it is in fewer loops than the call whose arguments are replaced, so that copies are made less
            often than they spare.
    """

    node: ast.Call
    passed: Mapping[str, ast.expr | None]
    rarely: bool

    def can_copy(self, parameter: str) -> bool:
        """Return whether the call can pass a copy for a parameter: code for one can be written, and it pays."""
        passed = self.passed.get(parameter)
        return self.rarely and passed is not None and is_path(passed)

    def with_copies(self, parameters: Mapping[str, bool]) -> str:
        """Write the call with copies of what it passes.

        Args:
            parameters: those to copy for, and whether they get a single array rather than a container.
        """
        copied = {id(self.passed[each]): is_array for each, is_array in parameters.items() if each in self.passed}

        def write(node: ast.expr) -> ast.expr:
            text = ast.unparse(node)
            copy = f"{text}.copy()" if copied.get(id(node)) else f"jax.tree.map(jnp.copy, {text})"
            return ast.parse(copy, mode="eval").body if id(node) in copied else node

        keywords = [ast.keyword(each.arg, write(each.value)) for each in self.node.keywords]
        return ast.unparse(ast.Call(self.node.func, [write(each) for each in self.node.args], keywords))


def deleting_calls(
    code: str | None,
    call: ReplacedArguments,
    names: Collection[str],
    parameters: Mapping[str, bool],
    replaced: Iterable[ReplacedArguments],
    functions: Iterable[ast.AST] = (),
) -> Iterator[DeletingCall]:
    """Yield the other calls of a function that pass what the code may use afterwards.

    That is anything but what the call itself replaces, a new value that has no name, or a copy.

    Args:
        code: the source of some statements.
        call: a call of the function in them.
        names: all names of the function.
        parameters: its parameters, and whether they get a single array rather than a container.
        replaced: all calls in the code whose arguments are replaced.
        functions: functions that the code may run; what they pass is known to be new only if it has no name.
    """
    tree = ast.parse(code or "")
    free = {each.place: each.passed_for([*parameters]) for each in replaced}
    depths = dict(_depths(tree, 0))
    often = max((depth for node, depth in depths.items() if _place(node) == call.place), default=0)
    for node, depth in depths.items():
        if called_name(node) in names:
            known = free.get(_place(node), {})
            passed = {name: value for name, value in _passed(node, parameters).items() if name not in known}
            if passed:
                yield DeletingCall(node, passed, depth < often)
    written = {_last(each) for each in names}
    for function in functions:
        for each in ast.walk(function):
            if isinstance(each, ast.Call) and _last(called_name(each) or "") in written:
                yield DeletingCall(each, _passed(each, parameters), rarely=False)


def _last(name: str) -> str:
    """Return the name of an attribute without its object, which others may call otherwise: ``".step"``."""
    _, dot, last = name.rpartition(".")
    return dot + last


def _place(call: ast.Call) -> tuple[int, int]:
    return call.lineno, call.col_offset


def _depths(node: ast.AST, depth: int) -> Iterator[tuple[ast.Call, int]]:
    """Yield the calls inside a node, and how many loops they are in."""
    if isinstance(node, ast.Call):
        yield node, depth
    looped = isinstance(node, (*_LOOPS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
    for each in ast.iter_child_nodes(node):
        yield from _depths(each, depth + looped)


def _passed(call: ast.Call, parameters: Mapping[str, bool]) -> dict[str, ast.expr | None]:
    """Return what a call passes that something else may hold, by parameter; ``None`` for what is not written out."""
    names = [*parameters]
    found: dict[str, ast.expr | None] = {}
    for number, each in enumerate(call.args):
        if isinstance(each, ast.Starred):
            found |= dict.fromkeys(names[number:]) if is_held(each, ()) else {}
            break
        if number < len(names) and _may_be_used(each, is_array=parameters[names[number]]):
            found[names[number]] = each
    for keyword in call.keywords:
        if keyword.arg is None:
            found |= {name: found.get(name) for name in names} if is_held(keyword.value, ()) else {}
        elif _may_be_used(keyword.value, is_array=parameters.get(keyword.arg, False)):
            found[keyword.arg] = keyword.value
    return found


def _may_be_used(value: ast.expr, *, is_array: bool) -> bool:
    """Return whether a value may be used after the call: something else may hold it, or a part of it."""
    match value:
        case ast.Call(func=ast.Attribute(attr="copy"), args=[], keywords=[]) if is_array:
            return False
        case ast.Call(func=called) if is_array and ast.unparse(called) in _COPIES:
            return False
    return is_held(value, ())
