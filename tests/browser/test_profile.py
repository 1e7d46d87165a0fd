"""What ran when, in JupyterLab: a timeline that is zoomed, dragged, searched and pointed at."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from .notebook import Notebook
from .test_memory import changed, pixels, place

REPORT, VIEW = 1, 2

CELLS = (
    "%load_ext jaxmagic\nimport jaxmagic, jax, jax.numpy as jnp\n"
    "@jax.jit\ndef sorted_and_multiplied(x):\n    for _ in range(20):\n        x = jnp.sort(x) @ x\n    return x\n"
    "x = jnp.ones((300, 300))",
    "%jaxprof --all -v p -n 2 y = sorted_and_multiplied(x)",
    "view = jaxmagic.explore(p)\nview",
)


@pytest.fixture(scope="module")
def notebook(new_notebook: Callable[..., Notebook]) -> Notebook:
    it = new_notebook("profile.ipynb", *CELLS)
    it.run_all()
    return it


def live_timeline(notebook: Notebook, index: int = REPORT) -> Any:
    found = notebook.cell(index).locator("[data-lanes]").first
    found.locator("canvas").wait_for()
    return found


def whole(it: Any) -> None:
    it.get_by_role("button", name="all", exact=True).click()


def test_the_still_picture_has_become_a_timeline(notebook: Notebook) -> None:
    it = live_timeline(notebook)
    assert it.locator("img").count() == 0
    for name in ("what ran when", "computation", "host"):
        it.get_by_text(name, exact=True).wait_for()
    it.scroll_into_view_if_needed()
    notebook.screenshot("profile-timeline")


def test_a_search_counts_what_it_finds_and_enter_goes_there(notebook: Notebook) -> None:
    it = live_timeline(notebook)
    whole(it)
    before = pixels(it)
    field = it.get_by_label("search events")
    field.fill("SORT.")
    frame = "p.to_frame('timeline')"
    has = "str.contains('sort.', regex=False)"
    in_all = f"{frame}['name'].{has} | {frame}['detail'].fillna('').{has}"
    count = notebook.kernel_value(f"int(({in_all}).sum())")
    assert count > 40
    it.get_by_text(f"{count} events, ").wait_for()
    changed(notebook, it, before)
    field.press("Enter")
    it.get_by_text(re.compile(r"^sort.* · ")).last.wait_for()
    notebook.screenshot("profile-timeline-search")
    field.fill("nothing is called so")
    it.get_by_text("0 events, ").wait_for()
    field.fill("")


def test_a_click_says_what_an_event_is_and_hovering_as_well(notebook: Notebook) -> None:
    it = live_timeline(notebook)
    whole(it)
    field = it.get_by_label("search events")
    field.fill("sort.")
    field.press("Enter")
    field.press("Enter")
    about = it.get_by_text("in total").last
    about.wait_for()
    assert re.search(r"sort\.?\d* · [\d.]+ [mµn]?s, starting at .*computation.*times on CPU:0", about.inner_text())
    at = place(it, 0.5, 0.1)
    box = it.locator("canvas").bounding_box()
    for down in range(4, int(box["height"]) - 30, 8):
        notebook.page.mouse.move(box["x"] + 0.585 * box["width"], box["y"] + down)
        if it.locator("div").filter(has_text=re.compile(r"^sort.*\n.*, starting at")).last.is_visible():
            break
    else:
        raise AssertionError("pointing at an event tells nothing")
    notebook.page.mouse.move(*at)
    field.fill("")


def test_it_zooms_and_pans_and_shows_all_again(notebook: Notebook) -> None:
    it, mouse = live_timeline(notebook), notebook.page.mouse
    whole(it)
    notebook.page.mouse.click(*place(it, 0.05, 0.02))
    original = pixels(it)
    mouse.move(*place(it, 0.5, 0.2))
    notebook.page.keyboard.down("Control")
    mouse.wheel(0, -240)
    notebook.page.keyboard.up("Control")
    changed(notebook, it, original)
    zoomed = pixels(it)
    mouse.down()
    mouse.move(*place(it, 0.3, 0.2), steps=4)
    mouse.up()
    changed(notebook, it, zoomed)
    panned = pixels(it)
    canvas = it.locator("canvas")
    canvas.press("ArrowRight")
    changed(notebook, it, panned)
    canvas.press("0")
    notebook.page.wait_for_function("([c, b]) => c.toDataURL() === b", arg=[canvas.element_handle(), original])


def test_a_kind_of_event_can_be_left_out(notebook: Notebook) -> None:
    it = live_timeline(notebook)
    before = pixels(it)
    it.get_by_label("computation").uncheck()
    changed(notebook, it, before)
    it.get_by_label("computation").check()


def test_the_view_shows_the_time_by_scope_by_stack_and_over_time(notebook: Notebook) -> None:
    cell = notebook.cell(VIEW)
    cell.locator("[data-jaxmagic] svg").first.wait_for()
    for name in ("device time by call stack", "timeline"):
        cell.get_by_label("Show", exact=True).select_option(label=name)
        notebook.wait_for_kernel_value("view.look_at.value", name)
        cell.locator("[data-lanes] canvas" if name == "timeline" else "[data-jaxmagic] svg").first.wait_for()
        notebook.screenshot(f"profile-{name.replace(' ', '-')}")


def test_in_the_dark_it_is_read_as_well(notebook: Notebook) -> None:
    with notebook.in_the_dark():
        live_timeline(notebook).scroll_into_view_if_needed()
        notebook.screenshot("profile-timeline-dark")
