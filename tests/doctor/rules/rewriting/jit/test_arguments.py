"""Arguments are traced, static, of a library's modules, or nothing that jit takes."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence, Input, LibraryNames
from jaxmagic.doctor.rules.rewriting.jit.arguments import Arguments, arguments_of, objects, untraced
from jaxmagic.records.call_stack import Frame

DEFINED = Frame(function="act", file="program.py", line=3)
INPUTS = (
    Input(path="x", kind="jax array", type="float32[3]"),
    Input(path="rate", kind="number", type="float"),
    Input(path="training", kind="number", type="bool"),
    Input(path="axis", kind="number", type="int"),
    Input(path="mode", kind="object", type="str"),
    Input(path="config", kind="object", type="Config"),
    Input(path="batches", kind="iterator", type="generator"),
    Input(path="act", kind="function", type="function", function=DEFINED),
    Input(path="relu", kind="function", type="PjitFunction", public="jax.nn.relu"),
    Input(path="tanh", kind="function", type="ufunc", public="numpy.tanh"),
    Input(path="called", kind="function", type="Model"),
    Input(path="model", kind="function", type="MLP", library="equinox"),
    Input(path="state", kind="other", type="tuple", library="equinox"),
    Input(path="net", kind="function", type="Net", library="nnx"),
)
NAMES = LibraryNames(
    function=None, paths=(("jnp.tanh", "jax.numpy.tanh"), ("np.tanh", "numpy.tanh"), ("jnp.pi", ""), ("x", ""))
)


@pytest.fixture
def evidence(timing: Any) -> Evidence:
    return Evidence(code="", first=timing(), observed=timing(), inputs=INPUTS, names=(NAMES,))


def passed(evidence: Evidence, *values: str, changing: str = "", counted: str = "") -> Arguments | None:
    given = [(f"p{number}", ast.parse(each, mode="eval").body) for number, each in enumerate(values)]
    return arguments_of(given, evidence, set(changing.split()), set(counted.split()))


@pytest.mark.parametrize("value", ["x", "rate", "2.0", "unknown", "x[0]", "f(x)", "jnp.pi"])
def test_arrays_and_floats_are_traced(evidence: Evidence, value: str) -> None:
    assert passed(evidence, value) == Arguments()
    assert passed(evidence, value, changing="x rate unknown") == Arguments()


@pytest.mark.parametrize("value", ["training", "axis", "mode", "True", "3", "'mean'"])
def test_flags_are_static(evidence: Evidence, value: str) -> None:
    assert passed(evidence, "x", value) == Arguments(static=("p1",))
    if value.isidentifier() and value != "True":
        assert passed(evidence, "x", value, changing=value) is None


@pytest.mark.parametrize("value", ["config", "batches", "tanh", "np.tanh", "called", "lambda x: x"])
def test_nothing_else_is_taken(evidence: Evidence, value: str) -> None:
    assert passed(evidence, "x", value) is None


def test_what_counts_would_compile_in_each_round(evidence: Evidence) -> None:
    assert passed(evidence, "x", "number") is not None
    assert passed(evidence, "x", "number", counted="number") is None


def test_functions_that_stay_the_same_are_static(evidence: Evidence) -> None:
    own = Arguments(static=("p0",), functions=("p0",), called=(DEFINED,))
    assert passed(evidence, "act") == own
    assert passed(evidence, "act", changing="act") is None
    for value in ("relu", "jnp.tanh"):
        assert passed(evidence, value) == own._replace(called=())


def test_modules_need_the_jit_of_their_library(evidence: Evidence) -> None:
    both = passed(evidence, "model", "state", "x", changing="model state x")
    assert both == Arguments(modules=frozenset({"p0", "p1"}), library="equinox")
    assert passed(evidence, "net", "training") == Arguments(static=("p1",), modules=frozenset({"p0"}), library="nnx")
    assert passed(evidence, "model", "net") is None


def test_a_number_that_changes_would_compile_again_beside_a_module(evidence: Evidence) -> None:
    assert passed(evidence, "model", "rate") is not None
    assert passed(evidence, "model", "rate", changing="rate") is None


def test_objects_are_named_in_the_advice(evidence: Evidence) -> None:
    assert objects(INPUTS) == {"mode", "config", "act", "relu", "tanh", "called"}
    assert untraced(INPUTS) >= {"mode", "config", "act", "batches", "training", "model"}
    assert untraced(replace(each) for each in INPUTS if each.path in ("x", "rate", "axis")) == set()
