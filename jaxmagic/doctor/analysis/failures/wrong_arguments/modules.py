"""Explains modules of libraries that JAX's functions do not take, and layers that take no batch."""

from __future__ import annotations

import ast

from .....records.note import note
from ....record.failure import Failure
from ....record.library_use import BatchUse, ModuleUse
from ..expression import expression_of, spelled
from .explained import Explained
from .operands import fact, shortened, written

#: Transformations that differentiate.
_DERIVATIVES = "grad", "value_and_grad", "hessian", "jacrev", "jacfwd", "vjp", "jvp", "linearize"


def explain_module(failure: Failure) -> Explained | None:
    """Explain a failure by the module of a library that the call gets; ``None`` if there is none."""
    use = failure.module
    if isinstance(use, BatchUse):
        return _batch(failure, use)
    if use is None:
        return None
    return _function(failure, use) if use.as_function else _module(failure, use)


def _module(failure: Failure, use: ModuleUse) -> Explained:
    kind = fact(failure, "type").rpartition(".")[2]
    found = note(
        "doctor.error_module",
        argument=shortened(use.text),
        library=use.library,
        type=kind,
        dtype=fact(failure, "dtype"),
        transform=use.transform,
    )
    remedy = note(
        "doctor.write_filtered",
        library=use.library,
        name=use.name,
        transform=use.transform,
        filtered=", ".join(use.filtered),
        differentiates=use.transform in _DERIVATIVES,
    )
    return Explained(found, remedy, _replaced(failure, use.call))


def _function(failure: Failure, use: ModuleUse) -> Explained:
    text = shortened(use.text)
    found = note("doctor.error_module_function", module=text, transform=use.transform)
    filtered = ", ".join(use.filtered)
    remedy = note("doctor.write_module_function", module=text, transform=use.transform, filtered=filtered)
    return Explained(found, remedy, _replaced(failure, use.call))


def _batch(failure: Failure, use: BatchUse) -> Explained:
    found = note(
        "doctor.error_batch_given",
        layer=use.layer,
        takes=use.takes,
        given=written(use.given),
        module=shortened(use.module),
    )
    remedy = note(
        "doctor.write_mapped_layer",
        module=shortened(use.module),
        axes=len(use.given) - 1,
        jax=spelled(failure, "jax"),
    )
    return Explained(found, remedy, _replaced(failure, use.mapped))


def _replaced(failure: Failure, call: str | None) -> str | None:
    """Return the failing statement with another call."""
    failing = expression_of(failure)
    if call is None or failing is None:
        return None
    return failing.with_node(ast.parse(call, mode="eval").body)
