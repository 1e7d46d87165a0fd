"""Arrays that are kept under another name before a call donates them, and the advice to keep a copy."""

from __future__ import annotations

import ast

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.aliases import Code, Keeping, keeping_of

HEAD = """
import copy
step = jax.jit(lambda s, x: jax.tree.map(lambda w: w + x, s), donate_argnums=0)
step1 = jax.jit(lambda w: w + 1, donate_argnums=0)
state, x = {'w': jnp.ones(3)}, jnp.ones(3)
"""

TREE, ARRAY = "jax.tree.map(jnp.copy, state)", "jnp.copy(x)"

#: The code, the call that donated the array, the statement that kept it, and the copy.
KEPT = {
    "an alias": ("best = state\nstate = step(state, 1.)\nbest['w'] + 1", "best = state", TREE),
    "a history": (
        "log = []\nfor i in range(3):\n    log.append(state)\n    state = step(state, 1.)\nlog[0]['w'] + 1",
        "log.append(state)",
        TREE,
    ),
    "a history after the step": (
        "h = []\nfor i in range(3):\n    x = step1(x)\n    h.append(x)\njnp.stack(h)",
        "h.append(x)",
        ARRAY,
    ),
    "items of a history": (
        "h = []\nfor i in range(3):\n    h += [(i, x)]\n    x = step1(x)\nfor i, v in h:\n    v + 1",
        "h += [(i, x)]",
        ARRAY,
    ),
    "a dictionary": (
        "h = {}\nfor i in range(3):\n    h[i] = x\n    x = step1(x)\njnp.stack([h[0]])",
        "h[i] = x",
        ARRAY,
    ),
    "the best one": (
        "for i in range(3):\n    state = step(state, 1.)\n    if i == 1:\n        best, n = state, i\nbest['w'] + 1",
        "best, n = (state, i)",
        TREE,
    ),
    "the first one": (
        "best = None\nfor i in range(3):\n    if best is None:\n        best = state\n    state = step(state, 1.)\n"
        "best['w'] + 1",
        "best = state",
        TREE,
    ),
    "an alias of an alias": (
        "best = state\nother = best\nstate = step(state, 1.)\nother['w'] + 1",
        "best = state",
        TREE,
    ),
    "a part": ("w = state['w']\nstate = step(state, 1.)\nw + 1", "w = state['w']", "jnp.copy(state['w'])"),
    "a larger tree": (
        "best = {'p': state, 'n': 1}\nstate = step(state, 1.)\nbest['p']['w'] + 1",
        "best = {'p': state, 'n': 1}",
        TREE,
    ),
    "a shallow copy": (
        "best = copy.copy(state)\nstate = step(state, 1.)\nbest['w'] + 1",
        "best = copy.copy(state)",
        TREE,
    ),
    "a copy of a dictionary": (
        "best = dict(state)\nstate = step(state, 1.)\nbest['w'] + 1",
        "best = dict(state)",
        TREE,
    ),
    "the round before": ("for i in range(3):\n    prev = x\n    x = step1(x)\n    x - prev", "prev = x", ARRAY),
    "an attribute": (
        "class T: pass\nt = T()\nt.best = x\nx = step1(x)\nt.best + 1",
        "t.best = x",
        ARRAY,
    ),
    "in a method": (
        "class M:\n    def fit(self, state):\n        self.best = state\n        for i in range(2):\n"
        "            state = step(state, 1.)\n        return self.best['w'] + 1\nM().fit(state)",
        "self.best = state",
        TREE,
    ),
    "in another method": (
        "class M:\n    def __init__(self, w):\n        self.w = w\n        self.start = self.w\n    def fit(self):\n"
        "        self.w = step1(self.w)\n        return self.w - self.start\nM(x).fit()",
        "self.start = self.w",
        "jnp.copy(self.w)",
    ),
    "an average in a map": (
        "def train(p):\n    ema = p\n    for i in range(2):\n        p = step(p, 1.)\n"
        "        ema = jax.tree.map(lambda e, p: 0.9 * e + 0.1 * p, ema, p)\ntrain(state)",
        "ema = p",
        "jax.tree.map(jnp.copy, p)",
    ),
    "an average in a map of the module": (
        "ema = state\nfor i in range(2):\n    state = step(state, 1.)\n"
        "    ema = jax.tree.map(lambda e, s: 0.9 * e + 0.1 * s, ema, state)",
        "ema = state",
        TREE,
    ),
    "an average": (
        "ema = x\nfor i in range(2):\n    x = step1(x)\n    ema = 0.9 * ema + 0.1 * x",
        "ema = x",
        ARRAY,
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_the_call_and_the_statement_that_kept_the_array_are_named(name: str) -> None:
    code, statement, copied = KEPT[name]
    cell = Cell(HEAD + code)
    assert cell.failure.kind == "deleted"
    assert "Probably donated by step" in cell.said
    assert f"({statement}), which copies no array: donating " in cell.said
    assert f": {copied} in place of " in cell.said


@pytest.mark.parametrize("name", KEPT)
def test_a_copy_where_the_array_is_kept_is_not_deleted(name: str) -> None:
    code, _, _ = KEPT[name]
    kept = Cell(HEAD + code).failure.kept
    assert kept is not None
    lines = (HEAD + code).splitlines()
    place = int(kept.location.rpartition(":")[2]) - 1
    left, sign, value = lines[place].rpartition("(" if ".append(" in code else "= ")
    copied = f"jnp.copy({kept.name})" if kept.is_array else f"jax.tree.map(jnp.copy, {kept.name})"
    lines[place] = left + sign + value.replace(kept.name, copied)
    assert Cell("\n".join(lines)).error is None


def _keeping(source: str, array: str) -> Keeping | None:
    """Return what is found for an array that the last line uses, where ``step`` donates its argument."""
    codes = [Code(str(number), list(ast.walk(ast.parse(each)))) for number, each in enumerate(source.split("---\n"))]

    def donates(node: ast.Call, name: str) -> bool:
        given = ast.unparse(node.args[0]) if ast.unparse(node.func) == "step" else ""
        return bool(given) and (name == given or name.startswith((f"{given}[", f"{given}.")))

    return keeping_of(array, codes, source.split("---\n")[-1].count("\n") + 1, donates)


@pytest.mark.parametrize(
    ("source", "array"),
    [
        ("best = jnp.copy(x)\nx = step(x)\nbest", "best"),
        ("best = x.copy()\nx = step(x)\nbest", "best"),
        ("best = x\nbest = y\nx = step(x)\nbest", "best"),
        ("best = x\nx = y\nx = step(x)\nbest", "best"),
        ("x = step(x)\nbest = x\nbest", "best"),
        ("best = x\nbest\nx = step(x)\nother", "other"),
        ("best = y['w'], x\ny = step(y['b'])\nbest", "best[0]"),
        ("for i in r:\n    x = f()\n    x = step(x)\n    h.append(x)\nh", "h[0]"),
        ("for i in r:\n    h.append(x)\nx = f()\nx = step(x)\nh", "h[0]"),
        ("best = x\n---\nx = f()\n---\nx = step(x)\nbest", "best"),
        ("best = x\nfor i in r:\n    best = g(best); x = step(x)", "best"),
    ],
)
def test_no_statement_is_named_that_kept_another_array(source: str, array: str) -> None:
    assert _keeping(source, array) is None


def test_a_statement_in_an_earlier_cell() -> None:
    found = _keeping("best = x\n---\nx = step(x)\n---\nbest + 1", "best")
    assert found is not None
    assert (found.file, found.calls[0][0], found.name, found.is_array) == ("0", "1", "x", True)
