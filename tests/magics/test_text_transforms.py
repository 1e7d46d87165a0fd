"""The two text transformations of a cell, before and after IPython's own."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shells import Session

from jaxmagic.magics import options
from jaxmagic.magics.declare import declared
from jaxmagic.magics.text_transforms import cell_to_marker, line_in_sight

PARSERS = {"jaxtime": declared("jaxtime").parser}
CALLED = {name: declared(name).parser for name in ("jaxtimeit", "jaxcompare")}


def cell(text: str) -> str:
    return "".join(cell_to_marker(text.splitlines(keepends=True), PARSERS))


def test_a_cell_keeps_its_height() -> None:
    text = "%%jaxtime -q\n\na = 1\n"
    assert cell(text) == "get_ipython().run_cell_magic('jaxtime', '-q', ...)\n\na = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1\n",
        "%%time\n1\n",
        "%%jaxtime?\n",
        "%%jaxtimes\n1\n",
        "%%jaxtime\n\n",
        "%%jaxtime f(x)\n1\n",
        "%%jaxtime --no\n1\n",
    ],
)
def test_what_is_not_ours_or_is_wrong_is_left_to_ipython(text: str) -> None:
    assert cell(text) == text


def test_a_cell_magic_below_ours_is_one_too() -> None:
    assert "run_cell_magic('capture', 'out'" in cell("%%jaxtime\n%%capture out\nprint(1)\n")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=4))
def test_no_cell_is_changed_that_is_not_ours(lines: list[str]) -> None:
    lines = [line.replace("%%jaxtime", "") + "\n" for line in lines]
    assert cell_to_marker(list(lines), PARSERS) == lines


def line(text: str) -> str:
    return "".join(line_in_sight(text.splitlines(keepends=True), {**PARSERS, **CALLED}, PARSERS))


def test_ipython_sees_an_await_in_front_of_a_line_with_one() -> None:
    call = "a, b = get_ipython().run_line_magic('jaxtime', '-q await g()')\n"
    assert line(f"if 1:\n    {call}") == f"if 1:\n    assert True, await ...; {call}"


@pytest.mark.parametrize("character", ["\x0c", "\x1c", "\x85", "\u2028"])
def test_what_only_some_take_for_the_end_of_a_line_is_text(character: str) -> None:
    first = f"text = 'a{character}b'\n"
    lines = [first, "z = get_ipython().run_line_magic('jaxtime', 'await g()')\n"]
    assert line_in_sight(lines, {**PARSERS, **CALLED}, PARSERS)[:2] == [first, f"assert True, await ...; {lines[1]}"]


@pytest.mark.parametrize(
    "statement", ["awaited(x)", "f(x)", "async def g(): await h()", "return await g()", "!await x"]
)
def test_a_line_without_await_stays_ipythons_call(statement: str) -> None:
    text = f"get_ipython().run_line_magic('jaxtime', {statement!r})\n"
    assert line(text) == text


def test_a_broken_statement_stands_alone() -> None:
    assert line("get_ipython().run_line_magic('jaxtime', '-q f(')\n") == "f(\n"
    assert line("get_ipython().run_line_magic('jaxtimeit', '-r 5 f(')\n") == "f(\n"


@pytest.mark.parametrize(("magic", "statement"), [("jaxtimeit", "await f()"), ("jaxcompare", "f(")])
def test_what_a_called_magic_refuses_in_its_own_words_stays_a_call(magic: str, statement: str) -> None:
    text = f"get_ipython().run_line_magic({magic!r}, {statement!r})\n"
    assert line(text) == text


@pytest.mark.parametrize(
    "first", ["%%jaxtime", "%%jaxtime -q", "%%jaxcompare", "%%jaxcompare --sweep n=1,2", "%%jaxdoctor"]
)
def test_a_terminal_asks_for_the_lines_below_a_cell_magic(session: Session, first: str) -> None:
    """As for IPython's own, up to an empty line."""
    complete = session.shell.input_transformer_manager.check_complete
    assert complete(first)[0] == complete("%%time")[0] == "incomplete"
    assert complete(f"{first}\nx = 1")[0] == "incomplete"
    assert complete(f"{first}\nx = 1\n\n")[0] == complete("%%time\nx = 1\n\n")[0] == "complete"


@pytest.mark.parametrize("cell", ["%jaxtime -q late = 1", "%%jaxtime -q\nlate = 1"])
def test_ctrl_c_while_a_magic_is_imported_is_delivered_by_the_cell(
    session: Session, monkeypatch: pytest.MonkeyPatch, cell: str
) -> None:
    """IPython handles ``KeyboardInterrupt`` while a cell runs, and not while it transforms the text of one."""
    reached = []
    read = options.read

    def importing(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        reached.append(given)
        return read(*given)

    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(options, "read", importing)
    session.run(cell, fails=KeyboardInterrupt)
    monkeypatch.undo()
    assert reached
    assert "late" not in session.shell.user_ns
    assert signal.getsignal(signal.SIGINT) is handler
    session.run(cell)
    assert session.shell.user_ns["late"] == 1
