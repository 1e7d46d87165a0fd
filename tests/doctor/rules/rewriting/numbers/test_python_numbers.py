"""Variables are numbers of Python if nothing else is assigned to them."""

from __future__ import annotations

import ast

import pytest

from jaxmagic.doctor.rules.rewriting.numbers.python_numbers import python_numbers


@pytest.mark.parametrize(
    ("code", "numbers"),
    [
        ("t = 0.0\nt += 0.1", {"t"}),
        ("t = 0.0\nt = t + dt", set()),
        ("t = t + 1\nt += 1", set()),  # of another cell
        ("dt = 0.1\nt = 0.0\nt = t + dt", {"t", "dt"}),
        ("n, m = x.shape\nk = n // 2", {"n", "m", "k"}),
        ("n = x.shape[0]\nw = x / n", {"n"}),
        ("for i, x in enumerate(xs): y = x", {"i"}),
        ("for i in range(3): j = i * 2", {"i", "j"}),
        ("for x in xs: pass", set()),
        ("a, b = 1, f(x)", {"a"}),
        ("a = b = 0", {"a", "b"}),
        ("(n := len(x))", {"n"}),
        ("seed = np.int64(42)\nseed = (seed * 5 + 1) % 2**31", {"seed"}),
        ("x = np.float32(y)", set()),
        ("x = np.asarray(3)", set()),
        ("loss = float(step(x))\nbest = min(best, loss)\nbest = 0", {"best", "loss"}),
        ("big = max(x, 1)", set()),
        ("now = time.perf_counter() - begun\nbegun = time.time()", {"now", "begun"}),
        ("text = f'{x}'\nname = 'a' if i else 'b'", {"text", "name"}),
        ("good = i < 3 and not j > 2\ni = j = 0", {"good", "i", "j"}),
        ("with open(p) as f: pass", set()),
        ("x: int = 3", {"x"}),
        ("loss = y.item()", {"loss"}),
    ],
)
def test_what_is_assigned_tells(code: str, numbers: set[str]) -> None:
    assert python_numbers(ast.parse(code)) == numbers


def test_what_a_function_gets_is_not_known() -> None:
    (function,) = ast.parse("def f(t, n=3):\n    t = 0.1\n    k = n\n    j = 1").body
    assert python_numbers(function) == {"j"}
