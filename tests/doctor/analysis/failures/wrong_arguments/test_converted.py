"""Arguments that hold numbers or text, but are no arrays of numbers."""

from __future__ import annotations

import pytest
from failing_cells import Cell

BEGIN = "import pandas as pd\nf = jax.jit(lambda x: jnp.sum(x))\n"


@pytest.mark.parametrize(
    ("value", "mended"),
    [
        ("pd.DataFrame({'a': [1.0, 2.0]})", "x.to_numpy()"),
        ("pd.Series([1.0, 2.0])", "x.to_numpy()"),
        ("range(3)", "list(x)"),
        ("(each for each in [1.0, 2.0])", "list(x)"),
    ],
)
@pytest.mark.parametrize("name", ["x", "table"])
def test_what_holds_numbers_is_converted(value: str, mended: str, name: str) -> None:
    pytest.importorskip("pandas")
    mended = mended.replace("x", name, 1)
    said = Cell(f"{BEGIN}{name} = {value}\ny = f({name})  # here").said
    assert f"Convert it before the call: jnp.array({mended}) is an array" in said
    assert "static" not in said
    assert Cell(f"{BEGIN}{name} = {value}\ny = f(jnp.array({mended}))").error is None


def test_text_in_a_dict_is_said_to_be_text() -> None:
    said = Cell("""
        f = jax.jit(lambda b: b["x"] * 2)
        f({"x": jnp.ones(2), "y": np.array(["a", "b"])})  # here
    """).said
    assert "but its elements are text or other objects, and JAX traces numbers" in said
    assert "Encode text as integers" in said
    assert "static" not in said
