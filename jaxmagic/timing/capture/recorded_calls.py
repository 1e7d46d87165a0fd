"""Calls a function under a recorder that runs it several times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # it imports IPython, which functions for scripts do not need
    from ...magics.recorder import RepeatedRecorder


def record_calls(recorder: RepeatedRecorder, call: Callable[[], Any], code: str) -> None:
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
