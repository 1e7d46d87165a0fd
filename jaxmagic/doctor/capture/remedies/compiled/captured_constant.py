"""Compiles a jitted function with the arrays that it captured as constants, and as arguments."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from .....memory_use.capture.executables import requirement
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
    costs_memory = finding.cost_bytes is not None and finding.found.facts.get("programs") == 1
    for call in jitted_calls(code):
        found = _builds(call, costs_memory=costs_memory)
        if found is not None:
            return found
    raise NotTried(note("doctor.not_mechanical", rule=finding.rule))


def _builds(call: Call, *, costs_memory: bool) -> Builds | None:
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
    beside = sum(each.nbytes for each in closed.consts if isinstance(each, jax.Array))
    return Builds(
        with_constants,
        with_arguments,
        (tuple(passed), (on_device, *passed)),
        (about, note("doctor.tried_compile_time"), note("doctor.folded_then_runs")),
        (partial(_need_bytes, beside=beside), partial(_need_bytes, beside=0)) if costs_memory else None,
    )


def _need_bytes(program: Any, beside: int) -> int | None:
    """Return what a program needs on a device with its constants, and with arrays that lie there beside it."""
    need = requirement(program.runtime_executable())
    if need.peak_bytes is None or need.allocations is None:
        return None
    constants = sum(each.size_bytes for each in need.allocations if each.kind == "constant")
    return need.peak_bytes + constants + beside
