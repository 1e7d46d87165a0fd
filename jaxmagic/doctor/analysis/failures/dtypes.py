"""Names the dtypes of types as JAX writes them in short, and compares them."""

from __future__ import annotations

import ast
import re

from ...record.failure import Failure
from .choices.shapes import ELEMENTWISE
from .expression import value_named

#: Functions that return one dtype, that of both their last arguments together.
_JOINING = "where", "maximum", "minimum"

#: Functions that keep the dtype of their arguments; the others return numbers with a fraction.
_KEEPING = "abs", "square", "negative", "sign", "maximum", "minimum"

#: The largest numbers of dtypes with a small range.
_LARGEST = {"float16": 65504}

#: The names of dtypes, by JAX's short ones without their bits.
_LONG = {"bool": "bool", "bf": "bfloat", "f": "float", "i": "int", "u": "uint", "c": "complex"}

#: Kinds of numbers, each of which holds those before it.
_KINDS = "bool", "uint", "int", "float", "complex"

#: What numbers of a kind have that those of the kinds before it lack.
_LOST = {"int": "sign", "float": "fraction", "complex": "imaginary part"}


def wider_dtype(first: str, other: str) -> str:
    """Return the dtype, of two types, that loses less if both become it; empty if numbers cannot become one of them.

    >>> wider_dtype("i32[]", "f32[]"), wider_dtype("f32[2]", "bool[2]"), wider_dtype("bf16[]", "f32[]")
    ('float32', 'float32', 'float32')
    >>> wider_dtype("key<fry>[]", "f32[]")
    ''
    """
    dtypes = dtype_of(first), dtype_of(other)
    return max(dtypes, key=_rank) if all(dtypes) else ""


def _rank(dtype: str) -> tuple[int, int]:
    """Order dtypes: numbers with a fraction after integers, and wider ones after narrower ones."""
    kind = dtype.rstrip("0123456789")
    return ("bool", "uint", "int", "bfloat", "float", "complex").index(kind), int(dtype[len(kind) :] or 0)


def dtype_of(type: str) -> str:
    """Return the name of the dtype of a short type; empty if it has none that a number could be converted to.

    >>> dtype_of("bf16[2]"), dtype_of("bool[]"), dtype_of("key<fry>[]")
    ('bfloat16', 'bool', '')
    """
    match = re.match(r"(bool|bf|f|i|u|c)(\d*)\[", type)
    return "" if match is None else f"{_LONG[match[1]]}{match[2]}"


def lost_in(dtype: str, of: str) -> str:
    """Return what numbers of a dtype lose where they become another one; empty if they keep their kind.

    Rounding, and a range that is too small, do not count.

    >>> lost_in("int32", of="float32"), lost_in("bool", of="int32"), lost_in("uint8", of="int32")
    ('fraction', 'value', 'sign')
    >>> lost_in("bfloat16", of="float32"), lost_in("float32", of="int32"), lost_in("float32", of="complex64")
    ('', '', 'imaginary part')
    """
    new, old = (each.rstrip("0123456789").replace("bfloat", "float") for each in (dtype, of))
    if _KINDS.index(new) >= _KINDS.index(old):
        return ""
    return "value" if new == "bool" else _LOST[old]


def joined_dtypes(failure: Failure, code: str) -> dict[str, str]:
    """Return what differs, by its dtype, between some code that chooses with ``where()`` and a choice in Python.

    That is an operand that becomes another dtype, a number that does not fit into the dtype of the other operand, or
    two dtypes of which it is unknown what they become.
    """
    for each in ast.walk(ast.parse(code)):
        if not isinstance(each, ast.Call) or ast.unparse(each.func).rpartition(".")[2] not in _JOINING:
            continue
        sides = each.args[-2:]
        dtypes = [_arithmetic(failure, side) for side in sides]
        arrays = sorted({dtype for dtype in dtypes if dtype not in ("", "int", "float")})
        if len(sides) < 2 or "" in dtypes or not arrays:
            continue
        joined = _joined(failure, *dtypes)
        if not joined:
            return {"dtype": arrays[0], "other": arrays[1]}
        for side, dtype in zip(sides, dtypes, strict=True):
            if dtype in ("int", "float") and not _fits(side, joined):
                return {"number": ast.unparse(side), "dtype": joined}
            if dtype in arrays and dtype != joined:
                return {"dtype": dtype, "joined": joined}
    return {}


def _arithmetic(failure: Failure, node: ast.expr) -> str:
    """Return the dtype of arithmetic, ``"int"`` or ``"float"`` for that of Python numbers; empty if it is unknown."""
    match node:
        case ast.Constant(value=value):
            return type(value).__name__
        case ast.Name(id=name):
            traced = value_named(failure, name)
            return "" if traced is None else dtype_of(traced.type)
        case ast.UnaryOp(operand=operand):
            return _arithmetic(failure, operand)
        case ast.BinOp(left=left, op=op, right=right):
            dtype = _joined(failure, _arithmetic(failure, left), _arithmetic(failure, right))
            return _divided(dtype) if isinstance(op, ast.Div) else dtype
        case ast.Call(func=function, args=[_] | [_, _] as args):
            name = ast.unparse(function).rpartition(".")[2]
            dtype = _joined(failure, *(_arithmetic(failure, each) for each in args))
            if dtype in ("int", "float") or name not in (*_KEEPING, *ELEMENTWISE):
                return ""
            return dtype if name in _KEEPING else _divided(dtype)
    return ""


def _divided(dtype: str) -> str:
    if dtype == "int":
        return "float"
    return dtype if "int" not in dtype else "float64" if dtype.endswith("64") else "float32"


def _joined(failure: Failure, first: str, other: str = "int") -> str:
    """Return the dtype that two become together; empty if it is unknown, as for one that may be a Python number's.

    An argument that is a Python number is traced as an ``int32`` or ``float32``, which becomes that of an array.
    """
    if "" in (first, other) or first == other:
        return first and other
    if "int" in (first, other):
        return other if first == "int" else first
    if "float" in (first, other):
        dtype = other if first == "float" else first
        return dtype if "int" not in dtype else dict(failure.said).get("floats", "float32")
    integers = [each for each in (first, other) if "int" in each]
    return (other if first in integers else first) if len(integers) == 1 else ""


def _fits(number: ast.expr, dtype: str) -> bool:
    """Return whether the arithmetic of Python numbers has a result that a dtype can hold, as far as is known."""
    if any(isinstance(each, ast.Pow | ast.LShift) for each in ast.walk(number)):
        return True  # it may have more digits than fit into memory
    try:
        value: float = eval(ast.unparse(number), {"__builtins__": {}})
    except (ArithmeticError, NameError):  # also of variables
        return True
    if "int" in dtype:
        values = 1 << int(dtype.lstrip("uint"))
        least, most = (0, values - 1) if dtype.startswith("u") else (-values // 2, values // 2 - 1)
        return least <= value <= most
    return abs(value) <= _LARGEST.get(dtype, abs(value))
