"""In marimo, which has no magics: verbs of the API, and their reports as HTML."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

#: It is installed with what the tests in a browser need.
pytestmark = [pytest.mark.slow, pytest.mark.browser]

APP = """
import marimo

app = marimo.App()


@app.cell
def _():
    import jax
    import jax.numpy as jnp
    import jaxmagic

    f = jax.jit(lambda x: jnp.sort(x @ x))
    x = jnp.ones((64, 64))
    return f, jaxmagic, x


@app.cell
def _(f, jaxmagic, x):
    jaxmagic.benchmark(f, x, budget_s=0.05)
    return


@app.cell
def _(f, jaxmagic, x):
    jaxmagic.profile(f, x)
    return


@app.cell
def _(f, jaxmagic, x):
    with jaxmagic.stopwatch() as t:
        t.result = f(x)
    t.timing
    return


if __name__ == "__main__":
    app.run()
"""


def test_an_exported_page_has_the_reports_with_their_pictures(tmp_path: Path) -> None:
    app, page = tmp_path / "app.py", tmp_path / "page.html"
    app.write_text(APP)
    command = [sys.executable, "-m", "marimo", "export", "html", str(app), "-o", str(page), "--no-include-code"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    reports = re.findall(r'"text/html": "(.*?)(?<!\\)"', page.read_text())
    told = [unescape(json.loads(f'"{each}"')) for each in reports]
    benchmark, profile, timing = told
    assert "per call" in benchmark
    assert "what ran when" in profile
    assert "wall time" in timing
    assert all("<img" in each or "<svg" in each for each in (benchmark, profile))
