"""A failed trial of jit changes the advice to jit."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.doctor.analysis.failed_trial import revised
from jaxmagic.doctor.record.finding import RuleFinding, Verified
from jaxmagic.records.note import Note, note


def after(*notes: Note, **facts: Any) -> RuleFinding:
    remedy = note("doctor.not_jitted_remedy", **{"way": "function", "function": "f"} | facts)
    finding = RuleFinding(rule="not-jitted", found=note("text"), remedy=remedy, code="f = jax.jit(f)")
    return revised(finding, Verified(notes=notes))


def failed(error: str) -> Note:
    return note("doctor.cannot_be_jitted", name="f", error=f"{error}: …", source="y = g(x)", line="train.py:3")


@pytest.mark.parametrize(
    ("error", "change"),
    [
        ("TracerBoolConversionError", "jnp.where or jax.lax.cond"),
        ("TracerArrayConversionError", "A function of NumPy becomes that of jax.numpy"),
        ("ConcretizationTypeError", "as float and print do, stays outside"),
        ("TracerIntegerConversionError", "becomes a static argument"),
        ("NonConcreteBooleanIndexError", "Keep all elements"),
        ("TypeError", "into a function under jax.jit."),
    ],
)
def test_what_fails_has_to_be_changed_first(error: str, change: str) -> None:
    finding = after(failed(error))
    assert finding.code is None
    assert finding.verified is not None
    advice = str(finding.remedy)
    assert advice.startswith("f cannot be jitted as it is: tracing it fails at 'y = g(x)'. Change that first")
    assert change in advice
    assert "Compile f as one program" not in advice


def test_other_obstacles_are_still_named() -> None:
    assert "x[x > 0] fails under jit" in str(after(failed("TypeError"), mask="x[x > 0]").remedy)
    advice = str(after(failed("NonConcreteBooleanIndexError"), mask="x[x > 0]").remedy)
    assert "Keep all elements there" not in advice  # the same once more


def test_what_jit_would_freeze_becomes_an_argument() -> None:
    finding = after(note("doctor.jit_freezes", name="f"))
    assert finding.code is None
    assert "Pass it as an argument" in str(finding.remedy)


@pytest.mark.parametrize("way", ["asked", "until"])
def test_advice_that_says_so_already_stays(way: str) -> None:
    assert after(failed("TracerBoolConversionError"), way=way).remedy == note(
        "doctor.not_jitted_remedy", way=way, function="f"
    )


def test_other_trials_change_no_advice() -> None:
    for kind in ("doctor.not_tried_budget", "doctor.jit_of_constants"):
        assert after(Note(kind=kind)).code == "f = jax.jit(f)"


def test_the_jit_of_a_library_is_not_described_if_it_fails() -> None:
    facts = {"library": "equinox", "functions": "act"}
    assert "filter_jit traces" in str(note("doctor.not_jitted_remedy", way="function", function="f", **facts))
    advice = str(after(failed("TypeError"), **facts).remedy)
    assert "filter_jit" not in advice
    assert "act" not in advice.split()
