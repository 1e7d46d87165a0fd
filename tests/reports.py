"""A progress that several tests share: it notes what is reported."""

from __future__ import annotations

from types import TracebackType


class Reports:
    """Notes every report, and whether its block is open.

    Attributes:
        stages: the text, the total, whether it may tick, and whether its time is estimated.
        steps: the numbers of each stage, behind its text.
    """

    def __init__(self) -> None:
        self.stages: list[tuple[str, float | None, bool, bool]] = []
        self.steps: list[tuple[str, float, float | None]] = []
        self.open = False

    def __enter__(self) -> Reports:
        self.open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.open = False

    @property
    def texts(self) -> list[str]:
        return [text for text, *_ in self.stages]

    def stage(
        self, text: str, total: float | None = None, *, ticking: bool = True, expected_s: float | None = None
    ) -> None:
        assert self.open
        self.stages.append((text, total, ticking, expected_s is not None))

    def advance(self, done: float, total: float | None = None) -> None:
        assert self.open
        self.steps.append((self.texts[-1], done, total))
