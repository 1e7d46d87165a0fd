"""A function that is jitted for itself and as part of another is named by the form that is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxmagic.doctor.rules.rewriting.made_once import making_called
from jaxmagic.records.call_stack import Frame

SOURCE = """@jax.jit
def loss(w, x):
    return jnp.sum(x @ w)

slope = jax.jit(jax.value_and_grad(loss))
plain = jax.grad(loss)

def run(w, x):
    {line}
    return w
"""


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("value, w = slope(w, x)", 5),
        ("w = loss(w, x)", 1),
        ("w = jax.jit(jax.hessian(loss))(w, x)", 9),
        ("w = slope(w, x)[1] + loss(w, x)", None),  # either
        ("w = plain(w, x)", None),
    ],
)
def test_the_form_that_is_called_is_found(tmp_path: Path, line: str, made: int | None) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(line=line))
    found = making_called("loss", (str(file), 1), Frame(function="run", file=str(file), line=9))
    assert (None if found is None else found.line) == made


def test_a_function_that_is_jitted_once_needs_no_choice(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("def loss(w):\n    return w @ w\nslope = jax.jit(jax.grad(loss))\ny = slope(w)\n")
    site = Frame(function="<module>", file=str(file), line=4)
    assert making_called("loss", (str(file), 1), site) is None
