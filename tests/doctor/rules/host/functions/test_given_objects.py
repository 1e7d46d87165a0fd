"""The modules that a line passes are known by their names there, also after they were assigned again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.record.library_use import ModuleLibrary
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.given_objects import gives_an_object, modules_given
from jaxmagic.records.call_stack import Frame

INPUTS = (
    Input(path="net", kind="function", type="Net", size_bytes=0, library="nnx"),
    Input(path="opt", kind="other", type="Optimizer", size_bytes=0, library="nnx"),
    Input(path="mlp", kind="function", type="MLP", size_bytes=0, library="equinox"),
    Input(path="step", kind="function", type="_JitWrapper", size_bytes=0, library="equinox"),
    Input(path="x", kind="jax array", type="float32[8]", size_bytes=32),
)


def evidence_at(source: str, code: str, timing: Any, folder: Path) -> tuple[Frame, Evidence]:
    """Return the line with a comment, and the evidence about some code."""
    file = folder / "train.py"
    file.write_text(source)
    here = next(number for number, line in enumerate(source.splitlines(), 1) if "# here" in line)
    function = "train" if "def train" in source else "<module>"
    evidence = Evidence(code=code, first=timing(), observed=timing(), inputs=INPUTS)
    return Frame(function=function, file=str(file), line=here), evidence


@pytest.mark.parametrize(
    ("source", "code", "modules"),
    [
        ("loss = step(net, opt, x)  # here\n", "", ("nnx", ("net", "opt"))),
        ("loss = step(x, optimizer=opt, model=net)  # here\n", "", ("nnx", ("opt", "net"))),
        ("loss = float(step(net, x))  # here\n", "", ("nnx", ("net",))),
        ("mlp = step(mlp, x)  # here\n", "", ("equinox", ("mlp",))),
        ("m = mlp\nfor _ in range(9):\n    m = step(m, x)  # here\n", "", ("equinox", ("m",))),
        (
            "def train(m):\n    for _ in range(9):\n        m = step(m, x)  # here\n",
            "train(mlp)",
            ("equinox", ("m",)),
        ),
        ("def train(m):\n    return step(m, x)  # here\n", "train(x)", None),
        ("loss = step(net, mlp)  # here\n", "", None),
        ("y = step(x)  # here\n", "", None),
    ],
)
def test_modules_are_known_by_their_names_on_the_line(
    source: str, code: str, modules: tuple[str, tuple[str, ...]] | None, timing: Any, tmp_path: Path
) -> None:
    found = modules_given(*evidence_at(source, code, timing, tmp_path))
    assert (None if found is None else (found.library, found.names)) == modules
    if found is not None:
        assert found.jit == {"nnx": "nnx.jit", "equinox": "eqx.filter_jit"}[found.library]


@pytest.mark.parametrize(("given", "is_object"), [("net", True), ("opt", True), ("mlp", False), ("x", False)])
def test_modules_of_nnx_may_be_changed(given: str, is_object: bool, timing: Any, tmp_path: Path) -> None:
    source = f"losses = [step({given}, each) for each in xs]  # here\n"
    assert gives_an_object(*evidence_at(source, "", timing, tmp_path)) == is_object


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("loss = step(made, x)  # here\n", ("made",)),
        ("loss = step(self.made, x)  # here\n", ("self.made",)),
        ("loss = step(x)  # here\n", None),
    ],
)
@pytest.mark.parametrize("library", ["nnx", "equinox"])
def test_modules_that_the_code_makes_are_known_where_they_are_passed(
    source: str, library: ModuleLibrary, modules: tuple[str, ...] | None, timing: Any, executable: Any, tmp_path: Path
) -> None:
    line, evidence = evidence_at(source, "", timing, tmp_path)
    program = Program(
        executable=executable(), module=None, called_at=line, library=library, modules=("made", "self.made", "unused")
    )
    found = modules_given(line, evidence, [program])
    assert (None if found is None else (found.library, found.names)) == (modules and (library, modules))
    assert gives_an_object(line, evidence, [program]) == (library == "nnx" and modules is not None)
    elsewhere = replace(program, called_at=replace(line, file="other.py"))
    assert modules_given(line, evidence, [elsewhere]) is None
