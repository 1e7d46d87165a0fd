"""Evidence about the jitted functions that the code names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JittedName:
    """A jitted function that the code names.

    Attributes:
        name: the variable.
        function: the name of the Python function inside it.
        location: where that function is defined, such as ``"cell 3:2"``.
        declared: the source from there up to and including the line with ``def``; empty if it cannot be read, or if
            that is not all of how it was jitted.
        static: its static parameters.
    """

    name: str
    function: str
    location: str
    declared: str = ""
    static: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticParameters:
    """The parameters of a jitted function that are static.

    Attributes:
        function: the name of the Python function inside it.
        names: the parameters.
    """

    function: str
    names: tuple[str, ...]
