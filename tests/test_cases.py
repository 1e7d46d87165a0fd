"""In the checks of a change a part of the cases is left out, and never all of a test or of a file."""

from __future__ import annotations

from collections.abc import Iterable

import cases
import pytest


def test_each_third_test_that_runs_a_program_stays_and_the_last_of_a_file() -> None:
    files = "tests/doctor/rules/host/test_a.py", "tests/doctor/capture/test_verify.py", "tests/doctor/rules/test_b.py"
    names = [f"{file}::test_{each}" for file in files for each in "abcdef"]
    assert _stay(names) == [*"adf"] * 3


@pytest.mark.parametrize(("there", "stay"), [("abc", "abc"), ("abcd", "ad"), ("abcdef", "adf"), ("abcdefg", "adg")])
def test_each_third_case_stays_and_the_last_where_there_are_more_than_three(there: str, stay: str) -> None:
    tests = "tests/doctor/rules/rewriting/test_a.py::test_it[{}", "tests/xla/test_a.py::TestIt::test_it[{}"
    assert _stay(test.format(each) for test in tests for each in there) == [*stay] * 2


@pytest.mark.parametrize(
    "name", ["tests/doctor/rules/rewriting/test_a.py::test_{}", "tests/test_docstrings.py::test_it[{}"]
)
def test_every_test_and_each_case_of_milliseconds_stays(name: str) -> None:
    assert _stay(name.format(each) for each in "abcdef") == [*"abcdef"]


FILE = """
MODELS = {"linen": lambda: linen()}
def linen(): return pytest.importorskip("flax.linen")
@pytest.fixture
def model(): return linen()
def test_by_its_fixture(model): pass
@pytest.mark.parametrize("make", MODELS.values())
def test_by_a_table(make): pass
class TestIt:
    def test_itself(self): pytest.importorskip("optax")
    def test_another(self): other(self)
def other(self): pass
"""


def test_tests_that_need_a_library_are_known_by_what_they_use() -> None:
    assert cases.needing_libraries(FILE) == {"test_by_its_fixture", "test_by_a_table", "test_itself"}
    assert "test_another" in cases.needing_libraries(f'nn = pytest.importorskip("flax.linen"){FILE}')


def _stay(names: Iterable[str]) -> list[str]:
    """The last letters of the names that are not left out."""
    every = [*names]
    return [name[-1] for name in every if name not in cases.left_out(every)]
