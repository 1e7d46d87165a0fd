"""Finds expressions of a function that jit would run only once, or cannot compile."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from .....records.call_stack import Frame
from ....record.evidence import LibraryNames
from ...host.syntax import around, assigned, function_around, own_nodes
from .. import syntax
from ..meanings import Paths, imports_in, is_bound, path_at, paths_in
from ..syntax import last_name

#: Longer expressions are not shown.
_LONGEST = 50

#: Python's functions that draw random numbers and that `jax.random` does not have.
_PYTHON_RANDOM = frozenset({"betavariate", "gauss", "getrandbits", "normalvariate", "random", "randrange", "sample"})

#: Functions that JAX has as well, and calls with a key first.
_SHARED_RANDOM = frozenset({"choice", "randint", "uniform"})

#: Methods of NumPy's generators.
_DRAWS = frozenset({
    "beta", "binomial", "choice", "exponential", "gamma", "integers", "multivariate_normal", "normal", "permutation",
    "permuted", "poisson", "rand", "randint", "randn", "random", "shuffle", "standard_normal", "uniform",
})  # fmt: skip

#: Functions and classes that make generators.
_GENERATORS = frozenset({"Generator", "Random", "RandomState", "SeedSequence", "default_rng"})

#: Names that people give to them.
_GENERATOR = re.compile(r"(^|_)(rng|generator|random_state)$")

#: Functions whose results change from call to call, besides random numbers.
_CHANGING = re.compile(
    r"time\.(time|monotonic|[a-z]+_(counter|time))(_ns)?|datetime(\.datetime)?\.(now|utcnow|today)|"
    r"os\.urandom|uuid\.uuid\d|input"
)

#: Functions of JAX whose results have as many elements as the values tell, and the arguments that fix the number.
_SIZED = {
    **dict.fromkeys(("argwhere", "compress", "extract", "flatnonzero", "intersect1d", "nonzero"), "size"),
    **dict.fromkeys(("setdiff1d", "setxor1d", "union1d", "unique", "unique_counts", "unique_values"), "size"),
    "bincount": "length",
}


class Obstacle(NamedTuple):
    """An expression that is not what it was under jit.

    Attributes:
        kind: random numbers that would be drawn once; another function that would run once; an array with a mask as
            its index, or a function whose result's size depends on values, which jit cannot compile.
        text: the expression, or the function that it calls.
        argument: the argument that would fix the size of a result; empty otherwise.
    """

    kind: Literal["random", "once", "mask", "size"]
    text: str
    argument: str = ""


def obstacles(functions: Sequence[tuple[ast.AST, str]], names: Sequence[LibraryNames] = ()) -> list[Obstacle]:
    """Return what some functions, or loops, contain that jit would run once, or cannot compile.

    Args:
        functions: the functions or loops, and their files.
        names: the objects behind the names that they read.
    """
    found: dict[Obstacle, None] = {}
    for function, file in functions:
        tree = syntax.tree_of(file) or function
        paths, generators, masks = paths_in(function, file, names), _generators(tree), _masks(function)
        own = assigned(function)
        for node in own_nodes(function):
            obstacle = _obstacle(node, paths, generators, masks) or _advances(node, own)
            if obstacle is not None:
                found[obstacle] = None
    return list(found)


def sized_by_values(line: Frame) -> Obstacle | None:
    """Return the expression in the statement of a line whose size depends on values; ``None`` if there is none."""
    nodes, function = around(line), function_around(line)
    if not nodes:
        return None
    paths, masks = imports_in(nodes[0]), _masks(function or nodes[0])
    found = (_obstacle(each, paths, set(), masks) for each in ast.walk(nodes[-1]))
    return next((each for each in found if each is not None and each.kind in ("mask", "size")), None)


def _generators(tree: ast.AST) -> set[str]:
    """Return the variables and attributes to which a generator of NumPy or Python is assigned."""
    return {
        ast.unparse(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and last_name(node.value.func) in _GENERATORS
        for target in node.targets
    }


def _masks(function: ast.AST) -> set[str]:
    """Return the variables to which only comparisons are assigned."""
    assigns = [each for each in own_nodes(function) if isinstance(each, ast.Assign)]
    masks = {name for each in assigns if _is_mask(each.value, set()) for name in assigned(each)}
    return masks - {name for each in assigns if not _is_mask(each.value, masks) for name in assigned(each)}


def _is_mask(node: ast.expr, masks: set[str]) -> bool:
    """Return whether an expression is an array of truth values, as far as its syntax tells."""
    match node:
        case ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE() | ast.Eq() | ast.NotEq()]):
            return True
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_mask(operand, masks)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), left=left, right=right):
            return _is_mask(left, masks) or _is_mask(right, masks)
        case ast.Name(id=name):
            return name in masks
        case ast.Call(func=function):
            return last_name(function) in ("isnan", "isfinite", "isinf", "logical_and", "logical_or", "logical_not")
    return False


def _obstacle(node: ast.AST, paths: Paths, generators: set[str], masks: set[str]) -> Obstacle | None:
    match node:
        case ast.Subscript(value=value, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            if any(_is_mask(each, masks) for each in parts):
                text = ast.unparse(node)
                return Obstacle("mask", text if len(text) <= _LONGEST else f"{ast.unparse(value)[:_LONGEST]}[...]")
        case ast.Call():
            return _called(node, paths, generators)
    return None


def _advances(node: ast.AST, own: set[str]) -> Obstacle | None:
    """Return the call that takes the next item of an iterator from outside, if a node is one."""
    match node:
        case ast.Call(func=ast.Name(id="next"), args=[taken, *_]) if not syntax.loaded([taken]) & own:
            return Obstacle("once", ast.unparse(node)[:_LONGEST])
    return None


def _called(node: ast.Call, paths: Paths, generators: set[str]) -> Obstacle | None:
    text = ast.unparse(node.func)
    path = path_at(node.func, paths)
    name = path.rpartition(".")[2]
    if _draws(node, path, text, generators, known=is_bound(node.func, paths)):
        return Obstacle("random", text)
    if _CHANGING.fullmatch(path):
        return Obstacle("once", text)
    given = {each.arg for each in node.keywords}
    is_method = not path.startswith(("jax", "numpy")) and "." in text
    if path.startswith("jax.numpy.") or (is_method and name == "nonzero"):
        if name in _SIZED and _SIZED[name] not in given:
            return Obstacle("size", text, _SIZED[name])
        if name == "where" and len(node.args) == 1 and not given:
            return Obstacle("size", text, "size")
        if name == "repeat" and "total_repeat_length" not in given and len(node.args) > 1 and _may_vary(node.args[1]):
            return Obstacle("size", text, "total_repeat_length")
    return None


def _may_vary(repeats: ast.expr) -> bool:
    """Return whether the number of repetitions may be an array, as far as its syntax tells."""
    return isinstance(repeats, ast.Name) and repeats.id.endswith(("repeats", "counts", "lengths", "sizes"))


def _draws(node: ast.Call, path: str, text: str, generators: set[str], *, known: bool) -> bool:
    """Return whether a call draws random numbers of NumPy or Python."""
    module, _, name = path.rpartition(".")
    if name in _GENERATORS:
        return False
    if module == "numpy.random":
        return True
    if module == "random":
        if known or name in _PYTHON_RANDOM:
            return True
        first = node.args[0] if node.args else None
        return name in _SHARED_RANDOM and (
            isinstance(first, ast.Constant) or (name == "choice" and len(node.args) == 1)
        )
    owner = text.rpartition(".")[0]
    is_generator = owner in generators or bool(_GENERATOR.search(owner.rpartition(".")[2]))
    return is_generator and name in _DRAWS
