"""For short calls with modules, a loop is advised that carries them, and the advice works."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate.profiling import MS

from jaxmagic.doctor.record.evidence import Dispatch, Input
from jaxmagic.doctor.record.library_use import ModuleLibrary
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host import dispatch_bound
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note

X = jnp.ones((4, 3))


def nnx_advice(**facts: Any) -> str:
    given = {"library": "nnx", "modules": "model, rates", "jit": "nnx.jit"}
    return str(note("doctor.dispatch_bound_scan", function="step", **given | facts))


def eqx_advice() -> str:
    given = {"library": "equinox", "modules": "model", "jit": "eqx.filter_jit"}
    return str(note("doctor.dispatch_bound_scan", function="step", **given))


def eqx_mapped() -> str:
    return str(note("doctor.dispatch_bound_vmap", function="step", axes="(None, 0)", jit="eqx.filter_jit"))


def nnx_step(nnx: Any) -> Any:
    @nnx.jit
    def step(model: Any, rates: Any, x: Any) -> Any:
        value, grads = nnx.value_and_grad(lambda model: jnp.mean(model(x) ** 2))(model)
        nnx.update(model, jax.tree.map(lambda p, g: p - rates.rate[...] * g, nnx.state(model, nnx.Param), grads))
        rates.rate[...] = rates.rate[...] * 0.9
        return value

    return step


def nnx_modules(nnx: Any) -> Any:
    class Rates(nnx.Module):
        def __init__(self) -> None:
            self.rate = nnx.Variable(jnp.float32(0.1))

    return nnx.Linear(3, 2, rngs=nnx.Rngs(0)), Rates()


def test_the_call_of_nnx_scan_that_is_advised_keeps_the_changes() -> None:
    nnx = pytest.importorskip("flax.nnx")
    step, (model, rates) = nnx_step(nnx), nnx_modules(nnx)
    losses = [float(step(model, rates, X)) for _ in range(5)]
    expected = np.asarray(model.kernel[...])
    model, rates = nnx_modules(nnx)
    found = re.search(r"nnx\.scan\(.*\)\(\(model, rates\)\)", nnx_advice())
    assert found is not None

    @nnx.jit
    def steps(model: Any, rates: Any, x: Any) -> Any:
        names = {"nnx": nnx, "n": 5, "model": model, "rates": rates, "body": lambda carry: (carry, step(*carry, x))}
        return eval(found[0], names)[1]

    np.testing.assert_allclose(steps(model, rates, X), losses, rtol=1e-5)
    np.testing.assert_allclose(model.kernel[...], expected, rtol=1e-5)


def test_the_call_of_nnx_scan_that_is_advised_goes_over_batches() -> None:
    advice = nnx_advice(items="x")
    assert "in which carry is (model, rates) and batch is x, return" in advice
    nnx = pytest.importorskip("flax.nnx")
    batches = jnp.stack([X, 2 * X, X - 1])
    step, (model, rates) = nnx_step(nnx), nnx_modules(nnx)
    losses = [float(step(model, rates, x)) for x in batches]
    expected = np.asarray(model.kernel[...])
    model, rates = nnx_modules(nnx)
    found = re.search(r"nnx\.scan\(.*\)\(\(model, rates\), batches\)", advice)
    assert found is not None

    @nnx.jit
    def steps(model: Any, rates: Any, batches: Any) -> Any:
        names = {"nnx": nnx, "model": model, "rates": rates, "batches": batches}
        return eval(found[0], names | {"body": lambda carry, batch: (carry, step(*carry, batch))})[1]

    np.testing.assert_allclose(steps(model, rates, batches), losses, rtol=1e-5)
    np.testing.assert_allclose(model.kernel[...], expected, rtol=1e-5)


def test_loops_of_lax_lose_changes_of_modules_or_fail() -> None:
    assert "The loops of jax.lax lose what is changed in modules, or fail." in nnx_advice()
    nnx = pytest.importorskip("flax.nnx")
    step, (model, rates) = nnx_step(nnx), nnx_modules(nnx)
    before = np.asarray(model.kernel[...])

    @nnx.jit
    def carried(model: Any, rates: Any, x: Any) -> Any:
        return jax.lax.scan(lambda carry, _: (carry, step(*carry, x)), (model, rates), length=5)[1]

    carried(model, rates, X)
    np.testing.assert_array_equal(model.kernel[...], before)

    @nnx.jit
    def captured(model: Any, rates: Any, x: Any) -> Any:
        return jax.lax.scan(lambda carry, _: (carry, step(model, rates, x)), None, length=5)[1]

    with pytest.raises(Exception, match="trace level"):
        captured(model, rates, X)


def test_the_split_that_is_advised_carries_a_module_of_equinox() -> None:
    eqx = pytest.importorskip("equinox")
    advice = eqx_advice()
    split = re.search(r"eqx\.partition\(.*?\)", advice)
    joined = re.search(r"eqx\.combine\(.*?\)", advice)
    assert split is not None
    assert joined is not None

    @eqx.filter_jit
    def step(model: Any, x: Any) -> Any:
        grads = eqx.filter_grad(lambda model: jnp.mean(jax.vmap(model)(x) ** 2))(model)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads))

    @eqx.filter_jit
    def steps(model: Any, x: Any) -> Any:
        params, static = eval(split[0], {"eqx": eqx, "modules": model})

        def body(params: Any, _: None) -> Any:
            model = step(eval(joined[0], {"eqx": eqx, "params": params, "static": static}), x)
            return eval(split[0], {"eqx": eqx, "modules": model})[0], None

        params, _ = jax.lax.scan(body, params, length=3)
        return eval(joined[0], {"eqx": eqx, "params": params, "static": static})

    model = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))
    expected = step(step(step(model, X), X), X)
    for one, other in zip(jax.tree.leaves(steps(model, X)), jax.tree.leaves(expected), strict=True):
        if eqx.is_array(one):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_the_vmap_that_is_advised_takes_a_module_of_equinox() -> None:
    eqx = pytest.importorskip("equinox")
    found = re.search(r"make one call of (\S+\(.*\)) with", eqx_mapped())
    assert found is not None
    model, step = eqx.nn.MLP(3, "scalar", 4, 1, key=jax.random.key(0)), eqx.filter_jit(lambda model, x: model(x))
    values = eval(found[1], {"eqx": eqx, "step": step})(model, X)
    np.testing.assert_allclose(values, [step(model, x) for x in X], rtol=1e-5)


@pytest.mark.parametrize("end", ["value", "host"])
def test_loops_that_values_end_are_those_of_nnx(end: str) -> None:
    given = {"library": "nnx", "modules": "model", "jit": "nnx.jit"}
    advice = str(note("doctor.dispatch_bound_until", function="step", end=end, **given))
    assert "a fixed number of steps of step with nnx.scan" in advice
    assert ("Use nnx.while_loop inside one function under nnx.jit" in advice) == (end == "value")
    assert "jax.lax.scan" not in advice
    assert advice.endswith("The loops of jax.lax lose what is changed in modules, or fail.")


@pytest.mark.parametrize(
    ("library", "source", "advice"),
    [
        ("nnx", "for _ in range(9):\n    step(model, rates, x)\n", nnx_advice()),
        ("nnx", "losses = [step(model, rates, x) for x in xs]\n", nnx_advice(items="x")),
        ("nnx", "for i, (x, y) in enumerate(data):\n    step(model, rates, x, y)\n", nnx_advice(items="x, y")),
        ("nnx", "while True:\n    for _ in range(9):\n        step(model, rates, x)\n", nnx_advice()),
        ("equinox", "for _ in range(9):\n    model = step(model, x)\n", eqx_advice()),
        ("equinox", "losses = [step(model, x) for x in xs]\n", eqx_mapped()),
    ],
)
@pytest.mark.parametrize("made", [False, True])
def test_a_loop_over_a_step_with_modules_is_advised_with_what_carries_them(
    library: ModuleLibrary, source: str, advice: str, made: bool, evidence: Any, executable: Any, tmp_path: Path
) -> None:
    """Whether the code reads the modules or makes them."""
    (tmp_path / "train.py").write_text(source)
    lines = source.splitlines()
    line = Frame(function="<module>", file=str(tmp_path / "train.py"), line=len(lines))
    step = Program(executable=executable(name="jit_step"), module=None, function="step", eager=False, called_at=line)
    step = replace(step, library=library, modules=("model", "rates")) if made else step
    call = Dispatch(name="step", count=50, host_ns=20 * MS, exposed_ns=20 * MS)
    modules = (
        Input(path=each, kind="function", type="Net", size_bytes=0, library=library) for each in ("model", "rates")
    )
    inputs = () if made else tuple(modules)
    (finding,) = dispatch_bound.look(evidence((call,), code=source, programs=(step,), inputs=inputs))
    assert str(finding.remedy) == advice
    assert finding.code is None
