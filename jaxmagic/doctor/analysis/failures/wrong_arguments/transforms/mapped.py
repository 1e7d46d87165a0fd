"""Explains axes that ``jax.vmap`` cannot map."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from ......records.note import note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ....parsed_code import parsed
from ...expression import Expression, expression_of, spelled
from ..explained import SHAPE, Explained, Rule
from ..operands import Shape, broadcast, fact, product, shapes_in, shortened, written


class _MisfitError(Exception):
    """Says that the operands of arithmetic do not fit each other."""


def explain_vmap_sizes(failure: Failure) -> Explained:
    """Explain mapped axes of different sizes."""
    axes = re.findall(r"had size (\d+)(?:, e\.g\.|:) (axis .+?);?$", fact(failure, "axes"), re.M)
    said = "; ".join(f"{size} for {where.replace(' of type ', ' (')})" for size, where in axes)
    pairs, names, elements, fit = _pairs(failure, expression_of(failure)) or ("", "", "", None)
    shape = ", ".join(size for size, _ in axes)
    return Explained(
        note("doctor.error_vmap_sizes", axes=said),
        note(
            "doctor.write_same_sizes",
            pairs="" if fit is False else pairs,
            names=names,
            shape=shape,
            elements="" if fit else elements,
            jax=spelled(failure, "jax"),
        ),
    )


def _pairs(failure: Failure, failing: Expression | None) -> tuple[str, str, str, bool | None] | None:
    """Return the call of a function that is mapped for all pairs, and the arguments; ``None`` if they are unknown.

    The known shapes of what the function then gets follow, and whether these fit.
    """
    match None if failing is None else failing.node:
        case ast.Call(func=ast.Call(func=vmap, args=[function, *axes], keywords=options), args=given, keywords=[]):
            entries = _entries([*axes, *(each.value for each in options if each.arg == "in_axes")], len(given))
            entries = entries if all(each.arg == "in_axes" for each in options) else None
        case _:
            return None
    operands = failure.operands
    if entries is None or len(operands) != len(given) or any(isinstance(each, ast.Starred) for each in given):
        return None
    sizes = list[int | None]()
    for each, axis in zip(operands, entries, strict=True):
        if axis is not None and (each.shape is None or not -len(each.shape) <= axis < len(each.shape)):
            return None
        sizes.append(None if axis is None or each.shape is None else each.shape[axis])
    kinds = list(dict.fromkeys(each for each in sizes if each is not None))
    if len(kinds) != 2:
        return None
    inner, outer = (
        tuple(axis if size == kind else None for axis, size in zip(entries, sizes, strict=True))
        for kind in reversed(kinds)
    )
    map_, text = ast.unparse(vmap), ", ".join(ast.unparse(each) for each in given)
    code = f"{map_}({map_}({ast.unparse(function)}, in_axes={inner}), in_axes={outer})({text})"
    named = (
        " and ".join(each.text for each, size in zip(operands, sizes, strict=True) if size == kind) for kind in kinds
    )
    shapes = [_element(each, axis) for each, axis in zip(operands, entries, strict=True)]
    elements = " and ".join(written(each) for each in shapes if each is not None)
    return code, " with ".join(named), elements, _fit(fact(failure, "mapped"), shapes)


def _element(operand: Operand, axis: int | None) -> Shape | None:
    """Return the shape of an element of an array along an axis, or of the whole; ``None`` if it is unknown."""
    if operand.shape is None or axis is None:
        return operand.shape
    left = list(operand.shape)
    del left[axis]
    return tuple(left)


def _fit(source: str, shapes: list[Shape | None]) -> bool | None:
    """Return whether the arithmetic of a function can combine arguments of these shapes; ``None`` if it is unknown.

    The function itself is not called: it may print, or change what it closes over.
    """
    unknown = True if shapes and not any(shapes) and None not in shapes else None  # most functions take numbers
    match parsed(source).body:
        case [ast.Expr(value=ast.Lambda(args=arguments, body=result))]:
            body: list[ast.stmt] = [ast.Return(value=result)]
        case [ast.FunctionDef(args=arguments, body=body)]:
            pass
        case _:
            return unknown
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    known = dict(zip(names, shapes, strict=False))
    try:
        for each in body:
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    known[name] = _computed(value, known)
                case ast.Return(value=ast.expr() as value):
                    return unknown if _computed(value, known) is None else True
                case ast.Expr(value=ast.Constant()):
                    pass  # a docstring
                case _:
                    return unknown
    except _MisfitError:
        return False
    return unknown


def _computed(node: ast.expr, shapes: Mapping[str, Shape | None]) -> Shape | None:
    """Return the shape that arithmetic computes; ``None`` if it is unknown.

    Raises:
        _MisfitError: If operands do not fit each other.
    """
    if isinstance(node, ast.Name):
        return shapes.get(node.id)
    if isinstance(node, ast.Constant):
        return () if isinstance(node.value, int | float | complex) else None
    if isinstance(node, ast.UnaryOp):
        return _computed(node.operand, shapes)
    if isinstance(node, ast.Call):
        given = [_computed(each, shapes) for each in node.args]
        is_product = ast.unparse(node.func).rpartition(".")[2] == "matmul"
        if not is_product or len(given) != 2:
            return None
        left, right = given
    elif isinstance(node, ast.BinOp):
        left, right = _computed(node.left, shapes), _computed(node.right, shapes)
        is_product = isinstance(node.op, ast.MatMult)
    else:
        return None
    if is_product and () in (left, right):
        raise _MisfitError  # a matrix product takes no numbers
    if left is None or right is None or (is_product and max(len(left), len(right)) > 2):
        return None
    shape = product(left, right) if is_product else broadcast([left, right])
    if shape is None:
        raise _MisfitError
    return shape


def _entries(axes: list[ast.expr], count: int) -> list[int | None] | None:
    """Return which axis of each argument ``in_axes`` maps; ``None`` if that is unknown."""
    try:
        given = ast.literal_eval(axes[0]) if axes else 0
    except ValueError:
        return None
    entries = [given] * count if isinstance(given, int) else given
    known = isinstance(entries, tuple | list) and len(entries) == count and len(axes) < 2
    return list(entries) if known and all(each is None or isinstance(each, int) for each in entries) else None


def explain_vmap_rank(failure: Failure) -> Explained:
    """Explain an argument that lacks the mapped axis."""
    shape = shapes_in(fact(failure, "shape"))[0]
    positional = [each for each in failure.operands if each.keyword is None]
    matching = [place for place, each in enumerate(positional) if each.shape == shape]
    unknown = any(each.shape is None for each in positional)
    certain = len(matching) == 1 and not unknown and len(positional) == len(failure.operands)
    keys = [place for place in matching if (positional[place].type or "").startswith("key<")]
    failing = expression_of(failure)
    direct = failing is not None and isinstance(failing.node, ast.Call) and isinstance(failing.node.func, ast.Call)
    if len(keys) == 1 and direct and "in_axes" not in (failure.statement or ""):
        certain, matching = True, keys
    place = matching[0] if certain else -1
    entries = ["0"] * len(positional)
    if certain:
        entries[place] = "None"
    axes = f"({', '.join(entries)})" if certain and len(positional) > 1 and fact(failure, "axis") == "0" else ""
    return Explained(
        note(
            "doctor.error_vmap_rank",
            argument=shortened(positional[place].text) if certain else "",
            axis=int(fact(failure, "axis")),
            shape=fact(failure, "shape"),
        ),
        note("doctor.write_keys", jax=spelled(failure, "jax"))
        if certain and place in keys
        else note("doctor.write_not_mapped", axes=axes),
    )


def explain_vmap_axes(failure: Failure) -> Explained:
    """Explain ``in_axes`` or ``out_axes`` that do not fit."""
    if fact(failure, "none"):
        return Explained(note("doctor.error_vmap_nothing"), note("doctor.write_one_axis"))
    if fact(failure, "batched"):
        return Explained(note("doctor.error_vmap_out"), note("doctor.write_out_axes", axis=fact(failure, "batched")))
    entries, given = int(fact(failure, "entries")), int(fact(failure, "given"))
    return Explained(
        note("doctor.error_vmap_entries", entries=entries, given=given), note("doctor.write_in_axes_entries")
    )


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("ValueError", "vmap sizes", explain_vmap_sizes,
        r"vmap got inconsistent sizes for array axes to be mapped:\n(?P<axes>(?:  \* .*\n?)+)"),
    Rule("ValueError", "vmap rank", explain_vmap_rank,
        r"vmap was requested to map its argument along axis (?P<axis>-?\d+), which implies that its rank "
        rf"should be at least (?P<rank>\d+), but is only \d+ \(its shape is (?P<shape>{SHAPE})\)"),
    Rule("ValueError", "vmap axes", explain_vmap_axes,
        r"vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional "
        r"arguments passed to the function, but got len\(in_axes\)=(?P<entries>\d+), "
        r"len\(args\)=(?P<given>\d+)"),
    Rule("ValueError", "vmap axes", explain_vmap_axes,
        r"(?P<none>vmap must have at least one non-None value in in_axes)"),
    Rule("ValueError", "vmap axes", explain_vmap_axes,
        r"at vmap out_axes, got axis spec None but output was batched on axis (?P<batched>\d+)"),
)
# fmt: on
