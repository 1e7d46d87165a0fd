"""A real IPython shell without a terminal, in which cells run as a user would run them."""

from __future__ import annotations

import contextlib
import io
import random
import re
from collections.abc import Sequence
from time import perf_counter_ns as clock
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9}


class Shell:
    """Runs cells, and reads what ``%time`` printed."""

    def __init__(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        self.ip: Any = InteractiveShell.instance(config=config)

    def run(self, cell: str) -> str:
        """Run a cell; what it printed and displayed."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            result = self.ip.run_cell(cell, store_history=False)
        result.raise_error()
        return output.getvalue()

    def take_turns(self, cells: Sequence[str], rounds: int, warm_up: int) -> dict[str, list[int]]:
        """Run cells in a new order each round; return their durations in nanoseconds, without those to warm up."""
        chance = random.Random(0)
        durations: dict[str, list[int]] = {cell: [] for cell in cells}
        for index in range(rounds + warm_up):
            for cell in chance.sample(cells, len(cells)):
                start = clock()
                self.run(cell)
                if index >= warm_up:
                    durations[cell].append(clock() - start)
                self.forget()
        return durations

    def forget(self) -> None:
        """Let go of displayed values: every sample begins with the same arrays alive."""
        namespace = self.ip.user_ns
        namespace["_oh"].clear()
        for name in ("_", "__", "___", "y"):
            namespace[name] = None


def printed_wall_ns(output: str) -> float:
    """The wall time in the output of ``%time``."""
    found = re.search(r"Wall time: ([\d.e+]+) (\S+)", output)
    if found is None:
        raise ValueError(f"%time prints 'Wall time: …'; found {output!r}")
    return float(found[1]) * _UNITS[found[2]]
