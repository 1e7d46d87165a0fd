"""``%jaxdoctor`` in a shell: with code, and without it after an error."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError
from shells import Session

import jaxmagic
from jaxmagic.doctor.rules.all import RULES
from jaxmagic.doctor.rules.compiling import recompile
from jaxmagic.memory_use.capture.imported import is_users_module
from jaxmagic.session.shown_errors import last_seen

FAILS = "@jax.jit\ndef relu(v):\n    if v > 0:\n        return v\n    return 0.0\nrelu(1.0)"


@pytest.fixture
def raising(session: Session) -> Iterator[Session]:
    """A shell that shows tracebacks, as in front of somebody, in which nothing has failed yet."""
    names = ("last_value", "last_exc", "last_type", "last_traceback")
    before = {name: getattr(sys, name) for name in names if hasattr(sys, name)}
    for name in before:
        delattr(sys, name)
    del session.shell.showtraceback
    yield session
    for name in names:  # some versions of IPython delete some of them
        if hasattr(sys, name):
            delattr(sys, name)
    for name, value in before.items():
        setattr(sys, name, value)


def test_a_function_that_is_only_named_was_not_called(session: Session) -> None:
    session.run("f = jax.jit(lambda v: v + 1)")
    session.run("%jaxdoctor f")
    said = " ".join(session.report.split())
    assert said == "f was not called, so nothing ran. Write for example f(x)."
    session.run("%jaxdoctor f(x);")
    assert "was not called" not in session.report


def test_a_call_in_quotes_was_not_called(session: Session) -> None:
    session.run('%jaxdoctor "f(x)"')
    said = " ".join(session.report.split())
    assert said == "Nothing was called: this is text. Write the statement without its quotes."


def test_a_function_of_a_module_runs_as_often_as_one_of_a_cell(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a_module_of_a_user.py").write_text("def double(x):\n    return x * 2\n")
    monkeypatch.setattr(
        "jaxmagic.memory_use.capture.references.object_graph.is_users_module", is_users_module
    )  # not a test's
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "a_module_of_a_user", raising=False)
    session.run("import a_module_of_a_user")
    session.run("%jaxdoctor --only recompile y = a_module_of_a_user.double(x)")
    assert len(jaxmagic.last().runs) > 1
    assert "only once" not in session.report


def test_a_cell_of_it_lists_its_findings_and_keeps_its_value(session: Session) -> None:
    session.run("%%jaxdoctor -v found\nz = jax.jit(lambda v: v + 1)(x)\nz")
    said = " ".join(session.report.split())
    assert said.startswith("recompile at cell 3:2: ")
    assert ". 1 finding. " in said
    assert "<lambda> compiles once in every run because it is a new function object" in said
    found = session.shell.user_ns["found"]
    assert found is jaxmagic.last()
    assert [each.line for each in found.findings] == ["cell 3:2"]
    assert float(session.shell.user_ns["z"][0, 0]) == 2.0


def test_a_line_of_it_in_a_function_returns_its_record(session: Session) -> None:
    session.run("def look():\n    found = %jaxdoctor -q -o f(x)\n    return found\nfound = look()")
    assert session.shell.user_ns["found"].findings == ()
    assert session.published == []


def test_top_limits_the_findings_that_are_shown_and_none_that_are_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recompile, "is_worth_it", lambda *_: True)  # whatever each of them takes
    lines = "".join(f"jax.jit(lambda v: v + {number})(x);\n" for number in range(4))
    session.run(f"%%jaxdoctor --only recompile --all --top 2 -v found\n{lines}")
    said = " ".join(session.report.split())
    assert said.startswith("recompile at cell 3:")
    assert " 4 findings. " in said
    assert said.count("<lambda> compiles once in every run") == 2
    assert "2 more findings: see to_frame()." in said
    assert len(session.shell.user_ns["found"].findings) == 4


def test_without_code_it_explains_the_last_error(raising: Session) -> None:
    raising.run(FAILS, fails=Exception)
    raising.run("%jaxdoctor -v found")
    assert raising.report.startswith("TracerBoolConversionError at cell 3:3.")
    (finding,) = raising.shell.user_ns["found"].findings
    assert finding.source == "if v > 0:"
    shown = len(raising.published)
    raising.run("record = %jaxdoctor -q -o")
    assert len(raising.published) == shown
    assert raising.shell.user_ns["record"].findings == (finding,)


def test_an_error_of_an_earlier_cell_is_called_that(raising: Session) -> None:
    raising.run(FAILS, fails=Exception)
    raising.run("%jaxdoctor -q -v direct")
    raising.run("%jaxdoctor -q -v later")
    notes = [[each.kind for each in raising.shell.user_ns[name].notes] for name in ("direct", "later")]
    assert notes == [[], ["doctor.error_earlier"]]
    raising.run("%jaxdoctor")
    assert "of an earlier cell: the last one raised no error." in " ".join(raising.report.split())


@pytest.mark.parametrize(
    ("cell", "earlier"),
    [("get_ipython().run_cell('x = 1');", True), ("get_ipython().run_cell('');", True), ("", False)],
)
def test_a_cell_that_runs_another_one_is_a_cell_and_an_empty_one_is_none(
    raising: Session, cell: str, earlier: bool
) -> None:
    raising.run(FAILS, fails=Exception)
    raising.shell.run_cell(cell, store_history=True)
    raising.run("%jaxdoctor")
    assert ("of an earlier cell" in " ".join(raising.report.split())) == earlier


def test_an_error_of_python_s_own_is_not_explained(raising: Session) -> None:
    raising.run("1 / 0", fails=ZeroDivisionError)
    raising.run("%jaxdoctor")
    assert raising.report.startswith("ZeroDivisionError: not explained.")


@pytest.mark.parametrize("line", ["%jaxdoctor", "%jaxdoctor -q  # nothing"])
def test_without_code_and_without_an_error_there_is_nothing_to_do(raising: Session, line: str) -> None:
    error = raising.run(line, fails=UsageError)
    assert "%jaxdoctor has nothing to run. There is no error of JAX to explain" in str(error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--only sleep", "expected names of rules (recompile, "),
        (
            "--only recompil",
            "--only: expected names of rules, got 'recompil'. Write recompile. Nothing was run.",
        ),
        ("--memory 16", "expected a size with a unit"),
        ("--memory 0GiB", "expected a size of at least a byte"),
        ("--top 0", "--top: expected a positive integer, got '0'"),
    ],
)
def test_mistakes_are_told_before_anything_runs(session: Session, options: str, message: str) -> None:
    error = session.run(f"%jaxdoctor {options} undefined_function()", fails=UsageError)
    assert message in str(error)


def explained(session: Session) -> set[str]:
    """Return the rules of which the report says how they decide, and the source; a line may end within a word."""
    text = "".join(session.report.split())
    return {rule.name for rule in RULES if "".join(f"{rule.name}:{rule.decides}Source:{rule.source}".split()) in text}


def test_rules_are_explained_on_request(session: Session) -> None:
    session.run("%jaxdoctor --explain jax.jit(lambda v: v + 1)(x);")
    (rule,) = explained(session)
    assert rule == "recompile"


def test_rules_that_found_nothing_are_explained_where_only_they_looked(session: Session) -> None:
    session.run("%jaxdoctor --explain --only recompile,memory f(x);")
    assert explained(session) == {"recompile", "memory"}
    session.run("%jaxdoctor --explain --only recompile,memory jax.jit(lambda v: v + 1)(x);")
    assert explained(session) == {"recompile", "memory"}
    session.run("%jaxdoctor --only recompile,memory f(x);")
    assert explained(session) == set()


def test_a_rule_is_explained_without_code(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    session.run("%jaxdoctor --only recompile,sort --explain")
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("recompile: Reports a function that compiles in every run")
    assert "sort: " in text
    assert text.count("Source: https://") == 2
    error = session.run("%jaxdoctor --explain --only recompil", fails=UsageError)
    assert "recompile" in str(error)


def test_the_code_of_a_failing_run_raises_and_the_error_can_be_explained(raising: Session) -> None:
    error: Any = raising.run(FAILS.replace("relu(1.0)", "%jaxdoctor relu(1.0)"), fails=Exception)
    assert type(error).__name__ == "TracerBoolConversionError"
    raising.run("%jaxdoctor")
    assert raising.report.startswith("TracerBoolConversionError at cell 3:3.")


def test_it_tries_variants_against_a_limit_after_memory_ran_out(raising: Session) -> None:
    raising.run(
        "@jax.jit\ndef outer(v):\n    w = v[:, None] * v\n    return jnp.sin(w) @ jnp.cos(w)\n"
        "v = jnp.ones(3_000_000)\nw = outer(v)",
        fails=Exception,
    )
    raising.run("%jaxdoctor --memory 16GiB -v found -q")
    (finding,) = raising.shell.user_ns["found"].findings
    said = [str(each) for each in finding.evidence]
    assert any("The limit is 16.0 GiB, as given." in each for each in said)
    assert any("bfloat16" in each and "does not fit" in each for each in said)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("(jnp.sin(x) for _ in range(3))", "generator that has not run"),
        ("asynchronous()", "coroutine that has not run"),
        ("map(jnp.sin, [x])", "is a map, which calls its function later"),
    ],
)
def test_a_result_that_has_not_run_is_noted(session: Session, code: str, said: str) -> None:
    session.run("async def asynchronous(): ...")
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        session.run(f"%jaxdoctor {code};")
    assert said in " ".join(session.report.split())
    ours = Path(jaxmagic.__file__).parent
    assert not [each for each in shown if Path(each.filename).is_relative_to(ours)]


def test_a_generator_that_has_begun_is_not_called_one_that_has_not_run(session: Session) -> None:
    session.run("begun = (i for i in range(99))\n_ = next(begun)")
    session.run("%jaxdoctor -q -v d begun;")
    assert "has not run" not in str(session.shell.user_ns["d"])


#: Temporaries of 36 TB, which no machine has: on a CPU as well, the error shows where the result is waited for.
TOO_LARGE = (
    "@jax.jit\ndef pairwise(p):\n    return jnp.sort(p[:, None] * p, axis=0)[0]",
    "pts = jnp.ones(3_000_000)",
)


@pytest.mark.parametrize(
    "cells",
    [
        ("float(pairwise(pts)[0])",),
        ("%jaxtime pairwise(pts)",),
        ("%jaxtime -q -v t d = pairwise(pts)",),
        ("%%jaxtime\nd = pairwise(pts)\nd.block_until_ready()",),
        ("d = pairwise(pts)", "d.block_until_ready()"),
        ("d = pairwise(pts)", "e = d + 1", "print(e)"),
        ("d = pairwise(pts); n = 1", "d.block_until_ready()"),
        ("%%jaxtime\nq = pts\npairwise(q)",),
        ("pairwise(pts)",),
        ("n = 1\n[pairwise(pts)]",),
        ("d = pairwise(pts); d",),
        ("display(pairwise(pts))\nn = 1",),
    ],
)
def test_in_a_session_the_program_is_found_in_magics_and_in_earlier_cells(
    raising: Session, cells: tuple[str, ...]
) -> None:
    for cell in (*TOO_LARGE, *cells):
        raising.shell.run_cell(cell, store_history=True)
    _skip_if_shown_without_values()
    raising.run("%jaxdoctor --all")
    told = " ".join(raising.report.split())
    assert "ran out of memory while allocating 32.7 TiB. pairwise needs 32.7 TiB." in told
    assert "jaxmagic/" not in told


def _skip_if_shown_without_values() -> None:
    if last_seen() is None:
        pytest.skip("this JAX shows an array that failed without its values")


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (
            "def show():\n    display(pairwise(pts))\nshow()",
            "memory_requirement(f, *args) says what a jitted function f needs",
        ),
        ("pairwise(pts + 0)", "memory_requirement(pairwise, pts + 0) says what this call needs"),
        ("(lambda: pairwise(pts))()", "memory_requirement(f, *args) says what a jitted function f needs"),
    ],
)
def test_what_a_display_raises_is_of_the_last_cell_and_has_its_size(raising: Session, cell: str, said: str) -> None:
    for each in (*TOO_LARGE, cell):
        raising.shell.run_cell(each, store_history=True)
    _skip_if_shown_without_values()
    raising.run("%jaxdoctor")
    told = " ".join(raising.report.split())
    assert "while allocating 32.7 TiB" in told
    assert said in told
    assert "earlier cell" not in told
    assert "It happened in" not in told
