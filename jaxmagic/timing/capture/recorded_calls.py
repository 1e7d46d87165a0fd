"""Calls a function under a recorder that runs it several times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol


class RepeatingRecorder(Protocol):
    """What a recorder of several runs does; see ``magics.recorder.RepeatedRecorder``."""

    result: Any

    def start(self) -> None:
        """Begin to measure."""

    def runs(self) -> Iterator[None]:
        """Yield once before each run."""

    def returned(self, value: Any = None) -> int:
        """Note that the code has returned."""

    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> object:
        """Wait for the work, and make the record."""

    def cancel(self) -> None:
        """End without a record; does nothing after the end."""


def record_calls(recorder: RepeatingRecorder, call: Callable[[], Any], code: str) -> None:
    """Call a function in each run, and let the recorder make its record, also of calls that fail.

    Args:
        recorder: which has not started.
        call: the function with its arguments.
        code: how the record names it.
    """
    __tracebackhide__ = True
    recorder.start()
    error: BaseException | None = None
    try:
        for _ in recorder.runs():
            recorder.result = call()
            recorder.returned(recorder.result)
    except BaseException as raised:
        error = raised
        raise
    finally:
        try:
            recorder.stop(error=error, code=code)
        finally:
            recorder.cancel()  # in case an interrupt came in one of our own lines
            del error  # its traceback would keep this frame, and so the arguments, alive
