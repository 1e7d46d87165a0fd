"""Words shardings that do not go together along explicit axes of a mesh, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ....units import count
from ..quoted import quoted

#: What tells all of these errors from those of a mesh of automatic axes.
_EXPLICIT = "Along explicit axes of a mesh, JAX moves data only where the code says so."


def automatic(jax: str) -> str:
    """Word that the compiler places data along automatic axes, and how a mesh gets these."""
    return (
        f" On a mesh of automatic axes, {jax}.make_mesh(shape, names, axis_types=({jax}.sharding.AxisType.Auto,) * "
        "len(names)), the compiler chooses."
    )


def _set(jax: str) -> str:
    return f"inside `with {jax}.set_mesh(mesh):`, which belongs around the call of a jitted function"


def _apart(function: str, arrays: str) -> str:
    what = quoted(function) or "The line"
    return f"{what} gets arrays that are split in different ways: {printable(arrays)}. {_EXPLICIT}"


def _twice(function: str, spec: str) -> str:
    return (
        f"{quoted(function) or 'The line'} gets arrays that are split in different ways, so that its result would be "
        f"split as {quoted(spec)}, along one axis of the mesh twice. {_EXPLICIT}"
    )


def _sum(function: str, left: str, right: str) -> str:
    split = f"split along {quoted(left)}"
    if left != right:
        split += f" in one array, and along {quoted(right)} in the other one"
    return (
        f"{quoted(function) or 'The product'} sums over an axis that is {split}. Along explicit axes of a mesh, JAX "
        "does not choose how its result is split."
    )


def _result(function: str, type: str) -> str:
    array = quoted(type) or "an array that is split"
    what = f"{quoted(function)} makes of {array}" if function else f"this line takes of {array}"
    return f"Along explicit axes of a mesh, JAX does not choose how to split what {what}."


def _axis(function: str, type: str, spec: str, axis: int, size: int) -> str:
    what = quoted(function) or "The line"
    array = quoted(type) or (f"an array that is split as {quoted(spec)}" if spec else "an array")
    if size >= 0:
        return (
            f"{what} takes a part of size {size} along an axis of {array}, which the devices that split this axis "
            "cannot share evenly."
        )
    which = f"axis {axis}" if axis >= 0 else "both axes of each matrix"
    return f"{what} needs {which} of {array} whole on each device. {_EXPLICIT}"


SHARDING_NOTES: dict[str, Callable[..., str]] = {
    "error_sharded_apart": _apart,
    "error_sharded_twice": _twice,
    "error_sharding_count": lambda option, given, arguments: (
        f"{quoted(option)}= has {count(given, 'sharding')}, but the function gets {count(arguments, 'argument')}."
    ),
    "write_sharding_count": lambda option: (
        f"Write a tuple with one sharding per argument, and None for one that JAX may place itself; or one sharding "
        f"without a tuple, {quoted(option)}=sharding, for all of them."
    ),
    "write_sharded_alike": lambda jax: (
        f"Reshard one of them first: {jax}.sharding.reshard(b, {jax}.typeof(a).sharding) if both have one shape, or "
        f"{jax}.sharding.reshard(b, {jax}.P(…)), {_set(jax)}.{automatic(jax)}"
    ),
    "error_sharded_sum": _sum,
    "error_sharded_result": _result,
    "write_out_sharding": lambda jax: (
        f'Say how: out_sharding={jax}.P() leaves it whole on each device, and {jax}.P("x") splits its first axis '
        f"along x, {_set(jax)}.{automatic(jax)}"
    ),
    "error_sharded_axis": _axis,
    "write_whole_axis": lambda jax, spec: (
        f"Make it whole first: {jax}.sharding.reshard(x, {jax}.{quoted(spec) or 'P()'}), {_set(jax)}.{automatic(jax)}"
    ),
}
