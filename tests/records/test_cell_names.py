"""Files have the names that a session gives them, as long as the session lasts."""

from __future__ import annotations

import gc
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.memory_use.capture.executables import requirement
from jaxmagic.records import cell_names as sources
from jaxmagic.records.cell_names import add_naming, known_as, place_known_as, remove_naming
from jaxmagic.timing.capture.stopwatch import Stopwatch


class Naming:
    def __init__(self, name: str, file: str) -> None:
        self.name, self.file, self.asked = name, file, 0

    def __call__(self, file: str) -> str | None:
        self.asked += 1
        return self.name if file == self.file else None


@pytest.fixture
def naming(monkeypatch: pytest.MonkeyPatch) -> Naming:
    monkeypatch.setattr(sources, "_namings", [])
    here = Naming("cell 12", __file__)
    add_naming(here)
    return here


def test_a_file_without_a_name_is_itself(naming: Naming) -> None:
    assert known_as("/home/me/train.py") == "/home/me/train.py"
    assert known_as(__file__) == "cell 12"


@pytest.mark.parametrize(
    ("place", "known"),
    [
        (f"{__file__}:3", "cell 12:3"),
        ("<ipython-input-1-0:0>:7", "<ipython-input-1-0:0>:7"),
        (__file__, __file__),  # without a line it is no place
        ("", ""),
        (None, None),
    ],
)
def test_a_place_keeps_its_line(naming: Naming, place: Any, known: Any) -> None:
    assert place_known_as(place) == known


def test_the_last_naming_is_asked_first_and_each_once(naming: Naming) -> None:
    later = Naming("cell 13", __file__)
    add_naming(later)
    add_naming(later)
    assert known_as(__file__) == "cell 13"
    remove_naming(later)
    remove_naming(later)
    assert known_as(__file__) == "cell 12"


def test_a_naming_is_not_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_namings", [])
    gone = Naming("cell 1", __file__)
    add_naming(gone)
    del gone
    gc.collect()
    assert known_as(__file__) == __file__
    add_naming(stays := Naming("cell 2", __file__))
    assert len(sources._namings) == 1
    assert known_as(__file__) == stays.name


def test_buffers_are_said_to_come_from_the_cell_and_each_file_is_asked_about_once(naming: Naming) -> None:
    found = requirement(jax.jit(lambda x: jnp.sort(x) @ x).lower(jnp.ones(300)).compile().runtime_executable())
    known = {each.source for allocation in found.allocations or () for each in allocation.buffers if each.source}
    assert "cell 12" in {place.partition(":")[0] for place in known}  # JAX itself: as first traced
    assert naming.asked < 20


def test_a_compilation_says_the_cell(naming: Naming) -> None:
    x = jnp.ones(5)
    with Stopwatch() as watch:
        jax.jit(lambda x: x * 21)(x)
    (found,) = watch.timing.compilations
    name, _, line = str(found.location).partition(":")
    assert (name, line.isdecimal()) == ("cell 12", True)
