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

#: Tests of rules. Those of how code is rewritten run no program.
_RULES, _REWRITING = "tests/doctor/rules/", "tests/doctor/rules/rewriting/"

#: Files whose tests run a program many times.
_EXAMINED = (
    _RULES,
    "tests/doctor/capture/test_unrolled_remedy.py",
    "tests/doctor/capture/test_verify.py",
    "tests/doctor/test_clean.py",
)

#: Files with many cases of some milliseconds, all of which stay.
_QUICK = "tests/test_docstrings.py", "tests/test_messages.py", "tests/records/test_note.py"

_EACH = 3


def left_out(tests: Iterable[str]) -> set[str]:
    """Return the names of the tests that are left out of the checks of a change.

    >>> sorted(left_out(f"tests/xla/test_a.py::test_it[{each}]" for each in "abcdef"))
    ['tests/xla/test_a.py::test_it[b]', 'tests/xla/test_a.py::test_it[c]', 'tests/xla/test_a.py::test_it[e]']
    """
    names = [name for name in tests if not name.startswith(_QUICK)]
    examined = [name for name in names if name.startswith(_EXAMINED) and not name.startswith(_REWRITING)]
    rest = set(names).difference(examined)
    return _between_thirds(examined, _file) | _between_thirds([name for name in names if name in rest], _test, more=3)


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
