"""A comprehension over a batch is not to be unrolled by jit: its rows are mapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.runtime.jax_version import keeps_lines

SETUP = """
import jax, jax.numpy as jnp, numpy as np
xs = np.random.default_rng(0).normal(size=(90, 16)).astype("f4")
w = jnp.ones((16, 16)) / 16
def score(w, x):
    return jnp.tanh(w @ x).sum() * jnp.sin(x).mean()
def with_global(x):
    return jnp.tanh(w @ x).sum() * jnp.sin(x).mean()
def scores(w, xs):
    return jnp.stack([score(w, x) for x in xs])
def scores_with_global(xs):
    return jnp.stack([with_global(x) for x in xs])
def written_out(xs):
    return jnp.stack([jnp.tanh(w @ x).sum() * jnp.sin(x).mean() for x in xs])
"""

Doctor = Callable[[str], RuleFinding]


@pytest.fixture
def doctor(session: Session, at_any_cost: None) -> Doctor:
    """Runs a cell under ``%%jaxdoctor``, and returns the only finding."""
    jax.clear_caches()  # operations are named by the lines that compiled them
    session.run(SETUP)

    def run(cell: str) -> RuleFinding:
        session.run(f"%%jaxdoctor --only not-jitted\n{cell}")
        diagnosis = jaxmagic.history()[-1]
        assert isinstance(diagnosis, Diagnosis)
        (finding,) = diagnosis.findings
        return finding

    return run


@pytest.mark.parametrize(
    ("cell", "code", "mapped"),
    [
        ("scores(w, xs);", "score = jax.jit(score)", "jax.jit(jax.vmap(score, in_axes=(None, 0)))"),
        ("scores_with_global(xs);", "with_global = jax.jit(with_global)", "jax.jit(jax.vmap(with_global))"),
    ],
)
def test_the_function_of_a_row_is_jitted_and_mapped(
    doctor: Doctor, session: Session, cell: str, code: str, mapped: str
) -> None:
    finding = doctor(cell)
    assert finding.code == code
    assert f"call {mapped} once" in str(finding.remedy)
    names: dict[str, Any] = session.shell.user_ns
    arguments = (names["w"], names["xs"]) if "None" in mapped else (names["xs"],)
    expected = names["scores"](names["w"], names["xs"])
    assert np.allclose(eval(mapped, names)(*arguments), expected, atol=1e-5)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_row_that_is_written_out_is_mapped(doctor: Doctor, session: Session, compiled: bool) -> None:
    if compiled:
        session.run("written_out(xs[:2]);")
    finding = doctor("written_out(xs);")
    assert (finding.code, finding.remedy is not None and finding.remedy.facts["way"]) == (None, "loop")
    assert "jax.vmap instead of the loop, which would otherwise be unrolled" in str(finding.remedy)


def test_a_model_of_equinox_for_each_row(doctor: Doctor, session: Session) -> None:
    pytest.importorskip("equinox")
    session.run(
        "import equinox as eqx\n"
        "model = eqx.nn.MLP(16, 4, 16, 2, key=jax.random.key(0))\n"
        "def one(model, x):\n    return jnp.tanh(model(x)).sum()\n"
        "def outputs(model, xs):\n    return jnp.stack([one(model, x) for x in xs])"
    )
    finding = doctor("outputs(model, xs);")
    mended = "one = eqx.filter_jit(one)"
    # JAX below 0.10 loses the lines of some operations inside of Equinox, so too few are known to be those of one().
    assert finding.code == mended or (finding.code is None and not keeps_lines())
    assert finding.remedy is not None
    assert "eqx.filter_jit" in (finding.code or str(finding.remedy))


def test_few_rows_are_unrolled(doctor: Doctor, session: Session) -> None:
    session.run("xs = xs[:10]")
    assert doctor("scores(w, xs);").code == "scores = jax.jit(scores)"
    assert jnp.ndim(session.shell.user_ns["w"]) == 2
