"""Computes arithmetic of Python numbers as Python does and as jit does, which has 32 bits for each result."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from .python_numbers import is_number, is_risky

#: Combinations of values that are tried.
_MOST_PAIRS = 64

#: A larger relative difference changes a result: ``1 - 0.999`` of float32 differs by 1.3e-5.
_LARGEST_ERROR = 2e-5

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}

#: Larger exponents and shifts are not computed.
_LARGEST_EXPONENT = 1024


class Number(NamedTuple):
    """A Python number, as far as it is known.

    Attributes:
        pairs: values that it may have, and the same under jit, or ``None`` where jit has none; empty if unknown.
        traced: whether jit traces it, or what it is computed of.
        whole: whether it is known to be an integer.
        unsure: whether its value under jit may differ, as far as the operations on unknown values tell.
    """

    pairs: tuple[tuple[Any, Any], ...] = ()
    traced: bool = False
    whole: bool = False
    unsure: bool = False

    @property
    def differs(self) -> bool:
        """Whether it is, or may be, another number under jit."""
        return self.unsure or (self.traced and any(_differs(*each) for each in self.pairs))

    @property
    def too_wide(self) -> bool:
        """Whether it is an integer that jit does not take as an argument."""
        return any(isinstance(value, int) and not _fits(value) for value, _ in self.pairs)


def known(values: Iterable[float]) -> Number:
    """Return a number that has one of some values, outside jit."""
    pairs = tuple((each, each) for each in dict.fromkeys(values))
    return Number(pairs[:_MOST_PAIRS], whole=bool(pairs) and all(isinstance(each, int) for each, _ in pairs))


def traced(number: Number) -> Number:
    """Return a number as jit traces it when it is an argument."""
    return number._replace(pairs=tuple((exact, _narrow(exact)) for exact, _ in number.pairs), traced=True)


def either(numbers: Iterable[Number]) -> Number:
    """Return a number that is one of some."""
    every = [*numbers]
    pairs = tuple(dict.fromkeys(pair for each in every for pair in each.pairs)) if all(n.pairs for n in every) else ()
    return Number(
        pairs[:_MOST_PAIRS],
        any(each.traced for each in every),
        all(each.whole for each in every),
        any(each.unsure for each in every),
    )


def computed(node: ast.expr, numbers: Mapping[str, Number]) -> Number | None:
    """Return what an expression of Python numbers alone gives; ``None`` if arrays may be in it.

    >>> numbers = {"eps": traced(known([1e-10]))}
    >>> [computed(ast.parse(each, mode="eval").body, numbers).differs for each in ("1 + eps - 1", "1 + eps")]
    [True, False]

    Args:
        node: the expression.
        numbers: the variables that are numbers, and attributes such as ``"cfg.rate"``.
    """
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
            return known([value]) if hasattr(node, "lineno") else Number(whole=True)  # else of an unpacked shape
        case ast.Name() | ast.Attribute() | ast.Subscript() if (text := ast.unparse(node)) in numbers:
            return numbers[text]
        case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
            one, other = computed(left, numbers), computed(right, numbers)
            return None if one is None or other is None else _combined(node, op, one, other)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            number = computed(operand, numbers)
            return None if number is None else _mapped(number, _UNARY[type(op)])
        case ast.IfExp(body=body, orelse=other):
            found = computed(body, numbers), computed(other, numbers)
            return None if None in found else either(each for each in found if each is not None)
        case ast.Attribute(value=ast.Name(id="math" | "np" | "numpy"), attr=name):
            constant = getattr(math, name, None)
            return known([constant]) if isinstance(constant, float) else None
        case ast.Call(func=called, args=args, keywords=[]) if args:
            return _called(called, [computed(each, numbers) for each in args]) or _unknown(node, numbers)
    return _unknown(node, numbers)


def _called(called: ast.expr, given: list[Number | None]) -> Number | None:
    """Return what a function of Python gives for numbers."""
    match called, given:
        case ast.Name(id="abs"), [Number() as value]:
            return _mapped(value, abs)
        case ast.Name(id="pow"), [Number() as one, Number() as other]:
            return _combined(None, ast.Pow(), one, other)
        case ast.Name(id="int" | "float" as name), [Number() as value]:
            return _mapped(value, int if name == "int" else float)._replace(whole=name == "int")
        case ast.Attribute(value=ast.Name(id="math"), attr=name), [Number(traced=False) as value]:
            function = getattr(math, name, None)
            return _mapped(value, function) if callable(function) else None
    return None


def _unknown(node: ast.expr, numbers: Mapping[str, Number]) -> Number | None:
    """Return a number of which no value is known: a size, or of a function that returns numbers."""
    if isinstance(node, ast.Constant | ast.Name | ast.JoinedStr) or not is_number(node, {*numbers}):
        return None
    sizes = isinstance(node, ast.Attribute | ast.Subscript)
    counts = isinstance(node, ast.Call) and ast.unparse(node.func) in ("len", "int", "round", "id")
    return Number(whole=sizes or counts)


def _mapped(value: Number, function: Callable[[Any], Any]) -> Number:
    pairs = []
    for exact, narrow in value.pairs:
        try:
            result = function(exact)
            pairs.append((result, None if narrow is None else function(narrow)))
        except (ArithmeticError, TypeError, ValueError):
            continue
    whole = all(isinstance(each, int) for each, _ in pairs) if pairs else value.whole
    return value._replace(pairs=tuple(pairs), whole=whole)


def _combined(node: ast.expr | None, op: ast.AST, one: Number, other: Number) -> Number:
    """Return what an operator gives for two numbers."""
    is_traced = one.traced or other.traced
    found = []
    for (left, narrow_left), (right, narrow_right) in islice(product(one.pairs, other.pairs), _MOST_PAIRS):
        try:
            exact = _applied(op, left, right)
        except (ArithmeticError, TypeError, ValueError):  # as 1 / 0
            continue
        narrow = _applied_narrow(op, narrow_left, narrow_right) if is_traced else exact
        found.append((exact, narrow))
    if found:
        whole = all(isinstance(exact, int) for exact, _ in found)
        unsure = is_traced and not whole and isinstance(node, ast.BinOp) and is_risky(node)  # as sin(1e6 * t)
        return Number(tuple(dict.fromkeys(found)), is_traced, whole, unsure or one.unsure or other.unsure)
    whole = one.whole and other.whole and not isinstance(op, ast.Div)
    unsure = is_traced and (_is_unsure(op, one, other) or (isinstance(node, ast.BinOp) and is_risky(node)))
    return Number((), is_traced, whole, unsure or one.unsure or other.unsure)


def _is_unsure(op: ast.AST, one: Number, other: Number) -> bool:
    """Return whether 32 bits may be too few for an operation with a value that is unknown."""
    if isinstance(op, ast.Sub):  # nearly equal floats
        return not (one.whole and other.whole)
    if isinstance(op, ast.Add):
        return any(value < 0 for each in (one, other) if not each.whole for value, _ in each.pairs)
    if isinstance(op, ast.Mult | ast.Pow | ast.LShift):
        squared = isinstance(op, ast.Pow) and any(value not in (0, 1) for value, _ in other.pairs)
        return one.whole and other.whole and (squared or (one.traced and other.traced))
    return isinstance(op, ast.FloorDiv | ast.Mod | ast.cmpop) and not (one.whole and other.whole)


def _applied(op: ast.AST, left: Any, right: Any) -> Any:
    if isinstance(op, ast.Pow | ast.LShift) and abs(right) > _LARGEST_EXPONENT:
        raise ValueError
    return _OPERATORS[type(op)](left, right) if type(op) in _OPERATORS else _refuse()


def _refuse() -> Any:
    raise TypeError


def _applied_narrow(op: ast.AST, left: Any, right: Any) -> Any:
    """Return the result in 32 bits; ``None`` if it does not fit, or one of its operands does not."""
    left, right = _narrow(left), _narrow(right)
    if left is None or right is None:
        return None
    if isinstance(left, int) and isinstance(right, int) and not isinstance(op, ast.Div):
        result = _applied(op, left, right)
        return _narrow(result) if isinstance(result, int) else None  # 2 ** -1
    with np.errstate(all="ignore"):
        return _applied(op, np.float32(left), np.float32(right))


def _narrow(value: Any) -> Any:
    """Return a number of Python as jit has it; ``None`` for an integer that does not fit."""
    if isinstance(value, int):
        return value if _fits(value) else None
    with np.errstate(all="ignore"):
        return None if value is None else np.float32(value)


def _fits(value: int) -> bool:
    return -(2**31) <= value < 2**31


def _differs(exact: Any, narrow: Any) -> bool:
    """Return whether a result of 32 bits is not the exact one, rounded."""
    if narrow is None or isinstance(exact, int):
        return narrow is None or exact != narrow
    with np.errstate(all="ignore"):
        rounded = np.float32(exact)
        if not (np.isfinite(rounded) and np.isfinite(narrow)):
            return not np.array_equal(rounded, narrow, equal_nan=True)
        return bool(abs(float(narrow) - float(rounded)) > _LARGEST_ERROR * abs(float(rounded)))
