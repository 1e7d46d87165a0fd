"""A bar that is shown while something is long, and gone afterwards."""

from __future__ import annotations

import gc
import importlib
import sys
from typing import Any

import pytest
from tqdm import tqdm

from jaxmagic.render import sweep_bar


class Eager(tqdm):  # type: ignore[type-arg,misc]
    """Draws after every step, not ten times a second."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, mininterval=0, miniters=1, **options)


def test_a_short_loop_shows_nothing(capsys: Any) -> None:
    assert list(sweep_bar.progress_bar([1, 2, 3])) == [1, 2, 3]
    assert capsys.readouterr() == ("", "")


def test_a_long_loop_shows_a_bar_and_takes_it_away(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(sweep_bar, "_DELAY_S", 1e-9)
    monkeypatch.setattr(sweep_bar, "tqdm", Eager)
    assert list(sweep_bar.progress_bar(range(5))) == list(range(5))
    written = capsys.readouterr().err
    assert "point" in written
    assert written.endswith("\r")


@pytest.fixture
def in_a_notebook(monkeypatch: Any) -> list[Any]:
    """`tqdm.auto` as it is in a kernel, and what it displays."""
    notebook = importlib.import_module("tqdm.notebook")
    shown: list[Any] = []

    class Handle:
        def update(self, data: Any, raw: bool) -> None:
            shown.append(("updated", data, raw))

    def display(what: Any, display_id: bool) -> Handle:
        shown.append(("displayed", type(what).__name__, display_id))
        return Handle()

    monkeypatch.setattr(sweep_bar, "tqdm", notebook.tqdm_notebook)
    monkeypatch.setattr("IPython.display.display", display)
    assert "tqdm.notebook" in sys.modules
    return shown


def test_in_a_notebook_the_output_is_emptied_when_it_is_through(in_a_notebook: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(sweep_bar, "_DELAY_S", -1.0)
    assert list(sweep_bar.progress_bar(range(3))) == [0, 1, 2]
    assert in_a_notebook == [("displayed", "TqdmHBox", True), ("updated", {"text/plain": ""}, True)]


def test_in_a_notebook_it_is_emptied_after_an_error_too(in_a_notebook: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(sweep_bar, "_DELAY_S", -1.0)
    with pytest.raises(KeyboardInterrupt):
        for _ in sweep_bar.progress_bar(range(3)):
            raise KeyboardInterrupt
    gc.collect()
    assert in_a_notebook[-1] == ("updated", {"text/plain": ""}, True)


def test_in_a_notebook_a_short_loop_shows_nothing(in_a_notebook: Any) -> None:
    assert list(sweep_bar.progress_bar(range(3))) == [0, 1, 2]
    assert in_a_notebook == []
