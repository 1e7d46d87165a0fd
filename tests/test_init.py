"""The public names, and the cost of importing them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import jaxmagic

HEAVY = ("jax", "jaxlib", "matplotlib", "pandas", "ipywidgets", "scipy.stats")


def test_every_public_name_is_there_and_listed() -> None:
    assert set(jaxmagic.__all__) == set(jaxmagic._PUBLIC)
    for name in jaxmagic.__all__:
        assert getattr(jaxmagic, name).__doc__
    assert set(jaxmagic.__all__) <= set(dir(jaxmagic))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'jaxtime'"):
        _ = jaxmagic.jaxtime  # type: ignore[attr-defined]


def heavy_after(program: str) -> list[str]:
    check = f"{program}\nimport sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True)
    return list(eval(found.stdout.strip().splitlines()[-1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        "import jaxmagic",
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "assert shell.run_cell('%load_ext jaxmagic').success\n"
        "assert shell.find_line_magic('jaxtime')",
    ],
    ids=["import", "load_ext"],
)
def test_nothing_heavy_is_imported(program: str) -> None:
    assert heavy_after(program) == []


@pytest.mark.slow
def test_the_check_for_heavy_imports_can_fail() -> None:
    assert "jax" in heavy_after("import jaxmagic; jaxmagic.fence()")
