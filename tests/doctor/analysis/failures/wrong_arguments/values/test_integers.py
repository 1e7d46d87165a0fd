"""Floats for axes, sizes and bounds of slices: the line with integers."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = "x, i, n, w = jnp.ones((2, 4)), jnp.arange(3), 4, 2.0\n"


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("jnp.sum(x, axis=1.0)", "jnp.sum gets the float 1.0 for axis", "jnp.sum(x, axis=1)"),
        ("x.sum(axis=1.0)", "x.sum gets the float 1.0 for axis", "x.sum(axis=1)"),
        ("x.sum(1.0)", "x.sum gets the float 1.0 for axis", "x.sum(1)"),
        ("y = x.mean(axis=n / 4)", "gets the float n / 4 for axis", "y = x.mean(axis=n // 4)"),
        ("jnp.mean(x, x.shape[0] / 2)", "gets the float x.shape[0] / 2", "jnp.mean(x, x.shape[0] // 2)"),
        ("jnp.stack([x, x], axis=w)", "jnp.stack gets the float w for axis", "jnp.stack([x, x], axis=int(w))"),
        ("jnp.concatenate([x, x], 1.0)", "gets the float 1.0 for axis", "jnp.concatenate([x, x], 1)"),
        ("jnp.argmax(x, 1.0)", "gets the float 1.0 for axis", "jnp.argmax(x, 1)"),
        ("jnp.expand_dims(x, 1.0)", "gets the float 1.0 for axis", "jnp.expand_dims(x, 1)"),
        ("jax.nn.softmax(x, axis=1.0)", "gets the float 1.0 for axis", "jax.nn.softmax(x, axis=1)"),
        ("jax.nn.one_hot(i, n / 1)", "gets the float n / 1 for num_classes", "jax.nn.one_hot(i, n // 1)"),
        ("y = jax.jit(lambda x: jnp.sum(x, 1.0))(x)", "float 1.0", "y = jax.jit(lambda x: jnp.sum(x, 1))(x)"),
        ("x[:n / 2]", "A bound of the slice is a float", "x[:n // 2]"),
        ("x[0, 1.0:]", "A bound of the slice is a float", "x[0, 1:]"),
        ("i[:w * len(i)]", "A bound of the slice is a float", "i[:int(w * len(i))]"),
        ("i[n * 0.5:(n + 1) * 0.5]", "A bound of the slice is a float", "i[int(n * 0.5):int((n + 1) * 0.5)]"),
        ("i[-w:]", "A bound of the slice is a float", "i[int(-w):]"),
        ("i[:w / 2]", "A bound of the slice is a float", "i[:int(w / 2)]"),
        ("i[len(i) - n:n / 2]", "A bound of the slice is a float", "i[len(i) - n:n // 2]"),
    ],
)
def test_axes_and_bounds_that_are_floats(code: str, said: str, written: str) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None


def test_a_bound_that_may_be_a_float_is_in_words() -> None:
    cell = Cell(f"{VALUES}f = float\ny = i[f(1):n]  # here")
    assert "A bound of the slice is a float" in cell.said
    assert "convert the number with int()" in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("x.reshape(x.shape[0] / 2, -1)", "x.reshape(x.shape[0] // 2, -1)"),
        ("x.reshape((x.shape[0] / 2, -1))", "x.reshape((x.shape[0] // 2, -1))"),
        ("jnp.reshape(x, [x.shape[1] / 2, 4])", "jnp.reshape(x, [x.shape[1] // 2, 4])"),
        ("jnp.zeros(n / 2)", "jnp.zeros(n // 2)"),
        ("jnp.zeros(shape=(w, n))", "jnp.zeros(shape=(int(w), n))"),
        ("jnp.broadcast_to(x, (3.0, 2, 4))", "jnp.broadcast_to(x, (3, 2, 4))"),
        ("jnp.full((2.0, n), 1.5)", "jnp.full((2, n), 1.5)"),
        ("jnp.zeros(w)", None),
    ],
)
def test_shapes_that_hold_floats(code: str, written: str | None) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.finding.line == cell.here
    assert "A shape has to consist of integers" in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    "code", ["range(n / 2)", "[1, 2][:n / 2]", "np.ones(4)[:n / 2]", "np.sum(np.ones(2), axis=1.0)", "list(1.0)"]
)
def test_floats_in_other_calls_have_no_explanation(code: str) -> None:
    cell = Cell(f"{VALUES}{code}")
    assert cell.error is not None
    assert recognize(cell.error) is None


STEPS = """
def repeat(x, n):
    for _ in range(n):
        x = x + 1
    return x
{decorator}
def f(x, n):
    return {returned}
result = f(1.0, {n})
"""


def test_a_python_float_for_the_steps_of_a_loop_becomes_a_static_int() -> None:
    source = """
        {decorator}
        def f(x, n):
            for _ in range(n):  # here
                x = x + 1
            return x
        result = f(1.0, {n})
    """
    cell = Cell(source.format(decorator="@jax.jit", n="3.0"))
    assert cell.finding.line == cell.here
    assert cell.said.startswith("n (f32[]) is traced, so it has no value yet, but range needs one.")
    assert "depends on the argument n of f" in cell.said
    assert "n is a Python float where f is called. Pass an int, and declare it static, with static_arg" in cell.said
    static = '@functools.partial(jax.jit, static_argnames="n")'
    assert Cell(source.format(decorator=static, n="3")).names["result"] == 4
    assert cell.fallback is None  # range() takes no float without jit either


@pytest.mark.parametrize(
    ("returned", "said", "mended"),
    [
        ("repeat(x, n)", "lax.fori_loop(0, n.astype(int), body, init)", "lax.fori_loop(0, n.astype(int), step, x)"),
        ("[1, 2, 4][n]", "jnp.array([1, 2, 4])[n.astype(int)]", "jnp.array([1, 2, 4])[n.astype(int)]"),
        ("hex(n)", "hex needs numbers, not traced values. Call it outside", None),
    ],
)
def test_a_traced_float_is_no_integer_of_python(returned: str, said: str, mended: str | None) -> None:
    cell = Cell(STEPS.format(decorator="@jax.jit", returned=returned, n="jnp.float32(2)"))
    assert cell.said.startswith("n (f32[]) is traced, so it has no value yet, but")
    assert said in cell.said
    assert "int(x)" not in cell.said
    if mended is not None:
        again = STEPS.format(decorator="step = lambda i, x: x + 1\n@jax.jit", returned=mended, n="jnp.float32(2)")
        assert Cell(again).names["result"] == (3 if "fori" in mended else 4)


@pytest.mark.parametrize("steps", ["x", "len(x), n"])
def test_no_traced_value_is_to_be_converted(steps: str) -> None:
    cell = Cell(f"@jax.jit\ndef f(x, n):\n    return [*range({steps})]  # here\nf(jnp.ones(3), 2.0)")
    assert "take it from what is known during tracing, such as x.shape[0]." in cell.said
    assert "int(x)" not in cell.said
