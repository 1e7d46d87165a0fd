"""The public names, and the cost of importing them."""

from __future__ import annotations

import ast
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import jaxmagic

HEAVY = ("jax", "jaxlib", "matplotlib", "pandas", "ipywidgets", "scipy.stats")


def test_every_public_name_is_there_and_listed() -> None:
    assert set(jaxmagic.__all__) == set(jaxmagic._PUBLIC)
    for name in jaxmagic.__all__:
        assert getattr(jaxmagic, name).__doc__
    assert set(jaxmagic.__all__) <= set(dir(jaxmagic))


def test_type_checkers_see_the_same_names_as_python() -> None:
    tree = ast.parse(Path(jaxmagic.__file__).read_text(encoding="utf-8"))
    checked = next(
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    found = {
        name.asname: node.module
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.name == name.asname
    }
    assert found == jaxmagic._PUBLIC


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'jaxtime'"):
        _ = jaxmagic.jaxtime  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("comparee", "compare"),
        ("read", "read_profile"),
        ("timeit", "benchmark"),
        ("jaxtimeit", "benchmark"),
        ("jaxprof", "profile"),
        ("jaxcompare", "compare"),
        ("compare_records", "compare"),
        ("Timings", "Timing"),
        ("assert_no_compile", "testing.assert_no_compile"),
        ("assert_fast", "testing.assert_faster"),
    ],
)
def test_a_name_near_to_a_public_one_is_told_it_once(name: str, meant: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(jaxmagic, name)
    shown = "".join(traceback.format_exception_only(caught.value)).strip()
    assert shown == f"AttributeError: module 'jaxmagic' has no attribute {name!r}. Did you mean: {meant!r}?"
    assert (caught.value.name, caught.value.obj) == (name, None)  # Python suggests a name in obj, once more


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("from jaxmagic import comparee", "'comparee' from 'jaxmagic'. Write from jaxmagic import compare"),
        (
            "from jaxmagic import assert_no_compile",
            "'assert_no_compile' from 'jaxmagic'. Write from jaxmagic.testing import assert_no_compile",
        ),
        (
            "from jaxmagic.testing import assert_no_recompile",
            "'assert_no_recompile' from 'jaxmagic.testing'. Write from jaxmagic.testing import assert_no_compile",
        ),
        ("from jaxmagic import plot", "'plot' from 'jaxmagic'"),
        ("from jaxmagic.testing import plot", "'plot' from 'jaxmagic.testing'"),
    ],
)
def test_an_import_of_another_name_says_what_to_write(statement: str, message: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(statement)
    assert str(caught.value) == f"cannot import name {message}"
    assert [each.filename for each in traceback.extract_tb(caught.value.__traceback__)] == [__file__, "<string>"]


def test_testing_suggests_the_assertion_that_was_meant() -> None:
    with pytest.raises(AttributeError, match="no attribute 'assert_no_recompile'. Did you mean: 'assert_no_compile'"):
        jaxmagic.testing.assert_no_recompile  # noqa: B018


@pytest.mark.parametrize("name", ["timing_", "_ipython_display", "plot"])
def test_a_name_that_is_near_to_none_gets_no_suggestion(name: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
        getattr(jaxmagic, name)


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
