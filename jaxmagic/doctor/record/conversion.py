"""Arrays of NumPy that a line converts to arrays of JAX."""

from __future__ import annotations

from dataclasses import dataclass

from ...records.call_stack import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """An array of NumPy that a line converted with ``jnp.array`` or ``jnp.asarray`` in the first run.

    Attributes:
        line: the user's line.
        called_from: the user's lines around it at the first time, innermost first.
        count: how often this line converted this array.
        size_bytes: the size of the result.
        type: element type and shape of the result, such as ``"float32[1000,1000]"``.
        same_values: whether it is known to have had the same values each time. They are compared at some of the
            times, and after all runs if it is no view.
    """

    line: Frame
    called_from: tuple[Frame, ...]
    count: int
    size_bytes: int
    type: str
    same_values: bool
