"""What is run again when it fails: tests that meet the real clock, threads or a browser, twice at most.

The scheduler of a busy machine decides there as well. All other tests fail at once. Whatever was run again is listed
at the end, so that it can be mended.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest

#: How often.
MOST = 2

_MARKERS = "clock", "browser"

#: The fixture whose work lasts real time: who uses it needs no marker.
_FIXTURE = "work"

#: Calls that are met by the scheduler.
_CALLS = frozenset({"Thread", "sleep", "perf_counter", "perf_counter_ns", "truth_ns", "is_left_running_by"})


def rerun(items: Iterable[pytest.Item], *, can: bool) -> None:
    """Mark what is run again.

    Args:
        items: all tests.
        can: whether pytest-rerunfailures is there; without it nothing is run again.
    """
    for item in items:
        if _FIXTURE in getattr(item, "fixturenames", ()):
            item.add_marker("clock")
        if can and any(item.get_closest_marker(name) for name in _MARKERS):
            item.add_marker(pytest.mark.flaky(reruns=MOST))


def summary(stats: Mapping[str, Sequence[Any]]) -> list[str]:
    """A line for each test that was run again, those that failed in the end as well.

    >>> from types import SimpleNamespace
    >>> summary({"rerun": [SimpleNamespace(nodeid="test_a.py::test_b")] * 2})
    ['test_a.py::test_b: run again 2 times']
    """
    again = Counter(each.nodeid for each in stats.get("rerun", ()))
    return [f"{name}: run again {times} time{'s' * (times > 1)}" for name, times in sorted(again.items())]


def unmarked(source: str) -> Iterator[str]:
    r"""The tests of a module that meet the clock or threads, and have no marker.

    >>> list(unmarked("def test_a():\n    time.sleep(1)\ndef test_b(work):\n    work.truth_ns()"))
    ['test_a']
    """
    tree = ast.parse(source)
    whole = [
        each for each in tree.body if isinstance(each, ast.Assign) and "pytestmark" in ast.unparse(each.targets[0])
    ]
    if any("clock" in ast.unparse(each.value) for each in whole):
        return
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        marked = any("mark.clock" in ast.unparse(each) for each in node.decorator_list)
        if not marked and all(each.arg != _FIXTURE for each in node.args.args) and _meets(node):
            yield node.name


def _meets(node: ast.AST) -> bool:
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(getattr(each, "attr", getattr(each, "id", "")) in _CALLS for each in calls)
