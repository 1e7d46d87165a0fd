"""Leave out cases in the checks of a change, which stay below half an hour.

Of a test with more than three cases, each third stays, and the last. So do each third test of a file whose tests run
a program many times, and its last. ``make test`` runs all of them, and ``make suites`` does so on other versions.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable

#: Whether the checks of a change run, for which a part of the cases is enough.
FEW = bool(os.environ.get("JAXMAGIC_FEW_CASES"))

#: Files whose tests run a program many times.
_RUNNING = (
    "tests/benchmarking/test_magic.py",
    "tests/browser/test_gallery.py",
    "tests/comparison/magic/",
    "tests/doctor/capture/failures/memory/",
    "tests/doctor/capture/test_unrolled_remedy.py",
    "tests/doctor/capture/test_verify.py",
    "tests/doctor/rules/",
    "tests/doctor/test_clean.py",
    "tests/memory_use/test_magic.py",
    "tests/profiling/test_magic.py",
    "tests/timing/capture/test_stopwatch.py",
    "tests/timing/test_magic.py",
    "tests/xla/costs/test_flops.py",
)

#: Those of how the code of a user is rewritten run no program, but for one that runs what is written.
_REWRITING, _WRITTEN = "tests/doctor/rules/rewriting/", "tests/doctor/rules/rewriting/loops/test_jitted_round.py"

#: Files with many cases of some milliseconds, all of which stay.
_QUICK = "tests/test_docstrings.py", "tests/test_messages.py", "tests/records/test_note.py"

_EACH = 3


def left_out(tests: Iterable[str]) -> set[str]:
    """Return the names of the tests that are left out of the checks of a change.

    >>> sorted(left_out(f"tests/xla/test_a.py::test_it[{each}]" for each in "abcdef"))
    ['tests/xla/test_a.py::test_it[b]', 'tests/xla/test_a.py::test_it[c]', 'tests/xla/test_a.py::test_it[e]']
    """
    names = [name for name in tests if not name.startswith(_QUICK)]
    running = [name for name in names if _runs_a_program_often(name)]
    rest = set(names).difference(running)
    return _between_thirds(running, _file) | _between_thirds([name for name in names if name in rest], _test, more=3)


def _runs_a_program_often(name: str) -> bool:
    return name.startswith(_RUNNING) and (name.startswith(_WRITTEN) or not name.startswith(_REWRITING))


def _file(name: str) -> str:
    return name.partition("::")[0]


def _test(name: str) -> str:
    return name.partition("[")[0]


def _between_thirds(names: Iterable[str], group: Callable[[str], str], more: int = 0) -> set[str]:
    """The names that are neither each third one of their group nor its last, of groups of `more` than that."""
    groups = defaultdict(list)
    for name in names:
        groups[group(name)].append(name)
    return {
        name
        for members in groups.values()
        if len(members) > more
        for number, name in enumerate(members[:-1])
        if number % _EACH
    }
