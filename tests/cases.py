"""Leave out cases in the checks of a change, which stay below half an hour, or tests that need no library.

Of a test with more than three cases, each third stays, and the last. So do each third test of a file whose tests run
a program many times, and its last. ``make test`` runs all of them, and ``make suites`` does so on other versions.
"""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

#: Whether the checks of a change run, for which a part of the cases is enough.
FEW = bool(os.environ.get("JAXMAGIC_FEW_CASES"))

#: Whether only those tests run that need a library which the tests' own environment lacks.
LIBRARIES = bool(os.environ.get("JAXMAGIC_LIBRARIES"))

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


@cache
def tests_with_libraries(path: Path) -> frozenset[str]:
    """Return the names of the tests in a file that need a library."""
    return frozenset(needing_libraries(path.read_text()))


def needing_libraries(text: str) -> set[str]:
    r"""Return the names of the tests that call ``importorskip``, also by a fixture, function or table of the file.

    >>> needing_libraries("def nn(): return importorskip('flax.linen')\ndef test_a(): nn()\ndef test_b(): pass")
    {'test_a'}
    """
    tree = ast.parse(text)
    named = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    tables = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    parts = [*named.items(), *((name, node) for node in tables for name in _mentioned(node))]
    needing = {name for name, node in parts if "importorskip" in _mentioned(node)}
    while more := {name for name, node in parts if name not in needing and needing & _mentioned(node)}:
        needing |= more
    everything = any("importorskip" in _mentioned(node) for node in tables)
    return {name for name in named if name.startswith("test") and (everything or name in needing)}


def _mentioned(node: ast.AST) -> set[str]:
    """Return the names, parameters and attributes in some syntax."""
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    found |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return found | {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}


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
