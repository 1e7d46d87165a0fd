"""Explains axes and indices that an array does not have, and slices that do not fit into it."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import expression_of, spelled
from ..explained import SHAPE, Explained, Rule
from ..operands import Shape, arrays_of, fact, shapes_in, shortened, written
from ..values.carried import explain_carried

#: Functions that number the axes of their result, which has one more than the arrays.
_ADDING = "stack", "expand_dims"


def explain_axis(failure: Failure) -> Explained:
    """Explain an axis that an array does not have."""
    axis, rank = int(fact(failure, "axis")), int(fact(failure, "rank"))
    called = _called(failure)
    adding = called in _ADDING
    found = note(
        "doctor.error_axis",
        array=_named(failure, rank - adding) if called else "",
        axis=axis,
        rank=rank,
        result=adding,
    )
    return Explained(found, note("doctor.write_in_range", rank=rank))


def _called(failure: Failure) -> str:
    """Return the name of the function of JAX or the array's method that the line calls; empty for other functions."""
    failing = expression_of(failure)
    function = failing.node.func if failing is not None and isinstance(failing.node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or failure.library is not None:
        return ""
    owner = ast.unparse(function.value)
    modules = [spelled(failure, each) for each in ("jax.numpy", "jax.lax")]
    method = bool(failure.operands) and failure.operands[0].text == owner and failure.operands[0].shape is not None
    return function.attr if method or owner in modules or owner.startswith("jax.") else ""


def _named(failure: Failure, rank: int) -> str:
    """Return the first operand with its shape, if it has so many axes and its text is on the line."""
    first = next(iter(arrays_of(failure)), Operand(text=""))
    known = first.text and first.shape is not None and len(first.shape) == rank
    return f"{shortened(first.text)} {written(first.shape or ())}" if known else ""


def explain_index_count(failure: Failure) -> Explained:
    """Explain more indices than an array has axes."""
    rank, given = int(fact(failure, "rank")), int(fact(failure, "given") or fact(failure, "number"))
    found = note("doctor.error_index_count", array=_named(failure, rank), rank=rank, given=given)
    return Explained(found, note("doctor.write_index_count", rank=rank))


def explain_mask_shape(failure: Failure) -> Explained:
    """Explain a mask whose shape differs from that of the array."""
    (mask,), (part,) = shapes_in(fact(failure, "mask")), shapes_in(fact(failure, "part"))
    operand = next(iter(arrays_of(failure)), Operand(text=""))
    shape = operand.shape or ()
    place = int(fact(failure, "place"))
    known = bool(operand.text) and shape[place : place + len(part)] == part
    found = note(
        "doctor.error_mask_shape",
        array=f"{shortened(operand.text)} {written(shape)}" if known else "",
        mask=written(mask),
        part=written(part),
    )
    fits = [axis for axis, size in enumerate(shape) if (size,) == mask] if known else []
    index = ", ".join([":"] * fits[0] + ["mask"]) if len(fits) == 1 else ""
    return Explained(found, note("doctor.write_mask_shape", array=operand.text, index=index))


def explain_start_count(failure: Failure) -> Explained:
    """Explain another number of starts than axes in ``dynamic_slice()``."""
    (shape,) = shapes_in(fact(failure, "shape"))
    found = note("doctor.error_start_count", given=int(fact(failure, "given")), shape=written(shape))
    failing, arrays = expression_of(failure), arrays_of(failure)
    updates = failing is not None and (failing.called or "").endswith("dynamic_update_slice") and len(arrays) > 1
    update = arrays[1] if updates and failure.library is None else Operand(text="")
    lacks = update.shape is not None and len(update.shape) != len(shape)
    remedy = note(
        "doctor.write_start_count",
        lax=spelled(failure, "jax.lax"),
        rank=len(shape),
        update=shortened(update.text),
        size=written(update.shape or ()) if lacks else "",
        index=_with_axes(shape, update.shape or ()) if lacks else "",
    )
    return Explained(found, remedy)


def explain_start_dtype(failure: Failure) -> Explained:
    """Explain starts of a slice that are floats, or integers of several dtypes."""
    dtypes = fact(failure, "dtypes")
    floats = "float" in dtypes
    return explain_carried(failure) or Explained(
        note("doctor.error_start_dtype", dtypes=dtypes, function=fact(failure, "function")),
        note("doctor.write_start_dtype", floats=floats, jnp=spelled(failure, "jax.numpy")),
    )


def explain_slice_size(failure: Failure) -> Explained:
    """Explain a slice that is larger than its array, also as the place for an update."""
    (shape,), (size,) = shapes_in(fact(failure, "shape")), shapes_in(fact(failure, "size"))
    update = bool(fact(failure, "update"))
    arrays = [each for each in arrays_of(failure) if each.text]
    target = arrays[0].text if arrays and arrays[0].shape == shape else ""
    value = arrays[1].text if update and len(arrays) > 1 and arrays[1].shape == size else ""
    found = note(
        "doctor.error_slice_size",
        target=shortened(target),
        shape=written(shape),
        value=shortened(value),
        size=written(size),
        update=update,
        axis=_larger(shape, size),
    )
    return Explained(
        found, note("doctor.write_slice_size", value=value or "update", index=_with_axes(shape, size), update=update)
    )


def _larger(shape: Shape, size: Shape) -> int:
    """Return the first axis at which a slice is larger than its array; -1 if they have not the same axes."""
    if len(shape) != len(size):
        return -1
    return next((axis for axis, pair in enumerate(zip(shape, size, strict=True)) if pair[1] > pair[0]), -1)


def _with_axes(shape: Shape, size: Shape) -> str:
    """Return the index that adds an axis of size 1 to an update, so that it fits; empty if none does.

    >>> _with_axes((8, 4), (4,)), _with_axes((2, 8, 4), (2, 4)), _with_axes((8, 4), (5,))
    ('None', ':, None', '')
    """
    if len(size) != len(shape) - 1:
        return ""
    places = [axis for axis in range(len(shape)) if (*size[:axis], 1, *size[axis:])[axis + 1 :] == shape[axis + 1 :]]
    fits = [axis for axis in places if size[:axis] == shape[:axis]]
    return ", ".join([":"] * fits[0] + ["None"]) if len(fits) == 1 else ""


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("ValueError", "axis", explain_axis,
        r"axis (?P<axis>-?\d+) is out of bounds for array of dimension (?P<rank>\d+)$"),
    Rule("IndexError", "index count", explain_index_count,
        r"Too many indices: array is (?P<rank>\d+)-dimensional, but (?P<given>\d+) were indexed"),
    Rule("IndexError", "index count", explain_index_count,
        r"Too many indices: (?P<rank>\d+)-dimensional array indexed with (?P<number>\d+) regular ind"),
    Rule("IndexError", "mask shape", explain_mask_shape,
        rf"boolean index did not match shape of indexed array in index (?P<place>\d+): got (?P<mask>{SHAPE}), "
        r"expected (?P<part>[(\[][\d, ]*[)\]])"),
    Rule("ValueError", "start count", explain_start_count,
        rf"Length of slice indices must match number of operand dimensions \((?P<given>\d+) vs (?P<shape>{SHAPE})\)"),
    Rule("TypeError", "start dtype", explain_start_dtype,
        r"index arguments to (?P<function>\w+) must be integers of the same type, got:? (?P<dtypes>[\w, ]+)"),
    Rule("TypeError", "slice size", explain_slice_size,
        rf"slice slice_sizes must be less than or equal to operand shape, got slice_sizes (?P<size>{SHAPE}) for "
        rf"operand shape (?P<shape>{SHAPE})"),
    Rule("TypeError", "slice size", explain_slice_size,
        rf"dynamic_update_slice (?P<update>update) [\w ]+ operand(?: shape)?, got update shape (?P<size>{SHAPE}) for "
        rf"operand shape (?P<shape>{SHAPE})"),
)
# fmt: on
