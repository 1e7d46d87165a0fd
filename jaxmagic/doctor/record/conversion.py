"""Arrays of NumPy that are copied to the device: by a conversion, or as arguments of a jitted function."""

from __future__ import annotations

from dataclasses import dataclass

from ...records.call_stack import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """An array of NumPy that a line converted with ``jnp.array`` or ``jnp.asarray`` in the first run, or passed.

    Attributes:
        line: the user's line.
        called_from: the user's lines around it at the first time, innermost first.
        count: how often this line converted or passed this array.
        size_bytes: the size of the result, or of the array that is passed.
        type: element type and shape of that, such as ``"float32[1000,1000]"``.
        same_values: whether it is known to have had the same values each time. They are compared at some of the
            times, and after all runs if it is no view.
        function: the jitted function that it was passed to; empty if the line converts it.
        path: how the variables of the code lead to it after the runs; empty if they do not, or for a conversion.
        place: its number among the leaves of the arguments; ``None`` for a conversion.
        leaves: how many leaves the arguments have; 0 for a conversion.
    """

    line: Frame
    called_from: tuple[Frame, ...]
    count: int
    size_bytes: int
    type: str
    same_values: bool
    function: str = ""
    path: str = ""
    place: int | None = None
    leaves: int = 0
