"""Finds whether a converted value decides a size, a shape, an axis, or how often Python's loop runs.

There ``int(n)`` is a number that has to be known during tracing: an array in its place would fail next.
"""

from __future__ import annotations

import ast
from typing import Literal

from ....record.failure import Failure
from ..expression import Expression, spelled, statements

#: What needs the number: ``range``, the bounds of a slice, something else with a size; empty if it may be an array.
SizeUse = Literal["", "range", "slice", "size"]

_ALL = range(99)
_REDUCTIONS = "sum", "mean", "max", "min", "prod", "std", "var", "any", "all", "argmax", "argmin", "cumsum", "sort"
_RANDOM = (
    "normal",
    "uniform",
    "bits",
    "exponential",
    "gumbel",
    "laplace",
    "cauchy",
    "logistic",
    "rademacher",
    "randint",
)

#: Functions of ``jax.ops`` whose result has a row for each segment.
SEGMENTED = "segment_sum", "segment_max", "segment_min", "segment_prod"

#: The positions of arguments that have to be known during tracing, by the names of functions.
_FUNCTIONS: dict[str, range | tuple[int, ...]] = {
    **dict.fromkeys(("range", "arange", "islice", "iota"), _ALL),
    **dict.fromkeys(("zeros", "ones", "empty", "full", "ShapeDtypeStruct"), (0,)),
    **dict.fromkeys(("eye", "identity", "tri"), (0, 1)),
    **dict.fromkeys(("linspace", "logspace", "geomspace", "histogram2d"), (2,)),
    **dict.fromkeys(("histogram", "histogram_bin_edges", "histogramdd"), (1,)),
    **dict.fromkeys(("reshape", "broadcast_to", "tile", "repeat", "split", "array_split", "hsplit", "vsplit"), (1,)),
    **dict.fromkeys(("top_k", "one_hot", "pad", "resize", "expand_dims", "flip", "broadcasted_iota"), (1,)),
    **dict.fromkeys(("dynamic_slice", "dynamic_slice_in_dim", "dynamic_index_in_dim", "bernoulli"), (2,)),
    **dict.fromkeys(SEGMENTED, (2,)),
    **dict.fromkeys((*_RANDOM, *_REDUCTIONS, "concatenate", "stack", "softmax"), (1,)),
}

#: The same for methods of arrays.
_METHODS: dict[str, range | tuple[int, ...]] = {
    "reshape": _ALL,
    **dict.fromkeys(("repeat", *_REDUCTIONS), (0,)),
}

#: Keywords whose values have to be known during tracing.
# fmt: off
_KEYWORDS = frozenset((
    "shape", "axis", "axes", "num", "size", "length", "total_repeat_length", "num_classes", "num_segments",
    "newshape", "repeats", "reps", "keepdims", "indices_or_sections", "features", "unroll", "slice_sizes", "ndim",
    "bins",
))
# fmt: on

#: Functions of Python that return such a number if they get one.
_NUMBERS = "int", "round", "abs", "max", "min", "len"

#: Functions of Python that return a container with such numbers.
_CONTAINERS = "tuple", "list", "sorted", "reversed", "zip"

_LOOPS = ast.ListComp | ast.GeneratorExp
_COMPUTED = ast.BinOp | ast.UnaryOp | ast.Tuple | ast.List | ast.Starred | _LOOPS | ast.comprehension


def size_use(failure: Failure, failing: Expression) -> SizeUse:
    """Return what needs the failing number, or what is computed of it, as a number that is known during tracing.

    It may be needed where a variable is read to which the failing statement assigns it, or which a failing condition
    reads.
    """
    use, found = _use(failure, failing.statement, failing.node)
    names = {*found}
    if isinstance(failing.statement, ast.If | ast.While):
        names |= {each.id for each in ast.walk(failing.statement.test) if isinstance(each, ast.Name)}
    for each in (statement for text in failure.read_by if names for statement in statements(text)):
        reads = [node for node in ast.walk(each) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        for node in (node for node in reads if node.id in names and not use):
            use, found = _use(failure, each, node)
            names |= {*found}
    return use


def sizes_in(failure: Failure, failing: Expression) -> list[str]:
    """Return the variables in the failing expression that decide a size in it, in their order."""
    parts = failing.node, *(each.iter for each in loops_in(failing))
    names = [each for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)]
    used = [(each.id, _use(failure, failing.statement, each)) for each in names]
    numbers = {each.name for each in failure.values if each.type.endswith("[]")} if size_use(failure, failing) else {}
    return list(dict.fromkeys(name for name, (use, assigned) in used if use or (assigned and name in numbers)))


def loops_in(failing: Expression) -> list[ast.comprehension]:
    """Return the loops of comprehensions around the failing expression."""
    nodes = (each for each in ast.walk(failing.statement) if any(node is failing.node for node in ast.walk(each)))
    return [loop for each in nodes if isinstance(each, _LOOPS) for loop in each.generators]


def parts_in(failure: Failure, failing: Expression) -> list[ast.expr]:
    """Return the arguments of the failing call that decide a size, as ``n`` does in ``jnp.linspace(0, 1, n)``."""
    node = failing.node
    if not isinstance(node, ast.Call):
        return []
    placed = [each for place, each in enumerate(node.args) if _use_in_call(failure, node, place)]
    return [*placed, *(each.value for each in node.keywords if each.arg in _KEYWORDS)]


def names_in_body(failure: Failure, *uses: SizeUse) -> list[str]:
    """Return the variables with one of these uses anywhere in the failing function, in their order."""
    found = dict[str, None]()
    for statement in (each for text in failure.body for each in statements(text)):
        names = [each for each in ast.walk(statement) if isinstance(each, ast.Name)]
        found.update(dict.fromkeys(each.id for each in names if _use(failure, statement, each)[0] in uses))
    return list(found)


def _use(failure: Failure, statement: ast.stmt, node: ast.AST) -> tuple[SizeUse, tuple[str, ...]]:
    """Return what needs the number that a node of a statement is, and the variables to which it is assigned."""
    parents = {id(inner): each for each in ast.walk(statement) for inner in ast.iter_child_nodes(each)}
    parent = parents.get(id(node))
    while isinstance(parent, _COMPUTED) or (isinstance(parent, ast.Call) and is_number(parent)):
        if isinstance(parent, ast.BinOp) and _repeats(parent, node):
            return "size", ()
        node, parent = parent, parents.get(id(parent))
    match parent:
        case ast.Slice():
            return "slice", ()
        case ast.keyword(arg=keyword):
            return ("size" if keyword in _KEYWORDS else ""), ()
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            names = [each for each in ast.walk(target) if isinstance(each, ast.Name)]
            return "", tuple(each.id for each in names if isinstance(each.ctx, ast.Store))
        case ast.Call() if node in parent.args:
            return _use_in_call(failure, parent, parent.args.index(node)), ()
    return "", ()


def _use_in_call(failure: Failure, call: ast.Call, position: int) -> SizeUse:
    called = ast.unparse(call.func)
    root, name = called.partition(".")[0], called.rpartition(".")[2]
    positions = _FUNCTIONS.get(name, ())
    modules = {spelled(failure, each) for each in ("jax", "jax.numpy", "jax.lax", "numpy")}
    if isinstance(call.func, ast.Attribute) and (root not in modules or "(" in called):
        positions = _METHODS.get(name, positions)
    if position not in positions:
        return ""
    return "range" if called == "range" else "size"


def is_number(node: ast.Call) -> bool:
    """Return whether a call is one of a function of Python's that returns a number, or a container of such ones."""
    called = ast.unparse(node.func)
    if called == "map" and node.args:
        return ast.unparse(node.args[0]) in _NUMBERS
    return called in (*_NUMBERS, *_CONTAINERS) or called.startswith("math.")


def _repeats(node: ast.BinOp, number: ast.AST) -> bool:
    """Return whether a product repeats a list, a tuple or a text."""
    other = node.left if node.right is number else node.right
    text = isinstance(other, ast.Constant) and isinstance(other.value, str | bytes)
    return isinstance(node.op, ast.Mult) and (
        text or isinstance(other, ast.List | ast.Tuple | ast.ListComp | ast.JoinedStr)
    )
