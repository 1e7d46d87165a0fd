"""Leave out tests and cases in the checks of a change, which stay below half an hour.

Where the tests run once more, on another version of JAX or Python, the first and the last case of a claim show
whether the version changes it. Each third error stays, and of the rules of diagnoses, whose tests run a program many
times, the first and the last test of each. Of the latter, each third stays on the first version. ``make test`` runs
all of them, and ``make suites`` does so on other versions.
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

#: Whether tests that run a program many times are left out, as the checks of a change ask for.
FEW_EXAMINED = bool(os.environ.get("JAXMAGIC_FEW_EXAMINED"))

#: Tests of which each third case stays: errors, most of whose messages are those of JAX.
_ERRORS = "tests/doctor/analysis/failures/", "tests/doctor/capture/failures/"
_EACH = 3

#: Tests of rules. Those of how code is rewritten run no program, and depend on Python.
_RULES, _REWRITING = "tests/doctor/rules/", "tests/doctor/rules/rewriting/"

#: Tests that run a program many times.
_EXAMINED = _RULES, "tests/doctor/capture/test_verify.py", "tests/doctor/capture/test_unrolled_remedy.py"


def left_out(tests: Mapping[str, bool]) -> set[str]:
    """Return the names of the tests that are left out on another version, by name and whether each takes a library.

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
    errors = [name for name in tests if name.startswith(_ERRORS)]
    out.update(*(_between(of_test) for of_test in _by(_test, errors).values()))
    return {name for name in out if not tests[name]}


def not_examined(tests: Iterable[str]) -> set[str]:
    """Return the names of the tests that are left out of the checks on the first version: of rules, and of trials.

    >>> sorted(not_examined(f"tests/doctor/rules/test_a.py::test_{each}" for each in "abcdef"))
    ['tests/doctor/rules/test_a.py::test_b', 'tests/doctor/rules/test_a.py::test_c', \
'tests/doctor/rules/test_a.py::test_e']
    """
    examined = [name for name in tests if name.startswith(_EXAMINED) and not name.startswith(_REWRITING)]
    return set[str]().union(*(_between(of_file) for of_file in _by(_file, examined).values()))


def _between(names: list[str]) -> set[str]:
    """Return names without each third of them and the last one."""
    return {name for number, name in enumerate(names[:-1]) if number % _EACH}


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
