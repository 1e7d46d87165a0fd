"""Calls are independent if none needs the result of an earlier one."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxmagic.doctor.rules.host.independence import is_independent
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
        ("while more(): y = f(x)", False),
        ("y = [x := f(x) for _ in range(9)]", False),
        ("a, b = f(x), f(y)", False),
        ("run = lambda x: f(x)", False),
    ],
)
def test_calls_that_need_an_earlier_result_are_not_independent(tmp_path: Path, line: str, independent: bool) -> None:
    path = tmp_path / "calls.py"
    path.write_text(f"{line}\n")
    assert is_independent(Frame(function="train", file=str(path), line=1), "f") is independent
