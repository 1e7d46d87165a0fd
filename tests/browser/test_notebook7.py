"""In Jupyter Notebook 7, which the same server serves: reports, their pictures, and a live view."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .lab import Lab
from .notebook import Notebook, write


@pytest.fixture
def notebook(lab: Lab, context: Any, watched: Any, screenshots: Path) -> Any:
    name = "seven.ipynb"
    write(
        lab.directory / name,
        "%load_ext jaxmagic\nimport jax, jax.numpy as jnp, jaxmagic",
        "x = jnp.ones((64, 64))\nf = jax.jit(lambda x: x @ x)",
        "%jaxtime f(x).shape",
        "%jaxtimeit --budget 0.05s -v b f(x)",
        "view = jaxmagic.explore(b)\nview",
    )
    page = context.new_page()
    page.goto(f"{lab.url}/notebooks/{name}?token={lab.token}")
    it = Notebook(lab, page, name, screenshots)
    it.wait_for_kernel()
    outside, _ = watched.take()  # its own start complains of settings that JupyterLab alone has
    assert outside == []
    yield it
    page.close()


def test_reports_and_live_views_are_there(notebook: Notebook) -> None:
    notebook.run_all()
    assert "wall time" in notebook.output(2).inner_text()
    assert notebook.output(2, 1).inner_text() == "(64, 64)"
    picture = notebook.output(3).locator("svg, img").first
    picture.wait_for()
    notebook.output(4).locator(".widget-dropdown, .jupyter-widgets").first.wait_for()
    assert notebook.kernel_value("len(view.children) > 0") is True
    notebook.screenshot("notebook-7")
