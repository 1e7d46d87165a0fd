"""Finds the operands on the failing line that have the shapes in a message, and states shapes."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence

from .....records.note import Note, note
from ....record.failing_code import Operand
from ....record.failure import Failure
from ..expression import Expression, statements

Shape = tuple[int, ...]

#: At most this many operands are listed.
_MOST = 5

#: A longer line of code is not shown in a sentence.
_LONGEST = 80


def fact(failure: Failure, name: str) -> str:
    """Return a fact of the message; empty if it does not say it."""
    return dict(failure.said).get(name, "")


def shapes_in(text: str) -> list[Shape]:
    """Return the shapes in a part of a message.

    >>> shapes_in("(3,), ()"), shapes_in("float32[2,3]")
    ([(3,), ()], [(2, 3)])
    """
    found = re.findall(r"[(\[]([-\d, ]*)[)\]]", text)
    return [tuple(int(each) for each in sizes.split(",") if each.strip()) for sizes in found]


def written(shape: Sequence[int]) -> str:
    """Write a shape as Python does.

    >>> written([3]), written([])
    ('(3,)', '()')
    """
    return str(tuple(shape))


def with_shapes(failure: Failure, shapes: Sequence[Shape]) -> list[str] | None:
    """Return the texts of the operands that have these shapes, in this order; ``None`` if that is not certain.

    Each operand has to be written on the line, and its shape has to be known to be the one in the message.
    """
    operands = arrays_of(failure)
    if len(operands) != len(shapes) or any(each.shape is None or not each.text for each in operands):
        return None
    if [each.shape for each in operands] == list(shapes):
        return [each.text for each in operands]
    if len(operands) == 2 and [each.shape for each in reversed(operands)] == list(shapes):
        return [each.text for each in reversed(operands)]
    return None


def arrays_of(failure: Failure) -> list[Operand]:
    """Return the operands that are arrays or may be, with those in a list that is passed first."""
    positional = [each for each in failure.operands if each.keyword is None]
    if positional and positional[0].items:
        return list(positional[0].items)
    return [each for each in positional if each.shape is not None or each.type is None]


def listed(texts: Sequence[str], shapes: Sequence[Shape]) -> str:
    """Return operands with their shapes: ``"a (3, 4) and b (5, 4)"``; of many, some with each shape there is.

    >>> listed(["a", "b"], [(3,), ()]), listed([], [(3,), (4,)])
    ('a (3,) and b ()', '(3,) and (4,)')
    >>> listed(["f(x)[0]", "f(x)[1]"], [(3,), (4,)])
    '[0] (3,) and [1] (4,) of f(x)'
    >>> listed([], [(3,)] * 8 + [(4,)])
    '(3,), (3,), (3,), (4,) and 5 more'
    """
    texts, whole = in_one(texts)
    parts = [
        f"{shortened(text)} {written(shape)}" for text, shape in zip(texts or [""] * len(shapes), shapes, strict=True)
    ]
    parts = [each.strip() for each in parts]
    if len(parts) > _MOST:
        first = [number for number, shape in enumerate(shapes) if shape not in shapes[:number]]
        others = [number for number in range(len(shapes)) if number not in first]
        kept = sorted([*first, *others][: _MOST - 1])
        parts = [*(parts[each] for each in kept), f"{len(parts) - len(kept)} more"]
    text = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"{text} of {shortened(whole, _LONGEST)}" if whole else text


def in_one(texts: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the places of operands in what one expression computes, and the expression; else the texts themselves.

    >>> in_one(["f(x)[0]", "f(x)[1]"]), in_one(["a[0]", "a[1]"])
    ((['[0]', '[1]'], 'f(x)'), (['a[0]', 'a[1]'], ''))
    """
    parsed = [node for each in texts for node in statements(each)]
    nodes = [each.value for each in parsed if isinstance(each, ast.Expr)]
    items = [each for each in nodes if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant)]
    wholes = {ast.unparse(each.value) for each in items}
    named = any(isinstance(each.value, ast.Name | ast.Attribute | ast.Subscript) for each in items)
    if not 1 < len(texts) == len(items) or len(wholes) != 1 or named:
        return texts, ""
    return [f"[{ast.unparse(each.slice)}]" for each in items], wholes.pop()


def shortened(text: str, longest: int = 40) -> str:
    """Return the text of an operand; a long one is cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def broadcast(shapes: Sequence[Shape]) -> Shape | None:
    """Return the shape to which shapes broadcast; ``None`` if they do not.

    >>> broadcast([(3, 1), (4,)]), broadcast([(3,), (4,)])
    ((3, 4), None)
    """
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(each)) + tuple(each) for each in shapes]
    sizes = [set(each) - {1} for each in zip(*padded, strict=True)]
    if any(len(each) > 1 for each in sizes):
        return None
    return tuple(next(iter(each), 1) for each in sizes)


def product(left: Shape, right: Shape) -> Shape | None:
    """Return the shape of ``left @ right`` for matrices and vectors; ``None`` if they do not fit."""
    if not 1 <= len(left) <= 2 or not 1 <= len(right) <= 2 or left[-1] != right[0]:
        return None
    return (*left[:-1], *right[1:])


def elements(shape: Shape) -> int:
    """Return the number of elements of an array."""
    return math.prod(shape)


def attribute_of(node: ast.expr, name: str) -> ast.expr:
    """Make the node of an attribute, such as ``b.T``; that of ``b.T.T`` is ``b``."""
    if name == "T" and isinstance(node, ast.Attribute) and node.attr == "T":
        return node.value
    return ast.Attribute(value=node, attr=name, ctx=ast.Load())


def fitting(options: Sequence[tuple[ast.expr, Shape]], failing: Expression) -> Note | None:
    """Return a note on expressions whose shapes fit in place of the failing one; ``None`` without any, or if long."""
    texts = [f"{ast.unparse(ast.fix_missing_locations(node))} → {written(shape)}" for node, shape in options]
    code = " or ".join(texts)
    whole = isinstance(failing.parent, ast.stmt | ast.Lambda | None)
    found = note("doctor.write_fitting", code=code, several=len(options) > 1, whole=whole)
    return found if 0 < len(code) <= _LONGEST else None
