"""Records are displayed in every medium."""

from __future__ import annotations

from typing import Any

from jaxmagic.session.history import History


def test_a_record_offers_text_and_html(timing: Any) -> None:
    assert set(timing()._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_include_and_exclude_are_honoured(timing: Any) -> None:
    record = timing()
    assert set(record._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert set(record._repr_mimebundle_(exclude=["text/plain"])) == {"text/html"}


def test_str_is_the_report(timing: Any) -> None:
    assert str(timing()).startswith("Wall time: 11.0 ms")


def test_an_empty_history_says_how_to_fill_it() -> None:
    assert "%jaxtime" in str(History())


def test_a_record_has_a_figure(timing: Any) -> None:
    assert timing().figure().axes[0].get_xlabel() == "time (ms)"
