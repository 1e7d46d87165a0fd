"""A loop that converts the same NumPy array in every round is found, with its line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import MS

from jaxmagic.doctor.rules.host import not_jitted, transfer

LOOP = "def run(x, n):\n    for i in range(n):\n        s = f({})\n    return s\n"


@pytest.mark.parametrize("converted", ["jnp.asarray(x)", "jnp.array(x)", "jax.numpy.asarray(x, jnp.float32)"])
def test_the_same_array_in_every_round(converting: Any, converted: str) -> None:
    (found,) = transfer.look(converting(converted, source=LOOP))
    assert found.found.kind == "doctor.converted_again"
    assert found.found.facts == {"name": "x", "count": 20, "size_bytes": 20 * 2**20}
    assert found.source == f"s = f({converted})"
    assert found.cost_ns == pytest.approx(50 * MS * 19 / 20)
    assert found.code == f"x = {converted}  # before the loop\ns = f(x)  # in the loop"


def test_an_array_that_the_loop_also_reads_with_numpy_keeps_its_name(converting: Any) -> None:
    (found,) = transfer.look(converting("jnp.array(x)", source=LOOP.replace("f({})", "f({}) + x[i]")))
    assert found.code == "x_jax = jnp.array(x)  # before the loop\ns = f(x_jax) + x[i]  # in the loop"


def test_an_array_that_is_donated_is_converted_in_each_round(converting: Any) -> None:
    made = converting("jnp.array(x)", source=LOOP)
    (program,) = made.programs
    donating = replace(program, function="f", eager=False, donated=(0,))
    assert list(transfer.look(replace(made, programs=(program, donating)))) == []


@pytest.mark.parametrize(
    ("converted", "changes"),
    [
        ("jnp.asarray(i)", {}),  # another one in each round
        ("jnp.asarray(x[i])", {}),
        ("np.asarray(x)", {}),
        ("jnp.asarray(x), jnp.asarray(y)", {}),
        ("jnp.asarray(x)", {"programs": 2}),
        ("jnp.asarray(x)", {"count": 2}),
        ("jnp.asarray(x)", {"source": "def run(x):\n    return f({})\n"}),
        ("jnp.asarray(x)", {"source": LOOP.replace("s = ", "x[i] = i; s = ")}),
        ("jnp.asarray(x)", {"source": LOOP.replace("s = ", "rng.shuffle(x); s = ")}),
    ],
)
def test_what_may_be_another_array_is_no_finding(converting: Any, converted: str, changes: dict[str, Any]) -> None:
    assert list(transfer.look(converting(converted, **{"source": LOOP, **changes}))) == []


def test_conversions_are_no_operations_to_be_jitted(converting: Any) -> None:
    assert list(not_jitted.look(converting("jnp.asarray(x)", source=LOOP, count=200))) == []
