"""Chooses the explanation for a kind of error."""

from __future__ import annotations

from collections.abc import Callable

from ...record.failure import Failure
from ...record.failure_kind import Kind
from ...record.finding import RuleFinding
from .array_functions import explain_numpy
from .buffers import explain_deleted, explain_leak
from .conditions import explain_condition
from .masks import explain_mask
from .not_finite.explain import explain_not_finite
from .numbers import explain_number
from .out_of_memory import explain_memory
from .static_values import explain_static
from .structures import explain_branches, explain_carry, explain_pytree
from .wrong_arguments.all import WRONG_ARGUMENTS
from .wrong_arguments.explained import finding_of
from .wrong_arguments.modules import explain_module
from .wrong_arguments.transforms.places import explain_time

_EXPLAIN: dict[Kind, Callable[[Failure], RuleFinding]] = {
    "bool": explain_condition,
    "number": explain_number,
    "index": explain_number,
    "shape": explain_number,
    "numpy": explain_numpy,
    "mask": explain_mask,
    "static": explain_static,
    "leak": explain_leak,
    "deleted": explain_deleted,
    "nan": explain_not_finite,
    "carry": explain_carry,
    "branches": explain_branches,
    "pytree": explain_pytree,
    "memory": explain_memory,
}


def explanation(failure: Failure) -> RuleFinding:
    """Explain an exception that JAX raised."""
    wrong = WRONG_ARGUMENTS.get(failure.kind)
    if wrong is None:
        return _EXPLAIN[failure.kind](failure)
    return finding_of(failure, explain_module(failure) or explain_time(failure) or wrong(failure))
