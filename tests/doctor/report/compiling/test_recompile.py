"""What is said of a function that compiles again."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.records.note import note

ONLY_ONCE = "If this runs only once, it is its first compilation."


def sentence(**facts: Any) -> str:
    usual = {"function": "step", "cause": "new function", "programs": 1, "every_run": 1, "reason": ""}
    return str(note("doctor.recompile", **usual | facts))


def test_one_new_function_in_a_run_may_be_the_first_compilation() -> None:
    assert sentence().endswith(ONLY_ONCE)
    assert sentence().startswith("step compiles once in every run because it is a new function object each time.")


def test_the_array_of_a_learning_rate_gets_a_dtype() -> None:
    """Optax keeps an array with a dtype there: one without is weakly typed, and the function compiles once more."""
    told = note(
        "doctor.recompile_objects",
        function="",
        names="",
        objects="optimizer",
        vary=1,
        optimizer="optax.adam",
        optimizers=1,
    )
    assert 'set hyperparams["learning_rate"] of its state to jnp.asarray(rate, jnp.float32), or with' in str(told)


@pytest.mark.parametrize("facts", [{"programs": 3}, {"every_run": 0}, {"cause": "shape"}])
def test_what_compiles_for_another_reason_is_no_first_compilation(facts: dict[str, Any]) -> None:
    assert ONLY_ONCE not in sentence(**facts)


@pytest.mark.parametrize(
    ("names", "static", "end"),
    [
        ("f", "f: function", 'f is a function, so declare it static: static_argnames="f". Pass the same function'),
        ("f, mode", "mode: string", 'static_argnames="mode". Declare f static if it is not an array.'),
        ("a, b, mode", "mode: string", "Of a, b, declare those static that are not arrays."),
        ("mode, np", "mode: string, np: module", 'so declare them static: static_argnames=("mode", "np").'),
    ],
)
def test_what_jit_cannot_trace_is_to_be_declared_static(names: str, static: str, end: str) -> None:
    told = str(note("doctor.recompile_each", names=names, static=static))
    assert end in told
    objects = {"function": "g", "objects": "tx", "vary": 0, "optimizer": "", "optimizers": 0}
    also = str(note("doctor.recompile_objects", names=names, static=static, **objects))
    assert "static_argnames=" in also


@pytest.mark.parametrize(
    ("names", "words", "more"),
    [
        ("tx", "Make tx once, outside, and define and jit the function once, after that. For several learning", ""),
        ("tx, n", "Make tx once, outside", " Pass n as an argument. Declare it static if it is not an array."),
    ],
)
def test_an_optimizer_is_no_argument(names: str, words: str, more: str) -> None:
    told = str(note("doctor.recompile_each", names=names, optimizers="tx", optimizer="optax.adamw"))
    assert told.startswith(words)
    assert "optax.inject_hyperparams(optax.adamw)(learning_rate=0.0)" in told
    assert told.endswith(more)
    assert ("Pass" in told) == bool(more)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("n", "pass n as an argument. Declare it static if a shape or a Python if depends on it."),
        ("n, m", "pass n, m as arguments. Declare those static that a shape or a Python if depends on."),
    ],
)
def test_what_is_passed_is_static_only_where_python_needs_its_value(names: str, sentence: str) -> None:
    assert str(note("doctor.recompile_pass", names=names)) == f"Define and jit it once, outside, and {sentence}"
