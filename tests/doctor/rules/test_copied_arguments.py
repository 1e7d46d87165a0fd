"""Which arguments a program copies before it changes them, and how long that takes in a recorded run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from fabricate.profiling import operation, use
from gathered_evidence import evidence_of

from jaxmagic.doctor.analysis.reused_memory import parameters_of
from jaxmagic.doctor.rules.copied_arguments import copies_spared
from jaxmagic.profiling.record.profile import Profile


@pytest.mark.parametrize(
    ("function", "copied_bytes"),
    [
        (lambda x, y: x.at[5].set(y[0]), 4_000_000),
        (lambda x, y: (x.at[5].set(y[0]), y.at[5].add(1)), 4_000_000),  # y is none of those that are donated
        (lambda x, y: x + y, 0),
    ],
)
def test_what_is_changed_in_place_is_copied_first(function: Callable[..., jax.Array], copied_bytes: int) -> None:
    evidence = evidence_of(jax.jit(function), jnp.ones((1000, 1000)), jnp.ones((1000, 1000)))
    evidence = replace(evidence, profile=None)
    (program,) = evidence.programs or ()
    module = program.module
    assert module is not None
    given = parameters_of(module)[:1]
    assert copies_spared(evidence, program, module, given) == (copied_bytes, 0)
    copies = [name for name, number in module.instruction_ids.items() if module.instructions[number].opcode == "copy"]
    profile = Profile(
        runs=2,
        recorded_ns=2 * evidence.run_ns,
        device_uses=(use("CPU:0", 1),),
        operation_times=tuple(
            operation(name, 6_000_000, module=program.executable.name) for name in (*copies, "dot.1")
        ),
        place_times=(),
    )
    _, copies_ns = copies_spared(replace(evidence, profile=profile), program, module, given)
    assert copies_ns == (3_000_000 if copied_bytes else 0)
