"""Records are displayed in every medium."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from jaxmagic.report import displayable
from jaxmagic.session.history import History


def test_a_record_offers_text_and_html(timing: Any) -> None:
    assert set(timing()._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_include_and_exclude_are_honoured(timing: Any) -> None:
    record = timing()
    assert set(record._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert set(record._repr_mimebundle_(exclude=["text/plain"])) == {"text/html"}


def test_a_short_text_names_the_variable_that_prints_the_whole(
    timing: Any, compilation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = timing(*(compilation(function=f"f{n}") for n in range(20)))
    *_, last = record._repr_mimebundle_()["text/plain"].splitlines()
    assert last.startswith("… printing it shows ")
    monkeypatch.setattr(sys.modules["__main__"], "_", record, raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "mine", record, raising=False)
    *_, last = record._repr_mimebundle_()["text/plain"].splitlines()
    assert last.startswith("… print(mine) shows ")


def test_the_text_of_a_value_is_as_wide_as_the_terminal(
    timing: Any, compilation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def longest() -> int:
        bundle = timing(compilation(function="f" * 20))._repr_mimebundle_()
        return max(map(len, bundle["text/plain"].splitlines()))

    assert 60 < longest() <= 80
    monkeypatch.setattr(displayable, "width", lambda: 60)
    assert longest() <= 60


def test_str_is_the_report(timing: Any) -> None:
    assert str(timing()).startswith("Wall time: 11.0 ms")


def test_an_empty_history_says_how_to_fill_it() -> None:
    assert "%jaxtime" in str(History())


def test_a_record_has_a_figure(timing: Any) -> None:
    assert timing().figure().axes[0].get_xlabel() == "time (ms)"
