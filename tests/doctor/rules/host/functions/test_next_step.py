"""What would spare the calls of a jitted function as well, on evidence that was never measured."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate import hlo
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostShare, HostUse, Input
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.next_step import called_in_turn, with_next_step
from jaxmagic.doctor.rules.host.functions.spared import Part
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import Note, note

F = "def f(w, x):\n    return jnp.tanh(w @ x)\n"

ADVICE = note("doctor.not_jitted_remedy", way="function", function="f")

#: No call needs the result of another: the calls of ``vmap`` that compute the same.
MAPPED = {
    "def run(w, xs):\n    out = []\n    for x in xs:\n        out.append(f(w, x))  # here\n": "(None, 0)",
    "def run(ws, xs):\n    return [f(w, x) for w, x in zip(ws, xs)]  # here\n": "",
    "def run(w, xs):\n    for i in range(len(xs)):\n        y = f(w, xs[i])  # here\n": "(None, 0)",
}

#: No pair of the items of two loops needs the result of another.
PAIRS = {
    "def run(ws, xs):\n    return [[f(w, x) for x in xs] for w in ws]  # here\n": ("(None, 0)", "(0, None)"),
    "def run(ws, xs):\n    return [f(w, x) for x in xs for w in ws]  # here\n": ("(0, None)", "(None, 0)"),
    "def run(k, ws, xs):\n    for i in range(9):\n        for j in range(9):\n"
    "            k[i][j] = float(f(ws[i], xs[j]))  # here\n": ("(None, 0)", "(0, None)"),
    "def run(ws, xs):\n    out = []\n    for w in ws:\n        out.append([f(w, x) for x in xs])  # here\n": (
        "(None, 0)",
        "(0, None)",
    ),
}

#: Loops in each other whose calls cannot be mapped like that.
NO_PAIRS = [
    "def run(ws, xs):\n    return [[f(ws[i], xs[j]) for j in range(i)] for i in range(9)]  # here\n",
    "def run(ws, xs):\n    return [[f(w, x) for x in xs if x is not w] for w in ws]  # here\n",
    "def run(w, xs):\n    return [[f(w, x) for x in xs] for _ in range(9)]  # here\n",
    "def run(ws, xs):\n    return [[f(w, g(x)) for x in xs] for w in ws]  # here\n",
    "def run(ws, xs):\n    for w in ws:\n        for x in xs:\n            v = x - 1\n            f(w, v)  # here\n",
    "def run(ws, x):\n    for i in range(9):\n        for w in ws:\n            x = f(w, x)  # here\n",
    "def run(ws, xs):\n    return [[[f(w, x) for x in xs] for w in ws] for _ in range(2)]  # here\n",
]

#: Each round needs the last one, or does more.
STEPPED = [
    "def run(w, x):\n    for _ in range(50):\n        x = f(w, x)  # here\n",
    "def run(w, xs):\n    s = 0.0\n    for x in xs:\n        y = f(w, x + s)  # here\n        s = s + y\n",
]

#: No loop; nested ones; one that ends by a value or the clock; a call of another function.
NOTHING = [
    "def run(w, x):\n    return f(w, x)  # here\n",
    "def run(w, x):\n    while jnp.abs(x).max() > 0.1:\n        x = f(w, x)  # here\n",
    "def run(w, xs):\n    return [[f(w, x + y) for y in xs] for x in xs]  # here\n",
    "def run(w, xs):\n    return [f(w, x + y) for x in xs for y in xs]  # here\n",
    "def run(w, xs):\n    for x in xs:\n        for y in xs:\n            z = f(w, x + y)  # here\n",
    "def run(w, x):\n    while time.time() < 5:\n        x = f(w, x)  # here\n",
]


@pytest.fixture
def called(timing: Any, executable: Any, tmp_path: Path) -> Any:
    file = tmp_path / "model.py"

    def make(source: str, count: int = 50, also: tuple[int, ...] = (), **known: Any) -> tuple[Part, Evidence]:
        file.write_text(F + source)
        here = next(n for n, line in enumerate(file.read_text().splitlines(), 1) if "# here" in line)
        inside = Frame(function="f", file=str(file), line=2)
        programs = []
        for number, line in enumerate((here, *also)):
            stack = (Frame(function="run", file=str(file), line=line), inside)
            module = hlo.module(hlo.instruction("tanh", stack=stack), name="jit_tanh")
            made = Program(
                executable=executable(name=f"jit_tanh{number}"), module=module, function="tanh", eager=True
            )
            programs.append(made)
        use = HostUse(
            dispatches=(Dispatch(name="tanh", count=count, host_ns=1, exposed_ns=1),), idle_ns=1, waited_ns=0, waits=0
        )
        evidence = Evidence(
            code="run(w, x)", first=timing(), observed=timing(), programs=tuple(programs), host_use=use, **known
        )
        (function,) = (each for each in ast.parse(F).body if isinstance(each, ast.FunctionDef))
        return Part(function, str(file)), evidence

    return make


@pytest.fixture
def advised(called: Any) -> Any:
    def make(
        source: str, transformed: bool = False, remedy: Note = ADVICE, static: bool = False, **known: Any
    ) -> Note:
        return with_next_step(remedy, *called(source, **known), transformed=transformed, static=static)

    return make


@pytest.mark.parametrize(
    ("source", "anew"),
    [
        ("def run(x):\n    w = nnx.Optimizer(m, optax.adam(0.1))\n    return f(w, x)  # here\n", "w"),
        ("def run(w, x):\n    return f(w, x)  # here\n", None),
    ],
)
def test_an_optimizer_that_each_run_makes_is_told(advised: Any, source: str, anew: str | None) -> None:
    assert advised(source).facts.get("anew") == anew


@pytest.mark.parametrize(("source", "axes"), MAPPED.items())
def test_rounds_that_need_nothing_of_each_other_are_one_call_of_vmap(advised: Any, source: str, axes: str) -> None:
    found = advised(source)
    assert (found.facts["then"], found.facts["axes"]) == ("vmap", axes)
    assert f"call jax.jit(jax.vmap(f{axes and ', in_axes=' + axes})) once." in str(found)


@pytest.mark.parametrize("source", STEPPED)
def test_rounds_that_need_the_last_one_are_a_scan(advised: Any, source: str) -> None:
    found = advised(source)
    assert found.facts["then"] == "step"
    assert "looped over with jax.lax.scan" in str(found)
    here = next(number for number, each in enumerate((F + source).splitlines(), 1) if "# here" in each)
    assert str(found.facts["line"]).endswith(f"model.py:{here}")


@pytest.mark.parametrize(("source", "axes"), PAIRS.items())
def test_pairs_of_items_are_one_call_of_two_vmaps(advised: Any, source: str, axes: tuple[str, str]) -> None:
    found = advised(source)
    mapped = f"jax.vmap(jax.vmap(f, in_axes={axes[0]}), in_axes={axes[1]})"
    assert f"call jax.jit({mapped}) once: its result has an axis for each loop." in str(found)
    ws, xs = np.arange(24.0).reshape(4, 2, 3), np.arange(15.0).reshape(5, 3)
    computed = eval(mapped, {"jax": jax, "f": lambda w, x: jnp.tanh(w @ x)})(ws, xs)
    expected = np.tanh(np.einsum("wij,xj->wxi", ws, xs))
    np.testing.assert_allclose(computed, expected if axes[0] == "(None, 0)" else expected.swapaxes(0, 1), rtol=1e-5)


@pytest.mark.parametrize("source", NO_PAIRS)
def test_other_calls_in_two_loops_are_left_alone(advised: Any, source: str) -> None:
    assert advised(source) is ADVICE


@pytest.mark.parametrize("source", NOTHING)
def test_a_call_outside_of_loops_or_in_one_of_unknown_length_is_left_alone(advised: Any, source: str) -> None:
    assert advised(source) is ADVICE


@pytest.mark.parametrize(
    ("source", "line"),
    [*((each, None) for each in MAPPED), *zip(STEPPED, (5, 6), strict=True), (NOTHING[0], None), (NOTHING[1], 5)],
)
def test_a_function_is_called_in_turn_where_a_round_needs_the_last_one(
    called: Any, source: str, line: int | None
) -> None:
    site = called_in_turn(*called(source))
    assert (None if site is None else site.line) == line


def test_modules_of_equinox_are_mapped_by_equinox() -> None:
    advice = replace(ADVICE, facts={**ADVICE.facts, "library": "equinox", "jit": "eqx.filter_jit", "then": "vmap"})
    mapped = "stack them and call eqx.filter_jit(eqx.filter_vmap(f, in_axes=(None, 0))) once."
    assert mapped in str(replace(advice, facts={**advice.facts, "axes": "(None, 0)"}))


def test_calls_that_change_a_module_are_not_independent(advised: Any) -> None:
    model = Input(path="model", kind="function", type="Net", size_bytes=0, library="nnx")
    source = "for x in xs:\n    loss = f(model, x)  # here\n"
    assert advised(source, inputs=(model,)).facts["then"] == "step"
    found = advised(source, remedy=replace(ADVICE, facts={**ADVICE.facts, "library": "nnx"}))
    assert found.facts["then"] == "step"
    assert "looped over with nnx.scan" in str(found)


def test_a_loop_that_compiled_the_operations_before_is_left_alone(advised: Any, tmp_path: Path) -> None:
    """As their programs keep the stack for which they were compiled."""
    here = Frame(function="run", file=str(tmp_path / "model.py"), line=4)
    elsewhere = HostShare(line=here, called="", samples=1, stack=(replace(here, file="<cell 2>"),))
    assert advised(next(iter(MAPPED)), host=(elsewhere,)) is ADVICE
    assert advised(next(iter(MAPPED)), host=(replace(elsewhere, stack=(here,)),)).facts["then"] == "vmap"


def test_few_calls_are_left_alone(advised: Any) -> None:
    assert advised(next(iter(MAPPED)), count=9) is ADVICE


def test_calls_from_several_lines_are_left_alone(advised: Any) -> None:
    assert advised(next(iter(MAPPED)), also=(3,)) is ADVICE


@pytest.mark.parametrize("source", MAPPED)
def test_static_arguments_are_not_mapped(advised: Any, source: str) -> None:
    """``jax.vmap`` traces them: a number would be asked for its type in vain, and a text is no array."""
    assert advised(source, static=True).facts.get("then") != "vmap"


def test_a_gradient_is_not_mapped(advised: Any) -> None:
    """What else the loop does with it is more than a call."""
    assert advised(next(iter(MAPPED)), transformed=True).facts["then"] == "step"


@pytest.mark.parametrize(
    "cell",
    [
        "for _ in range(2):\n    found = jaxmagic.diagnose(f, x)",
        "found = [jaxmagic.diagnose(f, x) for _ in range(2)][-1]",
        "def study():\n    for _ in range(2):\n        found = jaxmagic.diagnose(f, x)\n    return found\nstudy()",
        "for _ in range(2):\n    %jaxdoctor f(x)",
    ],
)
def test_a_loop_around_the_examined_code_is_not_its_own(session: Session, cell: str) -> None:
    """Nor where the operations are compiled for it."""
    session.run("import jax, jax.numpy as jnp, jaxmagic\nx = jnp.ones(5)\njax.clear_caches()")
    session.run("def f(x):\n    for i in range(40):\n        x = jnp.sin(x) * i\n    return x")
    session.run(cell)
    diagnosis = jaxmagic.history()[-1]
    assert isinstance(diagnosis, Diagnosis)
    remedies = [each.remedy for each in diagnosis.findings if each.rule == "not-jitted" and each.remedy is not None]
    assert all("then" not in each.facts for each in remedies)
    assert all(each.facts["function"] == "f" for each in remedies)
