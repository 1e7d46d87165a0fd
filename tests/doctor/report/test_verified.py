"""What is said about trials that did not begin."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.records.note import Note, note


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            note("doctor.not_tried_budget", first_ns=18 * 10**9, budget_ns=52 * 10**9),
            "Not tried: too little time is left for it: a first run takes 18.0 s. Give it at least --budget 70s "
            "(budget_s=70 in Python).",
        ),
        (
            note("doctor.not_tried_budget", first_ns=2 * 10**8, budget_ns=24 * 10**8),
            "Not tried: too little time is left for it: a first run takes 200 ms. Give it at least --budget 3s "
            "(budget_s=3 in Python).",
        ),
        (
            note("doctor.not_tried_budget"),  # of an earlier version
            "Not tried: too little time is left for it; a longer --budget (budget_s= in Python) would help.",
        ),
    ],
)
def test_the_budget_that_is_needed_is_written_as_it_is_given(told: Note, words: Any) -> None:
    assert str(told) == words
