"""Arrays of text and of objects, and indices that are text."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize


@pytest.mark.parametrize(
    ("code", "found", "written"),
    [
        ('jnp.array(["a"])', "['a'] holds text, but JAX arrays hold numbers and bools.", "np.unique(texts, return"),
        ("jnp.asarray(names)", "names holds text, but", "Keep text in NumPy or Python."),
        ("jax.device_put(names)", "names holds text, but", "Keep text in NumPy or Python."),
        ("jnp.array(np.array(['a', 'b']))", "np.array(['a', 'b']) holds text, but", "np.unique("),
        ("jnp.asarray(names.ravel())", "names.ravel() holds text, but", "np.unique("),
        ("jax.device_put({'a': names})", "{'a': names} holds text, but", "np.unique("),
        ("jax.device_put({'a': objects})", "{'a': objects} holds Python objects, but", ".astype(float)"),
        ("jnp.array('abc')", "'abc' holds text, but", "encode it as integers"),
        ("jnp.array([b'a'])", "[b'a'] holds text, but", "encode it as integers"),
        ("jnp.asarray(objects)", "objects holds Python objects, but", "convert the array with .astype(float)"),
        ("jnp.array(range)", "range is no number and no array, but", "Pass a number, an array, or a list"),
        ("jnp.array(table)", "table is a dict, but JAX arrays", "jax.tree.map(jnp.asarray, table)"),
        ("jnp.asarray(days)", "days holds dates or times, but", "(t - t[0]) / np.timedelta64(1, 's')"),
        ("jnp.array([1.0, None])", "None is among the values of [1.0, None], but", "jnp.nan"),
        ("jnp.array(None)", "None is no number and no array, but", "A function without a return"),
        ("jnp.zeros(3, dtype=object)", "dtype object is asked of jnp.zeros, but", "convert the array with"),
        ("jnp.zeros(3, dtype=str)", "dtype str is asked of jnp.zeros, but", "Keep text in NumPy or Python."),
    ],
)
def test_values_that_are_no_numbers(code: str, found: str, written: str) -> None:
    cell = Cell(
        "names, objects = np.array(['a', 'b']), np.array([{}, 1])\n"
        f"table, days = {{'a': 1}}, np.array(['2020-01-01'], dtype='datetime64[D]')\n{code}  # here"
    )
    if "must be a string, a bytes-like object or a real number" in str(cell.error):
        pytest.skip("this JAX lets Python convert a dict")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(found)
    assert written in cell.said


def test_text_for_a_function_that_is_jitted_has_the_same_remedy() -> None:
    cell = Cell("jnp.sum(np.array(['a']))  # here")
    assert "Its elements are no numbers: jnp has arrays of bools" in cell.said
    assert "functools.partial" not in cell.said


@pytest.mark.parametrize(
    "code",
    [
        "raise TypeError(\"Value 'a' with dtype <U1 is not a valid JAX array type.\")",
        "np.array(['a']).astype(float)",
        "raise TypeError(\"JAX does not support string indexing; got idx='a'\")",
        "np.ones(3)['a']",
        "[1, 2]['a']",
        "{'b': jnp.ones(3)}['a']",
    ],
)
def test_similar_errors_of_others_have_no_explanation(code: str) -> None:
    cell = Cell(code)
    assert cell.error is not None
    assert recognize(cell.error) is None


@pytest.mark.parametrize(
    ("code", "array", "index"),
    [
        ("x['a']", "x", "'a'"),
        ("x[b'a']", "x", "b'a'"),
        ("x['a', 0]", "x", "'a'"),
        ("x.at['a'].set(1)", "x", "'a'"),
        ("x['a'] = 1", "x", "'a'"),
        ("x[['a', 'b']]", "x", "['a', 'b']"),
        ("x[name]", "x", "'w'"),
        ("jax.jit(lambda params: params['w'])(x)", "params", "'w'"),
        ("(x + 1)['a']", "x + 1", "'a'"),
    ],
)
def test_an_index_that_is_text(code: str, array: str, index: str) -> None:
    cell = Cell(f"x, name = jnp.ones((3, 2)), 'w'\n{code}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(
        f"{array} is a JAX array, which has no columns with names, but gets the index {index}."
    )
    assert "Index with integers, such as [:, 0]." in cell.said
    assert "dict of arrays" in cell.said
    assert cell.finding.code is None
