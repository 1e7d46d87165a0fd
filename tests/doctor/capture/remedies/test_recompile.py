"""The recommended code is what is tried; where there is none, ``jax.jit`` remembers functions, and a note says so."""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import pytest
from shells import Session

from jaxmagic.doctor.capture.remedies.recompile import propose
from jaxmagic.doctor.capture.remedies.remedy import Change, NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.rewriting.hoisting import find_making
from jaxmagic.records.cell_names import known_as
from jaxmagic.records.note import note

SHORT = """\
def step(x):
    g = jit(lambda y: y + 1)
    return g(x)
"""

LOOP = """\
def step(x):
    for _ in range(2):
        x = jit(lambda y: y + 1)(x)
    return x - 1
"""

DECORATED = """\
def step(x):
    # one
    # two
    # three
    # four
    # five
    @jit
    def g(y):
        return y + 1
    # six
    return g(x)
"""

CAPTURED = """\
def step(x):
    k = 1
    return jit(lambda y: y + k)(x)
"""


class Jit:
    """Stands for ``jax.jit``, and counts what it is given."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self.made += 1
        return function


@pytest.fixture
def proposed(tmp_path: Path) -> Callable[[str, str], tuple[Change, dict[str, Any], Jit]]:
    """Propose the remedy for the function that a source makes anew, as the rule words it."""

    def propose_for(source: str, function: str) -> tuple[Change, dict[str, Any], Jit]:
        file, jit = tmp_path / "train.py", Jit()
        file.write_text(source)
        names: dict[str, Any] = {"jit": jit, "jax": jax, "__file__": str(file)}
        exec(compile(source, str(file), "exec"), names)
        line = next(
            number for number, text in enumerate(source.splitlines(), 1) if "lambda" in text or "@jit" in text
        )
        made = find_making(function, (str(file), line + (function == "g")), [(str(file), line)])
        assert made is not None
        finding = RuleFinding(
            rule="recompile",
            found=note("doctor.recompile", cause="new function"),
            line=f"{file}:{made.line}",
            code=made.code,
        )
        return propose(finding, TriedCode("step(3)", names)), names, jit

    return propose_for


@pytest.mark.parametrize(("source", "function"), [(SHORT, "<lambda>"), (LOOP, "<lambda>"), (DECORATED, "g")])
def test_the_recommended_code_is_tried_in_its_place(source: str, function: str, proposed: Any) -> None:
    change, names, jit = proposed(source, function)
    assert [each.kind for each in change.notes] == ["doctor.pasted"]
    step = change.replacements[id(names["step"])]
    assert isinstance(step, types.FunctionType)
    assert [step(3), step(4)] == [4, 5]
    assert jit.made == 1
    assert [names["step"](3), names["step"](4)] == [4, 5]  # the original makes it in each call
    assert jit.made > 2


def test_without_code_jit_remembers_the_function_and_a_note_says_so(proposed: Any) -> None:
    change, names, _ = proposed(CAPTURED, "<lambda>")
    assert change.notes == ()
    assert change.found is not None
    assert str(change.found()) == (
        "Tried with a jax.jit that returns the same function for the same source, captured values and options, in "
        "all runs: the gain is that of runs after the first one."
    )
    assert id(jax.jit) in change.replacements
    assert id(names["step"]) not in change.replacements


def test_a_function_that_is_not_to_be_made_once_alone_is_not_tried_alone() -> None:
    found = note("doctor.recompile", cause="new function", objects="state.tx")
    with pytest.raises(NotTried):
        propose(RuleFinding(rule="recompile", found=found), TriedCode("step(3)", {}))


def test_functions_that_capture_other_values_are_counted_as_several(proposed: Any) -> None:
    """One function for all of them would keep the first value, and is not what was tried."""
    change, _, _ = proposed(CAPTURED, "<lambda>")
    remembered = change.replacements[id(jax.jit)]
    for _ in range(2):
        for k in (1, 2, 3):
            remembered(lambda y, *, k=k: y + k)
            remembered(partial(pow, k))
        remembered(lambda y: y, static_argnums=())
    assert change.used()
    assert str(change.found()).endswith(
        " It kept 3 functions, one for each set of captured values: a single one would keep the first of them."
    )


class Scaled:
    def __init__(self) -> None:
        self.traced = 0

    def by(self, x: Any, factor: Any) -> Any:
        self.traced += 1
        return factor * x


def test_a_method_that_is_kept_spares_the_code_without_the_remedy_no_trace() -> None:
    """JAX finds programs by equality, and a method equals that of the same object that is read later."""
    scaled = Scaled()
    finding = RuleFinding(rule="recompile", found=note("doctor.recompile", cause="new function"))
    remembered = propose(finding, TriedCode("step(3)", {})).replacements[id(jax.jit)]
    for _ in range(2):
        assert float(remembered(scaled.by, static_argnames="factor")(3.0, factor=2)) == 6
    assert scaled.traced == 1
    assert float(jax.jit(scaled.by, static_argnames="factor")(3.0, factor=2)) == 6
    assert scaled.traced == 2


@pytest.mark.parametrize(
    ("before", "kind"),
    [("", "doctor.pasted_before"), ("def g(x): return x\n", "doctor.made_once")],
    ids=["there", "assigned"],
)
def test_what_the_cell_itself_defines_is_not_there_before_it(session: Session, before: str, kind: str) -> None:
    session.run("def g(x): return x")
    cell = f"import jax\n{before}for x in [1]:\n    jax.jit(g)(x)"
    session.run(cell)
    file = next(each for each in linecache.cache if "".join(linecache.getlines(each)).rstrip() == cell)
    finding = RuleFinding(
        rule="recompile",
        found=note("doctor.recompile", cause="new function"),
        line=f"{known_as(file)}:{cell.count(chr(10)) + 1}",
        code="jitted = jax.jit(g)\nfor x in [1]:\n    jitted(x)",
    )
    change = propose(finding, TriedCode(cell.removeprefix("import jax\n"), {"jax": jax, "g": abs}))
    assert [each.kind for each in (*change.notes, *([change.found()] if change.found else []))] == [kind]
