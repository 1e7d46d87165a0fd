"""The bundle that Jupyter asks for."""

from __future__ import annotations

from typing import Any

from jaxmagic.render import bundle
from jaxmagic.render.style import Style


def test_text_only_where_the_user_wants_text(timing: Any) -> None:
    assert set(bundle.mimebundle(timing(), style=Style(form="text"))) == {"text/plain"}


def test_a_display_never_raises(timing: Any, monkeypatch: Any) -> None:
    def broken(*_: Any, **__: Any) -> str:
        raise RuntimeError

    monkeypatch.setattr(bundle, "to_html", broken)
    assert set(bundle.mimebundle(timing())) == {"text/plain"}
    monkeypatch.setattr(bundle, "to_text", broken)
    assert bundle.mimebundle(timing()) == {"text/plain": "<Timing: cannot be shown (RuntimeError)>"}
