"""Words axes, indices and slices that do not fit, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from .....units import count
from ....analysis.failures.expression import before_dot
from ...quoted import quoted


def _axes(number: int) -> str:
    return "1 axis" if number == 1 else f"{number or 'no'} axes"


def _axis(array: str, axis: int, rank: int, result: bool) -> str:
    axes = _axes(rank)
    if result:
        added = f", one more than {quoted(array)}" if array else ""
        return f"Axis {axis} is asked for, but the result has {axes}{added}."
    return f"Axis {axis} is asked for, but {quoted(array) or 'an array of this call'} has {axes}."


def _in_range(rank: int) -> str:
    if not rank:
        return "Leave out axis=: a scalar has no axes."
    if rank == 1:
        return "Write axis 0, the only one."
    return f"Axes count from 0: write one from 0 to {rank - 1}, or from -{rank} to -1, which count from the last one."


def _slice_size(target: str, shape: str, value: str, size: str, update: bool, axis: int) -> str:
    into = f"{quoted(target)} {shape}" if target else f"the array of shape {shape}"
    what = f"{quoted(value) or ('An update of shape' if update else 'A slice of size')} {size}"
    why = f": it is larger along axis {axis}" if axis >= 0 else ": it needs an axis for each of the array's"
    return f"{what} does not fit into {into}{why}."


def _write_slice_size(value: str, index: str, update: bool) -> str:
    if index:
        return f"Add an axis of size 1: {quoted(before_dot(value))}[{index}]."
    if update:
        return "Slice the update, or allocate the array with the size that is needed in the end."
    return "Ask for a smaller size. Positions beyond the end are not padded."


def _write_start_count(lax: str, rank: int, update: str = "", size: str = "", index: str = "") -> str:
    if not update:
        return f"Pass {count(rank, 'start')}. {lax}.dynamic_slice_in_dim(x, start, size, axis=0) slices one axis."
    new = f": {quoted(before_dot(update))}[{index}]" if index else ""
    fits = f", and an update with as many axes, which {quoted(update)} {size} has not{new}" if size else ""
    along = f"{lax}.dynamic_update_slice_in_dim(x, update, start, axis=0) takes one start for one axis."
    return f"Pass {count(rank, 'start')}{fits}. {along}"


def _unpacked(array: str, shape: str, names: int, each: bool = False) -> str:
    if not shape:
        return f"{quoted(array)} is one array in JAX, but is unpacked into {names} names."
    (size, *_) = shape.strip("(").split(",")
    what = f"Each element of {quoted(array)}, of shape {shape}," if each else f"{quoted(array)} {shape}"
    return (
        f"{what} has {count(int(size), 'element')} along its first axis, but is unpacked into {count(names, 'name')}."
    )


def _write_unpacked(array: str, columns: bool) -> str:
    if columns:
        return f"To unpack its columns, write {quoted(before_dot(array))}.T. Without .T, its rows are unpacked."
    return "Write as many names as that axis has elements, or index the elements that are needed."


def _write_taken_along(jnp: str, missing: bool) -> str:
    one = f"For one element per row, add the axis: {jnp}.take_along_axis(x, {jnp}.expand_dims(indices, axis), axis). "
    return f"{one if missing else ''}For whole rows or columns, write {jnp}.take(x, indices, axis)."


INDEXING_NOTES: dict[str, Callable[..., str]] = {
    "error_axis": _axis,
    "write_in_range": _in_range,
    "error_index_count": lambda array, rank, given: (
        f"{quoted(array) or 'The array'} has {_axes(rank)}, but gets {given} {'index' if given == 1 else 'indices'}."
    ),
    "write_index_count": lambda rank: (
        "Give at most one index per axis. To add an axis, write None in its place."
        if rank
        else "Leave out the index, or correct the line that made the scalar: a reduction such as .sum() returns one."
    ),
    "error_mask_shape": lambda array, mask, part: (
        f"The mask has shape {mask}, but what it selects from{f', in {quoted(array)},' if array else ''} has shape "
        f"{part}."
    ),
    "write_mask_shape": lambda array, index: (
        f"Along the axis of its size, write {quoted(before_dot(array))}[{index}]."
        if index
        else "Compare the array itself, as in x[x > 0], or reduce the comparison over the other axes, as with "
        ".any(axis=1)."
    ),
    "error_start_count": lambda given, shape: (
        f"The array of shape {shape} needs one start per axis, but gets {count(given, 'start')}."
    ),
    "write_start_count": _write_start_count,
    "error_start_dtype": lambda dtypes, function: (
        f"The starts of {quoted(function)} have the dtypes {quoted(dtypes)}, but they need one dtype of integers."
    ),
    "write_start_dtype": lambda floats, jnp: (
        "Convert the float with .astype(int), which cuts off the fraction, or divide with //."
        if floats
        else f"Convert them to one, with {jnp}.int32(i) or i.astype({jnp}.int32)."
    ),
    "error_squeeze": lambda array, shape, axis, size: (
        f"squeeze removes axes of size 1, but axis {axis} of {quoted(array) or 'the array'} {shape} has size {size}."
    ),
    "write_squeeze": lambda: (
        "Without an axis, it removes all axes of size 1. To take one element along an axis, index it, as in x[0]."
    ),
    "error_taken_along": lambda indices, rank: (
        f"take_along_axis takes indices with as many axes as the array, but they have {_axes(indices)} and the array "
        f"has {_axes(rank)}."
    ),
    "write_taken_along": _write_taken_along,
    "error_labels": lambda one_hot: (
        "softmax_cross_entropy_with_integer_labels takes one integer per example, but gets labels with "
        f"{'more' if one_hot else 'fewer'} axes."
    ),
    "write_labels": lambda: (
        "Pass integers with the shape of the logits but for the last axis. For one-hot labels and probabilities, use "
        "optax.softmax_cross_entropy."
    ),
    "error_weights": lambda shape, choices: (
        f"jax.random.choice chooses from {count(choices, 'element')}, but p has shape {shape}."
    ),
    "write_weights": lambda: "Pass one probability per element, in an array with one axis.",
    "error_unsized": lambda array: f"{quoted(array) or 'An array'} is a scalar, and a scalar has no length.",
    "write_unsized": lambda jnp: (
        f"A reduction such as .sum() returns a scalar: find where the axis was lost, or add one with "
        f"{jnp}.atleast_1d(x)."
    ),
    "error_array_unpacked": _unpacked,
    "write_array_unpacked": _write_unpacked,
    "error_pmap_rows": lambda: (
        "jax.pmap gives each device one row of its arguments, but there are more rows than devices."
    ),
    "write_pmap_rows": lambda jax: (
        f"{jax}.vmap maps all rows on one device. To use all {jax}.device_count() devices, put the rows of each into "
        f"an axis of their own, x.reshape({jax}.device_count(), -1, *x.shape[1:]), and map a function that "
        f"{jax}.vmap maps."
    ),
    "error_slice_size": _slice_size,
    "write_slice_size": _write_slice_size,
}
