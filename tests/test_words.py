"""How we write: docstrings begin with a verb, and phrases that read as translated do not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import jaxmagic

PACKAGE = Path(jaxmagic.__file__).parent
ROOT = PACKAGE.parent

#: No docstring of a function begins with one of these: they open a clause that has no verb of its own.
NO_BEGINNINGS = ("Of", "Whose", "What", "Whether", "How", "Where", "When", "Which")

#: Phrases that were in the program, and what stands there now.
PHRASES = {
    r"\b(is|are) wanted; found\b": '"expected X, got Y"',
    r"\bworth to be\b": '"worth seeing"',
    r"\bstopped to (fall|rise)\b": '"stopped falling"',
    r"\bcannot be told from none\b": "the limit of detection, in numbers",
    r"\bwhat is told is the least\b": '"lower bounds"',
    r"\bnothing can be said of one\b": "what is not available, and why",
    r"\bthat no result reached\b": '"for discarded results"',
    r"\bOf the wait, ": '"Up to … of the wait may not be JAX work"',
    r"\bof a run on a device\b": '"per run and device"',
    r"\bwhose a program is\b": "the program's function",
    r"\bwaits for the last\b": '"straggler wait"',
    r"\bhungriest\b": '"the largest", "with the largest peak"',
    r"\bas of the stopwatch\b": '"See Stopwatch.returned"',
    r"\b(made|created) anew\b": '"re-created"',
    r"\bin peace\b": "what is not done meanwhile",
    r"\bnobody hears\b": "what is ignored, or not reported",
    r"\bsuch a one\b": "the name of the thing",
    r"\bwhole numbers? (of [a-z]+ )?from \d on\b": '"an integer of at least 1"',
    r"(?m): (it|them)\.$": "the name of the thing, or what it does",
    r"\bis not told\b": '"is not reported", or "is unknown"',
    r"\b[Nn]ot looked for\b": '"not applied", of rules; "not examined", of code',
    r"\bNothing of this runs\b": '"None of them runs"',
    r"\bbeside the wall time\b": '"not included in the wall time"',
    r"\bthe time is the time during\b": "the name of the time",
}


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions and methods of the package that are no properties."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if not any("property" in ast.unparse(each) for each in node.decorator_list):
                yield path.relative_to(PACKAGE).as_posix(), node


def test_docstrings_of_functions_begin_with_a_verb() -> None:
    found = {
        f"{place}: {node.name}": (ast.get_docstring(node) or "").partition(" ")[0] for place, node in functions()
    }
    assert len(found) > 1000
    assert {name: word for name, word in found.items() if word in NO_BEGINNINGS} == {}


@pytest.mark.parametrize("phrase", PHRASES)
def test_phrases_that_read_as_translated_do_not_come_back(phrase: str) -> None:
    pages = [*PACKAGE.rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    found = [path.name for path in pages if path.exists() and re.search(phrase, path.read_text(encoding="utf-8"))]
    assert found == [], f"write instead: {PHRASES[phrase]}"


def test_the_check_of_phrases_can_fail() -> None:
    assert re.search(next(iter(PHRASES)), "a number is wanted; found 'x'")
