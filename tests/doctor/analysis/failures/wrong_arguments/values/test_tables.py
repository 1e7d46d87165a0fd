"""Dictionaries whose values are chosen by an array."""

from __future__ import annotations

import pytest
from failing_cells import Cell

TABLES = """
fs = {{0: jnp.sin, 1: jnp.cos}}
many = {{each: jnp.sin for each in range(9)}}
other = {{1: jnp.sin, 2: jnp.cos}}
names = {{0: 'sin', 1: 'cos'}}
shapes = {{0: jnp.ones(2), 1: jnp.ones(3)}}
numbers = {{0: 1.0, 1: 2.0}}
{jit}
def f(i, x): return {code}
f(jnp.int32(0), jnp.ones(3))
"""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("fs[i](x)", "lax.switch(i, [fs[0], fs[1]], x). A position that is out of range is clamped"),
        ("fs.get(i)(x)", "lax.switch(i, [fs[0], fs[1]], x)."),
        ("fs[i](x, out=None)", "[fs[0], fs[1]], x). It passes no keywords: bind them with functools.partial."),
        ("jax.vmap(fs[i])(x)", "lax.switch(i, [fs[0], fs[1]], x)."),
        ("{1: jnp.cos, 0: jnp.sin}[i](x)", "lax.switch(i, [jnp.sin, jnp.cos], x)."),
        ("many[i](x)", "lax.switch(i, [many[key] for key in range(9)], x)."),
        ("other[i](x)", "lax.switch(position, list(other.values()), x), where position counts from 0"),
        ("names[i]", "The values of names are text, so JAX cannot choose one by a traced key."),
        ("shapes[i]", "The values of shapes cannot become one array"),
        ("numbers[i]", "Put the values into an array and index it: jnp.array(values)[i]."),
    ],
)
def test_a_traced_key_of_a_dictionary(code: str, said: str) -> None:
    finding = Cell(TABLES.format(jit="@jax.jit", code=code))
    assert said in finding.said
    assert ("jnp.array(" in finding.said) == ("numbers" in code)


def test_the_functions_are_chosen_as_the_dictionary_does() -> None:
    cell = Cell(TABLES.format(jit="@jax.jit", code="fs[i](x)  # here"))
    mended = cell.rewritten("def f(i, x): return lax.switch(i, [fs[0], fs[1]], x)")
    assert mended.error is None
    assert mended.names["f"](1, 0.0) == 1.0


def test_an_array_that_is_known_gives_the_key() -> None:
    assert "Use a Python number as the key: i.item()." in Cell(TABLES.format(jit="", code="fs[i](x)")).said
    assert "(i + 1).item()." in Cell(TABLES.format(jit="", code="names[i + 1]")).said
    assert "write x.item()" in Cell(TABLES.format(jit="", code="numbers[i]")).said
