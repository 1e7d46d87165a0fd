"""On other versions, cases of one claim are left out, and never all of them."""

from __future__ import annotations

import cases
import pytest


@pytest.mark.parametrize(("count", "kept"), [(1, "a"), (2, "ab"), (4, "ad")])
def test_the_first_and_the_last_case_stay(count: int, kept: str) -> None:
    names = [f"tests/xla/test_a.py::test_it[{case}]" for case in "abcd"[:count]]
    names += ["tests/xla/test_a.py::test_plain", "tests/xla/test_b.py::test_it[c]"]
    stay = [name for name in names if name not in cases.left_out(names)]
    assert stay == [f"tests/xla/test_a.py::test_it[{case}]" for case in kept] + names[count:]


def test_each_case_of_other_tests_stays() -> None:
    names = [f"tests/runtime/test_private_api.py::test_it[{case}]" for case in "abcd"]
    assert cases.left_out(names) == set()


def test_each_planted_program_stays() -> None:
    names = [f"tests/profiling/test_planted_lines.py::test_it[{case}]" for case in "abcd"]
    assert cases.left_out(names) == set()
