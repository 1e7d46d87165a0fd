"""Tells from the syntax which variables are Python numbers, such as counters, and no arrays."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ...host.syntax import Function, own_nodes
from ..syntax import loaded, parameters, stored

#: Functions of Python that return numbers or text whatever they get.
MAKE_NUMBERS = frozenset({"bool", "float", "format", "id", "int", "len", "repr", "round", "str"})

#: Functions of Python that return numbers if they get numbers.
_KEEP_NUMBERS = frozenset({"abs", "divmod", "max", "min", "pow", "sum"})

#: Modules whose functions return numbers of Python.
_OF_NUMBERS = frozenset({"math", "time"})

#: NumPy's numbers, which compute as Python's do, outside JAX.
_NUMPY_NUMBERS = frozenset({"float64", "int64", "uint64", "float32", "int32", "uint32"})

#: Attributes of arrays that are numbers, or tuples of them.
_SIZES = frozenset({"ndim", "shape", "size"})

#: Operations whose results may need more digits than their operands.
DIFFERING = ast.FloorDiv, ast.LShift, ast.Mod, ast.Mult, ast.Pow

#: From here on, a float with 24 digits of two cannot hold each integer, and the product of two may exceed 32 bits.
LARGE, LARGE_FACTOR = 2**24, 2**15


def python_numbers(scope: ast.AST, got: Collection[str] = ()) -> set[str]:
    r"""Return the variables of a function or module to which nothing but numbers, texts and sizes are assigned.

    What a function gets, or a cell finds, is not known.

    Args:
        scope: the function or module.
        got: the parameters that get numbers.

    >>> sorted(python_numbers(ast.parse("dt, t = 0.1, 0\nfor i in range(9):\n    t = t + dt\n    x = x + dt")))
    ['dt', 'i', 't']
    """
    assigns = list(assignments(scope))
    given = parameters(scope) if isinstance(scope, Function) else set[str]()
    begun = {name for name, value in assigns if value is None or name not in loaded([value])}
    found = (begun - given) | {*got}
    while True:
        others = {name for name, value in assigns if name in found and not is_number(value, found)}
        if not others:
            return found
        found -= others


def computes_numbers(statement: ast.stmt, numbers: Collection[str]) -> bool:
    """Return whether a statement assigns numbers of Python alone, which jit would make arrays of 32 bits.

    >>> [computes_numbers(each, {"t"}) for each in ast.parse("t += dt; x, t = t, 1.0").body]
    [True, False]
    """
    assigned = (
        stored([statement]) if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) else set[str]()
    )
    return bool(assigned) and assigned <= {*numbers}


def assignments(scope: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield each variable with what is assigned to it; ``None`` if that is anything."""
    for node in own_nodes(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _pairs(target, value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                yield name, ast.BinOp(ast.Name(name, ast.Load()), op, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                yield from _pairs(target, value)
            case ast.NamedExpr(target=target, value=value):
                yield from _pairs(target, value)
            case ast.For(target=target, iter=iterated):
                yield from _items(target, iterated)
            case ast.withitem(optional_vars=ast.expr() as target):
                yield from _pairs(target, None)


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for pair in zip(targets, values, strict=True):
                yield from _pairs(*pair)
        case ast.Tuple(elts=targets) | ast.List(elts=targets), ast.Attribute(attr="shape"):
            for each in targets:
                yield from _pairs(each, ast.Constant(0))
        case _:
            yield from ((name, None) for name in sorted(stored([target])))  # not i in xs[i]


def _items(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    match iterated, target:
        case ast.Call(func=ast.Name(id="range")), _:
            yield from _pairs(target, ast.Constant(0))
        case ast.Call(func=ast.Name(id="enumerate")), ast.Tuple(elts=[number, *others]):
            yield from _pairs(number, ast.Constant(0))
            for each in others:
                yield from _pairs(each, None)
        case _:
            yield from _pairs(target, None)


def is_number(value: ast.expr | None, numbers: set[str]) -> bool:
    """Return whether an expression gives a number or a text of Python, if the variables in `numbers` are such.

    >>> [is_number(ast.parse(each, mode="eval").body, {"t"}) for each in ("0.1 / (1 + t)", "x.mean()", "len(x)")]
    [True, False, True]
    """
    match value:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in numbers
        case ast.Attribute(attr=attr):
            return attr in _SIZES
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.Call(func=ast.Name(id=name), args=args):
            return name in MAKE_NUMBERS or (name in _KEEP_NUMBERS and all(is_number(each, numbers) for each in args))
        case ast.Call(func=ast.Attribute(attr="item" | "format")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=attr), args=args):
            return attr in _NUMPY_NUMBERS and all(is_number(each, numbers) for each in args)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner))):
            return owner in _OF_NUMBERS
        case ast.BinOp(left=left, right=right):
            return is_number(left, numbers) and is_number(right, numbers)
        case ast.UnaryOp(operand=operand):
            return is_number(operand, numbers)
        case ast.BoolOp(values=parts):
            return all(is_number(each, numbers) for each in parts)
        case ast.Compare(left=left, comparators=others):
            return all(is_number(each, numbers) for each in (left, *others))
        case ast.IfExp(body=body, orelse=other):
            return is_number(body, numbers) and is_number(other, numbers)
        case ast.JoinedStr():
            return True
    return False


def is_risky(node: ast.BinOp) -> bool:
    """Return whether an operation of a number with a constant may need more than 32 bits."""
    least = LARGE_FACTOR if isinstance(node.op, DIFFERING) else LARGE
    return max(size_of_constant(node.left), size_of_constant(node.right)) >= least


def size_of_constant(node: ast.AST) -> float:
    """Return the size of a constant; 0 for anything else."""
    return abs(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, int | float) else 0.0
