"""Calls are independent if none needs the result of an earlier one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.rules.host.independence import independent_calls, is_independent, mapped_axes
from jaxmagic.records.call_stack import Frame


@pytest.mark.parametrize(
    ("line", "independent"),
    [
        ("energies = np.vectorize(lambda r: float(f(r)))", True),
        ("ys = [float(f(x)) for x in xs]", True),
        ("ys = list(map(lambda x: f(x).item(), xs))", True),
        ("for x in xs: ys.append(float(f(x)))", True),
        ("for i in range(9): y[i] = f(xs[i])", True),
        ("for i in range(9): x = f(x)", False),
        ("for i in range(9): x = float(f(x))", False),
        ("for i in range(9): y = f(x); x = x + y", False),
        ("for i in range(9): s, y = f(s, xs[i])", False),
        ("for i in range(9): ys.append(f(ys[-1]))", False),
        ("for i in range(9): y[i] = f(y[i - 1])", False),
        ("for i in range(9): y = f(sim.x); sim.advance(y)", False),
        ("for i in range(9): y = f(sim.x); advance(sim, y)", False),
        ("for i in range(9): sim.advance(f(sim.x))", False),
        ("for i in range(9): y = f(xs[i]); print(i, float(y))", True),
        ("ys = [kept.append(f(kept[-1])) for _ in range(9)]", False),
        ("for i in range(9):\n    if y < 3: y = f(xs[i])", False),
        ("for i in range(9):\n    if i % 2: y = f(xs[i])", True),
        ("for i in range(9):\n    y.append(f(x))\n    for z in y: x = z", False),
        ("for i in range(9):\n    if y: x = 3\n    y = f(x)", False),
        ("while more(): y = f(x)", False),
        ("y = [x := f(x) for _ in range(9)]", False),
        ("a, b = f(x), f(y)", False),
        ("run = lambda x: f(x)", False),
    ],
)
def test_calls_that_need_an_earlier_result_are_not_independent(tmp_path: Path, line: str, independent: bool) -> None:
    path = tmp_path / "calls.py"
    path.write_text(f"{line}\n")
    at = next(number for number, each in enumerate(line.splitlines(), 1) if "f(" in each)
    assert is_independent(Frame(function="train", file=str(path), line=at), "f") is independent


@pytest.mark.parametrize(
    ("code", "within", "caller"),
    [
        ("ys = [f(x) for x in xs]", 0, ""),
        ("for t in range(9):\n    ys += [f(x) for x in xs]", 0, ""),
        ("for t in range(9):\n    for x in xs:\n        ys.append(f(x + t))", 0, ""),
        ("for t in range(9):\n    xs = [f(x) for x in xs]", 1, ""),
        ("for s in range(9):\n    for t in range(9):\n        ys = [f(x) for x in xs]\n    xs = ys[:3]", 1, ""),
        ("for t in range(9):\n    ys = [f(x) for x in xs for j in range(3)]\n    xs = ys[:2]", 1, ""),
        ("for t in range(9):\n    new = []\n    for x in xs:\n        new.append(f(x))\n    xs = new", 1, ""),
        ("for t in range(9):\n    ys = list(map(lambda x: f(x), xs))\n    xs = ys", 1, ""),
        ("for t in range(9):\n    ys = [f(x) for x in xs]\n    for y in ys:\n        xs = [y]", 1, ""),
        ("for t in range(9):\n    ys = [f(x) for x in xs]\n    if max(ys) > 3: break", 1, ""),
        ("for t in range(9):\n    heads = [f(x) for x in xs]\n    push(xs, heads)", 1, ""),
        ("while xs:\n    ys += [f(x) for x in xs]", 1, ""),
        ("def g(xs):\n    return [f(x) for x in xs]\nrun = lambda: g(zs)", 0, "g"),
        ("def g(xs):\n    return [f(x) for x in xs]\ny = g(zs)", 0, ""),
        ("def g(xs):\n    return [f(x) for x in xs]\ndef h(): return g(zs)\ny = h()", 0, ""),
        ("def g(xs):\n    return [f(x) for x in xs]\ndef h(): return g(zs)\ny = [h() for _ in zs]", 0, "g"),
        ("def g(xs):\n    return [f(x) for x in xs]\ny = g(zs)\nz = g(y)", 0, "g"),
        ("def g(xs):\n    return [f(x) for x in xs]\nfor t in range(9): zs = g(zs)", 0, "g"),
        ("g = np.vectorize(lambda x: f(x))\nfor t in range(9): zs = g(zs)", 0, "g"),
        ("g = np.vectorize(lambda x: f(x))\nzs = g(zs)", 0, ""),
    ],
)
def test_calls_of_different_passes_may_need_each_other(
    tmp_path: Path, timing: Any, code: str, within: int, caller: str
) -> None:
    path = tmp_path / "calls.py"
    path.write_text(f"{code}\n")
    at = next(number for number, each in enumerate(code.splitlines(), 1) if "f(" in each)
    evidence = Evidence(code="pass", first=timing(), observed=timing())
    found = independent_calls(Frame(function="train", file=str(path), line=at), "f", evidence)
    assert found is not None
    assert (0 if found.within is None else found.within.lineno, found.caller) == (within, caller)


@pytest.mark.parametrize(
    ("before", "independent"),
    [
        ("w = step(w, xs[i])", False),
        ("v = w * i\n    w = v + 1", False),
        ("w = step(xs[i])", True),
        ("i += 1\n    w = xs[i]", True),
    ],
)
def test_arguments_that_a_round_gets_from_the_last_one_are_not_known_before_the_loop(
    tmp_path: Path, before: str, independent: bool
) -> None:
    path = tmp_path / "rounds.py"
    path.write_text(f"for i in range(9):\n    {before}\n    y = f(w)\n")
    line = Frame(function="train", file=str(path), line=len(path.read_text().splitlines()))
    assert is_independent(line, "f") is independent


@pytest.mark.parametrize(
    ("code", "axes"),
    [
        ("out = [f(w, r) for r in rows]", "(None, 0)"),
        ("out = [f(rows[i], w, i) for i in range(9)]", "(0, None, 0)"),
        ("out = list(map(lambda r: f(w, r), rows))", "(None, 0)"),
        ("for r in rows: out.append(f(w, 2.0, r))", "(None, None, 0)"),
        ("out = [f(w, load(path)) for path in paths]", "(None, 0)"),
        ("out = [f(w, load()) for _ in range(9)]", "(None, 0)"),
        ("out = [[f(w, r, c) for c in columns] for r in rows]", "(None, 0, 0)"),
        ("out = [f(r) for r in rows]", ""),
        ("out = [f(w, x=r) for r in rows]", ""),
        ("out = [f(w, *r) for r in rows]", ""),
    ],
)
def test_what_is_the_same_in_all_calls_is_not_mapped(tmp_path: Path, code: str, axes: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(code)
    assert mapped_axes(Frame(function="train", file=str(path), line=1), "f") == axes
