"""Compiles a jitted function with the arrays that it captured as constants, and as arguments."""

from __future__ import annotations

import math
from typing import Any

from .....records.note import note
from ....record.finding import RuleFinding
from ..remedy import Builds, NotTried
from ..tried_code import TriedCode
from .afresh import compile_afresh
from .calls import Call, jitted_calls

#: Constants of fewer bytes than this in all are not worth compiling for.
_LEAST_BYTES = 2**12


def propose(finding: RuleFinding, code: TriedCode) -> Builds:
    """Propose to compile the first function that has large constants."""
    for call in jitted_calls(code):
        found = _builds(call)
        if found is not None:
            return found
    raise NotTried(note("doctor.not_mechanical", rule=finding.rule))


def _builds(call: Call) -> Builds | None:
    import jax

    given = call.traced()
    closed = jax.make_jaxpr(call.taking(given, call.function.__wrapped__))(given)
    size = sum(math.prod(each.shape) * each.dtype.itemsize for each in closed.consts)  # JAX 0.7 keeps no nbytes
    if size < _LEAST_BYTES:
        return None
    consts = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in closed.consts]
    flat = jax.tree.leaves(given)

    def with_constants() -> Any:
        return compile_afresh(lambda *values: jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *values), *flat)

    def with_arguments() -> Any:
        return compile_afresh(
            lambda consts, *values: jax.core.eval_jaxpr(closed.jaxpr, consts, *values), consts, *flat
        )

    about = note("doctor.constants_passed", arrays=len(consts), size_bytes=size)
    passed = jax.tree.leaves(call.values(given))
    on_device = [jax.device_put(each) for each in closed.consts]
    return Builds(
        with_constants,
        with_arguments,
        (tuple(passed), (on_device, *passed)),
        (about, note("doctor.tried_compile_time"), note("doctor.folded_then_runs")),
    )
