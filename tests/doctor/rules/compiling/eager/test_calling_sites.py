"""The line that leads to operations outside of jit is told, also where a library calls the user back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import pytest
from shells import Session

import jaxmagic

LIBRARY = """
class Inference:
    def __init__(self, model):
        self.model = model

    def update(self, state):
        return state + self.model(state)
"""


@pytest.fixture
def inference(tmp_path: Path) -> Callable[[Callable[[object], object]], object]:
    file = tmp_path / "site-packages" / "inference.py"
    file.parent.mkdir()
    file.write_text(LIBRARY)
    namespace: dict[str, object] = {}
    exec(compile(LIBRARY, str(file), "exec"), namespace)
    return namespace["Inference"]  # type: ignore[return-value]


@pytest.mark.clock
@pytest.mark.usefixtures("any_programs_are_long")
def test_the_call_of_a_library_is_told_and_not_the_function_that_it_calls(
    inference: Callable[..., object],
) -> None:
    def model(x):  # type: ignore[no-untyped-def]
        functions = (jnp.sin, jnp.cos, jnp.tan, jnp.sinh, jnp.cosh, jnp.tanh, jnp.exp, jnp.expm1, jnp.log1p, jnp.sqrt)
        return sum(f(abs(each)).sum() for each in (x, x[:100], x[:50]) for f in functions)

    svi = inference(model)

    def fit(state):  # type: ignore[no-untyped-def]
        for _ in range(2):
            state = svi.update(state)  # type: ignore[attr-defined]
        return state

    def run(x):  # type: ignore[no-untyped-def]
        return fit(x)

    diagnosis = jaxmagic.diagnose(run, jnp.ones(377), only="compile-time")
    (found,) = diagnosis.findings
    assert (found.source or "").startswith("state = svi.update(state)")
    assert str(found.evidence[-1]).endswith(
        "Make update = jax.jit(svi.update) once, before the loop, and call update in place of svi.update, if its "
        "arguments are arrays and it changes no object."
    )


@pytest.mark.clock
@pytest.mark.usefixtures("any_programs_are_long")
def test_a_line_magic_is_not_the_line_that_calls_a_library_back(
    inference: Callable[..., object], session: Session
) -> None:
    session.shell.user_ns["Inference"] = inference
    session.run(
        "import jax.numpy as jnp\n"
        "def model(x):\n"
        "    functions = (jnp.sin, jnp.cos, jnp.tan, jnp.sinh, jnp.cosh, jnp.tanh, jnp.exp, jnp.expm1, jnp.log1p)\n"
        "    return sum(f(abs(each)).sum() for each in (x, x[:90], x[:40], x[:30]) for f in functions)\n"
        "def fit(x):\n"
        "    result = Inference(lambda t: float(model(t))).update(x)\n"
        "    return result, 0"
    )
    session.run("%jaxdoctor -q --only compile-time -v diagnosis y, rest = fit(jnp.ones(379))")
    (found,) = session.shell.user_ns["diagnosis"].findings
    assert (found.source or "").startswith("result = Inference(lambda t: float(model(t))).update(x)")
