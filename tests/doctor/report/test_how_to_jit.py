"""The advice to jit a part of the code says what the jit of a library needs besides."""

from __future__ import annotations

import pytest

from jaxmagic.doctor.report.how_to_jit import how_to_jit


@pytest.mark.parametrize("way", ["loop", "group"])
def test_the_jit_of_equinox_gets_the_number_of_a_round_as_an_array(way: str) -> None:
    advised = how_to_jit(way, "train", jit="eqx.filter_jit")
    assert "compiles again for each number of Python: pass what counts the rounds as an array" in advised
    assert "asarray" not in how_to_jit(way, "train", jit="jax.jit")
    assert "asarray" not in how_to_jit(way, "train", jit="nnx.jit")
