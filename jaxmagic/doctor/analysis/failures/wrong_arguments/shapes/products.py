"""Explains matrix products and ``einsum()`` whose operands do not fit."""

from __future__ import annotations

import ast

from ......records.note import Note, note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import Expression, expression_of
from ..explained import SHAPE, Explained, Rule
from ..operands import (
    Shape,
    arrays_of,
    attribute_of,
    fact,
    fitting,
    listed,
    product,
    shapes_in,
    shortened,
    with_shapes,
    written,
)

#: Functions that sum over the last axis of the first operand and the last but one of the second.
_LIKE_MATMUL = "matmul", "dot"

#: Functions that sum over other axes.
_OTHERS = "inner", "vdot", "tensordot", "dot_general"


def explain_product(failure: Failure) -> Explained:
    """Explain axes that are summed over and have different sizes."""
    failing = expression_of(failure)
    sizes = [*shapes_in(fact(failure, "left")), *shapes_in(fact(failure, "right"))]
    arrays = arrays_of(failure)
    left, right = arrays if len(arrays) == 2 else (Operand(text=""), Operand(text=""))
    axes = _axes(failing, left.shape or (), right.shape or (), sizes)
    if axes is None:
        named = _called(failing) in _OTHERS if left.text else _hold(left, right, sizes)
        named = named and left.shape is not None and right.shape is not None
        found = note(
            "doctor.error_product",
            operands=_both(left, right) if named else "",
            first=_written(sizes[0]),
            other=_written(sizes[1]),
        )
        return Explained(found, note("doctor.write_product"))
    found = note(
        "doctor.error_product_axes",
        operands=_both(left, right),
        first=shortened(left.text),
        first_axis=axes[0],
        first_size=sizes[0][0],
        other=shortened(right.text),
        other_axis=axes[1],
        other_size=sizes[1][0],
    )
    return Explained(found, _fitting(failing, left, right) or note("doctor.write_product"))


def _hold(left: Operand, right: Operand, sizes: list[Shape]) -> bool:
    """Return whether what a library multiplied has axes of the sizes in the message."""
    return all(set(size) <= set(each.shape or ()) for each, size in zip((left, right), sizes, strict=True))


def _both(left: Operand, right: Operand) -> str:
    return listed([left.text, right.text] if left.text else [], [left.shape or (), right.shape or ()])


def _written(sizes: Shape) -> str:
    return str(sizes[0]) if len(sizes) == 1 else written(sizes)


def _called(failing: Expression | None) -> str:
    """Return the name of the function of a product; ``"matmul"`` for the operator."""
    if failing is not None and isinstance(failing.node, ast.BinOp | ast.AugAssign):
        return "matmul" if isinstance(failing.node.op, ast.MatMult) else ""
    return "" if failing is None else (failing.called or "").rpartition(".")[2]


def _axes(failing: Expression | None, left: Shape, right: Shape, sizes: list[Shape]) -> tuple[int, int] | None:
    """Return the two axes that ``left @ right`` sums over, if their sizes are the ones in the message."""
    if _called(failing) not in _LIKE_MATMUL or not left or not right:
        return None
    axes = len(left) - 1, max(len(right) - 2, 0)
    return axes if [(left[axes[0]],), (right[axes[1]],)] == sizes else None


def _fitting(failing: Expression | None, left: Operand, right: Operand) -> Note | None:
    """Return a note on the products of the same operands, transposed or in the other order, that fit."""
    node = None if failing is None else failing.node
    first, other = _parts(node)
    if node is None or first is None or other is None or {len(left.shape or ()), len(right.shape or ())} - {1, 2}:
        return None
    one, two = left.shape or (), right.shape or ()
    options = [
        (first, attribute_of(other, "T"), one, two[::-1]),
        (attribute_of(first, "T"), other, one[::-1], two),
        (other, first, two, one),
    ]
    fits = [
        (ast.BinOp(left=a, op=ast.MatMult(), right=b), result)
        for a, b, shape, shape2 in options
        if (result := product(shape, shape2)) is not None
    ]
    return None if failing is None else fitting(fits, failing)


def _parts(node: ast.AST | None) -> tuple[ast.expr | None, ast.expr | None]:
    """Return both operands of a product as they are written."""
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    if isinstance(node, ast.Call) and len(node.args) == 2:
        return node.args[0], node.args[1]
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Attribute):
        return node.func.value, node.args[0]
    return None, None


def explain_batch(failure: Failure) -> Explained:
    """Explain batches of matrices that do not fit: ``matmul`` says both shapes, ``dot_general`` the batch axes."""
    remedy = note("doctor.write_batch")
    if fact(failure, "first"):
        axes = listed([], [*shapes_in(fact(failure, "first")), *shapes_in(fact(failure, "other"))])
        return Explained(note("doctor.error_batch", operands="", axes=axes), remedy)
    left, right = shapes = [*shapes_in(fact(failure, "left")), *shapes_in(fact(failure, "right"))]
    operands = listed(with_shapes(failure, shapes) or [], shapes)
    if len(right) > 1 and left[-1] != right[-2]:
        found = note("doctor.error_product", operands=operands, first=str(left[-1]), other=str(right[-2]))
        return Explained(found, note("doctor.write_product"))
    return Explained(note("doctor.error_batch", operands=operands, axes=listed([], [left[:-2], right[:-2]])), remedy)


def explain_no_axis(failure: Failure) -> Explained:
    """Explain a product with a number."""
    arrays = arrays_of(failure)
    number = int(fact(failure, "number"))
    known = len(arrays) == 2 and arrays[number].shape == ()
    return Explained(
        note("doctor.error_no_axis", operand=shortened(arrays[number].text) if known else "", number=number),
        note("doctor.write_times"),
    )


def explain_einsum(failure: Failure) -> Explained:
    """Explain a label that stands for axes of different sizes.

    JAX names axes of an ellipsis, and those of interleaved lists of labels, by labels of its own.
    """
    label, remedy = fact(failure, "label"), note("doctor.write_einsum")
    sizes = [each for each in (fact(failure, "size"), fact(failure, "other")) if each]
    said = " and ".join(sizes) if len(sizes) == 2 else ""  # opt_einsum names one operand, with the other's size
    subscripts = _subscripts(failure)
    if subscripts is None or label not in subscripts:
        own = "..." if subscripts is not None and "..." in subscripts else ""
        return Explained(note("doctor.error_einsum", label=own, places=said), remedy)
    places = [
        (operand, axis, (operand.shape or ())[axis])
        for subscript, operand in _labelled(failure)
        for axis, each in subscript.items()
        if each == label
    ]
    if len({size for _, _, size in places}) < 2:
        return Explained(note("doctor.error_einsum", label=label, places=said), remedy)
    said = ", ".join(f"{shortened(each.text)} axis {axis}: {size}" for each, axis, size in places)
    return Explained(note("doctor.error_einsum", label=label, places=said), remedy)


def explain_einsum_axes(failure: Failure) -> Explained:
    """Explain a subscript with another number of labels than its operand has axes."""
    subscript, number = fact(failure, "subscript"), int(fact(failure, "number"))
    operands, subscripts = _operands(failure), _subscripts(failure)
    written_out = subscripts is not None and subscript in subscripts.partition("->")[0].split(",")
    operand = operands[number] if number < len(operands) else None
    known = operand is not None and operand.shape is not None and len(operand.shape) != len(subscript)
    return Explained(
        note(
            "doctor.error_einsum_axes",
            subscript=subscript if written_out else "",
            labels=len(subscript),
            operand=listed([operand.text], [operand.shape or ()]) if known and operand is not None else "",
            axes=len(operand.shape or ()) if known and operand is not None else -1,
        ),
        note("doctor.write_einsum_axes"),
    )


def explain_einsum_labels(failure: Failure) -> Explained:
    """Explain subscripts for another number of operands, or with a label of the result that no operand has."""
    label = fact(failure, "label")
    found = note(
        "doctor.error_einsum_labels",
        label=label,
        subscripts=int(fact(failure, "subscripts") or 0),
        operands=int(fact(failure, "operands") or 0),
    )
    return Explained(found, note("doctor.write_einsum_labels", label=label))


def _subscripts(failure: Failure) -> str | None:
    """Return the subscripts as the user wrote them, without blanks; ``None`` if they are unknown, or lists."""
    positional = [each for each in failure.operands if each.keyword is None]
    string = positional[0].string if positional else None
    return None if string is None else string.replace(" ", "")


def _operands(failure: Failure) -> list[Operand]:
    """Return the arrays that ``einsum("ij,jk", a, b)`` multiplies."""
    positional = [each for each in failure.operands if each.keyword is None]
    return positional[1:] if _subscripts(failure) is not None else []


def _labelled(failure: Failure) -> list[tuple[dict[int, str], Operand]]:
    """Return the label of each axis of each operand, without those of an ellipsis; none if they are not all known."""
    operands, found = _operands(failure), []
    subscripts = (_subscripts(failure) or "").partition("->")[0].split(",")
    if len(subscripts) != len(operands):
        return []
    for subscript, operand in zip(subscripts, operands, strict=True):
        first, ellipsis, last = subscript.partition("...")
        rank = None if operand.shape is None else len(operand.shape)
        if rank is None or len(first + last) > rank or (not ellipsis and len(first) != rank):
            return []
        labels = dict(enumerate(first)) | {rank - len(last) + place: each for place, each in enumerate(last)}
        found.append((labels, operand))
    return found


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "product", explain_product,
        rf"dot_general requires contracting dimensions to have the same shape, got (?P<left>{SHAPE}) and "
        rf"(?P<right>{SHAPE})"),
    Rule("TypeError", "batch", explain_batch,
        r"dot_general requires lhs batch dimensions and rhs batch dimensions to have the same shape, got "
        rf"(?P<first>{SHAPE}) and (?P<other>{SHAPE})"),
    Rule("ValueError", "batch", explain_batch,
        r"Incompatible (?:types|shapes) for matmul arguments: (?P<left>\S.*?) and (?P<right>\S.*)"),
    Rule("ValueError", "no axis", explain_no_axis,
        r"matmul input operand (?P<number>[01]) must have ndim at least 1, but it has ndim 0"),
    Rule("ValueError", "einsum", explain_einsum,
        r"Size of label '(?P<label>.)' for operand (?P<number>\d+) \((?P<size>\d+)\) does not match"
        r"(?: previous terms \((?P<other>\d+)\))?"),
    Rule("ValueError", "einsum labels", explain_einsum_labels,
        r"Number of einsum subscripts, (?P<subscripts>\d+), must be equal to the number of operands, "
        r"(?P<operands>\d+)"),
    Rule("ValueError", "einsum labels", explain_einsum_labels,
        r"Output character '(?P<label>.)' did not appear in the input"),
    Rule("ValueError", "einsum axes", explain_einsum_axes,
        r"Einstein sum subscript '(?P<subscript>[^']*)' does not contain the correct number of indices for "
        r"operand (?P<number>\d+)"),
)
# fmt: on
