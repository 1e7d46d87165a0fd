"""The MIME bundle that Jupyter requests."""

from __future__ import annotations

import base64
from typing import Any

from jaxmagic.report import mimebundle as bundle
from jaxmagic.report.style import Style


def test_text_only_where_the_user_wants_text(timing: Any) -> None:
    assert set(bundle.mimebundle(timing(), style=Style(form="text"))) == {"text/plain"}


def test_a_display_never_raises(timing: Any, monkeypatch: Any) -> None:
    def broken(*_: Any, **__: Any) -> str:
        raise RuntimeError

    monkeypatch.setattr(bundle, "to_html", broken)
    assert set(bundle.mimebundle(timing())) == {"text/plain"}
    monkeypatch.setattr(bundle, "to_text", broken)
    assert bundle.mimebundle(timing()) == {"text/plain": "<Timing: cannot be shown (RuntimeError)>"}


def test_a_static_report_is_text_and_then_a_png_and_no_html(benchmark: Any) -> None:
    text, picture = bundle.outputs(benchmark, style=Style(form="static"))
    assert list(text) == ["text/plain"]
    assert base64.b64decode(picture["image/png"]).startswith(b"\x89PNG")
    assert list(picture) == ["image/png"]


def test_any_other_report_is_one_output(timing: Any) -> None:
    assert bundle.outputs(timing()) == [bundle.mimebundle(timing())]


def test_a_report_that_a_view_repeats_is_the_same_report_with_a_script(timing: Any) -> None:
    view = "v1-below-hides"
    (shown,), (plain,) = bundle.outputs(timing(), view=view), bundle.outputs(timing())
    assert shown["text/plain"] == plain["text/plain"]
    begin, end = f'<div data-beside="{view}">', "</div><script>"
    assert shown["text/html"].startswith(begin + plain["text/html"] + end)
    assert f"'{view}'.match(" in shown["text/html"]


def test_a_picture_that_fails_leaves_the_text(benchmark: Any, monkeypatch: Any) -> None:
    def broken(*_: Any) -> str:
        raise RuntimeError

    monkeypatch.setattr("jaxmagic.drawing.to_matplotlib.to_png", broken)
    assert [list(each) for each in bundle.outputs(benchmark, style=Style(form="static"))] == [["text/plain"]]
