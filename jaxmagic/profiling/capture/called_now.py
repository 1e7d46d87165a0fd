"""Tells what of a call stack belongs to the code that is measured now."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from types import FrameType, FunctionType
from typing import Any

from ...records.call_stack import Frame
from ...records.cell_names import known_as
from ...runtime.around import is_a, member


def is_called_by(code: str | None, frame: Frame) -> bool:
    """Return whether some code has the name of a frame's function, which is still defined as it was.

    Args:
        code: the code; ``None`` if it is not known.
        frame: a call that was made earlier.
    """
    name = frame.function.rpartition(".")[2]
    called = re.findall(r"\w+", re.sub(r"[\w.]+\.<locals>\.", "", code or ""))
    if not name.isidentifier() or name not in called:
        return False
    return frame.cell is None or _defined_in(frame.function) == frame.file


def running_cells() -> frozenset[str]:
    """Return the files of the cells that this code is called from."""
    files = set()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        files.add(frame.f_code.co_filename)
        frame = frame.f_back
    return frozenset(each for each in files if known_as(each) != each)


def compiled_now(compiled: Iterable[str], recorded: Iterable[str]) -> set[str]:
    """Return the functions of which no program is older than the code that is measured.

    Args:
        compiled: the function of each program that was compiled now.
        recorded: the name of each program that ran, as XLA has it.

    >>> compiled_now(["dot", "<lambda>", "dot"], ["jit__lambda_", "jit__lambda_", "jit_dot"])
    {'dot'}
    """
    names = list(compiled)
    counts, ran = Counter(map(_name_in_xla, names)), Counter(recorded)
    return {each for each in names if ran[_name_in_xla(each)] <= counts[_name_in_xla(each)]}


def _name_in_xla(function: str) -> str:
    return "jit_" + re.sub(r"[^\w.-]", "_", function)


def _defined_in(function: str) -> str | None:
    """Return the file of a function or method of the session; ``None`` if there is none of that name."""
    first, *rest = function.split(".")
    found: Any = vars(sys.modules["__main__"]).get(first)
    for name in rest:
        if name == "<locals>":
            break
        found = member(found, name) if is_a(found, type) else None
    while type(found).__name__ == "PjitFunction":
        found = found.__wrapped__
    return found.__code__.co_filename if type(found) is FunctionType else None
