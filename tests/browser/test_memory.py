"""Where memory goes, in JupyterLab: a map that is zoomed, dragged and pointed at, and the view of two profiles."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from .notebook import Notebook

REPORT, VIEW, ARRAYS = range(1, 4)

CELLS = (
    "%load_ext jaxmagic\nimport jaxmagic, jax, jax.numpy as jnp\n"
    "from jaxmagic.memory_use.analysis.peak import peak_of\n"
    "def loss(ws, x):\n    for w in ws:\n        x = jnp.tanh(x @ w)\n    return (x ** 2).mean()\n"
    "step = jax.jit(jax.grad(loss))\nonce_more = jax.jit(jax.grad(jax.checkpoint(loss)))\n"
    "ws, x = [jnp.ones((64, 64)) for _ in range(6)], jnp.ones((256, 64))",
    "%jaxmem --all -v first grads = step(ws, x)",
    "second = jaxmagic.memory(once_more, ws, x)\nview = jaxmagic.explore(first, second)\nview",
    "jaxmagic.live()",
)


@pytest.fixture(scope="module")
def notebook(new_notebook: Callable[..., Notebook]) -> Notebook:
    it = new_notebook("memory.ipynb", *CELLS)
    it.run_all()
    return it


def live_map(notebook: Notebook, index: int, nth: int = 0) -> Any:
    found = notebook.cell(index).locator("[data-map]").nth(nth)
    found.locator("canvas").wait_for()
    return found


def place(picture: Any, across: float, down: float) -> tuple[float, float]:
    canvas = picture.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


#: What a movement of the mouse changes is drawn in the next frame.
PIXELS = "canvas => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(canvas.toDataURL()))))"


def pixels(picture: Any) -> str:
    return str(picture.locator("canvas").evaluate(PIXELS))


def changed(notebook: Notebook, picture: Any, before: str) -> None:
    """Wait until the map has been drawn anew, and differently."""
    canvas = picture.locator("canvas").element_handle()
    notebook.page.wait_for_function("([c, b]) => c.toDataURL() !== b", arg=[canvas, before])


def test_the_still_picture_has_become_a_map_with_its_table(notebook: Notebook) -> None:
    it = live_map(notebook, REPORT)
    assert it.locator("img").count() == 0
    it.get_by_text("memory map of jit_loss").wait_for()
    peak = notebook.kernel_value("peak_of(first.executables[0]).live_bytes")
    assert f"{peak / 1024:.3g} KiB" in it.get_by_text(", the peak").inner_text()
    assert it.locator("tr").count() == 6
    notebook.screenshot("memory-map")


def test_hovering_tells_what_a_buffer_is(notebook: Notebook) -> None:
    it = live_map(notebook, REPORT)
    notebook.page.mouse.move(*place(it, 0.5, 0.85))
    it.get_by_text("argument").last.wait_for()
    told = it.locator("div").filter(has_text="steps 1 to").last.inner_text()
    assert "f32[" in told
    assert "KiB" in told
    notebook.page.mouse.move(1, 1)


def test_a_click_moves_the_cursor_and_the_table_with_it(notebook: Notebook) -> None:
    it = live_map(notebook, REPORT)
    notebook.page.mouse.click(*place(it, 0.99, 0.6))
    steps = notebook.kernel_value("first.executables[0].steps")
    it.get_by_text(f"step {steps} of {steps}:").wait_for()
    canvas = it.locator("canvas")
    canvas.focus()
    canvas.press("<")
    it.get_by_text(f"step {steps - 1} of {steps}:").wait_for()


def test_the_cursor_can_be_dragged(notebook: Notebook) -> None:
    it, mouse = live_map(notebook, REPORT), notebook.page.mouse
    mouse.click(*place(it, 0.5, 0.5))
    before = it.get_by_text(re.compile(r"^step \d")).first.inner_text()
    mouse.move(*place(it, 0.5, 0.5))
    mouse.down()
    mouse.move(*place(it, 0.2, 0.5), steps=5)
    mouse.up()
    assert it.get_by_text(re.compile(r"^step \d")).first.inner_text() != before
    at = int(it.locator("div").filter(has_text=" of ").last.inner_text().split()[1])
    assert at < notebook.kernel_value("first.executables[0].steps") / 2


def test_it_zooms_and_pans_and_shows_all_again(notebook: Notebook) -> None:
    it, mouse = live_map(notebook, REPORT), notebook.page.mouse
    it.get_by_role("button", name="all", exact=True).click()
    mouse.move(*place(it, 0.4, 0.4))
    whole = pixels(it)
    notebook.page.keyboard.down("Control")
    mouse.wheel(0, -240)
    notebook.page.keyboard.up("Control")
    changed(notebook, it, whole)
    zoomed = pixels(it)
    mouse.down()
    mouse.move(*place(it, 0.3, 0.6), steps=4)
    mouse.up()
    changed(notebook, it, zoomed)
    it.get_by_role("button", name="all", exact=True).click()
    canvas = it.locator("canvas").element_handle()
    notebook.page.wait_for_function("([c, b]) => c.toDataURL() === b", arg=[canvas, whole])


def test_a_kind_can_be_left_out(notebook: Notebook) -> None:
    it = live_map(notebook, REPORT)
    before = pixels(it)
    it.get_by_label("argument").uncheck()
    changed(notebook, it, before)
    it.get_by_label("argument").check()


def test_two_profiles_stand_beside_each_other_in_a_view(notebook: Notebook) -> None:
    live_map(notebook, VIEW), live_map(notebook, VIEW, 1)
    cell = notebook.cell(VIEW).locator(".jp-OutputArea-output:not([data-mime-type])").first  # below it is the report
    beside = """it => {  // the widgets' styles may arrive after the maps
        const tops = [...it.querySelectorAll("[data-map] canvas")].map(each => each.getBoundingClientRect().top);
        return tops.length === 2 && Math.abs(tops[0] - tops[1]) < 2;
    }"""
    notebook.page.wait_for_function(beside, arg=cell.element_handle())
    cell.get_by_label("Unit", exact=True).select_option(label="MiB")
    notebook.wait_for_kernel_value("view.unit.value", "MiB")
    cell.get_by_text("MiB in").first.wait_for()
    cell.get_by_label("Colour", exact=True).select_option(label="source line")
    notebook.wait_for_kernel_value("view.colour.value", "source line")
    live_map(notebook, VIEW, 1).scroll_into_view_if_needed()
    notebook.screenshot("memory-view")
    for name in ("usage over time", "arrays", "cells of the session"):
        cell.get_by_label("Show", exact=True).select_option(label=name)
        notebook.wait_for_kernel_value("view.look_at.value", name)
        cell.locator("[data-jaxmagic] svg").first.wait_for()
        notebook.screenshot(f"memory-{name.replace(' ', '-')}")


def test_arrays_are_tiles(notebook: Notebook) -> None:
    cell = notebook.cell(ARRAYS)
    cell.locator("[data-jaxmagic] svg").wait_for()
    cell.get_by_text("ws[0]").first.hover()
    notebook.screenshot("memory-arrays-tiles")


def test_in_the_dark_it_is_read_as_well(notebook: Notebook) -> None:
    with notebook.in_the_dark():
        live_map(notebook, REPORT).scroll_into_view_if_needed()
        notebook.screenshot("memory-map-dark")
