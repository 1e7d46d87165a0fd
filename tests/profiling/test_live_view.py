"""The live view of a profile."""

from __future__ import annotations

from typing import Any

from fabricate.profiling import fabricated
from pages import breakable

import jaxmagic
from jaxmagic.profiling.record.profile import Profile


def shown(view: Any) -> str:
    outputs = (*view.answer.outputs, *view.screen.outputs)
    return breakable("".join(str(each["data"]["text/html"]) for each in outputs))


def test_the_time_is_shown_by_scope_and_by_call_stack() -> None:
    view = jaxmagic.explore(fabricated())
    assert "device time by scope" in shown(view)
    assert "Device time: 15.0 ms per run" in shown(view)
    view.look_at.value = "device time by call stack"
    assert "device time by call stack" in shown(view)
    assert "device time by scope" not in shown(view)


def test_without_device_time_the_report_is_shown() -> None:
    view = jaxmagic.explore(Profile(recorded_ns=0, device_uses=(), operation_times=(), place_times=()))
    assert "No device time was recorded." in shown(view)


def test_a_picture_that_cannot_be_drawn_is_no_choice() -> None:
    view = jaxmagic.explore(fabricated())
    assert view.look_at.options == ("device time by scope", "device time by call stack")
