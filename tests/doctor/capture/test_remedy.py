"""What is read from the code that a finding recommends."""

from __future__ import annotations

import pytest

from jaxmagic.doctor.capture.remedies.remedy import calls_in_advice, constant_of
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.records.note import note

DECORATED = '@functools.partial(jax.jit, donate_argnames=("a", "b"))\ndef step(a, b):'


@pytest.mark.parametrize("code", [DECORATED, f"import functools\n\n{DECORATED}\n    return a, b"])
def test_a_function_may_be_recommended_without_its_body(code: str) -> None:
    (call,) = calls_in_advice(RuleFinding(rule="donation", found=note("text"), code=code), "partial")
    assert constant_of(call, "donate_argnames") == ("a", "b")


@pytest.mark.parametrize("code", [None, "", "this is no code", "x = 1"])
def test_other_code_has_no_calls(code: str | None) -> None:
    assert calls_in_advice(RuleFinding(rule="donation", found=note("text"), code=code), "partial") == []
