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


@pytest.mark.parametrize(("holder", "named"), [("kept", True), ("shell", False)])
def test_the_variable_that_holds_the_value_is_named_where_a_line_stores_into_it(holder: str, named: bool) -> None:
    cell = Cell(
        """
        kept = []
        def f(x):
            kept.append(x)
        code = f.__code__
        text = (
            "Leaked trace DynamicJaxprTrace. Leaked tracer(s):\\n\\nJitTracer(~float32[])\\n"
            f"The error occurred while tracing the function f at {code.co_filename}:{code.co_firstlineno} "
            "for jit. \\n"
            "<DynamicJaxprTracer 1> is referred to by <list 2>[0]\\n<list 2> is referred to by __main__.HOLDER\\n"
        )
        jax.tree.map(lambda _: (_ for _ in ()).throw(Exception(text)), 0)
        """.replace("HOLDER", holder)
    )
    assert ("outlives the tracing: kept still holds it." in cell.said) == named
    assert "shell" not in cell.said
    assert ("It escaped at" if named else "It may have escaped at") in cell.said


def test_other_exceptions_of_that_type_have_no_explanation() -> None:
    assert recognize(Cell("with jax.checking_leaks():\n    raise Exception('Leaked trace')").error) is None
