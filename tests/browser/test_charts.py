"""Pictures that answer, in JupyterLab: to the mouse, to the keyboard, and each for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .notebook import Notebook

BENCHMARK, COMPARISON, SWEEP, TWIN, STATIC = range(1, 6)

CELLS = (
    "%load_ext jaxmagic\nimport jaxmagic, jax, jax.numpy as jnp\n"
    "x = jnp.ones((64, 64))\nf = jax.jit(lambda x: jnp.tanh(x @ x))",
    "%jaxtimeit -r 60 f(x)",
    "%%jaxcompare -r 60 -v compared\neager: jnp.tanh(x @ x)\njit: f(x)\ntwice: f(f(x))",
    "%%jaxcompare -r 8 --sweep n=8,32,128\nx = jnp.ones((n, n))\neager: jnp.tanh(x @ x)\njit: f(x)",
    "compared",
    "%jaxtimeit -r 20 --static f(x)",
)


@pytest.fixture(scope="module")
def notebook(new_notebook: Callable[..., Notebook]) -> Notebook:
    it = new_notebook("charts.ipynb", *CELLS)
    it.run_all()
    return it


def picture(notebook: Notebook, index: int) -> Any:
    found = notebook.cell(index).locator("[data-jaxmagic]").first
    found.locator("svg").wait_for()
    return found


def tip(picture: Any) -> str:
    return str(picture.locator("> div").first.inner_text())


def opacities(picture: Any) -> list[str]:
    found: list[str] = picture.locator("svg g[data-s]").evaluate_all(
        "all => all.map(each => each.style.opacity || '1')"
    )
    return found


def test_hovering_over_a_curve_tells_its_nearest_point(notebook: Notebook) -> None:
    it = picture(notebook, BENCHMARK)
    curve = it.locator("path[data-curve]").first
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    notebook.page.mouse.move(box["x"] + 2, box["y"] + box["height"] - 2)
    it.get_by_text("share of samples:").wait_for()
    assert "time of a call:" in tip(it)
    notebook.screenshot("charts-hover")
    notebook.page.mouse.move(1, 1)
    it.get_by_text("share of samples:").wait_for(state="detached")


def test_hovering_over_a_row_tells_the_ratio_and_the_verdict(notebook: Notebook) -> None:
    it = picture(notebook, COMPARISON)
    it.locator("g[data-button='twice']").hover()
    words = ("faster", "slower", "no difference", "too noisy to tell")
    found = notebook.kernel_value("compared['twice'].verdict")
    assert found in words
    it.locator("> div").first.get_by_text(found).wait_for()
    assert "twice" in tip(it)


def test_a_click_singles_a_candidate_out_and_leaves_other_pictures_alone(notebook: Notebook) -> None:
    it, twin = picture(notebook, COMPARISON), picture(notebook, TWIN)
    before = opacities(twin)
    it.locator("g[data-button='jit']").click()
    assert sorted(set(opacities(it))) == ["0.15", "1"]
    assert opacities(twin) == before
    it.locator("g[data-button='jit']").click()
    assert set(opacities(it)) == {"1"}


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_keyboard_does_the_same_and_the_notebook_does_not_take_the_key(notebook: Notebook, key: str) -> None:
    it = picture(notebook, COMPARISON)
    button = it.locator("g[data-button='jit']")
    cells = notebook.page.locator(".jp-NotebookPanel:visible .jp-Cell").count()
    button.focus()
    notebook.page.keyboard.press(key)
    assert button.get_attribute("aria-pressed") == "true"
    notebook.page.keyboard.press(key)
    assert button.get_attribute("aria-pressed") == "false"
    assert notebook.page.locator(".jp-NotebookPanel:visible .jp-Cell").count() == cells
    assert button.get_attribute("aria-label")


def test_the_axes_of_a_sweep_switch_between_linear_and_logarithmic(notebook: Notebook) -> None:
    it = picture(notebook, SWEEP)
    curve = it.locator("path[data-curve]").first
    before = curve.get_attribute("d")
    it.get_by_role("button", name="x → linear").click()
    assert curve.get_attribute("d") != before
    notebook.screenshot("charts-linear")
    it.get_by_role("button", name="x → log").click()
    assert curve.get_attribute("d") == before


def test_a_static_report_is_text_and_a_picture_in_pixels(notebook: Notebook) -> None:
    assert "samples" in notebook.output(STATIC, 0).inner_text()
    image = notebook.output(STATIC, 1).locator("img")
    image.evaluate("image => image.decode()")
    assert str(image.get_attribute("src")).startswith("data:image/png;base64,")


def test_pictures_answer_in_the_dark(notebook: Notebook) -> None:
    with notebook.in_the_dark():
        for index in (BENCHMARK, COMPARISON, SWEEP):
            picture(notebook, index).scroll_into_view_if_needed()
            notebook.screenshot(f"charts-dark-{index}")
        colour = picture(notebook, SWEEP).locator("svg text").first.evaluate("it => getComputedStyle(it).fill")
        assert sum(map(int, colour.removeprefix("rgb(").removeprefix("rgba(").split(")")[0].split(",")[:3])) > 300, (
            colour
        )
