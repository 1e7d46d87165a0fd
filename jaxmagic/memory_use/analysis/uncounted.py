"""Names the memory that is in no sum of a program: its library calls allocate it while they run."""

from __future__ import annotations

import os
from collections import Counter

from ...records.inside import line_of
from ...records.note import Note, note
from ...xla.hlo import HloModule
from ...xla.library_memory import calls_that_allocate

#: Number of source lines that are named.
_MOST_LINES = 3


def uncounted(module: HloModule) -> Note | None:
    """Return a note with the library calls that may allocate memory of their own; ``None`` if there are none."""
    calls = calls_that_allocate(module)
    if not calls:
        return None
    found = (line_of(call.stack) for _, call in calls)
    lines = Counter(os.path.basename(line.location) for line in found if line is not None)
    return note(
        "memory_use.uncounted",
        calls=len(calls),
        names=", ".join(dict.fromkeys(name for name, _ in calls)),
        lines=", ".join(line for line, _ in lines.most_common(_MOST_LINES)),
    )
