"""The static arguments that a loop varies, by what JAX said of the compilations or by the syntax of the loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.compilation.record.compilation import Cause, Compilation
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.jitted_names import StaticParameters
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.varying_static import varying_static
from jaxmagic.memory_use.record.memory_profile import Executable
from jaxmagic.records.call_stack import Frame
from jaxmagic.timing.record import Timing

COUNT = 8


@pytest.fixture
def vary(
    timing: Callable[..., Timing], compilation: Callable[..., Compilation], executable: Callable[..., Executable]
) -> Callable[..., tuple[str, ...]]:
    """Find the static arguments of ``f(x, i, n)``, of which `names` are declared and `said` differed once each."""

    def find(line: Frame | None, names: tuple[str, ...], said: tuple[str, ...], programs: int = 2) -> tuple[str, ...]:
        causes = [Cause(kind="static value", reason="", argument=each) for each in said]
        first = timing(*(compilation(cause=each) for each in causes))
        declared = (StaticParameters(function="f", names=names),)
        evidence = Evidence(code="", first=first, observed=timing(), static=declared)
        known = Program(executable=executable(name="jit_f"), module=None, function="f", arguments=("x", "i", "n"))
        return varying_static("f", COUNT, line, [known] * programs, evidence)

    return find


@pytest.mark.parametrize(("times", "found"), [(4, ("i",)), (3, ())])
def test_jax_says_which_argument_differs_from_call_to_call(vary: Any, times: int, found: tuple[str, ...]) -> None:
    assert vary(None, ("i", "n"), ("i",) * times) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("for i in range(8): f(x, i, n)", ("i",)),
        ("for k in range(8): f(x, n=n, i=k * n)", ("i",)),
        ("[f(x, i, n) for i in range(8)]", ("i",)),
        ("for n in sizes: f(x, i, 2 * n)", ("n",)),
        ("for x in xs: f(x, i, n)", ()),
        ("for i in range(8): f(x, *rest)", ()),
        ("f(x, i, n)", ()),
    ],
)
def test_the_loop_shows_which_argument_differs(vary: Any, tmp_path: Path, code: str, found: tuple[str, ...]) -> None:
    file = tmp_path / "loop.py"
    file.write_text(f"{code}\n")
    line = Frame(function="<module>", file=str(file), line=1)
    assert vary(line, ("i", "n"), ()) == found
    assert vary(line, ("i", "n"), (), programs=1) == ()


def test_an_argument_that_is_not_static_is_not_named(vary: Any, tmp_path: Path) -> None:
    file = tmp_path / "loop.py"
    file.write_text("for i in range(8):\n    f(x, i, n)\n")
    line = Frame(function="<module>", file=str(file), line=2)
    assert vary(line, ("n",), ()) == ()
    assert vary(line, ("i", "n"), ("n",)) == ()  # JAX said that n differed, once
