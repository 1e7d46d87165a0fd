"""The line under the traceback of an error that is explained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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


def test_an_error_that_does_not_end_its_cell_has_a_hint(
    session: Session, printed: Callable[[str], str], tmp_path: Path
) -> None:
    del session.shell.showtraceback  # which notes what was shown
    script = tmp_path / "train.py"
    script.write_text(FAILING)
    for cell in (f"%run {script}", "%jaxtime -q --no-raise-error jax.jit(lambda x: float(x))(1.0)"):
        assert printed(cell).count(HINT) == 1
    assert HINT not in printed("1 + 1")
    script.write_text("1 / 0")
    assert HINT not in printed(f"%run {script}")


def test_an_error_of_a_cell_in_a_cell_has_one_hint(session: Session, printed: Callable[[str], str]) -> None:
    del session.shell.showtraceback
    assert printed(f"get_ipython().run_cell({FAILING!r});").count(HINT) == 1  # as %cpaste runs it


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
