"""Words arrays that cannot be concatenated or stacked, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from .....terminal import printable
from ...quoted import quoted


def _joined(operands: str, axis: int, other: int, sizes: str, function: str = "") -> str:
    if function:
        who = printable(operands) or "The arrays"
        differ = f"axis {other} has sizes {sizes}, and must have the same size in all of them"
        why = differ if operands else "their shapes differ in another axis than the joined one"
        return f"{who} do not fit in {quoted(function)}: {why}."
    return (
        f"{printable(operands)} cannot be concatenated along axis {axis}: axis {other} has sizes {sizes}, and must "
        "have the same size in all of them."
    )


def _ranks(operands: str, ranks: str) -> str:
    return f"{printable(operands)} cannot be concatenated: they have {ranks} axes, and must have the same number."


def _stacked(operands: str) -> str:
    return f"{printable(operands) or 'The arrays'} cannot be stacked: they must have the same shape."


def _beside_scalars(operands: str, scalars: str, count: int) -> str:
    if not scalars:
        who = "one of them is a scalar" if count == 1 else f"{count} of them are scalars"
    elif count == 1:
        who = f"{quoted(scalars)} is a scalar"
    else:
        *first, last = scalars.split(", ")
        rest = count - len(first) - 1
        names = ", ".join([*first, last]) + f" and {rest} more" if rest else f"{', '.join(first)} and {last}"
        who = f"{printable(names)} are scalars"
    return f"{printable(operands)} cannot be joined: {who}, without an axis."


def _write_scalar_array(jnp: str, shape: str, one_axis: bool, flat: bool) -> str:
    sizes = f"{jnp}.full({shape}, value)" if shape else f"{jnp}.full(shape, value)"
    parts = [f"{jnp}.hstack([a, b]) joins scalars and arrays of one axis to one such array."] if one_axis else []
    parts.append(f"To fit beside the others, the scalar has to be an array: {sizes}.")
    if flat:
        parts.append("axis=None joins the elements of all to an array of one axis.")
    return " ".join(parts)


def _write_joined(fits: str) -> str:
    other = f" Along axis={fits} they fit in shape." if fits else ""
    return f"Slice, pad or transpose one of them, so that only the joined axis differs.{other}"


JOINING_NOTES: dict[str, Callable[..., str]] = {
    "error_joined": _joined,
    "error_ranks": _ranks,
    "error_stacked": _stacked,
    "error_beside_scalars": _beside_scalars,
    "error_joined_numbers": lambda function, all=True: (
        f"{quoted(function) or 'concatenate'} joins arrays along an axis, but "
        f"{'what it gets has no axis' if all else 'the first one that it gets has none'}."
    ),
    "write_joined": _write_joined,
    "write_ranks": lambda jnp, index="": (
        f"Index the array that lacks an axis with {index}, which adds it where the others have the joined one."
        if index
        else f"Add the missing axis, as with the index [None], or use {jnp}.stack() for arrays of the same shape, "
        "which adds one to each."
    ),
    "write_scalar_axis": lambda jnp: (
        f"Give each scalar an axis, {jnp}.atleast_1d(x), or use {jnp}.hstack([a, b]), which does that."
    ),
    "write_scalar_array": _write_scalar_array,
    "write_stacked": lambda jnp, axes=False: (
        f"Give those with fewer axes the missing one, as in x[None] or x[..., None], and join them with "
        f"{jnp}.concatenate()."
        if axes
        else f"Pad or slice them to the same shape, or use {jnp}.concatenate() to join arrays that differ along one "
        "axis."
    ),
    "write_joined_numbers": lambda jnp: (
        f"Use {jnp}.stack([a, b]) for scalars, and {jnp}.hstack([a, b]) for scalars beside arrays of one axis. "
        f"Arrays are passed as one list: {jnp}.concatenate([a, b])."
    ),
}
