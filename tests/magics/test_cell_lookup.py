"""Code of a cell is located by the cell, and not by the file name that Jupyter or IPython gives it."""

from __future__ import annotations

import linecache
import re
from types import SimpleNamespace
from typing import Any

import pytest

import jaxmagic
from jaxmagic.magics.cell_lookup import Cells
from jaxmagic.records import cell_names as sources
from jaxmagic.records.cell_names import known_as

LONG = "w = jnp.arange(10_000.0).reshape(100, 100)\ng = jax.jit(lambda x:\n    x @ w)"


@pytest.fixture(autouse=True)
def no_other_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove namings of other tests that have not been garbage-collected yet."""
    monkeypatch.setattr(sources, "_namings", [])


def file_of(session: Any, name: str) -> str:
    return str(session.shell.user_ns[name].__code__.co_filename)


def number(session: Any) -> int:
    """Return the number of the cell that ran last."""
    return int(session.shell.execution_count) - 1


@pytest.fixture
def hashed(session: Any, monkeypatch: Any) -> Any:
    """The session with the names of ipykernel: the same for the same code."""

    def name(raw_code: str, code: str, number: int) -> str:
        return f"/tmp/ipykernel_321/{abs(hash(raw_code))}.py"

    monkeypatch.setattr(session.shell.compile, "get_code_name", name)
    return session


def test_a_function_of_a_cell_is_in_that_cell(session: Any) -> None:
    session.run("def inside(): ...")
    session.run("1 + 1")
    assert known_as(file_of(session, "inside")) == f"cell {number(session) - 1}"


def test_the_names_of_a_kernel_are_cells_too(hashed: Any) -> None:
    hashed.run("def inside(): ...")
    cell, file = number(hashed), file_of(hashed, "inside")
    hashed.run("1 + 1")
    assert re.search(r"ipykernel_321", file)
    assert known_as(file) == f"cell {cell}"


def test_a_cell_that_ran_again_has_its_last_number(hashed: Any) -> None:
    hashed.run("def inside(): ...")
    hashed.run("1 + 1")
    hashed.run("def inside(): ...")
    assert known_as(file_of(hashed, "inside")) == f"cell {number(hashed)}"


def test_an_ipython_that_does_not_tell_is_searched_for_the_code(hashed: Any, monkeypatch: Any) -> None:
    hashed.run("def inside(): ...\n\n\n")
    cell = number(hashed)
    hashed.run("1 + 1")
    monkeypatch.setattr(hashed.shell.compile, "format_code_name", lambda _: None, raising=False)
    assert known_as(file_of(hashed, "inside")) == f"cell {cell}"


@pytest.mark.parametrize("line", ["%jaxmem m = g(x8)", "%%jaxmem\nm = g(x8)"])
def test_a_report_says_the_cell(session: Any, line: str) -> None:
    session.run("x8 = jnp.ones((8, 100))")
    session.run(LONG)
    cell = number(session)
    session.run(line)
    profile = jaxmagic.last()
    known = {each.source for allocation in profile.executables[0].allocations for each in allocation.buffers}
    assert f"cell {cell}:3" in known
    assert profile.timing.compilations[0].location == f"cell {cell}:2"
    assert "ipython-input" not in session.report
    assert f"cell {cell}:3" in " ".join(session.report.split())


NEW = "jax.jit(lambda x: x * 37)(x)"


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (f"before = 1\n\n%jaxtimeit -q -n 1 -r 2 {NEW}", 3),
        (f"%%jaxtimeit -q -n 1 -r 2\n\nbefore = 1\n{NEW}", 4),
        (f"%%jaxtimeit -q -n 1 -r 2 y = {NEW}\ny", 1),
        (f"a = 1\n%jaxtimeit -q -n 1 -r 2 --each 'y = {NEW}' a", 2),
        (f"%%jaxcompare -q -r 2\nc = 1\na: c\nb: {NEW}", 4),
        (f"get_ipython().run_cell_magic('jaxtime', '-q', {NEW!r})", None),
        (f"%jaxtimeit -q -n 1 -r 2 {NEW}\n%jaxtimeit -q -n 1 -r 2 {NEW}", None),
    ],
)
def test_the_code_of_a_magic_is_at_its_line_of_the_cell_if_that_is_known(
    session: Any, code: str, line: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[str] = []
    compiled = session.shell.compile.cache

    def cache(text: str, *args: Any, **kwargs: Any) -> str:
        file = str(compiled(text, *args, **kwargs))
        files.append(file)
        return file

    monkeypatch.setattr(session.shell.compile, "cache", cache)
    session.run(code)
    cell = number(session)
    places = {
        f"{known_as(file)}:{at}"
        for file in files[1:]
        for at, text in enumerate(linecache.getlines(file), 1)
        if NEW in text
    }
    named = {place for place in places if place.startswith("cell ")}
    assert named == (set() if line is None else {f"cell {cell}:{line}"})


def test_code_that_is_not_stored_is_in_no_cell(session: Any) -> None:
    session.shell.run_cell("def hidden(): ...", store_history=False)  # under the number of the next cell
    session.run("def inside(): ...")
    assert "cell" not in known_as(file_of(session, "hidden"))


@pytest.mark.parametrize(
    "file", ["/home/me/train.py", "<stdin>", "", "<ipython-input-1-abc>", "<ipython-input-99-abc>", "In[1]"]
)
def test_other_files_are_no_cells(session: Any, file: str) -> None:
    assert known_as(file) == file


def test_a_file_of_the_same_text_is_no_cell(session: Any, tmp_path: Any) -> None:
    path = tmp_path / "same.py"
    path.write_text("def inside(): ...\n")
    session.run("def inside(): ...")
    assert linecache.getlines(str(path))
    assert known_as(str(path)) == str(path)


def test_where_all_cells_have_the_same_name_none_is_said(session: Any, monkeypatch: Any) -> None:
    session.run("def inside(): ...")
    monkeypatch.setenv("IPYKERNEL_CELL_NAME", "one")
    assert "cell" not in known_as(file_of(session, "inside"))


def test_of_a_shell_that_is_another_one_inside_nothing_is_known(session: Any) -> None:
    session.run("def inside(): ...")
    file = file_of(session, "inside")
    assert Cells(session.shell)(file) is not None
    without: Any = SimpleNamespace(compile=session.shell.compile)
    assert Cells(without)(file) is None


def test_the_text_of_a_cell_is_what_was_typed(session: Any) -> None:
    session.run("%%jaxtime -q\ndef inside():\n    return 1")
    assert sources.text_of(file_of(session, "inside")) == ["%%jaxtime -q", "def inside():", "    return 1"]


def test_the_text_of_a_file_is_what_python_knows(tmp_path: Any) -> None:
    file = tmp_path / "code.py"
    file.write_text("a = 1\nb = 2\n")
    assert sources.text_of(str(file)) == ["a = 1", "b = 2"]
    assert sources.text_of(str(tmp_path / "none.py")) == []
