"""Errors inside XLA: which line called the program, and what can be tried."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize


def failing(message: str) -> Cell:
    """Run a line that JAX's own code leaves with an error of XLA."""
    source = f"""
def raised(error):
    raise error
run = type(raised)(raised.__code__.replace(co_filename=jax.jit.__code__.co_filename), {{}})
y = run(jax.errors.JaxRuntimeError({message!r}))  # here
"""
    return Cell(source)


@pytest.mark.parametrize(
    ("message", "found", "written"),
    [
        ("INTERNAL: YNNPACK operation failed: error", "XLA failed inside", "--xla_cpu_experimental_ynn_fusion_type="),
        ("INTERNAL: RET_CHECK failure (xla/a.cc:627)", "XLA failed inside", "jax.disable_jit()"),
        ("UNKNOWN: something", "XLA failed inside", "Another version of jaxlib"),
        ("UNIMPLEMENTED: op foo", "XLA does not implement a part of the program", "jax.disable_jit()"),
        ("FAILED_PRECONDITION: DNN library initialization failed.", "XLA failed inside", "as nvidia-smi shows"),
    ],
)
def test_an_error_inside_xla(message: str, found: str, written: str) -> None:
    cell = failing(message)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(found)
    assert "This line calls the program, or waits for what it computes." in cell.said
    assert written in cell.said


@pytest.mark.parametrize("message", ["ABORTED: something", "INVALID_ARGUMENT: something", "INTERNAL"])
def test_other_errors_have_no_explanation(message: str) -> None:
    cell = failing(message)
    assert cell.error is not None
    assert recognize(cell.error) is None


def test_jax_starts_without_ynnpack() -> None:
    import jax

    if jax.__version_info__ < (0, 10, 1):
        pytest.skip("this XLA does not know the option")
    environment = {**os.environ, "XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type=", "JAX_PLATFORMS": "cpu"}
    code = "import jax.numpy as jnp; print((jnp.ones((4, 4)) @ jnp.ones((4, 4))).sum())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "64.0", done.stderr
