"""Operations that compile one by one are advised as one program only if jit does not unroll a long loop for that."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.doctor.rules.compiling.eager.eager_programs import MANY
from jaxmagic.doctor.rules.host.jitting.looped import MOST_UNROLLED

pytestmark = [pytest.mark.clock, pytest.mark.usefixtures("any_programs_are_long")]

#: Each operation has a program for each of these shapes, and runs once for each of them in a round.
FUNCTIONS = jnp.sin, jnp.cos, jnp.tan, jnp.sinh, jnp.cosh, jnp.tanh, jnp.exp, jnp.expm1, jnp.log1p, jnp.sqrt
SIZES = 401, 402, 403

#: So many rounds call more than jit may unroll.
ROUNDS = MOST_UNROLLED // (len(FUNCTIONS) * len(SIZES)) + 1


def few(x: Any) -> Any:
    total = 0.0
    for f in FUNCTIONS:
        for size in SIZES:
            total = total + f(x[:size]).sum()
    return total


def many(x: Any) -> Any:
    total = 0.0
    for _ in range(ROUNDS):
        for f in FUNCTIONS:
            for size in SIZES:
                total = total + f(x[:size]).sum()
    return total


def advised(fn: Any) -> tuple[str, str | None]:
    (finding,) = jaxmagic.diagnose(fn, jnp.linspace(0.1, 0.9, 500), only="compile-time").findings
    assert finding.found.kind == "doctor.compile_time_eager"
    assert int(finding.found.facts["programs"]) >= MANY
    return str(finding.remedy), finding.code


def test_few_operations_are_compiled_as_one_program() -> None:
    assert advised(few)[1] == "import jax\nfew = jax.jit(few)"


def test_a_loop_that_calls_many_is_not_unrolled_for_its_few_programs() -> None:
    assert advised(many) == ("Put these operations into a function under jax.jit.", None)
