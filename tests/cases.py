"""Leave out tests in the checks of a change, which stay below half an hour.

Of the tests of rules and trials, which run a program many times, each third stays, and the last of each file.
``make test`` runs all of them, and ``make suites`` does so on other versions.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable

#: Whether tests that run a program many times are left out, as the checks of a change ask for.
FEW_EXAMINED = bool(os.environ.get("JAXMAGIC_FEW_EXAMINED"))

#: Tests of rules. Those of how code is rewritten run no program.
_RULES, _REWRITING = "tests/doctor/rules/", "tests/doctor/rules/rewriting/"

#: Tests that run a program many times, of which each third stays.
_EXAMINED = (
    _RULES,
    "tests/doctor/capture/test_unrolled_remedy.py",
    "tests/doctor/capture/test_verify.py",
    "tests/doctor/test_clean.py",
)
_EACH = 3


def not_examined(tests: Iterable[str]) -> set[str]:
    """Return the names of the tests that are left out of the checks of a change.

    >>> sorted(not_examined(f"tests/doctor/rules/test_a.py::test_{each}" for each in "abcdef"))
    ['tests/doctor/rules/test_a.py::test_b', 'tests/doctor/rules/test_a.py::test_c', \
'tests/doctor/rules/test_a.py::test_e']
    """
    files = defaultdict(list)
    for name in tests:
        if name.startswith(_EXAMINED) and not name.startswith(_REWRITING):
            files[name.partition("::")[0]].append(name)
    return {name for names in files.values() for number, name in enumerate(names[:-1]) if number % _EACH}
