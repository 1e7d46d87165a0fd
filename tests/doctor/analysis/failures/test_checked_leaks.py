"""Leaks that ``jax.checking_leaks()`` finds where the function ends."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize


@pytest.mark.parametrize(
    ("source", "said", "stored"),
    [
        (
            "kept = []\n@jax.jit\ndef f(x):\n    kept.append(x * 2)  # stored\n    return x\n"
            "with jax.checking_leaks():\n    f(1.0)",
            "found a value that f (",
            "kept.append(x * 2)",
        ),
        (
            "class Kept: pass\nkept = Kept()\ndef f(x):\n    kept.value = x + 1  # stored\n    return x\n"
            "with jax.checking_leaks():\n    jax.vmap(f)(jnp.ones(3))",
            "found a traced value (",
            "kept.value = x + 1",
        ),
        (
            "def body(carry, x):\n    global kept\n    kept = carry * 2  # stored\n    return carry, x\n"
            "with jax.checking_leaks():\n    lax.scan(body, 0.0, jnp.ones(3))",
            "found a value that body (",
            "kept = carry * 2",
        ),
    ],
)
def test_the_line_that_stores_the_value(source: str, said: str, stored: str) -> None:
    cell = Cell(source)
    assert cell.failure.kind == "leak"
    assert f"jax.checking_leaks() {said}" in cell.said
    assert "that outlives the tracing" in cell.said
    line = next(number for number, text in enumerate(cell.source.splitlines(), 1) if "# stored" in text)
    assert f"escaped at {cell.file}:{line}: {stored}" in cell.said
    assert "was used after" not in cell.said
    assert cell.finding.code is None


def test_the_variable_that_holds_the_value_is_named() -> None:
    text = (
        "Leaked trace DynamicJaxprTrace. Leaked tracer(s):\n\nJitTracer(~float32[])\n"
        "The error occurred while tracing the function f at a.py:3 for jit. \n"
        "<DynamicJaxprTracer 1> is referred to by <list 2>[0]\n<list 2> is referred to by __main__.kept\n"
    )
    said = Cell(f"error = Exception({text!r})\njax.tree.map(lambda _: (_ for _ in ()).throw(error), 0)").said
    assert "outlives the tracing: kept still holds it." in said


def test_other_exceptions_of_that_type_have_no_explanation() -> None:
    assert recognize(Cell("with jax.checking_leaks():\n    raise Exception('Leaked trace')").error) is None
