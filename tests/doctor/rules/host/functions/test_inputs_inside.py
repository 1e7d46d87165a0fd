"""What the code reads has other names in the functions that it calls, and these are followed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.rules.host.functions.inputs_inside import inputs_inside
from jaxmagic.records.call_stack import Frame

INPUTS = tuple(
    Input(path=each, kind="numpy array", type="float32[8]", size_bytes=32)
    for each in ("images", "labels", "sets['x']", "data", "x", "model.w")
)

SOURCE = """
def run(data, out=None):
    for _ in range(3):
        out = total(data)

def both(x, y):
    run(x)
    return x

def other(data):
    data = data + 1
    return data

def star(data):
    return data

class Model:
    def fit(self, data):
        return data
"""
#: A line of each function.
LINES = {"run": 4, "both": 8, "other": 12, "star": 15, "fit": 19}


@pytest.mark.parametrize(
    ("code", "function", "names"),
    [
        ("run(images)", "run", {"data": "images"}),
        ("a = run(out=labels, data=images)", "run", {"data": "images"}),
        ("run(sets['x'])", "run", {"data": "sets['x']"}),
        ("run(sets)", "run", {"data['x']": "sets['x']"}),
        ("both(images, labels)", "run", {"data": "images"}),
        ("run(images); run(labels)", "run", {}),
        ("run(load())", "run", {}),
        ("other(images)", "other", {}),
        ("star(*images)", "star", {}),
        ("model.fit(images)", "fit", {"data": "images", "self.w": "model.w"}),
        ("fit(model, images)", "fit", {}),
        ("load()", "run", {}),
        ("main.<locals>.both", "run", {"data": "x"}),
        ("run", "run", {"data": "data"}),
    ],
)
def test_parameters_are_what_the_code_passes(
    code: str, function: str, names: dict[str, str], timing: Any, tmp_path: Path
) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE)
    evidence = Evidence(code=code, first=timing(), observed=timing(), inputs=INPUTS)
    inside = inputs_inside(Frame(function=function, file=str(file), line=LINES[function]), evidence)
    parameters = {"run": ("data", "out"), "both": ("x", "y")}.get(function, ("data",))
    own = {name: each.path for name, each in inside.items() if re.split(r"\W", name)[0] in (*parameters, "self")}
    assert own == names
