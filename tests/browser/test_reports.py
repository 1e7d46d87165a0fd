"""Reports where they are read: just run, in the dark, saved and opened again, untrusted, and as a page on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter

from .chromium import Watch
from .lab import Lab
from .notebook import Notebook, open_in

HOSTILE = '</script><img src=x onerror="window.hacked=1">'

SETUP = """\
%load_ext jaxmagic
import jaxmagic, jax, jax.numpy as jnp
x = jnp.ones((64, 64))
f = jax.jit(lambda x: jnp.tanh(x @ x))
def hostile(x):
    return x + 1
hostile.__name__ = hostile.__qualname__ = HOSTILE = {hostile!r}"""

TIMING, BENCHMARK, COMPARISON, NAME, LABEL = range(1, 6)

CELLS = (
    SETUP.format(hostile=HOSTILE),
    "%jaxtime f(x).shape",
    "%jaxtimeit -r 20 f(x)",
    "%%jaxcompare -r 20\neager: jnp.tanh(x @ x)\njit: f(x)",
    "%jaxtime jax.jit(hostile)(x);",
    "jaxmagic.compare({HOSTILE: f, 'jit': f}, x, budget_s=0.05)",
)


@pytest.fixture(scope="module")
def notebook(new_notebook: Callable[..., Notebook]) -> Notebook:
    """Every report once, just run."""
    it = new_notebook("reports.ipynb", *CELLS)
    it.run_all()
    return it


@pytest.fixture(scope="module")
def saved(notebook: Notebook) -> Any:
    """What is in the file afterwards."""
    return notebook.save()


@pytest.fixture(scope="module")
def open_again(lab: Lab, new_page: Callable[[], Any], screenshots: Path) -> Iterator[Callable[..., Notebook]]:
    """Opens a document under another name, in a page that has seen none, with a kernel that knows nothing of it."""
    page = new_page()

    def opening(name: str, document: Any) -> Notebook:
        nbformat.write(document, lab.directory / name)
        return open_in(page, lab, name, screenshots)

    yield opening
    page.close()


def report(notebook: Notebook, index: int) -> Any:
    """The HTML of a report."""
    return notebook.cell(index).locator(".jp-RenderedHTMLCommon[data-mime-type='text/html']")


def are_drawn(reports: Callable[[int], Any], *, live: bool = True) -> None:
    """What everybody sees of a report, wherever it is: words, the bar with its legend, the pictures.

    Args:
        reports: the HTML of the report of a cell.
        live: whether scripts run there, so that pictures answer.
    """
    timing = reports(TIMING)
    timing.get_by_text("wall time").wait_for()
    bar = timing.locator("div[title^='XLA']")
    assert bar.bounding_box()["width"] > 20
    assert bar.bounding_box()["height"] > 5
    timing.get_by_text("■ XLA").wait_for()
    reports(BENCHMARK).get_by_text("half of them").wait_for()
    reports(COMPARISON).get_by_role("cell", name="eager", exact=True).wait_for()
    for index in (BENCHMARK, COMPARISON):
        if live:
            picture = reports(index).locator("[data-jaxmagic] svg")
            picture.wait_for()
            assert picture.bounding_box()["width"] > 100
            assert reports(index).locator("img").count() == 0
        else:
            picture = reports(index).locator("img")
            picture.wait_for()
            picture.evaluate("picture => picture.decode()")  # an address is not yet a picture
            assert picture.evaluate("picture => picture.naturalWidth") > 100
    for index in range(TIMING, LABEL + 1):
        assert reports(index).evaluate("it => it.scrollWidth - it.clientWidth") <= 0, "wider than its place"


def shows_hostile_text_as_text(page: Any, reports: Callable[[int], Any]) -> None:
    for index in (NAME, LABEL):
        assert HOSTILE[:30] in reports(index).inner_text()
    assert page.locator("img[src='x']").count() == 0
    assert page.evaluate("window.hacked") is None


def test_reports_are_drawn_and_values_stay_values(notebook: Notebook) -> None:
    are_drawn(lambda index: report(notebook, index))
    notebook.screenshot("reports-light")
    assert notebook.outputs(TIMING).count() == 2
    assert notebook.output(TIMING, 1).inner_text() == "(64, 64)"
    assert notebook.kernel_value("Out[2]") == (64, 64)
    assert notebook.kernel_value("sorted(Out)") == [2, 6]
    assert notebook.kernel_value("[type(each).__name__ for each in jaxmagic.history()]")


def test_reports_are_drawn_in_the_dark(notebook: Notebook) -> None:
    with notebook.in_the_dark():
        are_drawn(lambda index: report(notebook, index))
        notebook.screenshot("reports-dark")


def test_what_the_user_wrote_is_text_in_a_report(notebook: Notebook) -> None:
    shows_hostile_text_as_text(notebook.page, lambda index: report(notebook, index))


def test_reports_are_drawn_when_the_kernel_is_gone(saved: Any, open_again: Callable[..., Notebook]) -> None:
    again = open_again("again.ipynb", saved)
    are_drawn(lambda index: report(again, index))
    assert again.output(TIMING).evaluate("it => it.classList.contains('jp-mod-trusted')")
    again.wait_for_kernel()
    assert again.kernel_value("'jaxmagic' in globals()") is False
    again.screenshot("reports-again")


def test_reports_are_drawn_where_nobody_trusts_them(saved: Any, open_again: Callable[..., Notebook]) -> None:
    foreign = json.loads(json.dumps(saved))
    for cell in foreign["cells"][1:]:
        # Another notebook than the one that was signed here, as one is that came by mail.
        cell["outputs"][0]["data"]["text/html"] += "<script>window.hacked = 1</script>"
    untrusted = open_again("untrusted.ipynb", nbformat.from_dict(foreign))
    are_drawn(lambda index: report(untrusted, index), live=False)
    assert not untrusted.output(TIMING).evaluate("it => it.classList.contains('jp-mod-trusted')")
    title = report(untrusted, COMPARISON).get_by_text("Details: first calls")
    folded = report(untrusted, COMPARISON).get_by_text("of it compiling").first
    assert not folded.is_visible()
    title.click()
    folded.wait_for()
    shows_hostile_text_as_text(untrusted.page, lambda index: report(untrusted, index))
    untrusted.screenshot("reports-untrusted")


def test_reports_are_drawn_in_a_page_from_disk(
    saved: Any, context: Any, watched: Watch, tmp_path: Path, screenshots: Path
) -> None:
    exporter = HTMLExporter()
    path = tmp_path / "reports.html"
    path.write_text(exporter.from_notebook_node(saved)[0], encoding="utf-8")
    page = context.new_page()
    page.goto(path.as_uri())

    def of_cell(index: int) -> Any:
        return page.locator(".jp-CodeCell").nth(index).locator(".jp-RenderedHTMLCommon[data-mime-type='text/html']")

    are_drawn(of_cell)
    shows_hostile_text_as_text(page, of_cell)
    page.screenshot(path=screenshots / "reports-page.png")
    page.close()
    outside, errors = watched.take()
    # nbconvert asks for these in every page that it writes; no report needs them, and they did not come.
    assert set(outside) <= {exporter.require_js_url, exporter.mathjax_url}
    assert all("ERR_NAME_NOT_RESOLVED" in error for error in errors)


def test_reports_are_drawn_after_a_reload_when_their_kernel_is_gone(notebook: Notebook, saved: Any) -> None:
    notebook.command("kernelmenu:shutdown")
    notebook.page.reload()
    notebook.cell(0).wait_for()
    are_drawn(lambda index: report(notebook, index))
    notebook.screenshot("reports-reloaded")
