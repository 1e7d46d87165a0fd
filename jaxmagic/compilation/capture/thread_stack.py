"""The stack of another thread that goes on running meanwhile."""

from __future__ import annotations

import gc
import sys
from types import FrameType

#: Python 3.11 collects garbage whenever an object is made, also a frame that is asked for. A callback of the
#: collector then lets the other thread run on and leave that frame, which is from then on read where another lies.
_COLLECTS_WHILE_READ = sys.version_info < (3, 12)


def stack_of(thread: int, deepest: int) -> list[FrameType]:
    """Return the frames of a thread, innermost first and at most `deepest`; empty if it has ended.

    The thread runs on: its frames are read at once, before anything else is done with them.
    """
    paused = _COLLECTS_WHILE_READ and gc.isenabled()
    if paused:
        gc.disable()
    try:
        found: list[FrameType] = []
        frame = sys._current_frames().get(thread)
        while frame is not None and len(found) < deepest:
            found.append(frame)
            frame = frame.f_back
        return found
    finally:
        if paused:
            gc.enable()
