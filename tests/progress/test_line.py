"""The line on a terminal and in a notebook, drawn by the real tqdm."""

from __future__ import annotations

import io
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from settings import live_widgets

from jaxmagic.progress import line as progress_line


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def enabled(monkeypatch: Any) -> None:
    monkeypatch.delenv("TQDM_DISABLE")


@pytest.fixture
def terminal(monkeypatch: Any) -> Terminal:
    made = Terminal()
    monkeypatch.setattr(
        progress_line, "sys", SimpleNamespace(stderr=made, modules=sys.modules)
    )  # pytest has the real
    monkeypatch.setattr(progress_line, "_in_kernel", lambda: False)
    return made


@pytest.fixture
def in_a_notebook(monkeypatch: Any) -> list[Any]:
    """What is displayed in a kernel."""
    from tqdm.notebook import tqdm_notebook

    shown: list[Any] = []

    class Handle:
        def update(self, data: Any, raw: bool) -> None:
            shown.append(("updated", data, raw))

    def display(what: Any, raw: bool, display_id: bool) -> Handle:
        shown.append(("displayed", what, display_id))
        return Handle()

    monkeypatch.setattr(progress_line, "_bar_class", lambda: type("Bar", (tqdm_notebook,), {"monitor_interval": 0}))
    monkeypatch.setattr("IPython.display.display", display)
    return shown


def test_in_a_terminal_the_line_is_drawn_over_itself_and_removed(terminal: Terminal) -> None:
    line = progress_line.open_line()
    assert terminal.getvalue() == ""
    line.draw("compiling; 1 s", None)
    assert terminal.getvalue() == "\rcompiling; 1 s"
    line.draw("rounds: 30 of about 60", 0.5)
    drawn = terminal.getvalue().split("\r")[-1]
    assert drawn.endswith("rounds: 30 of about 60")
    assert len(drawn) > len("rounds: 30 of about 60") + 10
    line.close()
    assert terminal.getvalue().split("\r")[-2:] == [" " * len(drawn), ""]
    line.close()


def test_a_line_is_no_longer_than_the_terminal(terminal: Terminal) -> None:
    line = progress_line.open_line()
    line._bar.dynamic_ncols, line._bar.ncols = None, 30  # type: ignore[attr-defined]
    for share in (None, 0.5):
        line.draw("x" * 100, share)
        assert len(terminal.getvalue().split("\r")[-1]) == 30
    line.close()


def test_braces_in_a_label_are_text(terminal: Terminal) -> None:
    line = progress_line.open_line()
    line.draw("{f} {0}: compiling", 0.5)
    line.close()
    assert "{f} {0}: compiling" in terminal.getvalue()


def test_tqdm_leaves_no_thread_behind(terminal: Terminal) -> None:
    before = threading.enumerate()
    line = progress_line.open_line()
    line.draw("compiling; 1 s", None)
    line.close()
    assert threading.enumerate() == before


def test_in_a_notebook_the_output_is_emptied_and_no_widget_is_left(in_a_notebook: list[Any]) -> None:
    before = set(live_widgets())
    line = progress_line.open_line()
    line.draw("compiling; 1 s", None)
    line.draw("rounds: 30 of about 60 <b>", 0.5)
    ((_, shown, by_id),) = in_a_notebook
    bar, text = live_widgets()[shown["application/vnd.jupyter.widget-view+json"]["model_id"]].children[1:]
    said = text.value.replace("\u2007", " ")  # tqdm's way to keep spaces
    assert (bar.value, said, by_id) == (0.5, " rounds: 30 of about 60 &lt;b&gt;", True)
    line.close()
    assert in_a_notebook[1:] == [("updated", {"text/plain": ""}, True)]
    assert set(live_widgets()) == before


@pytest.mark.parametrize("stderr", [None, io.StringIO(), SimpleNamespace()])
def test_where_there_is_neither_nothing_can_be_shown(monkeypatch: Any, stderr: Any) -> None:
    monkeypatch.setattr(progress_line, "sys", SimpleNamespace(stderr=stderr))
    monkeypatch.setattr(progress_line, "_in_kernel", lambda: False)
    assert not progress_line.can_be_shown()


def test_a_terminal_or_a_kernel_can_show_it(terminal: Terminal, monkeypatch: Any) -> None:
    assert progress_line.can_be_shown()
    monkeypatch.setattr(progress_line, "sys", SimpleNamespace(stderr=None))
    monkeypatch.setattr(progress_line, "_in_kernel", lambda: True)
    assert progress_line.can_be_shown()


@pytest.mark.parametrize(("value", "shown"), [("1", False), ("true", False), ("0", True), ("", True)])
def test_tqdms_own_variable_turns_it_off(terminal: Terminal, monkeypatch: Any, value: str, shown: bool) -> None:
    monkeypatch.setenv("TQDM_DISABLE", value)
    assert progress_line.can_be_shown() is shown
