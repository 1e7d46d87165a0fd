"""Code to paste runs where the user gave JAX another name, or imported it in another file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.rewriting.needed_imports import imported, with_imports
from jaxmagic.records.note import note
from jaxmagic.timing.record import Timing


@pytest.mark.parametrize(
    ("code", "known", "lines"),
    [
        ("f = jax.jit(f)", {"jax"}, []),
        ("f = jax.jit(f)", {"J", "xp"}, ["import jax"]),
        ("@functools.partial(jax.jit, static_argnums=0)\ndef f(n): ...", {"jax"}, ["import functools"]),
        ("import jax\njax.config.update('a', 'b')", set(), []),
        ("    out.append(x)\n# after the loop\nout = jax.device_get(out)", {"J"}, ["import jax"]),
        ("for x in prefetched(jnp.split(x, 3)):", {"jax"}, ["import jax.numpy as jnp"]),
        ("f = J.jit(f)", {"J"}, []),
        ("f = self.jax.jit(f)", {"J"}, []),
    ],
)
def test_missing_modules_are_imported(code: str, known: set[str], lines: list[str]) -> None:
    assert imported(code, known) == "\n".join([*lines, code])


@pytest.mark.parametrize(("head", "is_there"), [("import jax", True), ("import jax as J", False)])
def test_a_file_has_its_own_names(tmp_path: Path, timing: Callable[..., Timing], head: str, is_there: bool) -> None:
    file = tmp_path / "train.py"
    file.write_text(f"{head}\ndef f(x): return x\n")
    finding = RuleFinding(rule="not-jitted", found=note("text"), line=f"{file}:2", code="f = jax.jit(f)")
    evidence = Evidence(code="f(x)", first=timing(), observed=timing())
    for session in ({"jax"}, set[Any]()):
        (found,) = with_imports([finding], evidence, session)
        assert found.code == ("" if is_there else "import jax\n") + "f = jax.jit(f)"
