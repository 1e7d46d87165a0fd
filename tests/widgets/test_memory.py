"""A memory profile's live view."""

from __future__ import annotations

from typing import Any

import pytest

import jaxmagic
from jaxmagic.widgets.memory import MemoryView


@pytest.fixture
def view(memory_profile: Any, executable: Any) -> MemoryView:
    return MemoryView(memory_profile(executables=(executable(), executable(name="jit_g"))))


def shown(view: MemoryView) -> str:
    (output,) = view.screen.outputs
    return str(output["data"]["text/html"])


def test_every_choice_shows_a_map_a_table_and_the_report(view: MemoryView) -> None:
    seen = set()
    for _, program in view.program.options:
        view.program.value = program
        for colour in view.colour.options:
            view.colour.value = colour
            html = shown(view)
            assert html.count("<img") == 1
            assert "made by" in html
            seen.add(html)
    assert len(seen) == 4


def test_the_cursor_begins_at_the_peak_and_shows_what_is_needed_there(view: MemoryView) -> None:
    assert view.step.value == 4
    at_peak = shown(view)
    assert at_peak.count("<tr>") > 4
    view.step.value = 1
    assert shown(view) != at_peak
    assert "jit(f)/dot.1" not in shown(view).partition("made by")[2].partition("</table>")[0]


def test_another_program_has_its_own_steps(memory_profile: Any, executable: Any) -> None:
    one, other = executable(), executable(name="jit_g", steps=9)
    view = MemoryView(memory_profile(executables=(one, other)))
    view.step.value = view.step.max
    view.program.value = other
    assert (view.step.max, view.step.value) == (9, 4)


def test_where_no_program_has_a_map_the_report_is_shown(memory_profile: Any, executable: Any) -> None:
    view = MemoryView(memory_profile(executables=(executable(allocations=None, steps=None),)))
    assert "<img" not in shown(view)
    assert "jit_f" in shown(view)


def test_explore_opens_it_for_a_profile_and_for_a_program(memory_profile: Any, executable: Any) -> None:
    assert type(jaxmagic.explore(memory_profile())) is MemoryView
    assert type(jaxmagic.explore(executable())) is MemoryView
