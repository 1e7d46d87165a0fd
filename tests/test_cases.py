"""In the checks of a change, tests that run a program many times are left out, and never all of a file."""

from __future__ import annotations

import cases


def test_each_third_test_that_runs_a_program_stays_and_the_last_of_a_file() -> None:
    files = "tests/doctor/rules/host/test_a.py", "tests/doctor/capture/test_verify.py", "tests/doctor/rules/test_b.py"
    names = [f"{file}::test_{each}" for file in files for each in "abcdef"]
    out = cases.not_examined(names)
    assert [name[-1] for name in names if name not in out] == [*"adf"] * 3


def test_each_of_other_tests_stays() -> None:
    files = "tests/doctor/rules/rewriting/test_steps.py", "tests/doctor/capture/test_frames.py", "tests/xla/test_a.py"
    assert cases.not_examined(f"{file}::test_{each}" for file in files for each in "abcd") == set()
