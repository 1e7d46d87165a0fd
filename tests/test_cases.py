"""On other versions, cases of one claim and tests of rules are left out, and never all of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cases
import pytest


@pytest.mark.parametrize(("count", "kept"), [(1, "a"), (2, "ab"), (4, "ad")])
def test_the_first_and_the_last_case_stay(count: int, kept: str) -> None:
    names = [f"tests/xla/test_a.py::test_it[{case}]" for case in "abcd"[:count]]
    names += ["tests/xla/test_a.py::test_plain", "tests/xla/test_b.py::test_it[c]"]
    out = cases.left_out(dict.fromkeys(names, False))
    assert [name for name in names if name not in out] == [
        *(f"tests/xla/test_a.py::test_it[{case}]" for case in kept),
        *names[count:],
    ]


@pytest.mark.parametrize("file", ["tests/runtime/test_private_api.py", "tests/doctor/rules/rewriting/test_steps.py"])
def test_each_of_other_tests_stays(file: str) -> None:
    assert cases.left_out({f"{file}::test_{each}": False for each in "abcd"}) == set()


def test_each_case_of_other_tests_stays() -> None:
    assert cases.left_out({f"tests/runtime/test_private_api.py::test_it[{case}]": False for case in "abcd"}) == set()


def test_the_first_and_the_last_test_of_a_rule_stay() -> None:
    first, between, last = (f"tests/doctor/rules/host/test_a.py::test_{each}" for each in ("a", "b", "c"))
    names = [first, f"{between}[1]", f"{between}[2]", *(f"{last}[{case}]" for case in range(3))]
    out = cases.left_out(dict.fromkeys(names, False))
    assert [name for name in names if name not in out] == [first, f"{last}[0]", f"{last}[2]"]
    assert cases.left_out({first: False}) == set()


def test_each_third_error_stays() -> None:
    names = [f"tests/doctor/analysis/failures/test_a.py::test_it[{case}]" for case in "abcdefgh"]
    assert [name[-2] for name in names if name not in cases.left_out(dict.fromkeys(names, False))] == [
        "a",
        "d",
        "g",
        "h",
    ]


def test_each_third_test_that_runs_a_program_stays_on_the_first_version() -> None:
    files = "tests/doctor/rules/host/test_a.py", "tests/doctor/capture/test_verify.py", "tests/doctor/rules/test_b.py"
    names = [f"{file}::test_{each}" for file in files for each in "abcdef"]
    others = ["tests/doctor/rules/rewriting/test_steps.py::test_b", "tests/doctor/capture/test_frames.py::test_b"]
    out = cases.not_examined([*names, *others])
    assert [name[-1] for name in names if name not in out] == [*"adf"] * 3
    assert not out & {*others}


@pytest.mark.parametrize("file", ["tests/doctor/rules/test_a.py", "tests/profiling/test_planted_lines.py"])
def test_what_takes_a_library_stays(file: str) -> None:
    names = [f"{file}::test_it[{case}]" for case in "abcd"]
    assert cases.left_out({name: name.endswith("c]") for name in names}) == {names[1]}


def _plain() -> None:
    """Take no library."""


def _with_one() -> None:
    pytest.importorskip("optax")


@pytest.mark.parametrize(
    ("function", "params", "takes"),
    [
        (_plain, {}, False),
        (_with_one, {}, True),
        (_plain, {"program": SimpleNamespace(needs=("optax",))}, True),
        (_plain, {"program": SimpleNamespace(needs=())}, False),
        (_plain, {"program": "x = 1"}, False),
    ],
)
def test_a_test_takes_a_library_if_it_asks_for_one_or_its_program_does(
    function: Any, params: dict[str, Any], takes: bool
) -> None:
    assert cases.takes_a_library(SimpleNamespace(function=function, callspec=SimpleNamespace(params=params))) is takes
    assert cases.takes_a_library(SimpleNamespace(function=function)) is (function is _with_one)
