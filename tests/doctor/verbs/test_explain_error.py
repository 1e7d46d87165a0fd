"""``explain_error()``: its record, and what it says without an error."""

from __future__ import annotations

import sys

import jax
import pytest
from failing_cells import Cell, sentence

import jaxmagic
from jaxmagic.doctor.analysis.failures.messages import is_jax_file
from jaxmagic.doctor.capture.failures.recognize import innermost

CELL = """
    @jax.jit
    def f(x):
        return float(x)  # here
    f(1.0)
"""


@pytest.fixture(autouse=True)
def _nothing_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("last_value", "last_exc"):
        monkeypatch.delattr(sys, name, raising=False)


def test_the_record_has_one_finding_and_is_kept() -> None:
    cell = Cell(CELL)
    diagnosis = jaxmagic.explain_error(cell.error)
    assert [each.rule for each in diagnosis.findings] == ["error"]
    assert diagnosis.findings[0].line == cell.here
    assert diagnosis.error == "ConcretizationTypeError"
    assert diagnosis.code == "return float(x)  # here"
    assert jaxmagic.last() is diagnosis


def test_compiled_variants_are_the_trial_when_memory_ran_out() -> None:
    error = jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.")
    (finding,) = jaxmagic.explain_error(error, verify=True).findings
    assert finding.verified is None


@pytest.mark.parametrize("name", ["last_value", "last_exc"])
def test_the_last_error_that_was_shown_is_explained(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell(CELL)
    monkeypatch.setattr(sys, name, cell.error, raising=False)
    assert jaxmagic.explain_error().findings[0].line == cell.here


def test_without_an_error_there_is_nothing_to_explain() -> None:
    with pytest.raises(jaxmagic.NotMeasured, match="There is no error of JAX to explain"):
        jaxmagic.explain_error()


def test_what_is_no_exception_is_rejected() -> None:
    with pytest.raises(TypeError, match=r"explain_error\(\): expected an exception, got str"):
        jaxmagic.explain_error("ConcretizationTypeError")  # type: ignore[arg-type]


def test_an_exception_of_another_origin_has_a_note_and_no_finding() -> None:
    diagnosis = jaxmagic.explain_error(KeyError("a"))
    assert diagnosis.findings == ()
    assert [sentence(each) for each in diagnosis.notes] == [
        "KeyError is not an error that JAX raised, or there is no explanation for it yet."
    ]


def test_another_exception_of_jax_is_not_said_to_be_of_another_origin() -> None:
    error = jax.errors.JaxRuntimeError("ABORTED: something else")
    diagnosis = jaxmagic.explain_error(error)
    assert [sentence(each) for each in diagnosis.notes] == [
        f"There is no explanation for this {type(error).__name__} of JAX yet."
    ]


def test_an_error_of_a_common_type_is_of_jax_where_jax_raised_it() -> None:
    with pytest.raises(ValueError, match="Dimension must") as caught:
        jax.numpy.cross(jax.numpy.ones(4), jax.numpy.ones(4))
    if not is_jax_file(innermost(caught.tb).tb_frame.f_code.co_filename):
        pytest.skip("this JAX has removed its calls from the traceback")
    diagnosis = jaxmagic.explain_error(caught.value)
    assert [sentence(each) for each in diagnosis.notes] == ["There is no explanation for this ValueError of JAX yet."]


def test_the_type_of_an_exception_may_be_as_odd_as_it_likes() -> None:
    class Odd(type):
        @property
        def __name__(cls) -> str:
            raise AssertionError("asked for its name")

    class Error(Exception, metaclass=Odd):
        pass

    assert jaxmagic.explain_error(Error()).error == "Error"
