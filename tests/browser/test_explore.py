"""Live views in JupyterLab: chosen, clicked, measured again, and gone with their kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from .chromium import Watch
from .lab import Lab
from .notebook import Notebook, open_in

#: What JupyterLab writes in place of a view without its kernel.
UNDRAWN = re.compile("Loading widget|Error displaying widget")

HISTORY, COMPARISON, BENCHMARK, OPENED, MANY, TIMED = range(2, 8)

CELLS = (
    "%load_ext jaxmagic\nimport jaxmagic, jax, jax.numpy as jnp\n"
    "x = jnp.ones((64, 64))\nf = jax.jit(lambda x: jnp.tanh(x @ x))\ng = jax.jit(lambda x: x + 1)",
    "%jaxtime f(x);\n%jaxtime g(x);\n%jaxtime f(x);",
    "history = jaxmagic.explore()\nhistory",
    "record = jaxmagic.compare({'eager': lambda: jnp.tanh(x @ x), 'jit': lambda: f(x)}, budget_s=0.2)\n"
    "compared = jaxmagic.explore(record)\ncompared",
    "jaxmagic.explore(jaxmagic.benchmark(f, x, budget_s=0.2))",
    "%jaxtimeit -w -r 20 f(x)",
    "for _ in range(17):\n    %jaxtime -q f(x);\njaxmagic.explore()",
    "%jaxtime -w f(x);",
)


@pytest.fixture(scope="module")
def notebook(new_notebook: Callable[..., Notebook]) -> Notebook:
    it = new_notebook("explore.ipynb", *CELLS)
    it.run_all()
    return it


def view(notebook: Notebook, index: int) -> Any:
    found = notebook.cell(index).locator(".jp-OutputArea-output:not([data-mime-type]) > .lm-Widget").first
    found.wait_for()
    return found


def choose(view: Any, label: str, value: str) -> None:
    view.get_by_label(label, exact=True).select_option(label=value)


def test_the_history_is_chosen_from_and_a_run_opened(notebook: Notebook) -> None:
    it = view(notebook, HISTORY)
    it.locator("[data-jaxmagic] svg").first.wait_for()
    assert notebook.kernel_value("len(history.run.options)") == 3
    it.get_by_label("Cell", exact=True).fill("f(x)")
    it.get_by_label("Cell", exact=True).press("Enter")
    notebook.wait_for_kernel_value("len(history.run.options)", 2)
    choose(it, "Sort", "oldest first")
    notebook.wait_for_kernel_value("history.order.value", "oldest first")
    it.get_by_label("Run", exact=True).select_option(index=0)
    it.get_by_text("first call", exact=False).first.wait_for()
    it.get_by_text("wall time").wait_for()
    choose(it, "Unit", "share")
    notebook.wait_for_kernel_value("history.unit.value", "share")
    it.scroll_into_view_if_needed()
    notebook.screenshot("explore-history")


def test_a_comparison_takes_another_baseline_and_leaves_a_candidate_out(notebook: Notebook) -> None:
    it = view(notebook, COMPARISON)
    choose(it, "Baseline", "jit")
    it.locator("svg text:visible", has_text="time relative to jit").wait_for()
    choose(it, "Show", "distributions")
    it.locator("path[data-curve='eager']").first.wait_for()
    it.get_by_role("checkbox", name="eager").uncheck()
    it.locator("path[data-curve='eager']").first.wait_for(state="detached")
    it.get_by_role("checkbox", name="eager").check()
    it.locator("path[data-curve='eager']").first.wait_for()
    choose(it, "Show", "ratios")


def test_measuring_again_shows_a_new_record(notebook: Notebook) -> None:
    it = view(notebook, COMPARISON)
    before = notebook.kernel_value("compared.record.started_at")
    it.get_by_label("Budget (s)", exact=True).fill("0.3")
    it.get_by_label("Budget (s)", exact=True).press("Tab")
    notebook.wait_for_kernel_value("compared.budget.value", 0.3)
    it.get_by_role("button", name="Measure again").click()
    notebook.wait_for_kernel_value("compared.record.budget_ns", 300_000_000)
    assert notebook.kernel_value("compared.record.started_at") != before
    notebook.wait_for_kernel_value("compared.again.disabled", False)
    it.scroll_into_view_if_needed()
    notebook.screenshot("explore-comparison")


def test_a_picture_in_a_view_answers(notebook: Notebook) -> None:
    it = view(notebook, COMPARISON).locator("[data-jaxmagic]").first
    it.locator("g[data-button='eager']").click()
    assert it.locator("g[data-button='eager']").get_attribute("aria-pressed") == "true"


def test_a_benchmark_shows_its_calls_in_order(notebook: Notebook) -> None:
    it = view(notebook, BENCHMARK)
    choose(it, "Show", "calls in order")
    it.locator("svg text:visible", has_text="time of a call").wait_for()
    it.scroll_into_view_if_needed()
    notebook.screenshot("explore-benchmark")


def test_w_opens_a_view_in_place_of_the_report(notebook: Notebook) -> None:
    assert notebook.outputs(OPENED).count() == 2
    view(notebook, OPENED).get_by_label("Show", exact=True).wait_for()
    notebook.screenshot("explore-opened")


@pytest.mark.parametrize("index", [HISTORY, COMPARISON, BENCHMARK, OPENED, MANY])
def test_a_report_that_the_view_repeats_is_hidden_as_long_as_the_view_is_drawn(
    notebook: Notebook, index: int
) -> None:
    static = notebook.cell(index).locator(".jp-Cell-outputArea > .jp-OutputArea-child [data-beside]")
    static.first.wait_for(state="hidden")
    view(notebook, index).locator("[data-jaxmagic]").first.wait_for()
    drawn = view(notebook, index).element_handle()
    place = drawn.evaluate_handle("it => it.parentElement")
    drawn.evaluate("it => it.remove()")
    static.wait_for()
    place.evaluate("(it, drawn) => it.append(drawn)", drawn)
    static.wait_for(state="hidden")
    assert view(notebook, index).is_visible()
    assert notebook.cell(index).get_by_text(UNDRAWN).count() == 0


def test_a_view_that_does_not_repeat_the_report_leaves_it(notebook: Notebook) -> None:
    view(notebook, TIMED).locator("[data-jaxmagic]").first.wait_for()
    notebook.outputs(TIMED).get_by_text("wall time").first.wait_for()


@pytest.mark.parametrize("index", [HISTORY, COMPARISON, BENCHMARK, OPENED, MANY])
def test_a_view_begins_with_the_answer_and_has_one_picture(notebook: Notebook, index: int) -> None:
    it = view(notebook, index)
    it.locator("[data-jaxmagic]").first.wait_for()
    answer, control = it.locator("b").first.bounding_box(), it.locator("select").first.bounding_box()
    pictures = [each for each in notebook.cell(index).locator("[data-jaxmagic]").all() if each.is_visible()]
    assert len(pictures) == 1
    assert answer["y"] < control["y"] < pictures[0].bounding_box()["y"]


def test_every_control_is_reached_by_the_keyboard_and_has_a_name(notebook: Notebook) -> None:
    controls = view(notebook, COMPARISON).locator("select, input, button.jupyter-button")
    assert controls.count() >= 8
    for index in range(controls.count()):
        each = controls.nth(index)
        assert each.evaluate("it => it.labels?.[0]?.textContent || it.textContent || it.title || it.ariaLabel")
        assert each.evaluate("it => it.tabIndex") >= 0


def test_views_are_legible_in_the_dark(notebook: Notebook) -> None:
    with notebook.in_the_dark():
        for index, name in ((HISTORY, "history"), (COMPARISON, "comparison")):
            view(notebook, index).scroll_into_view_if_needed()
            notebook.screenshot(f"explore-{name}-dark")


def test_a_view_says_how_many_runs_it_leaves_out(notebook: Notebook) -> None:
    """A comparison has a first call of each of its two candidates, and a benchmark has one."""
    view(notebook, MANY).get_by_text(f"15 of {3 + 2 + 1 + 1 + 17} runs").wait_for()


@pytest.mark.parametrize("trusted", [True, False])
def test_a_saved_notebook_shows_the_reports_of_its_views_without_their_kernel(
    notebook: Notebook,
    lab: Lab,
    new_page: Callable[[], Any],
    screenshots: Path,
    watched: Watch,
    trusted: bool,
) -> None:
    saved, count = notebook.save(), notebook.kernel_value("len(jaxmagic.history())") - 1  # TIMED ran after MANY
    for cell in saved["cells"] if not trusted else ():
        for output in cell["outputs"]:
            if "text/html" in output.get("data", {}):  # it was not signed here
                output["data"]["text/html"] += "<script>window.hacked = 1</script>"
    name = f"explore-{'trusted' if trusted else 'untrusted'}"
    nbformat.write(saved, lab.directory / f"{name}.ipynb")
    page = new_page()
    again = open_in(page, lab, f"{name}.ipynb", screenshots)
    again.wait_for_kernel()
    assert again.kernel_value("'jaxmagic' in globals()") is False
    for index in (COMPARISON, BENCHMARK, MANY):
        report = again.cell(index).locator("[data-mime-type='text/html']")
        if trusted:
            report.locator("[data-jaxmagic] svg").first.wait_for()
        else:
            picture = report.locator("img").first
            picture.evaluate("picture => picture.decode()")
            assert picture.evaluate("picture => picture.naturalWidth") > 100
    again.cell(COMPARISON).locator("[data-mime-type='text/html']").get_by_role("cell", name="eager").wait_for()
    many = again.cell(MANY).locator("[data-mime-type='text/html']")
    many.get_by_text(f"{count} records; the longest run took").wait_for()
    assert page.evaluate("window.hacked") is None
    if trusted:
        for index in (HISTORY, COMPARISON, BENCHMARK, OPENED, MANY, TIMED):
            again.cell(index).get_by_text(UNDRAWN).wait_for(state="hidden")
            assert again.cell(index).get_by_text(UNDRAWN).count() == 1  # and what JupyterLab writes is known
    else:
        assert again.output(MANY).inner_text() == "A live view, which needs the kernel that made it."
    again.cell(MANY).scroll_into_view_if_needed()
    again.screenshot(name)
    page.close()
    watched.take()  # JupyterLab says that it has no model of the widgets


def test_reports_outlive_their_kernel_and_views_do_not_hide_them(notebook: Notebook) -> None:
    saved = notebook.save()
    (report, widget) = saved["cells"][OPENED]["outputs"]
    assert "text/html" in report["data"]
    assert "application/vnd.jupyter.widget-view+json" in widget["data"]
    assert "application/vnd.jupyter.widget-view+json" not in report["data"]
