"""Writes the mask of rows so that it broadcasts to their array, and advises what to do in place of selecting."""

from __future__ import annotations

import ast

from ....records.note import Note, note
from ...record.failure import Failure
from .expression import spelled, value_named
from .wrong_arguments.values.masked import along_rows, mask_shape, sizes

#: Longer names of an array and its mask are not repeated in the advice.
_LONGEST = 50


def mask_remedy(failure: Failure, array: str = "", index: ast.expr | None = None, *, gradient: bool = True) -> Note:
    """Advise to keep the size of what a mask selects, by the names that the code has for both.

    Args:
        failure: the failure.
        array: the array that is indexed, as it is written; empty if there is none.
        index: its index, which has the mask in it.
        gradient: whether the advice may spoil a gradient.
    """
    _, mask = (0, None) if index is None else _placed(index)
    wide = None if index is None else wide_mask(failure, array, index)
    jnp, rows = spelled(failure, "jax.numpy"), index is not None and wide is None
    if index is None or mask is None or wide is None or len(array + ast.unparse(wide)) > _LONGEST:
        return note("doctor.write_mask", jnp=jnp, gradient=gradient, rows=rows)
    return note(
        "doctor.write_mask",
        jnp=jnp,
        gradient=gradient,
        array=array,
        index=index_text(index),
        mask=ast.unparse(mask),
        wide=ast.unparse(wide),
    )


def wide_mask(failure: Failure, array: str, index: ast.expr) -> ast.expr | None:
    """Return the mask of an index so that it broadcasts to the array: ``m[:, None]`` for ``x[m]`` of a matrix.

    It is ``None`` if the shapes are unknown, or the index has more than a mask and whole axes.
    """
    value, (place, mask) = value_named(failure, array), _placed(index)
    if mask is None or value is None:
        return None
    of = mask_shape(failure, mask) or (failure.type or "?").removeprefix("bool")
    shape, covered = sizes(value.type.partition("[")[2]), sizes(of)
    end = place + len(covered)
    if not covered or "[" not in of or shape[place:end] != covered:
        return None
    return along_rows(mask, len(covered), len(shape) - end)


def _placed(index: ast.expr) -> tuple[int, ast.expr | None]:
    """Return the only part of an index that is not ``:``, behind its place; ``None`` if there are several."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    found = [(place, each) for place, each in enumerate(parts) if not _is_whole(each)]
    return found[0] if len(found) == 1 else (0, None)


def _is_whole(part: ast.expr) -> bool:
    """Return whether a part of an index is ``:``."""
    return isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None


def index_text(index: ast.expr) -> str:
    """Return an index as it is written: slices stand in no parentheses.

    >>> [index_text(ast.parse(each, mode="eval").body.slice) for each in ("x[:, m]", "x[m]")]
    [':, m', 'm']
    """
    return ast.unparse(ast.Subscript(value=ast.Name(id="x"), slice=index)).removeprefix("x[").removesuffix("]")
