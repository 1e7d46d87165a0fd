"""Notes: facts in a record, a sentence where they are shown."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import jaxmagic
from jaxmagic.records.note import Note, note
from jaxmagic.subjects import words_of_note

PACKAGE = Path(jaxmagic.__file__).parent


def made_in_the_package() -> dict[str, set[frozenset[str]]]:
    """Kinds of notes that the package makes, with the names of their facts at each place."""
    found: dict[str, set[frozenset[str]]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "note":
                kind = ast.literal_eval(node.args[0])
                found.setdefault(kind, set()).add(frozenset(each.arg or "" for each in node.keywords))
    return found


MADE = made_in_the_package()


@pytest.mark.parametrize("kind", MADE)
def test_each_kind_of_note_has_words_for_its_facts(kind: str) -> None:
    words = words_of_note(kind)
    assert words is not None
    parameters = inspect.signature(words).parameters.values()
    any_more = {each.name for each in parameters if each.kind is each.VAR_KEYWORD}
    needed = {each.name for each in parameters if each.default is each.empty} - any_more
    for facts in MADE[kind]:
        assert needed <= facts
        assert any_more or facts <= {each.name for each in parameters}


def test_each_kind_that_has_words_is_made() -> None:
    subjects = {kind.partition(".")[0] for kind in MADE}
    worded = {f"{each}.{name}" for each in subjects for name in _words_in(each)}
    assert worded == set(MADE)


def _words_in(subject: str) -> list[str]:
    return list(__import__(f"jaxmagic.{subject}.report", fromlist=["NOTES"]).NOTES)


def test_a_note_reads_as_a_sentence() -> None:
    assert str(note("timing.undetectable", left_out_ns=4_000_000)) == (
        "Up to 4.0 ms of discarded multi-device work may be missing: it is below the detection limit."
    )


@pytest.mark.parametrize("kind", ["timing.of_next_year", "nothing.here", "os.system", "plain"])
def test_a_note_of_a_newer_version_is_shown_as_it_is(kind: str) -> None:
    assert str(note(kind, bytes=3, who="f")) == f"{kind}, bytes: 3, who: f"


@pytest.mark.parametrize("facts", [{}, {"aside_ns": "long"}, {"aside_ns": 1, "more": 2}])
def test_a_note_with_other_facts_is_shown_as_it_is(facts: dict[str, object]) -> None:
    assert str(Note(kind="timing.descheduled", facts=facts)).startswith("timing.descheduled")  # type: ignore[arg-type]


def test_a_sentence_of_an_earlier_version_is_kept() -> None:
    assert str(Note.of_text("Some sentence.")) == "Some sentence."
