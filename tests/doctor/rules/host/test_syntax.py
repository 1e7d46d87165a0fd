"""The calls of a jitted function are found by all names that it has in a file."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.jitted_names import JittedName
from jaxmagic.doctor.record.program import Caller, Program
from jaxmagic.doctor.rules.host.syntax import around, called_as, calls_of, site_of, written_as
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.cell_names import add_naming, remove_naming

CODE = """
forward = jax.jit(lambda params, x: x)
fast = jit(step, donate_argnums=0)
self.update = eqx.filter_jit(update)
other = vmap(step)
slopes = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0)))
y = forward(fast(x), self.update(step(x)), other(x), slopes(x))
"""


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("step", ["fast", "step"]),
        ("update", ["self.update"]),
        ("forward", ["forward"]),
        ("loss", ["slopes"]),
    ],
)
def test_a_call_by_the_name_of_the_jitted_form_is_one_of_the_function(
    tmp_path: Path, name: str, calls: list[str]
) -> None:
    file = tmp_path / "program.py"
    file.write_text(CODE)
    line = Frame(function="<module>", file=str(file), line=7)
    assert sorted(ast.unparse(each.func) for each in calls_of(name, around(line)[-1], line)) == calls


@pytest.fixture
def lambda_at(executable: Any) -> Callable[..., Program]:
    def make(location: str | None, *names: str) -> Program:
        jitted = tuple(JittedName(name=each, function="<lambda>", location=location or "") for each in names)
        caller = Caller(jitted=jitted, arrays=()) if names else None
        return Program(executable=executable(), module=None, function="<lambda>", location=location, caller=caller)

    return make


def test_a_jitted_lambda_is_called_by_its_only_variable(
    tmp_path: Path, timing: Any, lambda_at: Callable[..., Program]
) -> None:
    file = tmp_path / "program.py"
    file.write_text("forward = jax.jit(lambda x: x)\nbackward = jax.jit(lambda x: -x)\n")
    none = Evidence(code=None, first=timing(), observed=timing())
    first, second = f"{file}:1", f"{file}:2"
    jitted = (
        JittedName(name="fast", function="<lambda>", location=first),
        JittedName(name="other", function="<lambda>", location="cell 1:1"),
    )
    named = replace(none, jitted=jitted)

    def called(*programs: Program, evidence: Evidence = none) -> str:
        return called_as("<lambda>", programs, evidence)

    assert called(lambda_at(first)) == "forward"
    assert called(lambda_at(second), lambda_at(second)) == "backward"
    assert called(lambda_at(first), lambda_at(second)) == "<lambda>"
    assert called(lambda_at(None)) == called(lambda_at(f"{file}:3")) == "<lambda>"
    assert called(lambda_at(first), evidence=named) == "fast"
    assert called(lambda_at(second), evidence=named) == "backward"
    assert called(lambda_at(first, "self.step"), evidence=named) == "step"
    assert called(lambda_at(first, "self.step", "step")) == "step"
    assert called(lambda_at(first, "self.step", "f")) == "<lambda>"


def test_a_function_of_a_factory_is_called_by_its_variable_unless_it_has_its_own_name(
    timing: Any, executable: Any
) -> None:
    program = Program(executable=executable(), module=None, function="step", location="cell 1:2")
    variables = [JittedName(name=each, function="step", location="cell 1:2") for each in ("train", "step")]
    evidence = Evidence(code=None, first=timing(), observed=timing())
    assert called_as("step", [program], evidence) == "step"
    assert called_as("step", [program], replace(evidence, jitted=(variables[0],))) == "train"
    assert called_as("step", [program], replace(evidence, jitted=tuple(variables))) == "step"


def test_a_module_that_is_jitted_as_a_whole_is_called_by_its_variable(
    tmp_path: Path, timing: Any, executable: Any
) -> None:
    """The program has the name of its class."""
    file = tmp_path / "program.py"
    file.write_text("for x in xs:\n    y = self.forward(scaled(x))\n    z = step(model, x)\n")
    evidence = Evidence(code=None, first=timing(), observed=timing())

    def program(line: int, *modules: str) -> Program:
        line_called = Frame(function="run", file=str(file), line=line)
        return Program(
            executable=executable(), module=None, function="fun_wrapped", called_at=line_called, modules=modules
        )

    assert called_as("CNN", [program(2, "self.forward", "model")], evidence) == "forward"
    assert called_as("step", [program(3, "model")], evidence) == "step"
    assert called_as("CNN", [program(2, "self.forward"), program(3, "model")], evidence) == "CNN"
    assert called_as("CNN", [program(2)], evidence) == "CNN"
    site = site_of("CNN", [program(2, "self.forward")], evidence)
    assert site is not None
    assert site.line == 2


def test_the_line_of_a_lambda_tells_which_of_several_it_is(tmp_path: Path, executable: Any, timing: Any) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "forward = jax.jit(lambda x: x)\nbackward = jax.jit(lambda x: -x)\nfor x in xs:\n"
        "    y = forward(x)\n    z = backward(y)\n"
    )
    line = Frame(function="<module>", file=str(file), line=4)
    program = Program(executable=executable(), module=None, function="<lambda>", called_at=line, location=f"{file}:2")
    evidence = Evidence(code=None, first=timing(), observed=timing())
    site = site_of("<lambda>", [program], evidence)
    assert site is not None
    assert site.line == 5
    assert written_as(called_as("<lambda>", [program], evidence), site) == "backward"


@pytest.mark.parametrize(("call", "written"), [("step(x)", "step"), ("self.fast(x)", "self.fast"), ("f(x)", "_f")])
def test_a_function_has_the_name_that_its_call_has(tmp_path: Path, call: str, written: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"self.fast = jax.jit(self._f)\ny = {call}\n")
    line = Frame(function="<module>", file=str(file), line=2)
    assert written_as("step" if written == "step" else "_f", line) == written


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("y = f(x)", "for x in xs:", "    y = f(x)"), 4),
        (("y = f(x)", "ys = [f(x) for x in xs]"), 3),
        (("for x in xs:", "    y = f(x)", "    z = f(y)"), None),
        (("y = f(x)", "z = f(y)"), None),
        (("for x in xs: y = f(x)", "z = g(y)"), 2),
    ],
)
def test_a_line_in_a_loop_is_where_a_function_is_called(
    tmp_path: Path, executable: Any, timing: Any, lines: tuple[str, ...], found: int | None
) -> None:
    file = tmp_path / "program.py"
    file.write_text("\n".join(["def run(x, xs):", *(f"    {each}" for each in lines)]))
    first = Frame(function="run", file=str(file), line=2)
    program = Program(executable=executable(name="jit_f"), module=None, function="f", eager=False, called_at=first)
    site = site_of("f", [program], Evidence(code="", first=timing(), observed=timing()))
    assert (None if site is None else site.line) == found


def test_the_jitted_form_may_be_made_in_another_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = {
        "1": "grads = jax.jit(jax.grad(loss))\n",
        "2": "y = grads(x)\n",
    }
    files = {number: f"<ipython-input-{number}>" for number in cells}
    for number, file in files.items():
        monkeypatch.setitem(linecache.cache, file, (len(cells[number]), None, cells[number].splitlines(True), file))
    line = Frame(function="<module>", file=files["2"], line=1)

    def found(name: str) -> list[str]:
        return [ast.unparse(each.func) for each in calls_of(name, around(line)[-1], line)]

    assert found("loss") == []
    naming = {file: f"cell {number}" for number, file in files.items()}.get
    add_naming(naming)
    try:
        assert found("loss") == ["grads"]
    finally:
        remove_naming(naming)
