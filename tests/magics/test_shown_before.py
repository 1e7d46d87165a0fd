"""Which error ``%jaxdoctor`` explains after errors about usage, and which one holds arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from IPython.core.error import UsageError

from jaxmagic.session.shown_errors import last_shown

FAILING = "import jax\njax.jit(lambda x: float(x))(1.0)"

LAST = "last_type", "last_value", "last_traceback", "last_exc"


@pytest.fixture
def shown(session: Any) -> Iterator[Any]:
    """A session that notes the errors that it shows, as IPython does."""
    session.shell.showtraceback = lambda *args, **kwargs: session.shell._get_exc_info()
    yield session
    for name in LAST:
        with suppress(AttributeError):
            delattr(sys, name)


@pytest.mark.parametrize(
    "usage",
    [
        ["%jaxdoctor --bogus"],
        ["%jaxdoctor --only nothing 1 + 1"],
        ["%jaxdoctr"],
        ["%%jaxdoctr\n1 + 1"],
        ["%jaxdoctr", "%jaxdoctor --bogus", "%jaxdoctr"],
        ["%%jaxdoctor --bogus\n1 + 1"],
    ],
)
def test_the_error_before_a_mistake_in_its_own_use_is_explained(shown: Any, usage: list[str]) -> None:
    error = shown.run(FAILING, fails=Exception)
    for cell in usage:
        assert isinstance(sys.last_value, Exception)
        shown.run(cell, fails=UsageError)
        assert isinstance(sys.last_value, UsageError)
    assert last_shown() is error
    shown.run("%jaxdoctor")
    assert "float" in shown.report
    assert "UsageError" not in shown.report
    assert "The last error is a mistake in the use of %jaxdoctor; this is the one before it." in flat(shown.report)


@pytest.mark.parametrize(
    ("usage", "says"),
    [
        (["%jaxtimeit"], "UsageError: "),
        (["%jaxtimeit --nope f(x)"], "UsageError: there is no option --nope. "),
        (["%%jaxcompare\n1 + 1"], "UsageError: "),
        (["%timeitt 1"], "UsageError: Line magic function `%timeitt` not found"),
        (["%%jaxcompar\n1 + 1"], "UsageError: Cell magic `%%jaxcompar` not found"),
        (["%jaxdoctr", "%jaxtimeit", "%jaxprf f(x)"], "UsageError: Line magic function `%jaxprf` not found"),
        (["%jaxtimeit --nope f(x)", "%jaxdoctor --bogus"], "UsageError: there is no option --bogus. "),
        (["%jaxtimeit --nope f(x)", "%jaxdoctor"], "UsageError: there is no option --nope. "),
        (["%jaxtimeit", "%jaxdoctor --bogus", "%jaxdoctr"], "UsageError: Line magic function `%jaxdoctr` not found"),
        (["%jaxtimeit", "%jaxdoctor", "%jaxdoctor --nope"], "UsageError: there is no option --nope. "),
        (["1 +"], "SyntaxError: "),
    ],
)
def test_an_error_before_another_mistake_of_usage_is_not_explained(shown: Any, usage: list[str], says: str) -> None:
    shown.shell.showsyntaxerror = lambda *args, **kwargs: shown.shell._get_exc_info()
    error = shown.run(FAILING, fails=Exception)
    for cell in usage:
        shown.run(cell, fails=Exception)
    assert last_shown() is error  # whose arrays may still be held by it
    published = len(shown.published)
    for _ in range(2):
        refused = shown.run("%jaxdoctor", fails=UsageError)
        assert f"There is no error of JAX to explain: the last one is not of JAX ({says}" in str(refused)
        assert str(refused).endswith(
            "Run the cell that fails, then %jaxdoctor; or pass an exception, jaxmagic.explain_error(error)."
        )
    assert len(shown.published) == published
    shown.run(FAILING, fails=Exception)
    shown.run("%jaxdoctor")
    assert "float" in shown.report


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_cell_that_python_cannot_parse_ran_nothing_either(shown: Any) -> None:
    shown.shell.showsyntaxerror = lambda *args, **kwargs: shown.shell._get_exc_info()
    error = shown.run(FAILING, fails=Exception)
    shown.run("1 +", fails=SyntaxError)
    assert isinstance(sys.last_value, SyntaxError)
    assert last_shown() is error


def test_a_syntax_error_of_running_code_is_the_last_one(shown: Any) -> None:
    shown.run(FAILING, fails=Exception)
    error = shown.run("compile('1 +', 'a', 'exec')", fails=SyntaxError)
    assert last_shown() is error


def test_another_error_in_between_is_the_last_one(shown: Any) -> None:
    shown.run(FAILING, fails=Exception)
    error = shown.run("1 / 0", fails=ZeroDivisionError)
    shown.run("%jaxdoctor --bogus", fails=UsageError)
    assert last_shown() is error
    shown.run("%jaxdoctor")
    assert "ZeroDivisionError is not an error that JAX raised" in shown.report


@pytest.mark.parametrize("usage", ["%jaxdoctor --bogus", "%jaxtim f(x)", "%%jaxtim\nf(x)"])
def test_without_an_error_before_there_is_nothing_to_explain(shown: Any, usage: str) -> None:
    for name in LAST:
        with suppress(AttributeError):
            delattr(sys, name)
    shown.run(usage, fails=UsageError)
    assert last_shown() is None
    for _ in range(2):
        error = shown.run("%jaxdoctor", fails=UsageError)
        assert "There is no error of JAX to explain" in str(error)


def test_an_array_of_a_failed_call_is_named_after_a_mistake_of_usage(shown: Any) -> None:
    shown.run("import jax.numpy as jnp\ndef failing():\n    big = jnp.ones((7, 11))\n    return big @ big")
    shown.run("failing()", fails=TypeError)
    shown.run("%jaxmem --fetch", fails=UsageError)
    live = shown.run("%jaxmem --before -o")
    (array,) = [each for each in live.arrays if each.shape == "f32[7,11]"]
    assert any("last traceback" in each for each in array.names)


def test_nothing_is_kept_once_the_error_is_forgotten(shown: Any) -> None:
    shown.run(FAILING, fails=Exception)
    shown.run("%jaxdoctor --bogus", fails=UsageError)
    for name in LAST:
        with suppress(AttributeError):
            delattr(sys, name)
    assert last_shown() is None
