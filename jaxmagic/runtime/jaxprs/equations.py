"""Apply the equations of a jaxpr to values, and tell where and for what they were written.

This depends on attributes that JAX does not promise. If one is missing, the fact is ``None``: not available on this
JAX.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import CodeType
from typing import Any, NamedTuple

#: Where a function is defined, as JAX writes it: ``"loss at /home/me/train.py:3"``.
_DEFINED = re.compile(r" at (.+):\d+$")


def results_of(equation: Any, values: Sequence[Any]) -> list[Any]:
    """Apply the operation of an equation of a jaxpr to values, and return its results."""
    bound = equation.primitive.get_bind_params(equation.params)
    functions, params = bound if type(bound) is tuple else ((), bound)  # up to JAX 0.8, and since
    found = equation.primitive.bind(*functions, *values, **params)
    return list(found) if equation.primitive.multiple_results else [found]


def sizes_of_scan(params: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many constants the body of a ``scan`` takes first, and how many values it carries.

    >>> sizes_of_scan({"num_consts": 2, "num_carry": 1})
    (2, 1)
    """
    if "num_carry" in params:
        return params["num_consts"], params["num_carry"]
    constants, carried, _ = params["ft_in"].unpack()  # since JAX 0.12
    return len(constants), len(carried)


class Written(NamedTuple):
    """The place in the code that led to an equation: the code of a function, and the offset of an instruction."""

    code: CodeType
    offset: int

    @property
    def line(self) -> int:
        """The line; 0 if it is unknown."""
        positions = next(itertools.islice(self.code.co_positions(), self.offset // 2, None), (None,))
        return positions[0] or 0


def written_at(equation: Any) -> list[Written]:
    """Return the places in the code that led to an equation, JAX's own among them, the innermost first."""
    with suppress(Exception):
        return [*map(Written, *equation.source_info.traceback.raw_frames())]
    return []


def transforms_of(equation: Any) -> str:
    """Return the transformations that led to an equation, such as ``"transpose(jvp(loss))"``; empty if unknown."""
    with suppress(Exception):
        return str(equation.source_info.name_stack)
    return ""


def defined_in(jaxpr: Any) -> str | None:
    """Return the file with the function that a jaxpr was traced from; ``None`` if JAX does not know it."""
    with suppress(Exception):
        found = _DEFINED.search(getattr(jaxpr, "jaxpr", jaxpr).debug_info.func_src_info)
        return None if found is None else found[1]
    return None


def bytes_of(equation: Any) -> int:
    """Return the size of the results of an equation; those of unknown size count nothing."""
    total = 0
    for each in equation.outvars:
        with suppress(Exception):
            total += each.aval.size * each.aval.dtype.itemsize
    return total
