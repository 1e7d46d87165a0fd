"""Dictionaries whose values are chosen by an array."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell

TABLES = """
fs = {{0: jnp.sin, 1: jnp.cos}}
many = {{each: jnp.sin for each in range(9)}}
other = {{1: jnp.sin, 2: jnp.cos}}
names = {{0: 'sin', 1: 'cos'}}
shapes = {{0: jnp.ones(2), 1: jnp.ones(3)}}
numbers = {{0: 1.0, 1: 2.0}}
moves = {{1: (1, 0), 0: (0, 1)}}
some = {{5: 2.0, 0: 1.0}}
mixed = {{0: (1, 'a'), 1: (2, 'b')}}
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
        ("mixed[i][0]", "The values of mixed are text, so JAX cannot choose one by a traced key."),
        ("some[i]", "Find the place of the key among those of some, and index an array of its values by that."),
        ("{5: 1.0, 0: 2.0}[i]", "index it by their position: jnp.array(values)[position]."),
        ("numbers[i]", "The keys of numbers are 0 to 1: make an array of its values"),
        ("numbers.get(i)", "The keys of numbers are 0 to 1: make an array of its values"),
    ],
)
def test_a_traced_key_of_a_dictionary(code: str, said: str) -> None:
    finding = Cell(TABLES.format(jit="@jax.jit", code=code))
    assert said in finding.said
    assert ("jnp.array(" in finding.said) == (code == "{5: 1.0, 0: 2.0}[i]")


@pytest.mark.parametrize(
    ("code", "mended"),
    [
        ("numbers[i]", "jnp.array([numbers[0], numbers[1]])[i]"),
        ("numbers.get(i) * x", "jnp.array([numbers[0], numbers[1]])[i] * x"),
        ("x[:2] + jnp.array(moves[i])", "x[:2] + jnp.array(jnp.array([moves[0], moves[1]])[i])"),
        ("{0: 2.5, 1: 0.5}[i]", "jnp.array([2.5, 0.5])[i]"),
        ("some[i] * 2", "jnp.array(list(some.values()))[jnp.argmax(jnp.array(list(some)) == i)] * 2"),
        (
            "some.get(i, -1.0)",
            "jnp.where((jnp.array(list(some)) == i).any(), "
            "jnp.array(list(some.values()))[jnp.argmax(jnp.array(list(some)) == i)], -1.0)",
        ),
        (
            "numbers.get(i, 0.5)",
            "jnp.where((jnp.array(list(numbers)) == i).any(), "
            "jnp.array(list(numbers.values()))[jnp.argmax(jnp.array(list(numbers)) == i)], 0.5)",
        ),
        ("numbers[int(i)]", "jnp.array([numbers[0], numbers[1]])[i]"),
    ],
)
def test_an_array_of_the_values_is_chosen_from_as_the_dictionary_does(code: str, mended: str) -> None:
    cell = Cell(TABLES.format(jit="@jax.jit", code=f"{code}  # here"))
    assert cell.finding.code == f"return {mended}"
    right = Cell(
        TABLES.format(
            jit="", code=code.replace("[i]", "[int(i)]").replace("(i)", "(int(i))").replace("(i, ", "(int(i), ")
        )
    )
    assert right.error is None
    for each in (0, 5, *([7] if ".get(i, " in code else [])) if "some" in code else (0, 1):
        given = each, jnp.ones(3)
        pasted = cell.rewritten(f"def f(i, x): return {mended}")
        assert pasted.error is None
        np.testing.assert_array_equal(pasted.names["f"](*given), right.names["f"](*given))


def test_a_key_that_is_missing_takes_the_first_value_only_without_a_default() -> None:
    first = "A key that is missing takes the first value"
    assert first in Cell(TABLES.format(jit="@jax.jit", code="some[i]")).said
    assert first not in Cell(TABLES.format(jit="@jax.jit", code="some.get(i, 0.0)")).said


def test_the_functions_are_chosen_as_the_dictionary_does() -> None:
    cell = Cell(TABLES.format(jit="@jax.jit", code="fs[i](x)  # here"))
    mended = cell.rewritten("def f(i, x): return lax.switch(i, [fs[0], fs[1]], x)")
    assert mended.error is None
    assert mended.names["f"](1, 0.0) == 1.0


def test_an_array_that_is_known_gives_the_key() -> None:
    assert "Use a Python number as the key: i.item()." in Cell(TABLES.format(jit="", code="fs[i](x)")).said
    assert "(i + 1).item()." in Cell(TABLES.format(jit="", code="names[i + 1]")).said
    assert "write x.item()" in Cell(TABLES.format(jit="", code="numbers[i]")).said
