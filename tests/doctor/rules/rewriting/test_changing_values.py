"""What the functions that a jitted one calls read from outside is named, since jit keeps it."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.capture.library_names import library_names
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.rules.rewriting.changing_values import kept_by_called

SOURCE = """
import jax.numpy as jnp
stiffness, damping, FIXED, rate = 4.0, jnp.float32(0.1), 0.5, 0.25
def force(p, v):
    return stiffness * jnp.sin(p) * rate - damping * v * FIXED
def simulated(p):
    v = p
    for i in range(60):
        v = v + 0.01 * force(p, v) * stiffness
    return v
"""


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("v = simulated_step(p, v, stiffness)\nv = v + force(p, v) * stiffness", ["damping", "stiffness"]),
        ("v = v + force(p, v)", ["damping"]),  # a number that nothing assigns again is a constant
        ("v = v + FIXED * force(p, v)", ["damping"]),
        ("v = v * stiffness", []),
    ],
)
def test_a_number_that_is_passed_is_kept_by_a_function_that_reads_it_too(
    timing: Any, tmp_path: Path, code: str, kept: list[str]
) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    linecache.checkcache(str(file))
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(SOURCE, str(file), "exec"), names)
    found = library_names("simulated(p)", {"simulated": names["simulated"]})
    evidence = Evidence(code="simulated(p)", first=timing(), observed=timing(), names=found)
    assert kept_by_called(code, evidence) == kept
