"""Nothing that came from outside moves a terminal's cursor: names, labels and loaded records may hold anything."""

from __future__ import annotations

from typing import Any

import pytest
from documents import fields_of, with_value

import jaxmagic
from jaxmagic.records import storage
from jaxmagic.report.style import Style
from jaxmagic.report.to_html import to_html
from jaxmagic.report.to_text import to_text
from jaxmagic.terminal import printable_lines

EVIL = "a\x1b[2Jb\r\x07\x9b31m\u202e\0"


def test_no_string_of_a_record_reaches_a_terminal_as_it_is(document: Any) -> None:
    tried = 0
    for place, value in fields_of(document):
        if not isinstance(value, str):
            continue
        try:
            record = storage._decode_document(with_value(document, place, EVIL))
        except jaxmagic.RecordError:  # it names one of few values
            continue
        tried += 1
        texts = [to_text(record), to_text(record, Style(form="line")), to_text(record, explain=True), repr(record)]
        for text in texts:
            assert printable_lines(text) == text, place
        assert "\x1b" not in to_html(record)
    assert tried > 5


def test_messages_of_our_errors_hold_no_control_characters() -> None:
    error = jaxmagic.RecordError(f"one\n{EVIL}")
    assert str(error) == "one\na�[2Jb���31m��"
    with pytest.raises(ValueError, match="labels have to differ|no candidate") as caught:
        jaxmagic.compare({EVIL: lambda: 1, "other": lambda: 1}, baseline="none", budget_s=0.01)
    assert "\x1b" not in str(caught.value)
