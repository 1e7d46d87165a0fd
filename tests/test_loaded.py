"""A record that loads can be shown: what cannot is refused when it is loaded."""

from __future__ import annotations

import random
from typing import Any

from documents import fields_of, with_value

import jaxmagic
from jaxmagic.records import storage
from jaxmagic.report.to_frame import to_frame
from jaxmagic.report.to_html import to_html
from jaxmagic.report.to_text import to_text

VALUES = (0, -1, 1, 2**59, -(2**59), 0.0, 1e-308, 1e299, -0.5, "", "x", None, [], {}, True)

#: So many changed records of each kind are tried; all of them take minutes.
CASES = 60


def test_a_record_that_loads_can_be_shown(document: Any) -> None:
    cases = [(place, value) for place, _ in fields_of(document) for value in VALUES]
    shown = 0
    for place, value in random.Random(0).sample(cases, min(CASES, len(cases))):
        try:
            record = storage._decode_document(with_value(document, place, value))
        except jaxmagic.RecordError:
            continue
        for show in (to_text, repr, to_html, to_frame):
            try:
                show(record)
            except Exception as error:
                error.add_note(f"with {value!r} at {place}")
                raise
        shown += 1
    assert shown  # how many depends on which are drawn
