"""A loop of JAX that is offered computes what the loop of Python does."""

from __future__ import annotations

import ast
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.rules.rewriting.loop_of_jax import way_of
from jaxmagic.doctor.rules.rewriting.loops.loop_code import loop_code

X = np.linspace(0, 1, 4, dtype=np.float32)
XS = np.linspace(-1, 1, 40, dtype=np.float32).reshape(10, 4)
GIVEN = {
    "x": jnp.asarray(X),
    "xs": jnp.asarray(XS),
    "ws": [jnp.asarray(each) for each in XS],
    "pairs": [{"a": jnp.asarray(each), "b": jnp.asarray(-each)} for each in XS],
    "key": jax.random.key(0),
}


def function_of(body: str) -> tuple[ast.FunctionDef, ast.For]:
    """Return a function with this body, and the loop in it."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    function = ast.parse(f"def f(x, xs, ws, pairs, key):\n{lines}\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    (loop,) = (each for each in function.body if isinstance(each, ast.For))
    return function, loop


def results(function: ast.FunctionDef, **given: Any) -> Any:
    names: dict[str, Any] = {"jax": jax, "jnp": jnp}
    module = ast.fix_missing_locations(ast.Module(body=[function], type_ignores=[]))
    exec(compile(module, "<test>", "exec"), names)
    return jax.jit(names["f"])(**GIVEN | given)


SEQUENCES = {
    "collects": "out = []\nfor _ in range(9):\n    x = jnp.sin(x)\n    out.append(x * 2)\nreturn x, jnp.stack(out)",
    "collects before": "out = []\nfor _ in range(9):\n    out.append(x)\n    x = jnp.sin(x)\nreturn jnp.stack(out)",
    "collects two": (
        "out = []\nnorms = []\nfor _ in range(9):\n    x = jnp.sin(x)\n    out.append(x)\n    norms.append(x.sum())\n"
        "return jnp.stack(out), jnp.stack(norms)"
    ),
    "begins with one": "out = [x]\nfor _ in range(9):\n    x = jnp.sin(x)\n    out.append(x)\nreturn jnp.stack(out)",
    "collects counted": "out = []\nfor i in range(9):\n    x = x + i\n    out.append(x)\nreturn jnp.array(out)",
    "uses its counter": "for i in range(3, 9):\n    x = jnp.sin(x + i)\nreturn x",
    "two carried": "a = x\nb = 2 * x\nfor i in range(9):\n    a, b = b, a + b * i\nreturn a, b",
    "keys": "for i in range(9):\n    x = x + jax.random.normal(jax.random.fold_in(key, i), x.shape)\nreturn x",
    "split keys": "for k in jax.random.split(key, 9):\n    x = x + jax.random.normal(k, x.shape)\nreturn x",
    "writes": "out = xs\nfor i in range(9):\n    x = jnp.sin(x)\n    out = out.at[i + 1].set(x)\nreturn out",
    "a lambda": "for i in range(9):\n    g = lambda y: jnp.sin(y) * i\n    x = g(x) + 1\nreturn x",
    "a function": "for _ in range(9):\n    def g(y):\n        z = 2 * y\n        return z\n    x = g(x)\nreturn x",
    "a gradient": "for _ in range(9):\n    g = jax.grad(lambda p: jnp.sum(p**2))(x)\n    x = x - 0.1 * g\nreturn x",
    "a rate that falls": "r = 0.1\nfor i in range(9):\n    x = x - r * jnp.sin(x)\n    r = r * 0.9\nreturn x, r",
    "a time": "t = 0.0\nfor _ in range(9):\n    x = x + jnp.sin(t)\n    t = t + 0.5\nreturn x",
    "begins with a number": "s = 0\nfor i in range(9):\n    s = s + jnp.sin(x + s) * i\nreturn s",
    "begins with two": "s = p = 0.0\nfor i in range(2, 9):\n    s = s + jnp.sin(x + p)\n    p = s / i\nreturn s, p",
    "sums scalars": "s = 0\nfor i in range(9):\n    s = s + jnp.sin(x * i).sum()\nreturn s",
    "used as a sequence": (
        "ys = []\nfor _ in range(9):\n    x = jnp.sin(x)\n    ys.append(x)\n"
        "return sum(ys) + ys[-1] + jnp.concatenate(ys).sum() + len(ys), sum(y * y for y in ys), jnp.stack(ys[2:])"
    ),
    "a step of range": "out = []\nfor _ in range(1, 9, 3):\n    x = x * 2\n    out.append(x)\nreturn jnp.stack(out)",
}

OVER_ARRAYS = {
    "indexes": "for i in range(9):\n    x = jnp.tanh(x + xs[i])\nreturn x",
    "indexes a part": "for i in range(2, 9, 2):\n    x = jnp.tanh(x + xs[i])\nreturn x",
    "indexes its length": "for i in range(len(xs)):\n    x = jnp.tanh(x + xs[i])\nreturn x",
    "sums": "total = 0.0\nfor i in range(9):\n    total = total + jnp.sum(xs[i] * x)\nreturn total",
    "collects": "out = []\nfor i in range(9):\n    x = x + xs[i]\n    out.append(x * xs[i])\nreturn jnp.stack(out)",
    "iterates": "out = []\nfor v in xs:\n    x = jnp.tanh(x + v)\n    out.append(x)\nreturn jnp.stack(out)",
    "indexes neighbours": "for i in range(1, 9):\n    x = x + xs[i] * xs[i - 1]\nreturn x",
}

OVER_LISTS = {
    "indexes": "for i in range(9):\n    x = jnp.tanh(x + ws[i])\nreturn x",
    "indexes two": "for i in range(9):\n    x = jnp.tanh(x + ws[i] * xs[i])\nreturn x",
    "iterates": "out = []\nfor w in ws:\n    x = jnp.tanh(x + w)\n    out.append(x)\nreturn jnp.stack(out)",
    "iterates over two": "for w, v in zip(ws, xs):\n    x = jnp.tanh(x + w * v)\nreturn x",
    "parameters": "for p in pairs:\n    x = jnp.tanh(x * p['a'] + p['b'])\nreturn x",
    "indexed parameters": "for i in range(9):\n    x = jnp.tanh(x * pairs[i]['a'] + pairs[i]['b'])\nreturn x",
}

RANGES = {
    "reversed": "8, -1, -1",
    "all reversed": "len(xs) - 1, -1, -1",
    "rows reversed": "xs.shape[0] - 1, -1, -1",
    "every other one, reversed": "8, -1, -2",
    "not to the first": "8, 1, -1",
    "from a number on, reversed": "n - 2, -1, -1",
    "from the end on": "-3, 6",
    "from a number below zero on": "-n + 5, 7",
    "by a number": "0, n, n - 7",
}

RUN = [
    *((body, False) for body in SEQUENCES.values()),
    *((body, True) for body in OVER_ARRAYS.values()),
    *((body, False) for body in OVER_LISTS.values()),
    *(
        (f"n = 9\nfor i in range({each}):\n    x = jnp.tanh(x + {name}[i])\nreturn x", name == "xs")
        for each in RANGES.values()
        for name in ("xs", "ws")
    ),
]


@pytest.mark.parametrize(("body", "arrays"), RUN)
def test_the_loop_of_jax_computes_the_same(body: str, arrays: bool) -> None:
    expected = results(function_of(body)[0])
    function, loop = function_of(body)
    code = loop_code(loop, function, arrays=arrays)
    assert code is not None
    place = function.body.index(loop)
    function.body[place : place + 1] = ast.parse(code).body
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-5), results(function), expected)
    assert "fori_loop" in code or "scan" in code


COUNTED = {
    "multiplies": "for i in range(1, 6):\n    x = x * i\nreturn x",
    "collects": "out = []\nfor i in range(1, 6):\n    x = x * i\n    out.append(x)\nreturn x, jnp.stack(out)",
    "collects two": (
        "y = x\nys = []\nfor i in range(5):\n    x, y = y + i, x * i\n    ys.append(x + y)\n"
        "return x, y, jnp.stack(ys)"
    ),
    "begins with one": "ys = [x]\nfor i in range(4):\n    x = x + i % 3\n    ys.append(x)\nreturn jnp.stack(ys)",
    "counts down": "ys = []\nfor i in range(7, 0, -2):\n    x = i - x\n    ys.append(x)\nreturn jnp.stack(ys)",
    "a step that varies": (
        "ys = []\nfor i in range(0, 6, 2 if len(xs) > 3 else 1):\n    x = x + i\n    ys.append(x)\n"
        "return jnp.stack(ys)"
    ),
    "never": "ys = []\nfor i in range(1, 0):\n    x = x + i\n    ys.append(x)\nreturn x",
}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "float16", "bfloat16", "int32", "float32"])
@pytest.mark.parametrize("body", COUNTED.values(), ids=COUNTED)
def test_a_counter_changes_no_dtype_as_it_is_a_number_of_python(body: str, dtype: str) -> None:
    x = jnp.arange(1, 5).astype(dtype)
    expected = results(function_of(body)[0], x=x)
    function, loop = function_of(body)
    code = loop_code(loop, function)
    assert code is not None
    place = function.body.index(loop)
    function.body[place : place + 1] = ast.parse(code).body
    found = results(function, x=x)
    assert jax.tree.map(lambda each: each.dtype, found) == jax.tree.map(lambda each: each.dtype, expected)
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-2), found, expected)


def test_a_counter_that_gives_floats_keeps_the_dtype_of_small_ones() -> None:
    body = "ys = []\nfor i in range(5):\n    x = x + jnp.sin(i)\n    ys.append(x)\nreturn x, jnp.stack(ys)"
    function, loop = function_of(body)
    code = loop_code(loop, function)
    assert code is not None
    function.body[1:2] = ast.parse(code).body
    for dtype in ("float16", "bfloat16", "float32"):
        assert [each.dtype for each in results(function, x=jnp.ones(3, dtype))] == [dtype, dtype]


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(9):\n    x = x[:i]\nreturn x",
        "for i in range(9):\n    j = i + 1\n    x = x + xs[:j].sum()\nreturn x",
        "for i in range(9):\n    x = jnp.sin(x) if i % 2 else jnp.cos(x)\nreturn x",
        "for i in range(9):\n    x = x + g(x, i)\nreturn x",
        "for i in range(9):\n    x = x + jnp.zeros(i).sum()\nreturn x",
        "for i in range(9):\n    x = x + xs[i] * xs[i - 1]\nreturn x",  # unknown whether xs is an array
        "for i in range(9):\n    x = x * (i / 9)\nreturn x",  # float32 in place of a number of Python
        "for i in range(9):\n    x = x + pairs[i].w[i]\nreturn x",
        "for name in pairs:\n    x = x + xs[name]\nreturn x",
        "out = []\nfor _ in range(9):\n    x = jnp.sin(x)\n    out.append(x)\n    x = x + out[-1]\nreturn out",
        "out = []\nfor _ in range(9):\n    x = jnp.sin(x)\n    out.append(x)\n    out.append(-x)\nreturn out",
        "out = [0.0]\nfor _ in range(9):\n    x = jnp.sin(x)\n    out.append(x)\nreturn out",
        *(
            f"ys = []\nfor _ in range(9):\n    x = jnp.sin(x)\n    ys.append(x)\n{after}"
            for after in (
                "return jnp.stack(ys + ys)",
                "return jnp.stack(ys * 2)",
                "return jnp.stack(ys[1:] + ys[:1])",
                "return joined((x, ys))",
                "ys += [x]\nreturn jnp.stack(ys)",
                "ys.append(x)\nreturn jnp.stack(ys)",
                "zs = ys\nreturn jnp.stack(zs + zs)",
                "return joined(ys)",
            )
        ),
        "ys = []\nfor _ in range(9):\n    x = jnp.sin(x)\n    ys.append((x, x))\na, b = zip(*ys)\nreturn a",
        "ys = []\nfor _ in range(9):\n    x = jnp.sin(x)\n    ys.append({'x': x})\nreturn [y['x'] for y in ys]",
        "for _ in range(9):\n    x = jnp.sin(x)\n    x_list.append(x)\nreturn x",
        "for _ in range(9):\n    x = jnp.sin(x)\n    print(x)\nreturn x",
        "out = []\nfor _ in range(9):\n    out.append(jnp.sin(x))\nreturn out",
        "k = 1\nfor _ in range(9):\n    k = k * 48271 % 2147483647\n    x = x + k / 2147483647\nreturn x",
        "k, m = 1, 1\nfor _ in range(60):\n    k, m = m, k + m\n    x = x + 1 / k\nreturn x",
        "k = 1\nfor _ in range(60):\n    k = k * 3\n    x = x + 1 / k\nreturn x",
        "t = 1.7e9\nfor _ in range(9):\n    t = t + 0.5\n    x = x + jnp.sin(t % 10.0)\nreturn x",
        "for i in range(90):\n    x = x + i * 48271 % 65537\nreturn x",
        "s = 0\nfor i in range(len(xs)):\n    s = s + jnp.sin(x + s) * i\nreturn s",  # perhaps in no round
        "s = 0\np = 0\nfor i in range(9):\n    s, p = s + p, p + x\nreturn s",  # in the second round
        "s = 0\nfor v in xs:\n    s = s + jnp.sin(v * x)\nreturn s",
    ],
)
def test_what_is_not_mechanical_has_no_code(body: str) -> None:
    function, loop = function_of(body)
    assert loop_code(loop, function) is None


@pytest.mark.parametrize(
    ("body", "way"),
    [
        *((body, "scan") for name, body in SEQUENCES.items() if "append" in body),
        (SEQUENCES["uses its counter"], "fori_loop"),
        (SEQUENCES["writes"], "fori_loop"),
        (OVER_ARRAYS["sums"], "scan"),
        (OVER_ARRAYS["indexes neighbours"], "fori_loop"),
        (OVER_LISTS["parameters"], "layers"),
        ("for i in range(9):\n    x = layers[i](x)\nreturn x", "layers"),
        ("for _ in range(9):\n    x = nn.Dense(30)(x)\nreturn x", "layers"),
        ("out = []\nfor i in range(9):\n    y = jnp.sin(xs[i])\n    out.append(y)\nreturn out", "vmap"),
        ("out = []\nfor v in xs:\n    out.append(jnp.sin(v))\nreturn out", "vmap"),
        ("ys = [x]\nfor _ in range(9):\n    ys.append(jnp.sin(ys[-1]))\nreturn ys", "scan"),
    ],
)
def test_the_loop_of_jax_that_is_advised(body: str, way: str) -> None:
    assert way_of(function_of(body)[1]) == way


@pytest.mark.parametrize(
    ("source", "way"),
    [("[jnp.sin(xs[i]) for i in range(9)]", "vmap"), ("[sample() for _ in range(9)]", "scan")],
)
def test_a_comprehension_is_mapped_if_its_elements_differ(source: str, way: str) -> None:
    loop: Any = ast.parse(source, mode="eval").body
    assert way_of(loop) == way
