"""Lines of a loop that compute an item ahead of the device, as their syntax tells."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.rules.host.item_calls import (
    calls_any,
    computes_item,
    may_leave,
    prefetched_loop,
    preparing,
    shared_with_loader,
)
from jaxmagic.doctor.rules.host.syntax import loop_around
from jaxmagic.records.call_stack import Frame

HEAD = "import numpy\ndef train(state, it, rng, data, losses):\n"


def line_of(tmp_path: Path, loop: str, number: int) -> Frame:
    file = tmp_path / "train.py"
    file.write_text(HEAD + "".join(f"    {each}\n" for each in loop.splitlines()))
    return Frame(function="train", file=str(file), line=2 + number)


@pytest.mark.parametrize(
    "loop",
    [
        "while True:\n    batch = next(it)\n    state = step(state, batch)",
        "for _ in range(9):\n    _, b = next(it)\n    state = step(state, b)",
        "for i in range(9):\n    batch = load(i)\n    state = step(state, batch)",
        "for i in range(9):\n    x, y = sample_batch(rng)\n    state = step(state, x, y)",
        "while i < 9:\n    batch = load(i)\n    i += 1\n    state = step(state, batch)",
        "for i in range(9):\n    batch = data.get(i)\n    x = batch['x']\n    state = step(state, x)",
        "for i in range(9):\n    x = numpy.sort(data.get(i))\n    state = step(state, x)\n    numpy.mean(losses)",
        "for i in range(9):\n    x = load([[v for v in row] for row in data[i]])\n    state = step(state, x)",
        "for i in range(9):\n    x = load(i)\n    if i % 2:\n        state = step(state, x)",
    ],
)
def test_an_item_is_computed(tmp_path: Path, loop: str) -> None:
    assert computes_item(line_of(tmp_path, loop, 2))


@pytest.mark.parametrize(
    ("loop", "number"),
    [
        ("batch = load(0)\nstate = step(state, batch)", 1),  # no loop
        ("for i in range(9):\n    batch = load(i, state)\n    state = step(state, batch)", 2),
        ("for i in range(9):\n    x = load([s for s in state])\n    state = step(state, x)", 2),
        ("for i in range(9):\n    x = load([s for s in i], s)\n    s = step(s, x)", 2),
        ("for i in range(9):\n    batch = load(int(loss))\n    loss = step(state, batch)", 2),
        ("for i in range(9):\n    batch = data.sample()\n    loss = step(batch)\n    data.add(loss)", 2),
        ("for i in range(9):\n    batch = load(losses)\n    losses[i] = step(batch)", 2),
        ("for i in range(9):\n    x = load(rng)\n    state = step(state, x, rng)", 2),
        ("for i in range(9):\n    batch = load(i)\n    i = step(batch)", 2),
        ("for i in range(9):\n    state = step(state, i)", 2),
        ("for i in range(9):\n    size = measure(i)\n    state = step(state)", 2),  # no call gets it
        ("for i in range(9):\n    batch = data[i]\n    state = step(state, batch)", 2),  # no call makes it
        ("for i in range(9):\n    show(i)\n    state = step(state, i)", 2),
        ("while more(losses):\n    batch = load(losses)\n    step(batch)", 2),
    ],
)
def test_what_may_need_results_of_the_loop_is_no_item(tmp_path: Path, loop: str, number: int) -> None:
    assert not computes_item(line_of(tmp_path, loop, number))


@pytest.mark.parametrize(
    ("body", "number", "prepares"),
    [
        ("x = []\nfor row in data[i]:\n    x.append(f(row))\nx = numpy.array(x)\nlosses.append(step(x))", 4, True),
        ("x = []\nfor row in data[i]:\n    x.append(f(row))\nx = numpy.array(x)\nlosses.append(step(x))", 5, True),
        ("x = data[i]\nx = numpy.sort(x)\nstate = step(state, x)", 3, True),
        ("x = data[i]\nx = numpy.sort(x)\nif i % 2:\n    y = x + 1\nstate = step(state, y)", 5, True),
        ("x = data[i]\nx = numpy.sort(x)\nstate = step(state, x)", 4, False),  # the call itself
        ("x = numpy.sort(state)\nstate = step(state, x)", 2, False),  # a result
        ("y = state + 1\nx = numpy.sort(y)\nstate = step(state, x)", 3, False),
        ("state = step(state, x)\nlosses.append(i)\nx = numpy.sort(losses[-1])", 4, True),
        ("losses.append(step(x))\nx = numpy.sort(losses[-1])", 3, False),
        ("z = numpy.sort(data[i])\nstate = step(state, i)", 2, False),  # no call gets it
        ("x = jnp.sort(data[i])\nstate = step(state, x)", 2, False),
    ],
)
def test_statements_that_make_an_item_together(tmp_path: Path, body: str, number: int, prepares: bool) -> None:
    loop = "for i in range(9):\n" + textwrap.indent(body, "    ")
    assert (preparing(line_of(tmp_path, loop, number), {"step"}) is not None) == prepares


@pytest.mark.parametrize(
    ("loop", "pair"),
    [
        (
            "for i in range(9):\n    x, y = load(i)\n    state = step(x, y)",
            ("i, (x, y)", "(i, load(i)) for i in range(9)", "for i in range(9): x, y = load(i)"),
        ),
        ("for _ in range(9):\n    batch = next(it)\n    state = step(batch)", None),  # it would take one item more
        ("while True:\n    batch = load(i)\n    state = step(batch)", None),
        ("for i in range(9):\n    show(i)\n    batch = load(i)\n    state = step(batch)", None),
    ],
)
def test_a_loop_over_its_counter_can_be_one_over_items(tmp_path: Path, loop: str, pair: Any) -> None:
    number = next(number for number, each in enumerate(loop.splitlines(), 1) if "load(" in each or "next(" in each)
    assert prefetched_loop(line_of(tmp_path, loop, number)) == pair


LOADER = """\
def batches():
    for _ in range(9):
        yield picked()
def picked():
    return data[rng.integers(0, 9)]
"""


@pytest.mark.parametrize(
    ("body", "items", "shared"),
    [
        ("state = step(state, x)", "batches()", []),
        ("state = step(state, x)\ndata.append(x)", "batches()", ["data"]),
        ("state = step(state, x + rng.normal())", "batches()", ["rng"]),
        ("state = step(state, x)\ndata[0] = x", "batches()", ["data"]),
        ("state = step(state, x)\nlosses.append(state)", "batches()", []),
        ("state = step(state, numpy.sin(x))", "batches()", []),
        ("state = step(state, x)\nit.skip()", "it", ["it"]),
        ("state = step(state, x)", "batches(state)", ["state"]),
    ],
)
def test_what_the_loop_and_its_loader_share(tmp_path: Path, body: str, items: str, shared: list[str]) -> None:
    text = f"for x in {items}:\n" + "".join(f"    {each}\n" for each in body.splitlines())
    line = line_of(tmp_path, text, 1)
    file = Path(line.file)
    file.write_text(file.read_text() + LOADER)
    loop = loop_around(replace(line, line=4))
    assert isinstance(loop, ast.For)
    assert shared_with_loader(loop, line) == shared


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        ("step(x)", False),
        ("if step(x): break", True),
        ("if step(x): return x", True),
        ("for y in x:\n    if step(y): break", False),
        ("for y in x:\n    if step(y): return y", True),
        ("def f(y): return y", False),
    ],
)
def test_a_loop_that_may_end_before_its_items(body: str, leaves: bool) -> None:
    (function,) = ast.parse("def train(xs):\n for x in xs:\n" + textwrap.indent(body, "  ")).body
    assert isinstance(function, ast.FunctionDef)
    (loop,) = function.body
    assert isinstance(loop, ast.For)
    assert may_leave(loop) == leaves


def test_lines_that_call_programs(tmp_path: Path) -> None:
    line = line_of(tmp_path, "for i in range(9):\n    x = encode(i)\n    y = jnp.sin(x)\n    z = load(y)", 2)
    assert calls_any(line, {"encode"})
    assert not calls_any(line, {"decode"})
    assert calls_any(replace(line, line=5), set())
    assert not calls_any(replace(line, line=6), {"encode"})
