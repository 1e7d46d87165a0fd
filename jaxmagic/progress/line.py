"""Draw the progress line in a terminal or a notebook with tqdm, and remove it afterwards."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, Protocol

from ..terminal import written_to


class Line(Protocol):
    """A line on the screen that can be redrawn and removed."""

    def draw(self, text: str, share: float | None) -> None:
        """Show `text`, and a bar filled to `share` unless it is ``None``."""

    def close(self) -> None:
        """Remove the line."""


def can_be_shown() -> bool:
    """Return whether this is a notebook or stderr is a terminal, and tqdm's ``TQDM_DISABLE`` is not set."""
    if os.environ.get("TQDM_DISABLE", "0") not in ("", "0"):
        return False
    try:
        return _in_kernel() or sys.stderr.isatty()
    except Exception:  # stderr is closed, None, or replaced
        return False


def load() -> None:
    """Import tqdm now; this takes 8 ms in a terminal, and 130 ms in a notebook, where it imports ipywidgets."""
    with suppress(Exception):
        _bar_class()


def open_line() -> Line:
    """Return a new line, not drawn yet.

    Raises:
        Exception: there is no tqdm, or it cannot draw here.
    """
    bar = _bar_class()
    return _NotebookLine(bar) if _is_widget(bar) else _TerminalLine(bar)


def open_plain_line() -> Line:
    """Return a new line without a bar, which needs no import in a notebook while another thread is being timed.

    Raises:
        Exception: it cannot be drawn here.
    """
    return _NotebookText() if _in_kernel() else _TerminalLine(_bar_class())


def _in_kernel() -> bool:
    shells = sys.modules.get("IPython")
    return shells is not None and hasattr(shells.get_ipython(), "kernel")


def _is_widget(bar: Any) -> bool:
    notebook = sys.modules.get("tqdm.notebook")
    return notebook is not None and issubclass(bar, notebook.tqdm_notebook)


def _bar_class() -> Any:
    """Return the tqdm class for this environment, without tqdm's monitor thread for slow bars."""
    if _in_kernel():
        from tqdm.auto import tqdm as bar
    else:
        from tqdm.std import tqdm as bar  # type: ignore[assignment]
    return type("Bar", (bar,), {"monitor_interval": 0})


class _TerminalLine:
    """The last line of a terminal."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar(total=1.0, leave=False, file=sys.stderr, dynamic_ncols=True, delay=float("inf"))

    def draw(self, text: str, share: float | None) -> None:
        bar = self._bar
        bar.n, bar.desc = share or 0.0, written_to(text, sys.stderr)
        # tqdm cuts a line to the width of the terminal only if it has a bar
        bar.bar_format = "{desc}{bar:0}" if share is None else "{bar:12} {desc}"
        with bar.get_lock():  # refresh() would not release it after Ctrl-C
            bar.display()

    def close(self) -> None:
        self._bar.delay = 0  # otherwise nothing is removed
        self._bar.close()


class _NotebookText:
    """An output of the cell with one line of text, cleared at the end."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, text: str, share: float | None) -> None:
        from IPython.display import display

        data = {"text/plain": text}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.update({"text/plain": ""}, raw=True)


class _NotebookLine:
    """An output of the cell with a widget, cleared at the end so that a saved notebook shows no closed widget."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar(total=1.0, leave=False, bar_format="{bar} {desc}", display=False)
        self._handle: Any = None

    def draw(self, text: str, share: float | None) -> None:
        from IPython.display import display

        self._bar.n, self._bar.desc = share or 0.0, text
        self._bar.display(check_delay=False)
        if self._handle is None:
            # As data, because ipywidgets 7 would display a widget without the display_id needed to update it.
            view = {"version_major": 2, "version_minor": 0, "model_id": self._bar.container.model_id}
            data = {"text/plain": text, "application/vnd.jupyter.widget-view+json": view}
            self._handle = display(data, raw=True, display_id=True)

    def close(self) -> None:
        try:
            self._bar.n = 1.0  # otherwise tqdm shows a failure, which would stay
            self._bar.close()
            for widget in (*self._bar.container.children, self._bar.container):
                for part in (widget, widget.layout, getattr(widget, "style", None)):
                    if part is not None:
                        part.close()
        finally:
            handle, self._handle = self._handle, None
            if handle is not None:
                handle.update({"text/plain": ""}, raw=True)
