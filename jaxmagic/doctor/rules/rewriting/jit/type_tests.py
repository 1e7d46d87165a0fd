"""Tells which calls of ``isinstance()`` have the same result under jit, where arrays and numbers become tracers."""

from __future__ import annotations

import ast
from collections.abc import Set

from ..meanings import Paths, path_at
from ..syntax import loaded

#: Classes of what jit leaves as it is: containers keep their types, and it traces no text.
KEPT = frozenset({"dict", "list", "tuple", "str", "bytes", "NoneType"})

#: Classes to which an array of JAX belongs, traced or not, or never does.
_OF_ARRAYS = frozenset({
    "jax.Array", "jax.numpy.ndarray", "float", "int", "complex", "bool", "numpy.ndarray", "numpy.generic",
    "numpy.floating", "numpy.integer", "numpy.number", "numbers.Number",
})  # fmt: skip


def same_under_jit(call: ast.Call, paths: Paths, arrays: Set[str]) -> bool:
    """Return whether ``isinstance(x, jax.Array)`` or the like has the same result when jit traces.

    >>> def same(code): return same_under_jit(ast.parse(code, mode="eval").body, {"jax": "jax"}, {"x"})
    >>> [same(f"isinstance({each})") for each in ("p, (dict, list)", "x, jax.Array", "x, float", "n, float")]
    [True, True, True, False]

    Args:
        call: the call.
        paths: what its names stand for.
        arrays: the variables that hold arrays of JAX, or containers, or what jit does not trace.
    """
    match call:
        case ast.Call(func=ast.Name(id="isinstance"), args=[tested, kinds], keywords=[]):
            pass
        case _:
            return False
    named = _classes(kinds)
    classes = {path_at(each, paths).removeprefix("builtins.") for each in named}
    classes |= {"NoneType" for each in named if ast.unparse(each) == "type(None)"}
    classes -= {path_at(each, paths) for each in named if ast.unparse(each) == "type(None)"}
    known = isinstance(tested, ast.Name) and tested.id in arrays
    return classes <= (KEPT | _OF_ARRAYS if known else KEPT)


def _classes(kinds: ast.expr) -> list[ast.expr]:
    """Return the classes of a test, which may be in a tuple or joined by ``|``."""
    match kinds:
        case ast.Tuple(elts=items):
            return [inner for each in items for inner in _classes(each)]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_classes(left), *_classes(right)]
    return [kinds]


def names_beside(test: ast.expr, settled: Set[int]) -> set[str] | None:
    """Return the names that a test reads besides type tests; ``None`` if it calls something else.

    Args:
        test: the test.
        settled: the identities of the type tests with the same result under jit.
    """
    if id(test) in settled:
        return set()
    if isinstance(test, ast.Call):
        return None
    if isinstance(test, ast.Name):
        return loaded([test])
    names: set[str] = set()
    for each in ast.iter_child_nodes(test):
        inner = names_beside(each, settled) if isinstance(each, ast.expr) else set()
        if inner is None:
            return None
        names |= inner
    return names
