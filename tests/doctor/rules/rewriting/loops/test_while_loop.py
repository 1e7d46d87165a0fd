"""A loop that values end computes the same as the one call that is written for it."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.jitted_names import StaticParameters
from jaxmagic.doctor.rules.rewriting.loops.while_loop import while_loop
from jaxmagic.doctor.rules.rewriting.rewritten import INSTEAD
from jaxmagic.records.call_stack import Frame

DEFINITIONS = """
import random
import numpy as np

@jax.jit
def step(x, w):
    new = 0.5 * jnp.tanh(w * x)
    return new, jnp.abs(new - x).max()

def counted(x):
    global calls
    calls += 1
    return 0.5 * x

def logged(x):
    lines.append(float(x[0]))
    return 0.5 * x

def checked(x):
    if x[0] > 100:
        raise ValueError
    return 0.5 * x

def shaken(x):
    return shaken_by(x, np.random.normal())

def shaken_by(x, amount):
    return 0.5 * x + amount * 1e-9

def halved(x):
    return by_half(x)

def by_half(x):
    return 0.5 * x
"""

#: Bodies of functions with a loop that is written as one call.
LOOPS = [
    "err = 1.0\nwhile err > eps:\n    x, err = step(x, w)\nreturn x, err",
    "err = 1.0\nwhile float(err) > eps:  # here\n    x, err = step(x, w)\nreturn x, err",
    "while jnp.abs(x).max() > eps:\n    x = x * 0.5 * w\nreturn x",
    "err, i = 1.0, 0\nwhile err > eps and i < 3:\n    x, err = step(x, w)\n    i += 1\nreturn x, err, i",
    "err, i = 1.0, 0\nwhile not (err < eps) and not i > 50:\n    x, err = step(x, w)\n    i = i + 1\nreturn x, i",
    "err = 1.0\nwhile err > eps:\n    new = jnp.cos(x) * w\n    err = abs(new - x).sum()\n    x = new\nreturn x",
    "y = x\nwhile (y * y).sum().item() > eps:\n    y = y - 0.1 * (y * w)\nreturn y",
]

#: The same with numbers that are counted besides.
LOOPS += [
    f"t = {begin}\nwhile jnp.abs(x).max() > eps:\n    x = x * 0.5\n    t {step}\nreturn x, t"
    for begin, step in (("0.0", "+= 0.5"), ("2**30", "+= 1"), ("5", "-= 2"), ("1.1", "*= 0.5"), ("9.0", "/= 2"))
]

#: Bodies with a loop that JAX cannot compute like Python, as far as names and numbers tell.
UNLIKE = [
    "t = 0.0\nwhile t < w and jnp.abs(x).max() > eps:\n    x = jnp.sin(x)\n    t += 0.1\nreturn x",
    "t = 0.0\nwhile t < w and jnp.abs(x).max() > eps:\n    x = jnp.sin(x)\n    t = t + eps\nreturn x",
    "i = 1\nwhile jnp.abs(x).max() > eps:\n    x = jnp.sin(x * i)\n    i = i * 1103515245 % 2147483648\nreturn x",
    "while jnp.abs(x).max() > eps:\n    x = jnp.sin(x) * w.rate\nreturn x",
    "i = 0\nwhile jnp.abs(x).max() > eps:\n    x = jnp.sin(x) * w[i]\n    i += 1\nreturn x",
    "while jnp.abs(x).max() > eps:\n    x = sum([jnp.sin(c * x) for c in (1, 2)])\nreturn x",
    "while jnp.abs(x).max() > eps:\n    x = (lambda c: c * 0.5)(x)\nreturn x",
    "body = w\nwhile jnp.abs(x).max() > eps:\n    x = jnp.sin(x) * body\nreturn x",
    "while jnp.abs(x).max() > eps:\n    x = static(x, w)\nreturn x",
]

#: The same with numbers that 32 bits do not hold.
UNLIKE += [
    f"t = {begin}\nwhile jnp.abs(x).max() > eps:\n    x = x * 0.5\n    t {step}\nreturn x, t"
    for begin, step in (
        ("1e5", "+= 0.001"),
        ("0.0", "+= 1e-5"),
        ("1.0", "*= 1.1"),
        ("2**31 - 3", "+= 1"),
        ("0", "+= 2**20"),
        ("3", "*= 3"),
        ("9", "/= 2"),
    )
]

#: Bodies with a loop that does more, or whose variables are needed otherwise.
OTHERS = [
    "err = 1.0\nwhile err > eps:\n    x, err = step(x, w)\n    errors.append(err)\nreturn x",
    "err = 1.0\nwhile err > eps:\n    x, err = step(x, w)\n    print(err)\nreturn x",
    "err = 1.0\nwhile err > eps:\n    x, err = step(x, w)\n    if err < 0:\n        break\nreturn x",
    "err = 1.0\nwhile err > eps:\n    x, err = step(x, w)\nelse:\n    x = -x\nreturn x",
    "err = 1.0\nwhile err > eps or x.any():\n    x, err = step(x, w)\nreturn x",
    "err = 1.0\nwhile err > eps:\n    x, err = step(x, w)\n    last = err\nreturn last",
    "err = 1.0\nwhile err > eps:\n    xs[0] = x\n    x, err = step(x, w)\nreturn x",
    "err = 1.0\nwhile err > eps:\n    x, err = step(x, np.random.normal())\nreturn x",
    "step = other\nerr = 1.0\nwhile err > eps:\n    x, err = step(x, w)\nreturn x",
    "i = 9\nwhile x[:i].sum() > eps:\n    i = i - 1\n    x = step(x, w)\nreturn x",
    "while time.time() > eps:\n    x, err = step(x, w)\nreturn x",
    "loop_of_solve = 1\nerr = 1.0\nwhile err > eps:\n    x, err = step(x, w)\nreturn x",
    "for i in range(3):\n    x, err = step(x, w)\nreturn x",
]


#: The same within a function that the loop runs, and one that only computes.
OTHERS += [
    f"while jnp.abs(x).max() > eps:\n    x = {called}(x)\nreturn x"
    for called in ("counted", "logged", "checked", "shaken")
] + ["while jnp.abs(x).max() > eps:\n    x = 0.5 * x + random.random()\nreturn x"]
LOOPS += ["while jnp.abs(x).max() > eps:\n    x = halved(x)\nreturn x"]


def written(folder: Path, timing: Any, body: str) -> str | None:
    source = f"{DEFINITIONS}def solve(x, w, eps):\n{textwrap.indent(body, '    ')}\n"
    file = folder / "solve.py"
    file.write_text(source)
    lines = source.splitlines()
    at = next(n for n, each in enumerate(lines, 1) if each.lstrip().startswith(("while ", "for ")))
    line = at if "# here" in lines[at - 1] else at + 1
    static = (StaticParameters(function="static", names=("n",)),)
    evidence = Evidence(code="solve(x, w, eps)", first=timing(), observed=timing(), static=static)
    return while_loop(Frame(function="solve", file=str(file), line=line), evidence)


@pytest.mark.parametrize("body", LOOPS)
def test_one_call_computes_what_the_loop_does(tmp_path: Path, timing: Any, body: str) -> None:
    code = written(tmp_path, timing, body)
    assert code is not None
    beside, _, instead = code.partition(f"{INSTEAD}\n")
    lines = body.splitlines()
    loop = [number for number, each in enumerate(lines) if each.startswith(("while", " "))]
    found = []
    for definitions, inner in (
        ("", body),
        (beside, "\n".join([*lines[: loop[0]], instead, *lines[loop[-1] + 1 :]])),
    ):
        names: dict[str, Any] = {"jax": jax, "jnp": jnp}
        exec(f"{DEFINITIONS}{definitions}\ndef solve(x, w, eps):\n{textwrap.indent(inner, '    ')}\n", names)
        found.append(names["solve"](jnp.arange(1.0, 4.0), 0.9, 1e-3))
    for one, other in zip(*map(jax.tree.leaves, found), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5)


@pytest.mark.parametrize("body", [*OTHERS, *UNLIKE])
def test_a_loop_that_does_something_else_is_left_alone(tmp_path: Path, timing: Any, body: str) -> None:
    assert written(tmp_path, timing, body) is None


def test_global_values_are_arguments_as_jit_would_keep_them(tmp_path: Path, timing: Any) -> None:
    body = "err = 1.0\nwhile err > eps:\n    x, err = step(x, rate * conf['scale'])\nreturn x"
    code = written(tmp_path, timing, body)
    assert code is not None
    assert code.splitlines()[-1] == "err, x = loop_of_solve(err, x, conf, eps, rate)"


def test_two_loops_of_a_function_have_names_of_their_own(tmp_path: Path, timing: Any) -> None:
    body = "for i in range(2):\n    pass\nerr = 1.0\nwhile err > eps:  # here\n    x, err = step(x, w)\nreturn x"
    file = tmp_path / "solve.py"
    file.write_text(f"{DEFINITIONS}def solve(x, w, eps):\n{textwrap.indent(body, '    ')}\n")
    at = Frame(function="solve", file=str(file), line=len(file.read_text().splitlines()) - 1)
    code = while_loop(at, Evidence(code="solve(x, w, eps)", first=timing(), observed=timing()))
    assert code is not None
    assert "def loop_of_solve_2(err, x, eps, w):" in code


@pytest.mark.parametrize(("begin", "is_written"), [("import jax", True), ("for f in fs: solve(x)", False)])
def test_what_loops_bind_again_is_not_kept(tmp_path: Path, timing: Any, begin: str, is_written: bool) -> None:
    file = tmp_path / "solve.py"
    loop = "def f(x): return x / 2\ndef solve(x):\n    while x.max() > 1:\n        x = f(x)\n    return x\n"
    file.write_text(f"{begin}\n{loop}")
    at = Frame(function="solve", file=str(file), line=5)
    code = while_loop(at, Evidence(code="solve(x)", first=timing(), observed=timing()))
    assert (code is not None) is is_written
