"""Calls of libraries that make functions anew are put into a function that is jitted once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.capture.remedies.calls.library_calls import propose
from jaxmagic.doctor.capture.remedies.remedy import Change, NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.records.note import note

X = jnp.full((3, 3), 0.5)

SOLVERS = """
import jax


class Solver:
    def __init__(self, f):
        self.f = f

    def run(self, x, scale=1.0):
        return jax.lax.while_loop(lambda y: y.sum() < 1e3, lambda y: self.f(y) * scale + y @ y, x)


def solve(f, x):
    return Solver(f).run(x)
"""


@pytest.fixture
def solvers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    package = tmp_path / "site-packages" / "solvers_to_be_jitted"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(SOLVERS)
    monkeypatch.syspath_prepend(str(package.parent))
    import solvers_to_be_jitted  # type: ignore[import-not-found]

    yield solvers_to_be_jitted
    del sys.modules["solvers_to_be_jitted"]


def double(y: Any) -> Any:
    return y * 2


def proposed(source: str, line: str | None = None, at: str = "", **variables: Any) -> Change:
    finding = RuleFinding(
        rule="recompile",
        found=note("doctor.cache_off"),
        remedy=note("doctor.recompile_in_library", library="solvers"),
        source=line or f"%jaxdoctor --verify {source}",
        line=at,
    )
    return propose(finding, TriedCode(source, variables))


def compiled_again(change: Change, code: TriedCode) -> tuple[Any, int]:
    """Return the outputs of a second run, and how many programs it compiled."""
    call, _ = (change.code or code).made(change.replacements)
    call()
    with jaxmagic.stopwatch() as watch:
        value = call()
    assert change.used()
    return value, len(watch.timing.compilations)


@pytest.mark.parametrize(
    "source",
    [
        "solvers.solve(double, x)",
        "solvers.Solver(double).run(x, scale=2.0)",
        "solver.run(jnp.abs(x))",
        "solver.run(jnp.ones((len(x), 3)) * x)",
        "solve(double, np.float32(2) * x) + 1",
        "sum(solver.run(x * n).sum() for n in (1, 2))",
    ],
)
def test_a_call_in_the_code_is_jitted_once(solvers: ModuleType, source: str) -> None:
    variables = {
        "solvers": solvers, "solver": solvers.Solver(double), "solve": solvers.solve, "double": double, "x": X,
        "jnp": jnp, "np": np,
    }  # fmt: skip
    expected = eval(source, dict(variables))
    change = proposed(source, **variables)
    if " for n in " in source:  # n is a number
        assert change.code is not None
        with pytest.raises(NotTried, match="makes n"):
            change.code.made({})[0]()
        return
    value, programs = compiled_again(change, TriedCode(source, variables))
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    assert programs == 0
    assert change.found is not None
    assert "as an argument; JAX called it 3 times more" in str(change.found())


def test_an_array_that_the_code_computes_is_an_argument(solvers: ModuleType) -> None:
    source = "start = x + 1\nfor _ in range(2):\n    start = solvers.solve(double, start)"
    variables = {"solvers": solvers, "double": double, "x": X}
    line = "start = solvers.solve(double, start)"
    value, programs = compiled_again(proposed(source, line, **variables), TriedCode(source, variables))
    np.testing.assert_allclose(value["start"], solvers.solve(double, solvers.solve(double, X + 1)), rtol=1e-5)
    assert programs == 0


def test_the_users_function_around_the_line_is_jitted(solvers: ModuleType) -> None:
    def fit(x: Any) -> Any:
        solver = solvers.Solver(double)
        return solver.run(x)

    variables = {"fit": fit, "x": X}
    at = f"{__file__}:{fit.__code__.co_firstlineno + 2}"
    change = proposed("y = fit(x)", at=at, **variables)
    value, programs = compiled_again(change, TriedCode("y = fit(x)", variables))
    np.testing.assert_allclose(value["y"], fit(X), rtol=1e-5)
    assert programs == 0


def test_an_object_that_the_code_makes_is_no_argument(solvers: ModuleType) -> None:
    source = "solver = solvers.Solver(double)\ny = solver.run(x)"
    change = proposed(source, "y = solver.run(x)", solvers=solvers, double=double, x=X)
    assert change.code is not None
    with pytest.raises(NotTried, match="the code makes solver, which is no array"):
        change.code.made({})[0]()


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("solvers.solve(double, x), solvers.solve(double, x)", None),
        ("jnp.sin(x)", None),
        ("np.sin(x)", None),
        ("double(x)", None),
        ("solvers.solve(double, x)", "another = line"),
        ("solvers.solve(double, (z := x))", None),
        ("def inner():\n    return solvers.solve(double, x)", "return solvers.solve(double, x)"),
        ("%time solvers.solve(double, x)", None),
    ],
)
def test_calls_that_cannot_be_told_are_not_tried(solvers: ModuleType, source: str, line: str | None) -> None:
    with pytest.raises(NotTried, match="which call to put into a jitted function"):
        proposed(source, line, solvers=solvers, double=double, x=X, jnp=jnp, np=np)
