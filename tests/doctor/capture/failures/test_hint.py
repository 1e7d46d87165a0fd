"""The line under the traceback of an error that is explained."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from failing_cells import Cell
from shells import Session

from jaxmagic.doctor.capture.failures.hint import HINT, print_hint

FAILING = "import jax\njax.jit(lambda x: float(x))(1.0)"


@pytest.fixture
def printed(session: Session, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Run a cell, and return what it printed."""

    def run(cell: str) -> str:
        capsys.readouterr()
        session.shell.run_cell(cell, store_history=True)
        return capsys.readouterr().out

    return run


def test_an_error_that_jax_raised_has_a_hint(printed: Callable[[str], str]) -> None:
    assert printed(FAILING) == f"{HINT}\n"


@pytest.mark.parametrize(
    "cell",
    ["1 + 1", "1 / 0", "import jax\njax.jit(lambda x: 1 / 0)(1.0)", "raise TypeError('Shapes must be 1D')", "1 +"],
)
def test_other_cells_have_none(cell: str, printed: Callable[[str], str]) -> None:
    assert HINT not in printed(cell)


def test_it_can_be_switched_off(printed: Callable[[str], str]) -> None:
    printed("%config JaxMagics.error_hint = False")
    assert printed(FAILING) == ""
    printed("%config JaxMagics.error_hint = True")
    assert printed(FAILING) == f"{HINT}\n"


def test_it_ends_with_the_extension(printed: Callable[[str], str]) -> None:
    printed("%unload_ext jaxmagic")
    assert printed(FAILING) == ""


def test_it_never_raises(capsys: pytest.CaptureFixture[str]) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise AssertionError

    for error in (None, "text", Odd(), RuntimeError(), KeyboardInterrupt()):
        print_hint(error)
    assert capsys.readouterr().out == ""
    print_hint(Cell("jax.jit(lambda x: float(x))(1.0)").error)
    assert capsys.readouterr().out == f"{HINT}\n"
