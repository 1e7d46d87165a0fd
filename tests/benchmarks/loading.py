"""What loading the extension costs and imports, each time in a fresh interpreter, beside other profilers'."""

from __future__ import annotations

import importlib.util
import random
from typing import Any

from child import ask_program

OTHERS = ("line_profiler", "pyinstrument", "memray", "scalene")
HEAVY = ("jax", "matplotlib", "pandas", "ipywidgets", "scipy.stats")

_LOAD = """
import json, time
import jax, jax.numpy
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
start = time.perf_counter_ns()
shell.run_line_magic("load_ext", {name!r})
print(json.dumps(time.perf_counter_ns() - start))
"""

_IMPORTED = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = set(sys.modules)
{statement}
print("\\n" + json.dumps([name for name in {heavy!r} if name in set(sys.modules) - before]))
"""

_STATEMENTS = {
    "import jaxmagic": "import jaxmagic",
    "%load_ext jaxmagic": "shell.run_line_magic('load_ext', 'jaxmagic')",
}


def load_times(rounds: int) -> dict[str, list[int]]:
    """Nanoseconds of ``%load_ext`` with JAX imported, for us and for what is installed of the others."""
    names = ["jaxmagic", *(name for name in OTHERS if importlib.util.find_spec(name))]
    times: dict[str, list[int]] = {name: [] for name in names}
    chance = random.Random(0)
    for index in range(rounds + 1):
        for name in chance.sample(names, len(names)):
            took = ask_program(_LOAD.format(name=name))
            if index:  # the first time, Python compiles the modules
                times[name].append(took)
    return times


def heavy_imports() -> dict[str, Any]:
    """Which heavy modules come with us."""
    return {
        what: ask_program(_IMPORTED.format(statement=statement, heavy=HEAVY))
        for what, statement in _STATEMENTS.items()
    }
