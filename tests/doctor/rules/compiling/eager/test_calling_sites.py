"""The line that leads to operations outside of jit is told, also where a library calls the user back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import pytest
from gathered_evidence import evidence_of

from jaxmagic.doctor.rules.compiling.eager.calling_sites import about_sites, calling_sites
from jaxmagic.doctor.rules.rewriting.syntax import source_of_location

LIBRARY = """
class Inference:
    def __init__(self, model):
        self.model = model

    def update(self, state):
        return self.model(state) * 3 - state
"""


@pytest.fixture
def inference(tmp_path: Path) -> Callable[[Callable[[object], object]], object]:
    file = tmp_path / "site-packages" / "inference.py"
    file.parent.mkdir()
    file.write_text(LIBRARY)
    namespace: dict[str, object] = {}
    exec(compile(LIBRARY, str(file), "exec"), namespace)
    return namespace["Inference"]  # type: ignore[return-value]


def test_the_call_of_a_library_is_told_and_not_the_function_that_it_calls(
    inference: Callable[..., object],
) -> None:
    def model(x):  # type: ignore[no-untyped-def]
        return jnp.sin(x) / (1 + jnp.tanh(x))

    svi = inference(model)

    def fit(state):  # type: ignore[no-untyped-def]
        for _ in range(2):
            state = svi.update(state)  # type: ignore[attr-defined]
        return state

    def run(x):  # type: ignore[no-untyped-def]
        return fit(x)

    evidence = evidence_of(run, jnp.ones(377))
    ((line, count),) = calling_sites(evidence)
    assert (source_of_location(line.location, evidence) or "").startswith("state = svi.update(state)")
    assert count >= 5
    (told,) = about_sites([(line, count)])
    assert str(told).endswith(
        "Make update = jax.jit(svi.update) once, before the loop, and call update in place of svi.update, if its "
        "arguments are arrays and it changes no object."
    )
