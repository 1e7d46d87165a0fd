"""Nothing that came from outside moves a terminal's cursor: names, labels and loaded records may hold anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jaxmagic
from jaxmagic import storage
from jaxmagic.render.html import to_html
from jaxmagic.render.style import Style
from jaxmagic.render.text import to_text
from jaxmagic.terminal import printable_lines

EVIL = "a\x1b[2Jb\r\x07\x9b31m\u202e\0"


def strings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all strings in a JSON document."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from strings(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from strings(each, (*path, index))


def with_evil(document: Any, path: tuple[Any, ...]) -> Any:
    changed = json.loads(json.dumps(document))
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = EVIL
    return changed


@pytest.fixture(params=["timing", "benchmark", "comparison", "sweep", "memory_profile", "live_arrays", "profile"])
def document(request: pytest.FixtureRequest, compilation: Any, tmp_path: Path) -> Any:
    """A saved record of each kind."""
    if request.param == "profile":
        import jax

        record: Any = jaxmagic.profile(jax.jit(lambda x: x @ x), jax.numpy.ones((50, 50)))
    else:
        record = request.getfixturevalue(request.param)
        if request.param == "timing":
            record = record(compilation(), notes=("a note",))
        elif callable(record):
            record = record()
    return json.loads(jaxmagic.save(record, tmp_path / "record.json").read_text())


def test_no_string_of_a_record_reaches_a_terminal_as_it_is(document: Any) -> None:
    tried, seen = 0, set()
    for path in strings(document["record"], ("record",)):
        field = tuple(key if isinstance(key, str) else 0 for key in path)
        if field in seen:
            continue
        seen.add(field)
        try:
            record = storage._decode_document(with_evil(document, path))
        except jaxmagic.RecordError:  # it names one of few values
            continue
        tried += 1
        texts = [to_text(record), to_text(record, Style(form="line")), to_text(record, explain=True), repr(record)]
        for text in texts:
            assert printable_lines(text) == text, path
        assert "\x1b" not in to_html(record)
    assert tried > 5


def test_messages_of_our_errors_hold_no_control_characters() -> None:
    error = jaxmagic.RecordError(f"one\n{EVIL}")
    assert str(error) == "one\na�[2Jb���31m��"
    with pytest.raises(ValueError, match="labels have to differ|no candidate") as caught:
        jaxmagic.compare({EVIL: lambda: 1, "other": lambda: 1}, baseline="none", budget_s=0.01)
    assert "\x1b" not in str(caught.value)
