"""Leave out cases of parametrised tests where the tests run once more, on another version of JAX or Python.

There the first and the last case of a claim show whether the version changes it. ``make test`` runs all cases, and
``make suites`` does so on other versions.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable

#: Whether cases are left out, as the version matrix asks for.
FEW = bool(os.environ.get("JAXMAGIC_FEW_CASES"))

#: Tests whose cases are programs, cells or records for one claim. Elsewhere a case may be a name or a message of JAX.
_ONE_CLAIM = tuple(
    f"tests/{each}/"
    for each in (
        "benchmarking", "comparison", "doctor/rules", "drawing", "magics", "memory_use", "profiling", "report", "xla",
    )
)  # fmt: skip

#: Programs with a planted slow line, of which those with a library run nowhere else.
_PLANTED = "tests/profiling/test_planted_lines.py"


def left_out(names: Iterable[str]) -> set[str]:
    """Return the cases that are left out: of each test, all between the first and the last.

    >>> sorted(left_out(f"tests/xla/test_a.py::test_it[{case}]" for case in "abcd"))
    ['tests/xla/test_a.py::test_it[b]', 'tests/xla/test_a.py::test_it[c]']
    >>> left_out(f"tests/runtime/test_a.py::test_it[{case}]" for case in "abcd")
    set()
    """
    cases = defaultdict(list)
    for name in names:
        if name.startswith(_ONE_CLAIM) and not name.startswith(_PLANTED):
            cases[name.partition("[")[0]].append(name)
    return {case for each in cases.values() for case in each[1:-1]}
