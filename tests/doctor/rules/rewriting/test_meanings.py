"""Names in a function stand for what they are bound to there, then for objects, then for imports."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxmagic.doctor.record.evidence import LibraryNames
from jaxmagic.doctor.rules.rewriting.meanings import path_at, paths_in
from jaxmagic.records.call_stack import Frame

SOURCE = """
import numpy as xp
from numpy import tanh

def f(a, tanh):
    import math as m
    local = a
    return m.sqrt(xp.sum(local) + other(a))

def g(x):
    return xp.sum(tanh(x))
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(SOURCE)
    return str(path)


def paths(file: str, name: str, *known: LibraryNames) -> dict[str, str]:
    (function,) = (each for each in ast.parse(SOURCE).body if getattr(each, "name", "") == name)
    return paths_in(function, file, known)


def test_parameters_and_assigned_names_hide_imports(file: str) -> None:
    found = paths(file, "f")
    assert [found[each] for each in ("xp", "tanh", "m", "local", "a")] == ["numpy", "", "math", "", ""]
    assert paths(file, "g")["tanh"] == "numpy.tanh"


def test_objects_tell_more_than_imports(file: str) -> None:
    own = LibraryNames(function=Frame(function="g", file=file, line=10), paths=(("xp", "jax.numpy"), ("y", "time")))
    other = LibraryNames(function=Frame(function="f", file=file, line=5), paths=(("xp", "scipy"), ("z", "math")))
    elsewhere = LibraryNames(function=Frame(function="g", file="other.py", line=10), paths=(("xp", "random"),))
    found = paths(file, "g", other, own, elsewhere)
    assert (found["xp"], found["y"], found["z"]) == ("jax.numpy", "time", "math")
    assert paths(file, "f", own, other)["xp"] == "scipy"


def test_the_usual_names_are_meant_where_nothing_is_known() -> None:
    def at(text: str, known: dict[str, str]) -> str:
        return path_at(ast.parse(text, mode="eval").body, known)

    assert at("np.tanh", {}) == "numpy.tanh"
    assert at("np.tanh", {"np": "jax.numpy"}) == "jax.numpy.tanh"
    assert at("np.tanh", {"np": ""}) == ".np.tanh"
    assert at("f(x).y", {}) == "f(x).y"
