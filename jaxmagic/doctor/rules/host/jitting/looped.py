"""Tells which loops call many of the operations, so that jit around them would unroll these."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from .....records.call_stack import Frame
from ....record.evidence import Evidence
from ...rewriting.loops.long_loops import lists_in, long_loops
from ...rewriting.loops.loop_end import end_of
from ...rewriting.loops.loop_facts import is_range
from ...rewriting.meanings import path_at, paths_in
from ...rewriting.syntax import last_name, loaded
from ..functions.loop_operations import share_called
from ..syntax import Comprehension, Function, around, loop_around, tree_of

#: Compiling a loop that jit unrolls into more operations than this takes long.
MOST_UNROLLED = 200

#: Loops with at least this share of the operations call most of them.
_MOST = 0.5

#: Functions of Python that go over the items of what they get.
_GOING_OVER = frozenset({"enumerate", "reversed", "zip"})

#: Kinds of inputs whose items jax.vmap or a loop of JAX may go over.
_ARRAYS = "jax array", "numpy array"


def unrolled_in(functions: Iterable[tuple[Function, str]], count: int, evidence: Evidence) -> Function | None:
    """Return the first function whose loops call many operations, or most of them; ``None`` if there is none."""
    lists = lists_in(evidence.inputs)
    for function, file in functions:
        loops = list(long_loops(function, None, lists))
        share = share_called(loops, function, file, evidence) if loops else 0.0
        if share >= _MOST or share * count > MOST_UNROLLED:
            return function
    return None


def is_looped(line: Frame, evidence: Evidence) -> bool:
    """Return whether a line outside of functions is in a loop that counts, or goes over arrays, with most operations.

    A comprehension and a call of ``map`` are loops as well.
    """
    tree, statement, loop = tree_of(line), around(line)[-1:], loop_around(line)
    if tree is None:
        return False
    every = [each for node in statement for each in ast.walk(node) if isinstance(each, ast.Call | Comprehension)]
    there = [each for each in every if each.lineno <= line.line <= (each.end_lineno or each.lineno)]
    loops: list[ast.For | Comprehension | ast.Call] = []
    loops += [each for each in there if isinstance(each, Comprehension) or last_name(each.func) == "map"]
    loops += [loop] if isinstance(loop, ast.For) and end_of(loop) == "count" else []
    loops = [each for each in loops if all(_has_items(one, tree, line, evidence) for one in _iterated(each))]
    return any(share_called([each], tree, line.file, evidence) >= _MOST for each in loops)


def _iterated(loop: ast.For | Comprehension | ast.Call) -> Iterator[ast.expr]:
    """Yield what a loop goes over."""
    if isinstance(loop, ast.For):
        yield loop.iter
    else:
        yield from loop.args[1:] if isinstance(loop, ast.Call) else [each.iter for each in loop.generators]


def _has_items(node: ast.expr, tree: ast.Module, line: Frame, evidence: Evidence) -> bool:
    """Return whether an expression counts, or is an array or a list of arrays of one shape, as far as is known."""
    if isinstance(node, ast.Call) and last_name(node.func) in _GOING_OVER:
        return bool(node.args) and all(_has_items(each, tree, line, evidence) for each in node.args)
    if is_range(node) or (isinstance(node, ast.Call) and _is_jaxs(node, tree, line, evidence)):
        return True
    if isinstance(node, ast.Subscript):
        return _has_items(node.value, tree, line, evidence)
    text = ast.unparse(node)
    every = [each for each in tree.body if isinstance(each, ast.Assign) and text in map(ast.unparse, each.targets)]
    made = [each.value for each in every if text not in loaded([each.value])]
    if made:
        return all(_has_items(each, tree, line, evidence) for each in made)
    found = [each for each in evidence.inputs if each.path == text or each.path.startswith(f"{text}[")]
    return len({each.type for each in found}) == 1 and all(each.kind in _ARRAYS for each in found)


def _is_jaxs(call: ast.Call, tree: ast.Module, line: Frame, evidence: Evidence) -> bool:
    path = path_at(call.func, paths_in(tree, line.file, evidence.names))
    return path.startswith(("jax.numpy.", "jax.random.", "numpy."))
