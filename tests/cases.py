"""Leave out tests and cases where the tests run once more, on another version of JAX or Python.

There the first and the last case of a claim show whether the version changes it, and of the rules of diagnoses, whose
tests run a program many times, the first and the last test of each. ``make test`` runs all of them, and
``make suites`` does so on other versions.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

#: Whether cases are left out, as the version matrix asks for.
FEW = bool(os.environ.get("JAXMAGIC_FEW_CASES"))

#: Tests whose cases are programs, cells or records for one claim. Elsewhere a case may be a name or a message of JAX.
_ONE_CLAIM = tuple(
    f"tests/{each}/"
    for each in (
        "benchmarking", "comparison", "doctor/rules", "drawing", "magics", "memory_use", "profiling", "report", "xla",
    )
)  # fmt: skip

#: Tests of rules. Those of how code is rewritten run no program, and depend on Python.
_RULES, _REWRITING = "tests/doctor/rules/", "tests/doctor/rules/rewriting/"


def left_out(tests: Mapping[str, bool]) -> set[str]:
    """Return the names of the tests that are left out, of tests by name and whether each takes a library.

    Those between the first and the last case of a claim are, and those between the first and the last test of a rule.
    Tests that take a library stay: they run nowhere else.

    >>> sorted(left_out({f"tests/xla/test_a.py::test_it[{case}]": False for case in "abcd"}))
    ['tests/xla/test_a.py::test_it[b]', 'tests/xla/test_a.py::test_it[c]']
    >>> left_out({f"tests/runtime/test_a.py::test_it[{case}]": False for case in "abcd"})
    set()
    >>> left_out({f"tests/doctor/rules/test_a.py::test_{each}": each == "b" for each in "abcd"})
    {'tests/doctor/rules/test_a.py::test_c'}
    """
    claims = [name for name in tests if name.startswith(_ONE_CLAIM)]
    out = {each for cases in _by(_test, claims).values() for each in cases[1:-1]}
    rules = [name for name in tests if name.startswith(_RULES) and not name.startswith(_REWRITING)]
    for of_rule in _by(_file, rules).values():
        kept = _test(of_rule[0]), _test(of_rule[-1])
        out.update(name for name in of_rule if _test(name) not in kept)
    return {name for name in out if not tests[name]}


def takes_a_library(test: Any) -> bool:
    """Return whether a collected test asks for a library, or runs a planted program that does."""
    program = test.callspec.params.get("program") if hasattr(test, "callspec") else None
    return "importorskip" in test.function.__code__.co_names or bool(getattr(program, "needs", ()))


def _test(name: str) -> str:
    return name.partition("[")[0]


def _file(name: str) -> str:
    return name.partition("::")[0]


def _by(part: Callable[[str], str], names: Iterable[str]) -> dict[str, list[str]]:
    found = defaultdict(list)
    for name in names:
        found[part(name)].append(name)
    return found
