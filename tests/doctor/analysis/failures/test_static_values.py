"""Code that is advised for an expression can be pasted: parentheses stand where Python needs them."""

from __future__ import annotations

import re

import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell

from jaxmagic.doctor.report.wrong_arguments.arrays import ARRAY_NOTES
from jaxmagic.doctor.report.wrong_arguments.shapes.indexing import INDEXING_NOTES
from jaxmagic.doctor.report.wrong_arguments.wrong_calls import WRONG_CALL_NOTES

SMOOTH = """
a, b, late = jnp.ones(3), jnp.arange(3.0), False
@functools.partial(jax.jit, static_argnames="kernel")
def smooth(kernel, x):
    return jnp.convolve(x, jnp.asarray(kernel), mode="same")
result = smooth({given}, jnp.arange(8.0))  # here
"""


@pytest.mark.parametrize("named", ["", "kernel="])
@pytest.mark.parametrize(
    "given",
    ["a", "a + b", "-a", "jnp.ones(3) / 3", "a if late else b", "a[:2] * 2", "a[::-1]", "b ** 2", "jnp.flip(a)"],
)
def test_an_array_given_for_a_static_argument_is_passed_as_a_tuple_that_can_be_pasted(given: str, named: str) -> None:
    call = SMOOTH.format(given=given).replace("smooth(" + given + ", ", f"smooth(x=jnp.arange(8.0), kernel={given})#")
    cell = Cell(call if named else SMOOTH.format(given=given))
    advised = re.search(r"a tuple of numbers, (tuple\(.*?\.tolist\(\)\))( if it has one axis)?\.", cell.said)
    assert advised is not None, cell.said
    again = cell.rewritten(f"result = smooth({advised[1]}, jnp.arange(8.0))")
    assert again.error is None
    expected = jnp.convolve(jnp.arange(8.0), eval(given, dict(cell.names)), mode="same")
    np.testing.assert_allclose(again.names["result"], expected, rtol=1e-6)


SETTINGS = """
import dataclasses
Frozen = dataclasses.make_dataclass("Frozen", ["n"], frozen=True)
Loose = dataclasses.make_dataclass("Loose", ["n"])
two, items, nested = 2, [2, 3], ((1, [2, 3]), 4)
@functools.partial(jax.jit, static_argnames="cfg")
def f(x, cfg):
    return {returned}
result = f(jnp.arange(3.0), {given})  # here
"""


@pytest.mark.parametrize(
    ("given", "returned", "part", "call"),
    [
        ("([0], 1)", "x[cfg[0][0]]", "cfg[0] is a list", "((0,), 1)"),
        ("(1, (two, [0, -1]))", "x[cfg[1][1][0]]", "cfg[1][1] is a list", "(1, (two, (0, -1)))"),
        ("(1, items)", "x * cfg[1][0]", "cfg[1] is a list", "(1, tuple(items))"),
        ("({1, 2}, 1)", "x * len(cfg[0])", "cfg[0] is a set", "(frozenset({1, 2}), 1)"),
        ("(1, {'a': two})", "x * cfg[1]['a']", "cfg[1] is a dict", "(1, tuple({'a': two}.items()))"),
        ("Frozen([0, 1])", "x[cfg.n[0]]", "cfg.n is a list", "Frozen((0, 1))"),
        ("(Frozen(n=[0]), 1)", "x[cfg[0].n[0]]", "cfg[0].n is a list", "(Frozen(n=(0,)), 1)"),
        ("[[0, 1], 2]", "x[cfg[0][0]]", "", "((0, 1), 2)"),
        ("nested", "x * cfg[1]", "cfg[0][1] is a list", "((nested[0][0], tuple(nested[0][1])), nested[1])"),
        ("(jnp.ones(2), 1)", "x * cfg[1]", "cfg[0] is an array", ""),
        ("(Loose(2), 1)", "x * cfg[1]", "cfg[0] is a Loose", ""),
    ],
)
def test_the_part_that_cannot_be_hashed_is_named_and_converted(
    given: str, returned: str, part: str, call: str
) -> None:
    cell = Cell(SETTINGS.format(given=given, returned=returned))
    assert part in cell.said
    assert "Make tuple hashable" not in cell.said
    code = cell.finding.code or ""
    assert code.endswith(f"f(jnp.arange(3.0), {call})") if call else not code
    if call:
        before = "\n".join(each for each in code.splitlines() if each.startswith("cfg"))
        source = SETTINGS.format(given=call, returned=returned)
        again = Cell(source.replace("    return", f"    {before}\n    return") if before else source)
        assert again.error is None
        assert cell.fallback is not None
        np.testing.assert_allclose(again.names["result"], eval(cell.fallback, cell.names))


def test_a_key_that_is_computed_has_parentheses_in_front_of_a_method() -> None:
    for traced in (False, True):
        said = ARRAY_NOTES["write_memo"](memo="memo", key="n + 1", traced=traced)
        assert "(n + 1).item()" in said
        assert "n + 1.item()" not in said.replace("(n + 1).item()", "")


@pytest.mark.parametrize("axes", [1, 2])
def test_a_shape_is_taken_of_all_of_an_expression(axes: int) -> None:
    facts = {"text": "x + y", "axes": axes, "is_shape": True, "is_float": False, "parameters": "shape, dtype"}
    assert "pass (x + y).shape." in WRONG_CALL_NOTES["write_shape"](**facts)
    assert "pass x.shape." in WRONG_CALL_NOTES["write_shape"](**{**facts, "text": "x"})


def test_an_index_is_one_of_all_of_an_expression() -> None:
    assert INDEXING_NOTES["write_slice_size"](value="x + y", index="None", update=True).endswith("(x + y)[None].")
    assert INDEXING_NOTES["write_mask_shape"](array="x + y", index=":, m").endswith("(x + y)[:, m].")


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("np.array([1.0, -2.0, 1.0])", "pass a tuple of numbers, tuple(np.array([1.0, -2.0, 1.0]).tolist())."),
        ("a", "pass a tuple of numbers, tuple(a.tolist())."),
        ("one", "pass a Python number, int(one)."),
        (
            "a[:2]",
            "pass a Python number, int(a[:2]) if it has one element, or a tuple of numbers, tuple(a[:2].tolist())",
        ),
        ("square", "pass Python numbers, or a tuple of them."),
    ],
)
def test_the_advice_for_a_static_array_depends_on_its_shape(given: str, advice: str) -> None:
    cell = Cell("one, square = jnp.array([3]), jnp.eye(2)" + SMOOTH.format(given=given))
    assert f"If kernel decides a size, a number of steps or a branch, {advice}" in cell.said


@pytest.mark.parametrize(("imports", "jit"), [("equinox as eqx", "eqx"), ("equinox", "equinox")])
def test_a_static_module_of_equinox_goes_to_its_own_jit(imports: str, jit: str) -> None:
    pytest.importorskip("equinox")
    cell = Cell(f"""
        import {imports}
        model = {jit}.nn.Linear(2, 1, key=jax.random.key(0))
        @functools.partial(jax.jit, static_argnames="net")
        def predict(x, net):
            return net(x)
        predict(jnp.ones(2), net=model)  # here
    """)
    assert cell.finding.line == cell.here
    assert f"Use {jit}.filter_jit in place of jax.jit for predict, without static arguments." in cell.said
    code = cell.source.replace('functools.partial(jax.jit, static_argnames="net")', f"{jit}.filter_jit")
    assert Cell(code).error is None
