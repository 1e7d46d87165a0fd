"""The end of a loop depends on a count, on values, or on what JAX cannot ask."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence, HostShare
from jaxmagic.doctor.rules.rewriting.loops.loop_end import calling_loop, end_of
from jaxmagic.records.call_stack import Frame
from jaxmagic.timing.record import Timing


def loop_of(code: str) -> Any:
    (loop,) = ast.parse(code).body
    return loop


@pytest.mark.parametrize(
    "code",
    [
        "while err > tol:\n    x, err = f(x)",
        "while True:\n    x, err = f(x)\n    if err < tol: break",
        "for _ in range(100):\n    x, loss = f(x)\n    if float(loss) < tol: break",
        "for _ in range(100):\n    x, loss = f(x)\n    if i > 3 and loss.item() < tol: return x",
        "for _ in range(100):\n    x, loss = f(x)\n    if not jnp.isfinite(loss): raise ValueError(x)",
        "for _ in range(100):\n    x, loss = f(x)\n    assert np.isfinite(loss)",
        "for _ in range(100):\n    new = f(x)\n    if np.allclose(new, x): break\n    x = new",
        "for x in xs:\n    y = f(x)\n    if y > best: break",
        "for x in xs:\n    if x > 3: break\n    y = f(x)",
        "for i, x in enumerate(xs):\n    if x > 3: break\n    y = f(x)",
        "while not done:\n    x, err = f(x)\n    if err < tol: done = True",
        "while (err := f(x)) > tol:\n    pass",
        "while True:\n    try:\n        x, err = f(x)\n        if err < tol: break\n    finally: log()",
        "while True:\n    x, kind = f(x)\n    match int(kind):\n        case 1: break",
        "for epoch in range(9):\n    for batch in batches:\n        x = f(x)\n        if x > 3: return x",
        "while bad < patience:\n    x, loss = f(x)\n    bad = 0 if loss < best else bad + 1",
    ],
)
def test_values_end_a_loop(code: str) -> None:
    assert end_of(loop_of(code)) == "value"


@pytest.mark.parametrize(
    "code",
    [
        "for _ in range(100): x = f(x)",
        "for x in xs: y = f(x)",
        "for i, x in enumerate(xs):\n    if i > 3: break\n    y = f(x)",
        "for i in range(100):\n    if i == n: break\n    x = f(x)",
        "while i < n:\n    x = f(x)\n    i += 1",
        "while i < config.get('steps'):\n    x = f(x)\n    i += 1",
        "while i < 100: x, i = f(x), i + 1",
        "while rate > 1e-5:\n    x = f(x, rate)\n    rate *= 0.5",
        "while True:\n    try: batch = next(batches)\n    except StopIteration: break\n    x = f(x, batch)",
        "for batch in batches:\n    if batch is None: break\n    x = f(x, batch)",
        "for _ in range(100):\n    x, loss = f(x)\n    if float(loss) < best: best = float(loss)",
        "for _ in range(100):\n    x = f(x)\n    for y in x:\n        if y > 3: break",
        "for _ in range(100):\n    x = f(x)\n    def inner(): return x if x > 3 else None",
        "for _ in range(100):\n    x = f(x)\n    if len(losses) > 3: break\n    losses.append(x)",
    ],
)
def test_a_count_ends_a_loop(code: str) -> None:
    assert end_of(loop_of(code)) == "count"


@pytest.mark.parametrize(
    "code",
    [
        "while time.time() < deadline: x = f(x)",
        "while perf_counter() - start < 10: x = f(x)",
        "while i < 100 and time.time() - start < 10:\n    x = f(x)\n    i += 1",
        "while not stop.is_set(): x = f(x)",
        "while not queue.empty(): x = f(queue.get())",
        "for _ in range(100):\n    x, loss = f(x)\n    if stopper.should_stop(loss): break",
        "while self.running(): x = f(x)",
        "while err > tol and time.time() < deadline: x, err = f(x)",
    ],
)
def test_what_jax_cannot_ask_ends_a_loop(code: str) -> None:
    assert end_of(loop_of(code)) == "host"


@pytest.fixture
def end(tmp_path: Path, timing: Callable[..., Timing]) -> Callable[..., Any]:
    def find(code: str, line: int, *callers: int) -> Any:
        file = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"
        file.write_text(code)
        names = ("inner", "outer", "main")
        stack = [
            Frame(function=name, file=str(file), line=at) for name, at in zip(names, (line, *callers), strict=False)
        ]
        share = HostShare(line=stack[0], called="", samples=1, stack=tuple(stack))
        evidence = Evidence(code=None, first=timing(), observed=timing(), host=(share,))
        found = calling_loop(stack[0], "f", evidence)
        return None if found is None else found.end

    return find


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ys = [f(x) for x in xs]", "count"),
        ("y = sum(float(f(x)) for x in xs)", "count"),
        ("ys = list(map(lambda x: float(f(x)), xs))", "count"),
        ("found = any(f(x) > 0 for x in xs)", "value"),
        ("found = any([f(x) > 0 for x in xs])", "count"),
        ("first = next(x for x in xs if f(x) > 0)", "value"),
        ("first = next(filter(lambda x: f(x) > 0, xs))", "value"),
        ("kept = list(takewhile(lambda x: f(x) > 0, xs))", "value"),
        ("y = f(x)", None),
        ("res = minimize(lambda x: float(f(x)), x0)", None),
    ],
)
def test_a_statement_that_calls_a_function(end: Callable[..., Any], code: str, expected: str | None) -> None:
    assert end(code, 1) == expected


def test_the_loop_may_be_in_a_caller(end: Callable[..., Any]) -> None:
    inner = "def inner(x):\n    return f(x)\n"
    assert end(f"{inner}while err > tol:\n    x, err = inner(x)\n", 2, 4) == "value"
    assert end(f"{inner}for _ in range(9):\n    x = inner(x)\n", 2, 4) == "count"
    outer = "def outer(x):\n    return inner(x)\n"
    assert end(f"{inner}{outer}for _ in range(9):\n    x = outer(x)\n", 2, 4, 6) == "count"


def test_a_library_in_between_may_have_another_loop(end: Callable[..., Any]) -> None:
    code = "def inner(x):\n    return f(x)\nfor seed in range(3):\n    res = minimize(inner, x0)\n"
    assert end(code, 2, 4) is None
