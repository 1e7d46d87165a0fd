"""The session's records: in order, bounded, indexable."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.model.history import History


def test_the_oldest_is_forgotten_when_there_is_no_more_room(timing: Any) -> None:
    history = History(capacity=2)
    for code in "abc":
        history.append(timing(code=code))
    assert [record.code for record in history] == ["b", "c"]
    assert history[-1].code == "c"
    assert [record.code for record in history[:1]] == ["b"]


def test_an_index_that_is_not_there_says_how_many_there_are() -> None:
    with pytest.raises(IndexError, match="holds 0 records; found index 3"):
        History()[3]


def test_clear_forgets_everything(timing: Any) -> None:
    history = History()
    history.append(timing())
    history.clear()
    assert len(history) == 0
    assert not history
