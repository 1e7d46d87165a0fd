"""The live view of memory profiles: maps of one or two programs, and all other charts."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

import pytest

import jaxmagic
from jaxmagic.memory_use.live_view import MemoryView
from jaxmagic.memory_use.record.cells import CellMemory


@pytest.fixture
def view(memory_profile: Any, executable: Any) -> MemoryView:
    return MemoryView(memory_profile(executables=(executable(), executable(name="jit_g"))))


def shown(view: MemoryView) -> str:
    return "".join(str(each["data"]["text/html"]) for each in (*view.answer.outputs, *view.screen.outputs))


def maps(view: MemoryView) -> list[Any]:
    packed = re.findall(r'data-map="([^"]*)"', shown(view))
    return [json.loads(zlib.decompress(base64.b64decode(each))) for each in packed]


def test_every_choice_shows_a_map_and_the_report(view: MemoryView) -> None:
    seen = set()
    for _, program in view.program.options:
        view.program.value = program
        for colour in view.colour.options:
            view.colour.value = colour
            (found,) = maps(view)
            assert found["title"] == f"memory map of {program.name}"
            assert "ran in" in shown(view)
            seen.add(shown(view))
    assert len(seen) == 4


def test_a_unit_is_that_of_the_axis_and_of_all_sizes(view: MemoryView) -> None:
    view.unit.value = "MiB"
    (found,) = maps(view)
    assert found["y"]["units"] == [[" MiB", 2**20]]
    view.unit.value = "automatic"
    assert len(maps(view)[0]["y"]["units"]) == 5


def test_two_programs_beside_each_other_have_axes_of_the_same_height(memory_profile: Any, executable: Any) -> None:
    small = executable(name="jit_g")
    large = executable(allocations=(*small.allocations, *small.allocations))
    view = MemoryView(memory_profile(executables=(large, small)))
    assert len(maps(view)) == 1
    view.beside.value = small
    first, second = maps(view)
    assert (first["title"], second["title"]) == ("memory map of jit_f", "memory map of jit_g")
    whole = sum(each.size_bytes for each in large.allocations if each.kind != "constant")
    assert first["y"]["high"] == second["y"]["high"] == whole


def test_two_profiles_are_shown_beside_each_other(memory_profile: Any, executable: Any) -> None:
    other = memory_profile(executables=(executable(name="jit_remat"),))
    view = jaxmagic.explore(memory_profile(), other)
    assert [name for name, _ in view.program.options] == ["1.1: jit_f", "2.1: jit_remat"]
    assert [each["title"] for each in maps(view)] == ["memory map of jit_f", "memory map of jit_remat"]
    assert shown(view).count("ran in") == 2


def test_what_was_used_what_is_alive_and_the_cells_can_be_looked_at(memory_profile: Any) -> None:
    cells = [CellMemory(cell=number, array_bytes=1024 * number) for number in (1, 2, 3)]
    view = MemoryView(memory_profile(), cells=cells)
    assert view.look_at.options == ("memory map", "usage over time", "arrays", "cells of the session")
    titles = []
    for each in view.look_at.options[1:]:
        view.look_at.value = each
        assert view.program.disabled
        titles += re.findall(r'<img alt="([^"]*)"', shown(view))
    assert titles == ["memory while the code ran", "arrays, 3.00 KiB in all", "arrays after each cell, 3.00 KiB now"]
    view.look_at.value = "memory map"
    assert not view.program.disabled


def test_where_no_program_has_a_map_the_rest_is_shown(memory_profile: Any, executable: Any, live_arrays: Any) -> None:
    unmapped = (executable(allocations=None, steps=None),)
    view = MemoryView(memory_profile(executables=unmapped))
    assert view.look_at.options == ("usage over time", "arrays")
    nothing = MemoryView(memory_profile(executables=unmapped, timeline=None, arrays=live_arrays()))
    assert nothing.look_at.options == ("report",)
    assert "<img" not in shown(nothing)
    assert "jit_f" in shown(nothing)


def test_explore_opens_it_for_a_profile_and_for_a_program(memory_profile: Any, executable: Any) -> None:
    assert type(jaxmagic.explore(memory_profile())) is MemoryView
    assert type(jaxmagic.explore(executable())) is MemoryView


def test_what_cannot_stand_beside_it_is_refused(memory_profile: Any, timing: Any) -> None:
    with pytest.raises(TypeError, match="got Timing"):
        jaxmagic.explore(memory_profile(), timing())
    with pytest.raises(TypeError, match="first of several, got Timing"):
        jaxmagic.explore(timing(), memory_profile())


def test_living_arrays_can_be_explored_alone(live_arrays: Any, memory_profile: Any) -> None:
    view = jaxmagic.explore(live_arrays((4096, ("weights",)), (1024, ("x",))))
    assert "arrays" in view.look_at.options
    assert "weights" in shown(view)
    with pytest.raises(TypeError, match="first of several, got LiveArrays"):
        jaxmagic.explore(live_arrays((8, ("x",))), memory_profile())
