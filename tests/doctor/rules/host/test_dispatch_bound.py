"""Calls that are given a number each are found as short calls, with the remedy that suits them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import host_programs as programs
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.evidence import Evidence, HostShare
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.host import dispatch_bound
from jaxmagic.records.call_stack import Frame

pytestmark = pytest.mark.clock
planted = pytest.mark.usefixtures("at_any_cost")

DISTANCES = np.linspace(0.9, 3.0, 300, dtype=np.float32)


def found(fn: Callable[..., Any], *args: Any, **options: Any) -> list[RuleFinding]:
    return list(jaxmagic.diagnose(fn, *args, only=("dispatch-bound", "transfer"), **options).findings)


@planted
def test_a_function_vectorized_by_numpy_is_mapped_in_one_call() -> None:
    (finding,) = found(programs.energies, DISTANCES)
    assert finding.source == "energies = np.vectorize(lambda r: float(potential(r)))"
    assert finding.found.facts["count"] == 301  # NumPy calls once more, to see the type
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.dispatch_bound_vmap"
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "potential": programs.potential}
    assert finding.code is not None
    exec(finding.code, names)
    np.testing.assert_allclose(names["energies"](DISTANCES), programs.energies(DISTANCES), rtol=1e-4, atol=1e-5)


@planted
def test_a_function_inside_a_function_is_found_at_its_line() -> None:
    @jax.jit
    def cube(r: Any) -> Any:
        return r**3

    cubes = np.vectorize(lambda r: float(cube(r)))
    (finding,) = found(cubes, DISTANCES)
    assert finding.source == "cubes = np.vectorize(lambda r: float(cube(r)))"
    assert finding.code == "cubes = jax.jit(jnp.vectorize(cube))  # returns arrays of JAX"


@planted
@pytest.mark.parametrize(
    ("function", "argument", "remedy"),
    [
        (programs.energies_in_a_list, DISTANCES, "doctor.dispatch_bound_vmap"),
        (programs.newton, 1.5, "doctor.dispatch_bound_scan"),
    ],
)
def test_only_calls_that_need_no_earlier_result_are_mapped(
    function: Callable[..., Any], argument: Any, remedy: str
) -> None:
    (finding,) = found(function, argument)
    assert finding.remedy is not None
    assert (finding.remedy.kind, finding.code) == (remedy, None)


@jax.jit
def wave(u: Any, speed: Any) -> Any:
    return 0.9 * u + speed * (jnp.roll(u, 1) - u)


def run(u: Any, speed: Any) -> Any:
    for _ in range(100):
        u = wave(u, speed)
    return u


@planted
@pytest.mark.parametrize("speed", [0.25, jnp.float32(0.25)])
def test_a_number_beside_arrays_is_no_reason_to_be_slow(speed: Any) -> None:
    (finding,) = found(run, jnp.ones(1024), speed)
    assert (finding.rule, finding.source) == ("dispatch-bound", "u = wave(u, speed)")


@planted
def test_the_loop_is_tried_as_one_call() -> None:
    step = jax.jit(lambda w, x: (w - 0.001 * (x @ w), jnp.sum(w)))

    def train(w: Any, x: Any, steps: int) -> Any:
        losses = []
        for _ in range(steps):
            w, loss = step(w, x)
            losses.append(float(loss))
        return w, losses

    x = jnp.ones((8, 8))
    finding = found(train, x, x, 200, verify=True, budget_s=600)[0]
    assert finding.code is not None
    assert finding.code.endswith("= jax.tree.map(lambda each: each[-1], loss)  # those of the last step")
    assert finding.verified is not None
    assert finding.verified.outputs_agree is True
    assert "doctor.pasted" in [each.kind for each in finding.verified.notes]


@planted
def test_a_loop_of_a_cell_is_tried_without_its_counter(session: Session) -> None:
    session.run(
        "import jax, jax.numpy as jnp\nw = x = jnp.ones((8, 8))\n"
        "step = jax.jit(lambda w, x: (w - 0.001 * (x @ w), jnp.sum(w)))"
    )
    loop = "v, losses = w, []\nfor i in range(200):\n    v, loss = step(v, x)\n    losses.append(float(loss))"
    session.run(f"%%jaxdoctor -q --verify --budget 600s -v d --only dispatch-bound\n{loop}")
    (finding,) = session.shell.user_ns["d"].findings
    assert finding.verified is not None
    assert "doctor.pasted" in [each.kind for each in finding.verified.notes]
    assert finding.verified.outputs_agree is True


class Stream:
    """Gives another key each time, as the streams of flax do."""

    def __init__(self) -> None:
        self.key = jax.random.key(0)


@jax.jit
def drawn(key: Any) -> tuple[Any, Any]:
    key, own = jax.random.split(key)
    return key, jax.random.normal(own)


def draw(stream: Stream) -> Any:
    stream.key, value = drawn(stream.key)
    return value


@planted
def test_calls_that_change_an_object_are_not_called_independent() -> None:
    def sample(stream: Stream) -> list[Any]:
        return [draw(stream) for _ in range(300)]

    diagnosis = jaxmagic.diagnose(sample, Stream(), only=("dispatch-bound",), repeat=True)
    (remedy,) = [each.remedy.kind for each in diagnosis.findings if each.remedy is not None]
    # The loop is in the caller of draw(), and known if a sample of the host's lines shows it.
    assert remedy in ("doctor.dispatch_bound_scan", "doctor.dispatch_bound_unknown")


@planted
def test_an_optimizer_with_a_rate_of_each_step_is_found() -> None:
    optax = pytest.importorskip("optax")

    @jax.jit
    def update(w: Any, rate: Any) -> Any:
        return optax.apply_updates(w, optax.tree.scale(-rate, 2 * w))

    def train(w: Any) -> Any:
        for step in range(300):
            w = update(w, 0.1 / (step + 1))
        return w

    (finding,) = found(train, jnp.ones(4))
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.dispatch_bound_scan"


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (programs.energies_at_once, DISTANCES),
        (programs.few_energies, DISTANCES),
        (programs.copies_each_batch, [np.array(programs.LONG) for _ in range(12)]),
        (jax.jit(jax.vmap(programs.potential)), DISTANCES),
    ],
)
def test_a_clean_program_has_no_finding(function: Callable[..., Any], argument: Any) -> None:
    assert found(function, argument) == []


@pytest.mark.parametrize(
    ("shown", "least"),
    [
        ("", 0.0),
        ("        kept.append(jax.device_get(w))\n", 0.5),
        ("        print(w)\n        kept.append(jax.device_get(w))\n", 2 / 3),
    ],
)
def test_what_stays_in_python_after_all_rounds_is_not_promised(
    tmp_path: Path, timing: Any, shown: str, least: float
) -> None:
    """Each round still runs it: its share of the samples, and at least as if it took as long as the call."""
    file = tmp_path / "program.py"
    file.write_text(
        f"def run(w):\n    kept = []\n    for _ in range(9):\n        w = step(w)\n{shown}    return kept\n"
    )
    call = Frame(function="run", file=str(file), line=4)
    none = Evidence(code=None, first=timing(), observed=timing())
    assert dispatch_bound._share_left(call, none) == pytest.approx(least)
    samples = [HostShare(line=replace(call, line=each), called="", samples=n) for each, n in ((4, 1), (5, 9))]
    left = dispatch_bound._share_left(call, replace(none, host=tuple(samples)))
    assert left == pytest.approx(0.9 if shown else 0.0)
