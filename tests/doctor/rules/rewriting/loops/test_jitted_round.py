"""A loop computes the same where a jitted function is called in place of the statements that compute."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostUse, HostWait, Input
from jaxmagic.doctor.record.jitted_names import StaticParameters
from jaxmagic.doctor.record.library_use import ModuleLibrary
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.rewriting.loops.jitted_round import jitted_round
from jaxmagic.doctor.rules.rewriting.loops.loop_facts import reads
from jaxmagic.doctor.rules.rewriting.rewritten import pasted, rewritten
from jaxmagic.records.call_stack import Frame

DEFINITIONS = """
rate = 0.1
def update(w, g, rate=0.5):
    return w - rate * jnp.clip(g, -1, 1)
def masked(x):
    return x[x > 0].sum()
def drawn(x):
    return x + np.random.normal()
def told(x):
    print(x)
    return x
def shift(state):
    state["w"] = state["w"] + 1
def scaled(w):
    return w * rate
"""

ROWS = Input(path="x", kind="jax array", type="float32[12]")

#: The marked line of a loop of two lines, and one in a function that it calls.
HERE = Frame(function="solve", file="", line=DEFINITIONS.count("\n") + 3)
INSIDE = Frame(function="scaled", file="", line=DEFINITIONS.count("\n"))

#: Bodies of functions, with the statement to begin from marked, and how many statements the jitted function has.
LOOPS = [
    ("for i in range(5):\n    g = w * x.sum()  #\n    w = w - 0.1 * g\nreturn w", 2),
    ("for i in range(5):\n    g = jnp.sin(w) * x\n    w = update(w, g)  #\nreturn w, g", 2),
    ("kept = []\nfor i in range(5):\n    w = w - 0.1 * jnp.sin(w)  #\n    kept.append(jnp.mean(w))\nreturn kept", 2),
    ("kept = []\nfor i in range(5):\n    w = w - jnp.sin(w)  #\n    kept.append(float(w.sum()))\nreturn kept", 2),
    ("log = {}\nfor i in range(5):\n    w = w - jnp.sin(w)  #\n    log[i] = w.sum()\n    log[-i] = float(w.max())\n"
     "    w = w * 0.9\nreturn w, log", 2),
    ("buf = np.zeros(5)\nview = buf[:2]\nfor i in range(2):\n    w = jnp.sin(w) * 2  #\n    buf[i] = w.sum()\n"
     "    w = w + jnp.cos(w) * view.sum()\nreturn w, buf", 2),
    ("log = [0.0] * 5\nfor i in range(3):\n    w = w - jnp.sin(w)  #\n    log[i] = w.sum() * 2\n"
     "    w = jnp.sin(w) + log[i]\nreturn w, log", 2),
    ("kept = []\nfor i in range(5):\n    s = jnp.sum(w * x)\n    kept.append(float(s))\n    w = w - 0.1 * s  #\n"
     "return w, kept", 2),
    ("said = []\nfor i in range(5):\n    s = jnp.sum(w * x)  #\n    if i % 2 == 0:\n        said.append(f'{s:.3f}')\n"
     "    w = w - 0.1 * jnp.cos(w)\nreturn w, said", 2),
    ("for i in range(9):\n    w = w * 0.9 - jnp.sin(w)  #\n    if jnp.abs(w).max() < 0.3:\n        break\n"
     "    w = w + 0.1 * w\nreturn w, i", 2),
    ("rows = list(x)\nfor i in range(3):\n    w = jnp.tanh(w * rows[i])  #\nreturn w", 1),
    ("for i in range(3):\n    w = jnp.tanh(w * x[i]) + i  #\nreturn w", 1),
    ("for row in x:\n    w = jnp.tanh(w * row) + 1  #\nreturn w", 1),
    ("for k, row in enumerate(x):\n    w = jnp.tanh(w * row) + k  #\nreturn w, k", 1),
    ("t, dt = 0.0, 0.1\nfor i in range(5):\n    w = w + dt * jnp.sin(w + t)  #\n    t = t + dt\nreturn w, t", 1),
    ("t = 0.0\nwhile t < 1:\n    w = w + 0.1 * jnp.sin(w)  #\n    t += 0.1\nreturn w, t", 1),
    ("t = 0.0\nfor i in range(5):\n    w = w + 0.1 * jnp.sin(w)  #\n    t += 0.1\n    w = w * 0.9\nreturn w, t", 2),
    ("n = 2\nfor i in range(5):\n    w = jnp.roll(w, 1) * x.reshape(n, -1).sum()  #\n    w = w / jnp.abs(w).max()\n"
     "return w", 2),
    ("state = {'w': w, 'v': x.sum()}\nfor i in range(5):\n    g = jnp.sin(state['w'] * state['v'])  #\n"
     "    state = {'w': state['w'] - g, 'v': state['v']}\nreturn state['w']", 2),
    ("loss = lambda w: ((w - x.sum()) ** 2).sum()\nfor i in range(5):\n"
     "    w = w - 0.01 * jax.grad(lambda w: (w**2).sum())(w)  #\nreturn w", 1),
    ("if w.ndim == 1:\n    for i in range(5):\n        with jax.named_scope('a'):\n            s = w * 2 + 1  #\n"
     "            w = s * 0.5\nreturn w", 2),
    ("last = None\nfor i in range(5):\n    s = jnp.sum(w)  #\n    w, last = w / s, s\nreturn w, last", 2),
    ("for i in range(3):\n    for j in range(2):\n        w = w * 0.5 + jnp.sin(w) * j  #\n    x = x + 1\n"
     "return w, x", 1),
    ("for i in range(5):\n    w = w - rate * jnp.sin(w)  #\nreturn w", 1),
    ("state = {'w': w}\nfor i in range(3):\n    w = jnp.sin(w) * 2\n    shift(state)\n    w = w + state['w']  #\n"
     "return w", 2),
    ("for i in range(3):\n    w = jnp.sin(w) * 2; x = x * w.sum() + 1  #\nreturn w, x", 2),
    ("rates = {'a': 1.0, 'b': 2.0}\nfor i in range(3):\n    name = f'{chr(97 + i % 2)}'\n"
     "    w = jnp.sin(w) * rates[name] + 1  #\nreturn w", 1),
    ("for i in range(3):\n    z = complex(0, i)\n    w = jnp.real(jnp.sin(w) * jnp.exp(z)) + 1  #\nreturn w", 1),
    ("for i in range(60):\n    w = jnp.tanh(w * x.sum()) + 1e-9 * i**6  #\nreturn w", 1),
    ("k = 1\nfor i in range(9):\n    k = k * 48271 % 2147483647\n    w = jnp.tanh(w) * (k * 31337 % 65537)  #\n"
     "return w", 1),
    ("for i in range(5):\n    t = 1.7e9 + i / 2\n    w = jnp.cos(w + t % 10.0) * (t - 1.7e9) / (t % 10 + 1)  #\n"
     "return w", 1),
    ("for i in range(4):\n    m = jnp.stack([jnp.where(x > j / 9, x, w).mean() for j in range(3)])  #\n"
     "    w = w * m.sum()\nreturn w", 2),
    ("n = 3\nfor i in range(4):\n    w = sum(x[j] * w[j] for j in range(n)) + w  #\nreturn w", 1),
    ("for i in range(4):\n    w = sum(jnp.roll(w, a) * b for a in (-1, 1) for b in (1, 2) if a != b) / 3  #\n"
     "return w", 1),
    ("for j in range(9):\n    w = jnp.tanh(w) + sum(w * (1e-6 * j**6) for j in range(3))  #\nreturn w, j", 1),
]  # fmt: skip

#: Bodies with a statement that jit does not take, as far as names and syntax tell, or which is not worth it.
OTHERS = [
    "for i in range(5):\n    w = masked(w) * w  #\nreturn w",
    "for i in range(5):\n    w = drawn(w) * w  #\nreturn w",
    "for i in range(5):\n    w = told(w) * w  #\nreturn w",
    "for i in range(5):\n    w = jnp.sin(w[w > 0].sum()) * w  #\nreturn w",
    "for i in range(5):\n    w = w + np.random.normal()  #\nreturn w",
    "for i in range(5):\n    w = w * x[:i].sum() + jnp.sin(w)  #\nreturn w",
    "for i in range(5):\n    w = float(w.sum()) * x + 1  #\nreturn w",
    "for i in range(5):\n    w = w + 1  #\nreturn w",
    "for i in range(5):\n    w = jnp.concatenate([w, jnp.sin(w[-1:])])  #\nreturn w",
    "out = []\nfor i in range(5):\n    out = out + [jnp.sin(w) * i]  #\nreturn out",
    "f = update\nfor i in range(5):\n    w = f(w, x.sum() * w)  #\nreturn w",
    "rows = list(x)\nfor i in range(2):\n    w = jnp.tanh(w * rows[i + 1]) + 1  #\nreturn w",
    "for i in range(5):\n    w = w * config.rate + jnp.sin(w)  #\nreturn w",
    "for i in range(5):\n    config.w = w * 2 + jnp.sin(w)  #\nreturn w",
    "w = w * 2 + jnp.sin(w)  #\nreturn w",
    "kept, kept_item = [], x\nfor i in range(5):\n    w = w - jnp.sin(w)  #\n    kept.append(w.sum())\n"
    "return kept, kept_item",
    "rows, rows_i = list(x), 1\nfor i in range(3):\n    w = jnp.tanh(w * rows[i])  #\nreturn w, rows_i",
    "for i in range(5): w = w * 2 + jnp.sin(w)  #\nreturn w",
    "kept = [w]\nfor i in range(3):\n    kept.append(w)\n    w = jnp.stack(kept).sum() + jnp.sin(w)  #\nreturn w",
    "for i in range(5):\n    w = sum([w * each for each in x])  #\nreturn w",
    "for i in range(5):\n    w = sum(jnp.sin(w) * j for j in range(300)) + w  #\nreturn w",
    "rows = list(x)\nfor j in range(3):\n    w = w * 2 + sum(rows[j] * 0.1 for j in range(3))  #\nreturn w",
    "for i in range(5):\n    w = sum(jnp.sin(w) * j for j in range(i + 1)) + w  #\nreturn w",
    "rows = list(x)\nfor i in range(3):\n    w = sum(rows[i] * w * j for j in range(2))  #\nreturn w",
    "for i in range(5):\n    w = sum(w * j for j in range(5) if w.sum() > j) + jnp.sin(w)  #\nreturn w",
    "for i in range(5):\n    w = sum({j: w * j for j in range(5)}.values()) + jnp.sin(w)  #\nreturn w",
    "n = 0\nfor i in range(3):\n    w = jnp.sin(w) * 2; n += 1  #\nreturn w, n",
    "for i in range(5):\n    w = w * (1 if i > 2 else 2) + jnp.sin(w)  #\nreturn w",
    "for i in range(5):\n    if i > 2: w = jnp.sin(w) * 2 + 1  #\nreturn w",
    "for i in range(5):\n    if i > 2:\n        x = x\n    else: w = jnp.sin(w) * 2 + 1  #\nreturn w",
    "n = []\nfor i in range(3):\n    n.append((i,\n        2)); w = jnp.sin(w) * 2 + 1  #\nreturn w, n",
    "for i in range(3):\n    kind = f'float{32 if i else 16}'\n    w = jnp.sin(w.astype(kind)) * 2  #\nreturn w",
    "for i in range(3):\n    kind = 'float16' if i else 'float32'\n    w = jnp.sin(w.astype(kind)) * 2  #\nreturn w",
    "for kind in ['float16', 'float32'] * 2:\n    w = jnp.sin(w.astype(kind)) * 2  #\nreturn w",
    "for i, kind in zip(range(3), ('float16', 'float32', 'int8')):\n    w = jnp.sin(w.astype(kind)) * i  #\nreturn w",
]


WAIT: dict[str, Any] = {"function": "__float__", "library": None, "count": 1, "wait_ns": 0}

#: What is known of the runs of a loop, with which jit does not take a statement of it.
KNOWN: dict[str, dict[str, Any]] = {
    "a wait at the line": {"waits": (HostWait(line=HERE, function="__float__", library=None, count=1, wait_ns=0),)},
    "a wait in a function": {
        "waits": (HostWait(line=INSIDE, function="__float__", library=None, count=1, wait_ns=0),)
    },
    "an object": {"inputs": (Input(path="x", kind="object", type="Data"),)},
    "a module": {"inputs": (Input(path="x", kind="object", type="Linear", library="nnx"),)},
    "a global that changes": {"inputs": (Input(path="rate", kind="numpy array", type="f32[]"),)},
}


def written(
    folder: Path, timing: Any, body: str, definitions: str = "", given: str = "", **observed: Any
) -> tuple[ast.Module, Any, ast.Module | None]:
    """Return the module, the round, and the module with the code in its place; what has a default is not passed."""
    defaults = "".join(f", {each}" if "=" in each else f", {each}=None" for each in given.split(", ") if each)
    source = f"{DEFINITIONS}{definitions}def solve(w, x{defaults}):\n{textwrap.indent(body, '    ')}\n"
    file = folder / "solve.py"
    file.write_text(source)
    line = next(number for number, each in enumerate(source.splitlines(), 1) if each.endswith("  #"))
    code = f"solve(w, x, {given})" if given and "=" not in given else "solve(w, x)"
    evidence = Evidence(code=code, first=timing(), observed=timing(), **observed)
    one = jitted_round(Frame(function="solve", file=str(file), line=line), evidence)
    tree = ast.parse(source)
    new = None if one is None else pasted(one.code)
    changed = None if new is None else rewritten(tree, line, new)
    if changed is not None and new is not None:
        changed.body[:0] = new.beside
    return tree, one, changed


def results(tree: ast.Module) -> Any:
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "np": np}
    exec(compile(ast.fix_missing_locations(tree), "solve", "exec"), names)
    others = [names["Config"]()] if "Config" in names else []
    return names["solve"](jnp.linspace(0.1, 1, 4), jnp.arange(12.0).reshape(3, 4) / 12, *others)


@pytest.mark.parametrize(("body", "statements"), LOOPS)
def test_the_loop_computes_the_same(tmp_path: Path, timing: Any, body: str, statements: int) -> None:
    tree, _, changed = written(tmp_path, timing, body)
    assert changed is not None
    functions = [
        each for each in changed.body if isinstance(each, ast.FunctionDef) and each.name.startswith("solve_")
    ]
    assert sum(len(each.body) - 1 for each in functions) == statements
    compare(tree, changed)


def compare(tree: ast.Module, changed: ast.Module) -> None:
    """Check that both modules return the same."""
    pairs = zip(jax.tree.leaves(results(tree)), jax.tree.leaves(results(changed)), strict=True)
    for before, after in pairs:
        assert type(before) is type(after)
        if isinstance(before, str):
            assert before == after
        else:
            np.testing.assert_allclose(before, after, rtol=1e-5)


@pytest.mark.parametrize(
    "loop",
    [
        "for row in x:\n    s = row.mean() + jnp.sin(w) * 0.1  #\n    w = w + jnp.tanh(s)",
        "for i in range(3):\n    w = jnp.tanh(w) * 0.5 + w * 0.1  #\n    kept.append(w.sum())",
        "for i in range(3):\n    w = jnp.tanh(w) * 0.5 + x.mean()  #\n    kept.append(jnp.abs(w.mean()))",
    ],
)
def test_arrays_with_methods_are_passed_in_a_cell_as_well(tmp_path: Path, timing: Any, loop: str) -> None:
    file, names = tmp_path / "cell.py", {"jnp": jnp, "np": np, "jax": jax}
    file.write_text(f"w, x, kept = jnp.linspace(0.1, 1, 4), jnp.arange(12.0).reshape(3, 4) / 12, []\n{loop}\n")
    line = next(number for number, each in enumerate(file.read_text().splitlines(), 1) if each.endswith("  #"))
    evidence = Evidence(
        code=file.read_text(), first=timing(), observed=timing(), inputs=(replace(ROWS, type="f32[]"),)
    )
    one = jitted_round(Frame(function="<module>", file=str(file), line=line), evidence)
    assert one is not None
    new = pasted(one.code)
    assert {*reads(new.beside[0])} <= {"jnp", "jax"}
    changed = rewritten(tree := ast.parse(file.read_text()), line, new)
    assert changed is not None
    changed.body[:0] = new.beside
    before, after = dict(names), dict(names)
    exec(compile(tree, "cell", "exec"), before)
    exec(compile(ast.fix_missing_locations(changed), "cell", "exec"), after)
    np.testing.assert_allclose(before["w"], after["w"], rtol=1e-5)
    np.testing.assert_allclose(before["kept"], after["kept"], rtol=1e-5)


HELPERS = """
@jax.jit
def powered(w, n):
    return w ** n * 0.1
def counted(w, t):
    return jnp.sin(w) * 0.5 + w, t + 1
"""


@pytest.mark.parametrize(
    ("line", "declared", "is_written"),
    [
        ("w = powered(jnp.sin(w) * 2, i)", ("n",), False),
        ("w = powered(jnp.sin(w) * 2, n=i)", ("n",), False),
        ("w = powered(jnp.sin(w) * 2, 3)", ("n",), True),
        ("w = powered(jnp.sin(w) * 2, i)", (), True),
        ("w, t = counted(jnp.cos(w) * 2, t)", (), False),
    ],
)
def test_a_jitted_function_passes_no_static_argument_and_keeps_numbers_outside(
    tmp_path: Path, timing: Any, line: str, declared: tuple[str, ...], is_written: bool
) -> None:
    static = (StaticParameters(function="powered", names=declared),)
    body = f"t = 0\nfor i in range(3):\n    {line}  #\n    w = w - 0.1 * jnp.tanh(w)\nreturn w, t"
    tree, one, changed = written(tmp_path, timing, body, HELPERS, static=static)
    assert (one is not None) == is_written
    if changed is not None:
        compare(tree, changed)


def test_a_number_that_32_bits_round_to_another_one_is_computed_outside(tmp_path: Path, timing: Any) -> None:
    body = "eps = 1e-9\nfor i in range(3):\n    w = w + x.sum(0) * ((1 + eps) ** 2 - 1) * 1e9  #\nreturn w"
    tree, one, changed = written(tmp_path, timing, body)
    assert one is not None
    assert "eps_number" in one.code
    assert changed is not None
    compare(tree, changed)


@pytest.mark.parametrize(
    ("update", "is_written"),
    [
        ("t = (t << 1) | (t >> 40)", False),
        ("t = t * 3 % 2147483647", False),
        ("t = t + t", False),
        ("t += 3", True),
        ("t += 512 * 1024", False),
    ],
)
def test_an_integer_that_outgrows_32_bits_is_not_passed(
    tmp_path: Path, timing: Any, update: str, is_written: bool
) -> None:
    start = "t = 1\nfor i in range(40):"
    body = f"{start}\n    {update}\n    print(t)\n    w = jnp.sin(w) * 0.5 + jnp.tanh(w) * (t & 5)  #\nreturn w, t"
    tree, one, changed = written(tmp_path, timing, body)
    assert (one is not None) == is_written
    if changed is not None:
        compare(tree, changed)


def test_a_clock_stays_outside_where_its_step_is_an_argument(tmp_path: Path, timing: Any) -> None:
    """Summed in 32 bits, it is off after some thousand rounds."""
    body = "t = 0.0\nfor i in range(9):\n    w = w + dt * (jnp.cos(t) - w) + jnp.sin(w)  #\n    t += dt\nreturn w, t"
    number = Input(path="dt", kind="number", type="float", value=0.001)
    _, one, _ = written(tmp_path, timing, body, given="dt", inputs=(number,))
    assert one is not None
    assert "t += dt" not in one.code


@pytest.mark.parametrize(
    ("loop", "definitions", "is_written"),
    [
        ("for op in x:\n    y = -w if op == 'neg' else w", "", False),
        ("for i, op in enumerate(OPS):\n    y = w", "OPS = ['neg', 'sin']\n", False),
        ("for row, op in zip(x, [*OPS]):\n    y = w * row", "OPS = ('neg', 'sin')\n", False),
        ("for op, row in dict(zip(OPS, x)).items():\n    y = w * row", "OPS = ('neg', 'sin')\n", False),
        ("for op in x:\n    y = w", "def main(w):\n    solve(w, ['neg'] * 3)\n", False),
        ("for op in x:\n    y = w\n    match op.shape:\n        case (4,): pass", "", True),
        ("for op in x:\n    y = w", "NAMES = ['a']\n", True),
    ],
)
def test_a_text_is_not_passed(tmp_path: Path, timing: Any, loop: str, definitions: str, is_written: bool) -> None:
    body = f"{loop}\n    w = jnp.tanh(y) + 0.1 * w - 0.01 * jnp.mean(w) * len(op)  #\nreturn w"
    _, one, _ = written(tmp_path, timing, body, definitions)
    assert (one is not None) == is_written


READING = """
rows, total = [0.5, 1.5, 2.5, 3.5], 0.0
for i in range(5):
    w = w - 0.1 * jnp.sin(w)
    best = int(jnp.argmax(w * x.sum(0)))
    row = float(rows[best])
    w = w.at[best].add(row) / 2  #
    total += row
return w, total, best
""".strip()


def waits(folder: Path, *lines: int) -> tuple[HostWait, ...]:
    frames = [replace(HERE, file=str(folder / "solve.py"), line=HERE.line + each) for each in lines]
    return tuple(HostWait(line=each, function="__int__", library=None, count=5, wait_ns=0) for each in frames)


CONFIGS = """
class Config:
    def __init__(self):
        self.rate, self.n, self.t = 0.1, 4, 0.0
        self.w, self.m, self.state = jnp.linspace(0.1, 1, 4), jnp.zeros(4), {"a": jnp.ones(4)}
        self.log, self.grad = [], jax.jit(jnp.sin)
    def grow(self):
        self.w = self.w + 1
"""

#: What the code reads inside an object.
INSIDE_IT = (
    Input(path="it", kind="object", type="Config"),
    *(Input(path=f"it.{each}", kind="jax array", type="f32[4]") for each in ("w", "m", "state['a']")),
    *(Input(path=f"it.{each}", kind="number", type="float") for each in ("rate", "t")),
    Input(path="it.n", kind="number", type="int"),
    Input(path="it.state", kind="other", type="dict"),
    Input(path="it.log", kind="other", type="list"),
    Input(path="it.grad", kind="function", type="PjitFunction"),
)


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("for i in range(it.n):\n    w = w - it.rate * jnp.sin(w)  #\nreturn w", "w = solve_step(it.rate, w)"),
        (
            "for i in range(3):\n    g = jnp.sin(it.w) * x\n    it.m = 0.9 * it.m + g.sum(0)  #\n"
            "    it.w = it.w - it.rate * it.m\nreturn it.w, it.m",
            "it.w, it.m = solve_step(it.w, x, it.m, it.rate)",
        ),
        (
            "for i in range(3):\n    it.state = {'a': it.state['a'] * jnp.sin(w)}  #\nreturn it.state",
            "it.state = solve_step(it.state, w)",
        ),
        ("for i in range(3):\n    it.w += it.w * jnp.sin(w)  #\nreturn it.w", "it.w = solve_step(it.w, w)"),
        (
            "for i in range(3):\n    w = w * it.t + jnp.sin(w)  #\n    it.t += 0.1\nreturn w, it.t",
            "w = solve_step(it.t, w)",
        ),
        (
            "for i in range(3):\n    w = w * 2 + x.reshape(it.n, -1).sum()  #\nreturn w",
            "w = solve_step(it.n, w, x)",
        ),
        (
            "rate = 2\nfor i in range(3):\n    w = w - it.rate * jnp.sin(w)  #\nreturn w, rate",
            "w = solve_step(it.rate, w)",
        ),
        (
            "for i in range(3):\n    w = w - jnp.sin(w) * 2  #\n    if i > 1:\n        print(i)\n"
            "    it.w = w * 0.5\nreturn it.w",
            "w, it.w = solve_step(w)",
        ),
        (
            "for i in range(3):\n    g = it.grad(it.w)\n    it.m = 0.9 * it.m + g  #\n"
            "    it.w = it.w - it.rate * it.m\n    it.log.append(float(it.w.sum()))\nreturn it.w, it.log",
            "it.m, it.w, log_item = solve_step(g, it.m, it.rate, it.w)",
        ),
    ],
)
def test_attributes_are_arguments_and_results(tmp_path: Path, timing: Any, body: str, call: str) -> None:
    tree, one, changed = written(tmp_path, timing, body, inputs=INSIDE_IT, definitions=CONFIGS, given="it")
    assert one is not None
    assert call in one.code.splitlines()
    assert changed is not None
    compare(tree, changed)


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(3):\n    w = w - it.rate * jnp.sin(w)  #\n    it.grow()\nreturn w",
        "for i in range(3):\n    w = w - it.rate * jnp.sin(w)  #\n    known(it)\nreturn w",
        "for i in range(3):\n    w = w - it.rate * jnp.sin(w)  #\n    it = Config()\nreturn w",
        "for i in range(3):\n    w = w - it.unknown * jnp.sin(w)  #\nreturn w",
        "for i in range(3):\n    it.m = 0.9 * it.m + it.grad(it.w)  #\nreturn it.m",
        "for i in range(3):\n    it.m = 0.9 * it.m + w  #\n    it.grad = w.sum\nreturn it.m",
        "for i in range(3):\n    it.w = it.w - jnp.sin(other.w)  #\nreturn it.w",  # both may be one object
        "for i in range(3):\n    w = w - it.t * jnp.sin(w)  #\n    it.t = w.sum()\nreturn w",
        "for i in range(3):\n    w = w - it.t * jnp.sin(w)  #\n    it.t, n = it.t + 1, 0\nreturn w",
        "rate, it_rate = 2, 3\nfor i in range(3):\n    w = w - it.rate * jnp.sin(w)  #\nreturn w, rate, it_rate",
    ],
)
def test_attributes_that_more_than_the_statements_may_change_are_left(tmp_path: Path, timing: Any, body: str) -> None:
    inputs = (*INSIDE_IT, Input(path="other", kind="object", type="Config"), replace(INSIDE_IT[1], path="other.w"))
    assert written(tmp_path, timing, body, inputs=inputs, definitions=CONFIGS, given="it, other")[1] is None


def test_a_module_of_a_library_is_no_object_of_the_users(tmp_path: Path, timing: Any) -> None:
    body = "for i in range(3):\n    w = w - it.rate * jnp.sin(w)  #\nreturn w"
    inputs = (replace(INSIDE_IT[0], library="nnx"), *INSIDE_IT[1:])
    assert written(tmp_path, timing, body, inputs=inputs, definitions=CONFIGS, given="it")[1] is None


def test_a_value_that_is_read_divides_a_round_into_two_functions(tmp_path: Path, timing: Any) -> None:
    tree, one, changed = written(tmp_path, timing, READING, waits=waits(tmp_path, 2))
    assert changed is not None
    compare(tree, changed)
    assert [(each.first - HERE.line, each.last - HERE.line) for each in one.lines] == [(1, 2), (4, 4)]
    assert one.statements == 2
    assert one.code == textwrap.dedent(f"""\
        @jax.jit
        def solve_step(w, x):
            w = w - 0.1 * jnp.sin(w)
            best_array = jnp.argmax(w * x.sum(0))
            return w, best_array
        @jax.jit
        def solve_second_step(best, row, w):
            w = w.at[best].add(row) / 2
            return w
        # in the loop, instead of lines {HERE.line + 1} to {HERE.line + 4}
        w, best_array = solve_step(w, x)
        best = int(best_array)
        row = float(rows[best])
        w = solve_second_step(best, row, w)""")


@pytest.mark.parametrize(
    ("read", "at"),
    [
        ("int(jnp.argmax(w * x.sum(0)))", ()),  # nothing is known to wait there
        ("int(min(i, 3, float(w[0]) + 9))", (2,)),
        ("int(w.argmax(0)) + 0", (2,)),
    ],
)
def test_other_reads_stay_as_they_are(tmp_path: Path, timing: Any, read: str, at: tuple[int, ...]) -> None:
    body = READING.replace("int(jnp.argmax(w * x.sum(0)))", read)
    tree, one, changed = written(tmp_path, timing, body, waits=waits(tmp_path, *at))
    assert changed is not None
    compare(tree, changed)
    assert "best_array" not in one.code


def test_what_follows_an_effect_stays_behind_it(tmp_path: Path, timing: Any) -> None:
    body = (
        "state, kept = {'w': w}, []\nfor i in range(3):\n    w = jnp.sin(w) * 2  #\n    shift(state)\n"
        "    kept.append(jnp.sum(state['w'] * 2))\nreturn w, kept"
    )
    tree, _, changed = written(tmp_path, timing, body)
    assert changed is not None
    compare(tree, changed)


@pytest.mark.parametrize(
    "part",
    ["x[i:i + n]", "x[i:n + i]", "x[i * n:(i + 1) * n]", "x[n * i:n * (1 + i)]", "x[i:i + 2]", "x[i + 1:i + 1 + n]"],
)
def test_a_part_of_an_array_begins_where_the_counter_says(tmp_path: Path, timing: Any, part: str) -> None:
    step = "2" if "i:" in part and "*" not in part else "1"
    body = f"n = 2\nx = jnp.ravel(x)\nfor i in range(0, 4, {step}):\n    w = w + jnp.sin({part}).sum()  #\nreturn w"
    tree, one, changed = written(tmp_path, timing, body)
    assert changed is not None
    assert one.code.startswith("# dynamic_slice_in_dim shifts a slice that would reach beyond the end\n")
    np.testing.assert_allclose(results(tree), results(changed), rtol=1e-5)


@pytest.mark.parametrize(
    ("part", "size"),
    [("x[i - n + 1:i + 1]", "n"), ("x[i - n:i]", "n"), ("x[i - 1:i + 2][::-1]", "3"), ("x[i - 2:i - 2 + n]", "n")],
)
def test_a_part_before_the_counter_begins_inside(tmp_path: Path, timing: Any, part: str, size: str) -> None:
    body = f"n = 2\nx = jnp.ravel(x)\nfor i in range(n, 4):\n    w = w + jnp.sin({part}).sum()  #\nreturn w"
    tree, one, changed = written(tmp_path, timing, body)
    assert changed is not None
    assert f", {size})" in one.code
    np.testing.assert_allclose(results(tree), results(changed), rtol=1e-5)


@pytest.mark.parametrize("rounds", ["range(4)", "range(1, 4)", "range(m, 4)", "range(2, 4, 1)", "[2, 3]"])
def test_a_part_that_may_begin_before_the_array_is_left(tmp_path: Path, timing: Any, rounds: str) -> None:
    body = (
        f"n, m = 2, len(x)\nx = jnp.ravel(x)\nfor i in {rounds}:\n    w = w + jnp.sin(x[i - n:i]).sum()  #\nreturn w"
    )
    assert written(tmp_path, timing, body)[1] is None


def test_a_clock_that_may_be_of_floats_alone_leaves_the_round_as_it_is(tmp_path: Path, timing: Any) -> None:
    """Its step is a float by default: jit would return an array of 32 bits."""
    body = "t = 0.0\nfor i in range(5):\n    w = w + 0.1 * jnp.sin(w)  #\n    t += dt\n    w = w * 0.9\nreturn w, t"
    assert written(tmp_path, timing, body, given="dt=0.1")[1] is None


@pytest.mark.parametrize("part", ["x[i:j]", "x[i:i + i]", "x[:i]", "x[i:i + n:1]", "x[n:n + i]"])
def test_a_part_of_another_size_in_each_round_is_left(tmp_path: Path, timing: Any, part: str) -> None:
    body = f"n, j = 2, 9\nx = jnp.ravel(x)\nfor i in range(4):\n    w = w + jnp.sin({part}).sum()  #\nreturn w"
    assert written(tmp_path, timing, body)[1] is None


def test_a_part_of_an_array_of_numpy_is_left(tmp_path: Path, timing: Any) -> None:
    """Each call would copy the whole array to the device."""
    body = "n = 2\nfor i in range(0, 2, 2):\n    w = w + jnp.sin(x[i:i + n]).sum()  #\nreturn w"
    assert written(tmp_path, timing, body, inputs=(ROWS,))[1] is not None
    assert written(tmp_path, timing, body, inputs=(replace(ROWS, kind="numpy array"),))[1] is None
    assert written(tmp_path, timing, body)[1] is None


def test_a_part_that_ends_early_is_left(tmp_path: Path, timing: Any, executable: Any) -> None:
    body = "n = 2\nfor i in range(0, 3, 2):\n    w = w + jnp.sin(x[i:i + n]).sum()  #\nreturn w"
    here = replace(HERE, file=str(tmp_path / "solve.py"), line=HERE.line + 1)
    name = "dynamic_slice"
    one = Program(executable=executable(name=f"jit_{name}"), module=None, function=name, eager=True, called_at=here)
    assert written(tmp_path, timing, body, inputs=(ROWS,), programs=(one,))[1] is not None
    assert written(tmp_path, timing, body, inputs=(ROWS,), programs=(one, one))[1] is None


def test_an_index_on_another_line_is_no_part(tmp_path: Path, timing: Any, executable: Any) -> None:
    body = "n = 2\nfor i in range(0, 2):\n    y = x[i:i + n] * 2  #\n    w = w + y.sum() + x[i]\nreturn w"
    here = replace(HERE, file=str(tmp_path / "solve.py"), line=HERE.line + 1)
    name = "dynamic_slice"
    one = Program(executable=executable(name=f"jit_{name}"), module=None, function=name, eager=True, called_at=here)
    other = replace(one, called_at=replace(here, line=here.line + 1))
    assert written(tmp_path, timing, body, inputs=(ROWS,), programs=(one, other))[1] is not None
    assert written(tmp_path, timing, body, inputs=(ROWS,), programs=(one, one, other))[1] is None


@pytest.mark.parametrize("known", KNOWN)
def test_what_is_known_of_the_runs_counts(tmp_path: Path, timing: Any, known: str) -> None:
    body = "for i in range(5):\n    w = scaled(w) * x + jnp.sin(w)  #\nreturn w"
    file = str(tmp_path / "solve.py")
    observed = {
        name: tuple(
            replace(each, line=replace(each.line, file=file)) if isinstance(each, HostWait) and each.line else each
            for each in values
        )
        for name, values in KNOWN[known].items()
    }
    assert written(tmp_path, timing, body)[1] is not None
    assert written(tmp_path, timing, body, **observed)[1] is None


@pytest.mark.parametrize(("name", "is_written"), [("rate", True), ("scaled", False)])
def test_a_function_that_loops_bind_again_is_not_kept(
    tmp_path: Path, timing: Any, name: str, is_written: bool
) -> None:
    body = "for i in range(5):\n    w = scaled(w) * x + jnp.sin(w)  #\nreturn w"
    code = written(tmp_path, timing, body, definitions=f"for {name} in (): pass\n")[1]
    assert (code is not None) is is_written


def test_shapes_that_vary_would_compile_in_each_round(tmp_path: Path, timing: Any, executable: Any) -> None:
    body = "for i in range(9):\n    w = jnp.sin(w) * w.sum()  #\nreturn w"
    here = replace(HERE, file=str(tmp_path / "solve.py"))
    one = Program(executable=executable(name="jit_sin"), module=None, function="sin", eager=True)
    many = (replace(one, called_at=here),) * 9

    def found(programs: int, calls: int) -> Any:
        call = Dispatch(name="sin", count=calls, host_ns=9, exposed_ns=9, busy_ns=0)
        use = HostUse(dispatches=(call,), idle_ns=9, waited_ns=0, waits=0)
        return written(tmp_path, timing, body, programs=many[:programs], host_use=use)[1]

    assert found(9, 9) is None
    assert found(2, 9) is not None
    assert found(9, 90) is not None  # as many shapes in each round


@pytest.mark.parametrize("body", OTHERS)
def test_what_jit_may_not_take_is_left(tmp_path: Path, timing: Any, body: str) -> None:
    assert written(tmp_path, timing, body)[1] is None


@pytest.mark.parametrize(
    ("library", "body", "jit"),
    [
        (None, LOOPS[0][0], "@jax.jit\n"),
        ("equinox", LOOPS[0][0], "import equinox as eqx\n@eqx.filter_jit\n"),
        ("equinox", "for i in range(5):\n    w = jnp.sin(w) * (2 + i)  #\nreturn w", None),  # compiles for each i
        ("nnx", LOOPS[0][0], None),
    ],
)
def test_modules_are_passed_to_a_jit_that_takes_them(
    tmp_path: Path, timing: Any, executable: Any, library: ModuleLibrary | None, body: str, jit: str | None
) -> None:
    program = Program(executable=executable(), module=None, eager=True, library=library)
    _, made, _ = written(tmp_path, timing, body, programs=(program,))
    model = Input(path="w", kind="object", type="Linear", library=library)
    _, given, _ = written(tmp_path, timing, body, inputs=(model,) if library else ())
    for one in (made, given):
        assert one is None if jit is None else one is not None and one.code.startswith(jit)
