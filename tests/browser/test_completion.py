"""Tab in JupyterLab, behind a magic: options, files and labels come first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .notebook import Notebook

LABELS = "%%jaxcompare --baseline \njit of vmap: f(x)\neager: x @ x"


@pytest.fixture(scope="module")
def notebook(new_notebook: Callable[..., Notebook]) -> Notebook:
    first = "%load_ext jaxmagic\nimport jaxmagic"
    it = new_notebook("completion.ipynb", first, "%jaxtime --ex", "%jaxtimeit --save ", LABELS, "jaxmagic.")
    it.wait_for_kernel()
    it.cell(0).locator(".cm-content").click()
    it.page.keyboard.press("Control+Enter")
    it.wait_for_kernel_value("'jaxtime' in get_ipython().magics_manager.magics['line']", True)
    return it


def offered(notebook: Notebook, index: int) -> list[str]:
    """What the list below the cursor offers, at the end of a cell's first line."""
    page = notebook.page
    notebook.cell(index).locator(".cm-line").first.click()
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    found = page.locator(".jp-Completer:visible .jp-Completer-item")
    found.first.wait_for()
    texts = [" ".join(each.split()) for each in found.locator(".jp-Completer-match").all_inner_texts()]
    page.keyboard.press("Escape")
    return texts


def test_options_are_offered(notebook: Notebook) -> None:
    assert offered(notebook, 1) == ["--expect-no-compile", "--explain"]


def test_files_are_offered(notebook: Notebook) -> None:
    assert "completion.ipynb" in offered(notebook, 2)


def test_functions_are_offered_before_classes(notebook: Notebook) -> None:
    names = offered(notebook, 4)
    assert names[:3] == ["benchmark", "compare", "diagnose"]
    assert [each[0].islower() for each in names] == sorted((each[0].islower() for each in names), reverse=True)


def test_labels_are_offered(notebook: Notebook) -> None:
    assert offered(notebook, 3)[:2] == ['"jit of vmap"', "eager"]  # words of the cell follow: those are JupyterLab's
    notebook.screenshot("completion")
