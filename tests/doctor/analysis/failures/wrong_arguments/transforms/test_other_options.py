"""Options of another kind than a function of JAX takes, and keys that are unpacked."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = "x, m, key = jnp.arange(5.0), jnp.ones((2, 3)), jax.random.key(0)\ndef f(x, n): return x * n\n"


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        (
            "g = jax.jit(f, static_argnums='n')",
            "static_argnums takes positions of arguments, but gets a name.",
            "g = jax.jit(f, static_argnames='n')",
        ),
        (
            "g = jax.jit(f, static_argnames=1)",
            "static_argnames takes names of arguments, but gets a number.",
            "g = jax.jit(f, static_argnums=1)",
        ),
        ("jax.grad(f, argnums='x')(1.0, 2.0)", "Pass the position of the argument", None),
        ("lax.dynamic_slice(x, 0, 3)", "takes starts and sizes as tuples", "lax.dynamic_slice(x, (0,), (3,))"),
        ("lax.dynamic_slice(x, (0,), 3)", "takes starts and sizes as tuples", "lax.dynamic_slice(x, (0,), (3,))"),
        (
            "y = lax.dynamic_update_slice(x, x[:2], 1)",
            "takes starts and sizes as tuples",
            "y = lax.dynamic_update_slice(x, x[:2], (1,))",
        ),
        ("jnp.split(x, 2)", "cannot be divided into parts of one size", "jnp.array_split(x, 2)"),
        ("jnp.clip(x, a_min=0, a_max=1)", "jnp.clip has no parameter", "jnp.clip(x, min=0, max=1)"),
        (
            "jax.debug.print('x = {x:.2f} and {y}', x[0], x)",
            "its value is passed by position",
            "jax.debug.print('x = {x:.2f} and {y}', x=x[0], y=x)",
        ),
        ("m.transpose(axes=(1, 0))", "m.transpose takes its axes by position", "m.transpose((1, 0))"),
        (
            "a, b, c = jax.random.split(key)",
            "split makes 2 keys, but they are unpacked into 3 names.",
            "a, b, c = jax.random.split(key, 3)",
        ),
        (
            "a, b = jax.random.split(key, 3)",
            "split makes 3 keys, but they are unpacked into 2 names.",
            "a, b = jax.random.split(key)",
        ),
        (
            "n = 5; [a, b, c] = jax.random.split(key, num=n)",
            "split makes 5 keys, but they are unpacked into 3 names.",
            "[a, b, c] = jax.random.split(key, 3)",
        ),
        ("a, b = key", "A single key cannot be unpacked.", "a, b = jax.random.split(key)"),
        ("a, b, c = key", "A single key cannot be unpacked.", "a, b, c = jax.random.split(key, 3)"),
        ("keys = jax.random.split(key, 3); a, b = keys", "keys (3,) has 3 elements along its first axis, but", None),
        (
            "a, b = jax.random.key(0)",
            "A single key cannot be unpacked.",
            "a, b = jax.random.split(jax.random.key(0))",
        ),
    ],
)
def test_the_line_with_the_option_that_is_meant(code: str, said: str, written: str | None) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    if cell.error is None:
        pytest.skip("this JAX takes it")
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    "code",
    [
        "a, b, c = x[:2]",
        "(a, b), c = jax.random.split(key)",
        "a, b, c = jax.random.split(key, (2, 2))",
        "a, b, c = 'a.b'.split('.')",
        "len(3)",
        "list(3)",
        "{}['x']",
        "{'a': 1}[str('x')]",
        "np.split(np.ones(5), 2)",
        "np.ones((2, 3)).transpose(axes=(1, 0))",
        "np.clip(np.ones(3), foo=1)",
        "range('a')",
    ],
)
def test_similar_errors_have_no_explanation(code: str) -> None:
    cell = Cell(f"{VALUES}{code}")
    assert cell.error is not None
    assert recognize(cell.error) is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('"{y}", x=x', "No value is passed for y. The text has no field for x."),
        ('"{} {}", x', "The text has 2 fields without a name, but gets 1 value by position."),
        ('"{}", x=x', "gets 0 values by position. The text has no field for x."),
        ('"x", x', "The text has 0 fields without a name, but gets 1 value by position."),
        ('"{} {y:.2f}", x', "No value is passed for y."),
        ('"{} {y[0]}", x, ordered=True', "No value is passed for y."),
    ],
)
@pytest.mark.parametrize("jitted", [False, True])
def test_fields_and_values_that_do_not_fit(call: str, said: str, jitted: bool) -> None:
    line = f"    jax.debug.print({call})  # here"
    cell = Cell(f"def f(x):\n{line}\n{'jax.jit(f)' if jitted else 'f'}(1.0)")
    assert cell.finding.line == cell.here
    assert said in cell.said
    assert cell.finding.code is None
