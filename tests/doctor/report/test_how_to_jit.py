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


@pytest.mark.parametrize(
    ("parts", "static", "called", "more"),
    [
        (1, "", "a jitted function", ""),
        (2, "opt", "2 jitted functions", " opt is static: jit compiles again for another one."),
        (1, "model, opt", "a jitted function", " model, opt are static: jit compiles again for another one."),
    ],
)
def test_a_method_passes_its_attributes(parts: int, static: str, called: str, more: str) -> None:
    assert how_to_jit("method", "step", parts=parts, static=static) == (
        f"In step, call {called} in place of the lines that compute. Pass what the attributes hold, and assign the "
        f"new values to them.{more}"
    )


@pytest.mark.parametrize(
    ("donated", "arrays", "them"), [("self.a", "array", "it"), ("self.a, self.b", "arrays", "them")]
)
def test_a_method_that_donates_says_what_that_deletes(donated: str, arrays: str, them: str) -> None:
    assert (
        f"Donating the {arrays} in {donated} lets XLA change {them} in place, and deletes what was passed: nothing "
        f"else may use {them} as before. cls is static"
    ) in how_to_jit("method", "step", static="cls", donated=donated)


def test_an_optimizer_that_each_run_makes_is_said_to_compile_again() -> None:
    assert how_to_jit("function", "step", anew="state") == (
        "Compile step as one program. Each run makes the Optax optimizer of state anew, and jit compiles again for "
        "it, which may take longer than the operations: make it once, outside, as well as a model whose method state "
        "holds."
    )
