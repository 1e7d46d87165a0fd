"""The line of the user's code that is running."""

from __future__ import annotations

from types import FrameType

from ...records.call_stack import is_users_file

#: How many frames are searched.
_DEEPEST = 400


def running_line(frame: FrameType | None) -> str | None:
    """Return ``file:line`` of the innermost call in the user's code, from `frame` outwards, if there is one."""
    for _ in range(_DEEPEST):
        if frame is None:
            return None
        if is_users_file(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return None
