"""A loop that fills arrays computes the same as the one call that is written for it."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.rules.rewriting.loops.fills.filling_code import Filled, filled
from jaxmagic.doctor.rules.rewriting.rewritten import INSTEAD
from jaxmagic.records.call_stack import Frame

DEFINITIONS = """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def row_of(point, points, scale):
    return scale * jnp.exp(-jnp.sum((points - point) ** 2, axis=1))

def distance(one, other):
    return jnp.abs(one - other).sum()

def drawn(point):
    return point + np.random.normal()

def logged(point):
    lines.append(float(point[0]))
    return point

def read_before(i):
    return K[i - 1]
"""

#: Bodies of functions whose loops have independent rounds.
ROWS = [
    "K = jnp.zeros((5, 5))\nfor i in range(5):\n    K = K.at[i].set(row_of(xs[i], xs, scale))\nreturn K",
    "K = jnp.ones((5, 5))\nfor i in range(1, 5, 2):\n    K = K.at[i].add(row_of(xs[i], xs, scale))\nreturn K",
    "K = jnp.ones((5, 5))\nfor i in range(5):\n    K = K.at[i, :].multiply(scale)\nreturn K",
    "K = jnp.ones((5, 4))\nfor i in range(4):\n    K = K.at[:, i].set(row_of(xs[i], xs, scale))\nreturn K",
    "K = jnp.zeros((3, 5, 2))\nfor i in range(5):\n    K = K.at[:, i].set(xs[i, :2])\nreturn K",
    "K = jnp.zeros((6, 5))\nfor i in range(5):\n    d = xs - xs[i]\n"
    "    K = K.at[i + 1].set((d**2).sum(axis=1))\nreturn K",
    "K = jnp.zeros((5, 5), int)\nfor i in range(5):\n    K = K.at[i].set(7 * scale)\nreturn K",
    "K = jnp.zeros(5)\nfor i in range(5):\n    K = K.at[i].set(distance(xs[i], xs[0]))\nreturn K",
    "K = jnp.zeros((5, 3))\nfor i, x in enumerate(xs):\n    K = K.at[i, ...].set(jnp.sin(x))\nreturn K",
    "K = jnp.zeros((4, 5))\nk = 2\nfor i in range(5):\n    K = K.at[k, i].set(xs[i].sum())\nreturn K",
    "K = jnp.zeros((5, 3))\nfor i in range(5):\n    K = K.at[4 - i].max(xs[i] * i)\nreturn K",
    "K, L = jnp.zeros((5, 3)), jnp.zeros((3, 5))\nfor i in range(5):\n    s = jnp.sin(xs[i])\n"
    "    K = K.at[i].set(s)\n    L = L.at[:, i].set(s * scale)\nreturn K, L",
    "K = jnp.zeros((5, 3))\nfor i in range(5):\n    K = K.at[i].set(xs[i])\n"
    "for i in range(3):\n    xs = xs + i\nreturn K",
]

#: The same with rounds that need earlier ones.
TURNS = [
    "K = jnp.zeros((6, 3))\nfor i in range(5):\n    K = K.at[i + 1].set(jnp.sin(K[i]) + scale)\nreturn K",
    "K = jnp.ones((6, 3))\nfor i in range(1, 6):\n    K = K.at[i].set(0.5 * K[i - 1])\nreturn K",
    "K = jnp.zeros((5, 5))\nfor i in range(5):\n    K = K.at[i % 2].add(xs[i, 0])\nreturn K",
    "K = jnp.zeros((5, 5))\nfor i in range(5):\n    K = K.at[i, i].add(xs[i, 0])\nreturn K",
    "K = jnp.zeros((5, 3))\nfor i, x in enumerate(xs):\n    K = K.at[i].set(K.sum(axis=0) + x)\nreturn K",
    "K, L = jnp.ones(6), jnp.ones(6)\nfor i in range(5):\n    K = K.at[i + 1].set(K[i] + L[i])\n"
    "    L = L.at[i + 1].set(K[i] * 0.5)\nreturn K, L",
]

#: Those for which no code can be written, with what the rounds need.
WORDS = [
    ("for i in range(5):\n    K = K.at[i].set(row_of(others[i], xs, scale))\nreturn K", True),  # perhaps a list
    ("for i in range(5):\n    for j in range(2):\n        xs = xs + j\n    K = K.at[i].set(xs[i])\nreturn K", False),
    ("for i in range(5):\n    last = xs[i]\n    K = K.at[i].set(last)\nreturn K, last", True),
    ("for i in range(5):\n    K = K.at[i].set(xs[i])\nreturn K[i]", True),
    ("for i in range(5):\n    K = K.at[i].set(xs[i] * others * i)\nreturn K", True),  # perhaps of 16 bits
    ("for i in range(5):\n    K = K.at[i].set(xs[i].reshape(1, n)[0])\nreturn K", True),
    ("for i in range(5):\n    xs = jnp.sin(xs)\n    K = K.at[i].set(xs[0])\nreturn K", False),
    ("rows_of_fill = 3\nfor i in range(5):\n    K = K.at[i].set(xs[i])\nreturn K", True),
    ("for i in range(5):\n    K = K.at[i].set(sum([c * xs[i] for c in (1, 2)]))\nreturn K", True),
]

#: Those that do something else than to fill, or more than JAX can compute.
OTHERS = [
    "for i in range(5):\n    K = K.at[i].set(drawn(xs[i]))\nreturn K",
    "for i in range(5):\n    K = K.at[i].set(logged(xs[i]))\nreturn K",
    "for i in range(5):\n    K = K.at[i].set(xs[i])\n    print(i)\nreturn K",
    "for i in range(5):\n    K = K.at[i].set(xs[i])\n    if xs[i, 0] > 3:\n        break\nreturn K",
    "for i in range(5):\n    K = L.at[i].set(xs[i])\nreturn K",
    "for i in range(5):\n    K = K.at[0].set(xs[i])\nreturn K",
    "for x in xs:\n    K = K.at[0].set(x)\nreturn K",
    "for i in range(5):\n    K = K.at[i].set(np.asarray(xs[i]))\nreturn K",
    "for i in range(5):\n    K = K.at[i].get()\nreturn K",
    "for i in range(5):\n    K = K.at[i].set(xs[i])\nelse:\n    K = -K\nreturn K",
]


def found(folder: Path, timing: Any, body: str) -> Filled | None:
    source = f"{DEFINITIONS}def fill(K, xs, scale, others, n):\n{textwrap.indent(body, '    ')}\n"
    file = folder / "fill.py"
    file.write_text(source)
    lines = source.splitlines()
    at = next(n for n, each in enumerate(lines, 1) if (" K = " in each and ".at[" in each) or "K.at[0]" in each)
    inputs = (
        Input(path="data", kind="jax array", type="f32[5,3]"),
        Input(path="factor", kind="number", type="float", value=0.5),
    )
    evidence = Evidence(code="fill(K, data, factor, things, 3)", first=timing(), observed=timing(), inputs=inputs)
    return filled(Frame(function="fill", file=str(file), line=at), evidence)


@pytest.mark.parametrize(("body", "mapped"), [*((each, True) for each in ROWS), *((each, False) for each in TURNS)])
def test_one_call_computes_what_the_loop_does(tmp_path: Path, timing: Any, body: str, mapped: bool) -> None:
    one = found(tmp_path, timing, body)
    assert one is not None
    assert one.filling.independent is mapped
    assert one.code is not None
    assert ("jax.vmap" in one.code, "fori_loop" in one.code) == (mapped, not mapped)
    beside, _, instead = one.code.partition(f"{INSTEAD}\n")
    lines = body.splitlines()
    first = next(n for n, each in enumerate(lines) if each.startswith("for "))
    last = next(n for n, each in enumerate(lines) if n > first and not each.startswith(" "))
    results = []
    for definitions, inner in (("", body), (beside, "\n".join([*lines[:first], instead, *lines[last:]]))):
        names: dict[str, Any] = {"jax": jax, "jnp": jnp}
        arguments = "K, xs, scale, others, n"
        exec(f"{DEFINITIONS}{definitions}\ndef fill({arguments}):\n{textwrap.indent(inner, '    ')}\n", names)
        data = jnp.arange(15.0).reshape(5, 3) % 4 - 1
        results.append(names["fill"](jnp.zeros((5, 5)), data, 0.5, None, 3))
    for one_, other in zip(*map(jax.tree.leaves, results), strict=True):
        assert one_.dtype == other.dtype
        np.testing.assert_allclose(other, one_, rtol=1e-5)


@pytest.mark.parametrize(("body", "independent"), WORDS)
def test_no_code_where_it_might_compute_something_else(
    tmp_path: Path, timing: Any, body: str, independent: bool
) -> None:
    one = found(tmp_path, timing, body)
    assert one is not None
    assert (one.code, one.filling.independent) == (None, independent)


@pytest.mark.parametrize("body", OTHERS)
def test_other_loops_are_left_alone(tmp_path: Path, timing: Any, body: str) -> None:
    assert found(tmp_path, timing, body) is None


@pytest.mark.parametrize("called", ["read_before", "jnp.sin"])
def test_a_function_that_reads_what_a_cell_fills(tmp_path: Path, timing: Any, called: str) -> None:
    file = tmp_path / "cell.py"
    file.write_text(f"{DEFINITIONS}for i in range(5):\n    K = K.at[i].set({called}(i))\n")
    at = Frame(function="<module>", file=str(file), line=len(file.read_text().splitlines()))
    one = filled(at, Evidence(code=file.read_text(), first=timing(), observed=timing()))
    assert (one is None) is (called == "read_before")


def test_a_cell_has_its_modules_from_earlier_ones(tmp_path: Path, timing: Any) -> None:
    file = tmp_path / "cell.py"
    file.write_text("K = jnp.zeros((5, 3))\nfor i, x in enumerate(X):\n    K = K.at[i].set(jnp.sin(x) * X.sum())\n")
    inputs = (Input(path="X", kind="jax array", type="f32[5,3]"),)
    at = Frame(function="<module>", file=str(file), line=3)
    one = filled(at, Evidence(code=file.read_text(), first=timing(), observed=timing(), inputs=inputs))
    assert one is not None
    assert one.code is not None
    assert one.code.splitlines()[-1] == "K = rows_of_K(K, jnp.arange(len(X)), X)"
