"""Which loops call the operations, by their syntax and by the lines that called them first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostUse, Input
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.next_step import with_next_step
from jaxmagic.doctor.rules.host.functions.spared import Part
from jaxmagic.doctor.rules.host.jitting.advice import remedy_at
from jaxmagic.doctor.rules.host.jitting.looped import is_looped, unrolled_in
from jaxmagic.doctor.rules.host.syntax import Function
from jaxmagic.doctor.rules.rewriting import syntax
from jaxmagic.records.call_stack import Frame

HEAD = "import jax\nimport jax.numpy as jnp\nimport math\n"

#: The lines of `call(x)` and `plain(n)`, and of what follows.
CALLED, REST = 5, 8
FUNCTIONS = "def call(x):\n    return jnp.sin(x)\ndef plain(n):\n    return str(n) * 2\n"

Made = Callable[..., tuple[Evidence, str]]


@pytest.fixture
def made(timing: Any, executable: Any, tmp_path: Path) -> Made:
    """Evidence of a file in which `sin` and `multiply` were called first at a line, with as much idle time each."""

    def make(text: str, sin: int = REST + 1, multiply: int = REST + 1) -> tuple[Evidence, str]:
        file = tmp_path / "train.py"
        file.write_text(HEAD + FUNCTIONS + text)
        programs = tuple(
            Program(
                executable=executable(name=f"jit_{name}"),
                module=None,
                function=name,
                eager=True,
                called_at=Frame(function="f", file=str(file), line=line),
            )
            for name, line in (("sin", sin), ("multiply", multiply))
        )
        calls = tuple(Dispatch(name=each, count=150, host_ns=1, exposed_ns=9) for each in ("sin", "multiply"))
        use = HostUse(dispatches=calls, idle_ns=1, waited_ns=0, waits=0)
        array = Input(path="x", kind="jax array", type="f32[9,9]")
        loader = Input(path="loader", kind="iterator", type="generator")
        rows = [Input(path=f"rows[{each}]", kind="jax array", type="f32[9]") for each in range(2)]
        leaves = [Input(path=f"leaves[{each}]", kind="jax array", type=f"f32[{each}]") for each in range(2)]
        inputs = (array, loader, *rows, *leaves)
        evidence = Evidence(
            code=None, first=timing(), observed=timing(), programs=programs, host_use=use, inputs=inputs
        )
        return evidence, str(file)

    return make


@pytest.mark.parametrize(
    ("loop", "calls"),
    [
        ("y = [jnp.sin(x) * n for n in range(99)]", True),
        ("y = [call(x) * n for n in range(99)]", True),
        ("y = list(x * call(r) for r in x)", True),
        ("y = [str(n) for n in range(99)]", False),
        ("y = {n: n * 2 for n in range(99)}", False),
        ("y = jnp.sin(x) * len([n * 2 for n in range(99)])", False),
        ("y = jnp.sin(x) * 2, [plain(n) for n in range(99)]", False),
        ("y = jnp.sin(x) * 2, [s.lower() for s in names]", False),
        ("y = jnp.sin(x) * 2, [math.sin(n) * 3 for n in range(99)]", False),
        ("y = jnp.sin(x) * 2, [f'{n}' * 3 for n in range(99)]", False),
        ("y = call(x), [sum(n * k for k in range(3)) for n in range(99)]", False),
    ],
)
def test_a_loop_calls_what_its_syntax_calls(made: Made, loop: str, calls: bool) -> None:
    evidence, file = made(f"def f(x, names):\n    {loop}\n    return y\n", sin=CALLED)
    tree = syntax.tree_of(file)
    assert tree is not None
    function = tree.body[-1]
    assert isinstance(function, Function)
    assert unrolled_in([(function, file)], 300, evidence) is (function if calls else None)


LOOP = "    for n in range(99):\n        table[n] = str(n) * 2\n"


@pytest.mark.parametrize(
    ("body", "first", "way"),
    [
        (f"{LOOP}    x = jnp.sin(x) * 2\n", REST + 3, "group"),
        (f"{LOOP}    k = [n * 2 for n in range(9)]\n    x = jnp.sin(x) * 2\n", REST + 4, "group"),
        ("    k = [jnp.sin(x) * n for n in range(9)]\n", REST + 1, "loop"),
        ("    k = [n * 2 for n in range(9)]\n    x = jnp.sin(x) * 2\n", REST + 2, "function"),
        ("    k = [f'{n}' for n in range(9)]\n    x = jnp.sin(x) * 2\n    return k\n", REST + 2, "group"),
    ],
)
def test_a_loop_without_operations_is_not_put_under_jit(made: Made, body: str, first: int, way: str) -> None:
    evidence, file = made(f"def f(x, table):\n{body}", sin=first, multiply=first)
    advice, _ = remedy_at(Frame(function="f", file=file, line=first), 300, evidence)
    assert advice.facts["way"] == way
    assert ("the loop in f into a function" in str(advice)) == (way == "loop")


@pytest.mark.parametrize(
    ("cell", "looped"),
    [
        ("y = [jnp.sin(x[n]) * 2 for n in range(9)]", True),
        ("y = jnp.stack([jnp.sin(r) * w for r, w in zip(x, rows)])", True),
        ("y = sum(jnp.sin(r) * 2 for r in x)", True),
        ("y = list(map(lambda r: jnp.sin(r) * 2, x))", True),
        ("y = {n: jnp.sin(r) * 2 for n, r in enumerate(x[1:])}", True),
        ("for n in range(9): y = jnp.sin(x) * 2", True),
        ("y = [jnp.sin(r) * 2 for r in loader]", False),
        ("y = [jnp.sin(r) * 2 for r in leaves]", False),
        ("y = [jnp.sin(r) * 2 for r in jax.tree.leaves(p)]", False),
        ("for r in loader: y = jnp.sin(r) * 2", False),
        ("while y.sum() > 1: y = jnp.sin(y) * 2", False),
        ("y = jnp.sin(x) * len([n for n in range(9)])", False),
        ("y = jnp.sin(x) * 2", False),
    ],
)
def test_rows_in_a_cell_are_mapped(made: Made, cell: str, looped: bool) -> None:
    evidence, file = made(cell, sin=REST, multiply=REST)
    line = Frame(function="<module>", file=file, line=REST)
    assert is_looped(line, evidence) == looped
    advice, code = remedy_at(line, 300, evidence)
    assert code is None
    assert ("jax.vmap instead of the loop, which would otherwise be unrolled" in str(advice)) == looped


@pytest.mark.parametrize(("before", "looped"), [("rows = jnp.ones((9, 9))", True), ("rows = load()", False)])
def test_what_a_cell_makes_is_an_array_if_jax_makes_it(made: Made, before: str, looped: bool) -> None:
    evidence, file = made(f"{before}\ny = [jnp.sin(r) * 2 for r in rows]")
    assert is_looped(Frame(function="<module>", file=file, line=REST + 1), evidence) == looped


def test_a_row_that_another_line_compiled_is_found_by_its_call(made: Made) -> None:
    text = "def one(r):\n    return jnp.sin(r) * 2\ny = jnp.stack([one(r) for r in x])\n"
    evidence, file = made(text)
    led = tuple(
        Frame(function=name, file=file, line=line) for name, line in (("one", REST + 1), ("<module>", REST + 2))
    )
    programs = tuple(replace(each, called_from=led) for each in evidence.programs or ())
    evidence = replace(evidence, programs=programs)
    advice, code = remedy_at(led[0], 300, evidence)
    assert (advice.facts["way"], code) == ("function", "# in train.py, below one()\none = jax.jit(one)")
    named = replace(evidence, code="y = jnp.stack([one(r) for r in x])")  # then it is a name of the code as well
    assert remedy_at(led[0], 300, named)[1] == "one = jax.jit(one)"

    tree = syntax.tree_of(file)
    assert tree is not None
    function = tree.body[-2]
    assert isinstance(function, Function)
    then = with_next_step(advice, Part(function, file), evidence, transformed=False)
    assert then.facts.get("then") == "vmap"
