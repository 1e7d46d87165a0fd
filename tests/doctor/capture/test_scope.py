"""The variables that some code reads, and those that it assigns after reading them."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from jaxmagic.doctor.capture.scope import Scope, rebound

KNOWN: dict[str, Any] = dict.fromkeys(("f", "x", "y", "state", "step", "losses", "batches", "i"), object())


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("y = f(x)", []),
        ("x = f(x)", ["x"]),
        ("state, loss = step(state, x)", ["state"]),
        ("x += 1", ["x"]),
        ("y = 1\ny = f(y)", []),
        ("for i in range(3):\n    state = step(state)", ["state"]),
        ("for i in range(3):\n    f(y)\n    y = i", ["y"]),
        ("while f(x):\n    x = f(x)", ["x"]),
        ("y = [x for x in batches]", []),
        ("y = [f(x) for i in batches]\nx = 1", ["x"]),
        ("(x := f(x))", ["x"]),
        ("del x", ["x"]),
        ("def g():\n    return x\nx = g()", ["x"]),
        ("def g(x):\n    x = f(x)\n    return x\ny = g(1)", []),
        ("y = lambda x: x", []),
        ("x: int = f(x)", ["x"]),
        ("import x", []),
        ("losses.append(f(x))", []),
        ("new = f(new)", []),  # it does not exist yet, so Python raises
    ],
)
def test_what_is_read_and_then_assigned_is_rebound(code: str, names: list[str]) -> None:
    assert rebound(ast.parse(code), KNOWN) == names


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("y = f(x)", {"f", "x"}),
        ("y = 1\nf(y)", {"f"}),
        ("print(x)", {"x"}),
        ("losses.append(f(x))", {"losses", "f", "x"}),
        ("this is no code", set(KNOWN)),
        (None, set(KNOWN)),
    ],
)
def test_what_the_code_reads(code: str | None, names: set[str]) -> None:
    assert set(Scope(code, KNOWN).read()) == names


def test_a_builtin_is_no_variable_of_the_session() -> None:
    assert Scope("print(len)", {"print": print, "len": 3}).read() == {"len": 3}


def test_code_that_is_unknown_reads_all_variables_but_ours() -> None:
    variables = {"x": 1, "__jaxmagic_2__": 2}
    assert Scope("%timeit f(x)", variables).read() == Scope(None, variables).read() == {"x": 1}
