"""How far something long is, told by what measures to what shows it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is told what runs and how far it is. It is never told anything while a clock runs."""

    def stage(self, text: str, total: float | None = None) -> None:
        """Say what runs from now on, and of how many steps, where that is known."""

    def advance(self, done: float, total: float | None = None) -> None:
        """Say how many steps of the stage are done, and of about how many."""


class _Silent:
    def stage(self, text: str, total: float | None = None) -> None:
        pass

    def advance(self, done: float, total: float | None = None) -> None:
        pass


#: Shows nothing.
SILENT: Progress = _Silent()
