"""A large array in an attribute is donated where nothing else may keep it, and the method computes the same."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.rules.rewriting.methods.donated_attributes import donated_attributes
from jaxmagic.doctor.rules.rewriting.methods.own_class import OwnClass
from jaxmagic.doctor.rules.rewriting.syntax import tree_of

AGENT = """
import jax
import jax.numpy as jnp

class Agent:
    def __init__(self, n):
        self.buffer = jnp.zeros((n, 4))
        self.t = 0
    def step(self, x):
        {before}
        self.buffer = {update}
        {after}
        return x
    def last(self, key, n):
        {other}

{top}
"""

UPDATE = "self.buffer.at[self.t].set(x)"

#: Code that keeps nothing of the array.
KEEPS_NOTHING = {
    "an update": {},
    "a function that updates": {"update": "jax.lax.dynamic_update_slice(self.buffer, x[None], (self.t, 0))"},
    "numbers of it": {"other": "return self.buffer.mean(), self.buffer.shape, len(self.buffer)"},
    "an item": {"other": "return self.buffer[-1] + self.buffer[self.t % n]"},
    "some items": {"other": "picked = jax.random.randint(key, (8,), 0, n)\n        return self.buffer[picked]"},
    "a new one": {"other": "self.buffer = jnp.zeros_like(self.buffer.shape)"},
    "another update": {"other": "self.buffer = self.buffer.at[0].add(1)"},
    "a jitted function beside it": {"top": "@jax.jit\ndef f(x):\n    return x * 2"},
    "a copy of something else": {"top": "best = agent.params.copy()"},
}

#: Code by which something else may keep the array.
KEEPS = {
    "a variable": {"before": "old = self.buffer"},
    "another attribute": {"after": "self.target = self.buffer"},
    "a list": {"after": "self.seen.append(self.buffer)"},
    "the caller": {"other": "return self.buffer"},
    "a slice that may be all of it": {"other": "return self.buffer[:n]"},
    "all of it": {"other": "return self.buffer[...]"},
    "an index that may be a slice": {"other": "picked = slice(n)\n        return self.buffer[picked]"},
    "an index of the caller": {"other": "return self.buffer[n]"},
    "tuples as an index": {"other": "return self.buffer[(slice(n),) + ()]"},
    "an index that is a slice elsewhere": {
        "other": "picked = jax.random.randint(key, (8,), 0, n)\n        return self.buffer[picked]",
        "top": "picked = slice(3)",
    },
    "an array that was passed": {"other": "self.buffer = key"},
    "a function that may return it again": {"other": "self.buffer = jax.lax.stop_gradient(n)"},
    "two attributes at once": {"other": "self.buffer = self.other = jnp.zeros((n, 4))"},
    "several at once": {"other": "self.buffer, self.other = [jnp.zeros((n, 4))] * 2"},
    "an attribute of the class": {"top": "class Wide(Agent):\n    buffer = jnp.zeros((9, 4))"},
    "a variable of a cell": {"top": "before = agent.buffer"},
    "what a cell shows": {"top": "agent.buffer"},
    "a function of somebody's": {"top": "save(agent.buffer)"},
    "a copy of the object": {"top": "import copy\nbest = copy.copy(agent)"},
    "all attributes": {"top": "held = vars(agent)"},
    "an attribute by its name": {"top": "from operator import attrgetter\nheld = attrgetter('buffer')(agent)"},
    "a pattern": {"top": "match agent:\n    case Agent(buffer=kept):\n        pass"},
    "a jitted function": {"top": "@jax.jit\ndef f(x):\n    return x + agent.buffer[0]"},
    "a function that is jitted": {"top": "def f(x):\n    return x + agent.buffer[0]\ng = jax.jit(f)"},
    "one that it calls": {"top": "def h(x):\n    return x + agent.buffer[0]\ng = jax.jit(lambda x: h(x))"},
    "a jitted method": {"other": "return n + self.buffer[0]", "top": "g = jax.jit(agent.last)"},
}

NUMBERS = count()


@pytest.fixture
def donated(tmp_path: Path, timing: Any) -> Callable[..., dict[str, str]]:
    def found(size_bytes: int = 2**20, kind: Any = "jax array", **parts: str) -> dict[str, str]:
        own = dict.fromkeys(("before", "after", "other"), "pass") | {"update": UPDATE, "top": ""} | parts
        file = str(tmp_path / f"agent{next(NUMBERS)}.py")  # Python keeps the text of a file
        Path(file).write_text(AGENT.format(**own))
        tree = tree_of(file)
        assert tree is not None
        node = next(each for each in tree.body if isinstance(each, ast.ClassDef))
        method = node.body[1]
        assert isinstance(method, ast.FunctionDef)
        statement = method.body[1]
        computed = ast.parse(ast.unparse(statement).replace("self.", "")).body[0]
        given = Input(path="self.buffer", kind=kind, type="f32[65536,4]", size_bytes=size_bytes)
        evidence = Evidence(code="agent.step(x)", first=timing(), observed=timing())
        agent = OwnClass("self", {}, method, file, {given.path: given}, frozenset(), frozenset({"buffer"}), evidence)
        attributes = {"buffer": "self.buffer", "t": "self.t"}
        return donated_attributes(agent, [ast.copy_location(computed, statement)], ["t", "buffer", "x"], attributes)

    return found


@pytest.mark.parametrize("case", KEEPS_NOTHING)
def test_an_array_is_donated_that_nothing_else_keeps(case: str, donated: Any) -> None:
    assert donated(**KEEPS_NOTHING[case]) == {"buffer": "self.buffer"}


@pytest.mark.parametrize("case", KEEPS)
def test_an_array_is_not_donated_that_something_may_keep(case: str, donated: Any) -> None:
    assert donated(**KEEPS[case]) == {}


def test_only_large_arrays_of_which_a_part_changes_are_donated(donated: Any) -> None:
    assert donated(size_bytes=2**20 - 1) == {}
    assert donated(kind="numpy array") == {}
    assert donated(update="self.buffer * 2 + x") == {}
    assert donated(update="jnp.zeros_like(self.buffer)") == {}
