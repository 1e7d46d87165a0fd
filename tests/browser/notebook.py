"""A notebook in JupyterLab, as somebody in front of it would see and use it; and its kernel, for exact values."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

from .lab import MOST_SECONDS, Lab

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

_PANEL = ".jp-NotebookPanel:visible"

#: The light is "idle" before there is a kernel, and Run All then asks which one to start: the name tells.
_HAS_IDLE_KERNEL = """() => {
    const panel = document.querySelector(".jp-NotebookPanel:not(.lm-mod-hidden)");
    const name = panel?.querySelector(".jp-KernelName")?.textContent?.trim();
    const light = panel?.querySelector(".jp-Notebook-ExecutionIndicator");
    return name && name !== "No Kernel" && light?.dataset.status === "idle";
}"""

#: A prompt is "[ ]:" before its cell has run, "[*]:" until it is done, then "[7]:".
_HAS_RUN = """() => {
    const cells = [...document.querySelectorAll(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell")];
    return cells.every(each => /\\d/.test(each.querySelector(".jp-InputPrompt")?.textContent ?? ""));
}"""

#: A command may give what cannot be sent, so that is not returned.
_COMMAND = "([id, options]) => window.jupyterapp.commands.execute(id, options).then(() => null)"


class Notebook:
    """A notebook open in `page`; cells are counted from 0."""

    def __init__(self, lab: Lab, page: Page, name: str, screenshots: Path) -> None:
        self.lab = lab
        self.page = page
        self.name = name
        self._screenshots = screenshots

    @property
    def path(self) -> Path:
        """The file."""
        return self.lab.directory / self.name

    def cell(self, index: int) -> Locator:
        return self.page.locator(f"{_PANEL} .jp-Notebook .jp-Cell").nth(index)

    def outputs(self, index: int) -> Locator:
        """All outputs of a cell."""
        # Widgets nest output areas of their own, so only the cell's own children are looked at.
        own = ".jp-Cell-outputArea > .jp-OutputArea-child > .jp-OutputArea-output"
        return self.cell(index).locator(own)

    def output(self, index: int, nth: int = 0) -> Locator:
        """One output of a cell."""
        return self.outputs(index).nth(nth)

    def wait_for_kernel(self) -> None:
        """Return once there is a kernel that has nothing to do."""
        self.page.wait_for_function(_HAS_IDLE_KERNEL)

    def run_all(self) -> None:
        """Choose Run All Cells in the menu, and return when all have run."""
        self.wait_for_kernel()
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.locator("[data-type='command'][data-command='runmenu:run-all']").click()
        self.page.wait_for_function(_HAS_RUN)
        self.wait_for_kernel()
        errors = self.page.locator(f"{_PANEL} [data-mime-type$='.error'], {_PANEL} [data-mime-type$='.stderr']")
        assert errors.count() == 0, errors.all_inner_texts()

    def command(self, identity: str, **options: object) -> None:
        """Execute one of JupyterLab's commands; not for those that ask something and wait for an answer."""
        self.page.evaluate(_COMMAND, [identity, options])

    def save(self) -> Any:
        """Save, and return what is in the file."""
        self.command("docmanager:save")
        return nbformat.read(self.path, as_version=4)

    @contextmanager
    def in_the_dark(self) -> Iterator[None]:
        """JupyterLab's dark theme, for a while."""
        self._choose_theme("JupyterLab Dark", light="false")
        try:
            yield
        finally:
            self._choose_theme("JupyterLab Light", light="true")

    def kernel_value(self, expression: str) -> Any:
        """What `expression`, whose value has to be a Python literal, is in the kernel; leaves no trace there."""
        asked = {"value": f"repr({expression})"}
        kernel = self.lab.kernel(self.name)
        reply = kernel.execute("", silent=True, user_expressions=asked, reply=True, timeout=MOST_SECONDS)
        found = reply["content"]["user_expressions"]["value"]
        assert found["status"] == "ok", found
        return ast.literal_eval(ast.literal_eval(found["data"]["text/plain"]))

    def wait_for_kernel_value(self, expression: str, expected: object) -> None:
        """Return once `expression` is `expected`: what is clicked takes a moment to arrive in the kernel."""
        deadline = time.monotonic() + MOST_SECONDS
        while (value := self.kernel_value(expression)) != expected:
            assert time.monotonic() < deadline, f"{expression} is {value!r}, not {expected!r}"
            time.sleep(0.05)

    def screenshot(self, name: str) -> None:
        """Photograph the notebook, without what stands around it."""
        self.page.locator(_PANEL).screenshot(path=self._screenshots / f"{name}.png")

    def shoot(self, place: Locator, name: str) -> None:
        """Photograph a part of the notebook."""
        place.screenshot(path=self._screenshots / f"{name}.png")

    def _choose_theme(self, theme: str, light: str) -> None:
        self.command("apputils:change-theme", theme=theme)
        self.page.locator(f"body[data-jp-theme-light='{light}']").wait_for(state="attached")


def write(path: Path, *sources: str) -> None:
    """A new notebook with a code cell for each of `sources`."""
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in sources])
    # Without the name of a kernel, a dialog asks for one and everything waits.
    document.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(document, path)


def load(lab: Lab, page: Page) -> None:
    """Load JupyterLab into `page`, with nothing open in it."""
    page.goto(f"{lab.url}/lab?reset&token={lab.token}")
    page.locator(".jp-Launcher:visible").wait_for()
    page.locator("#jupyterlab-splash").wait_for(state="detached")


def open_in(page: Page, lab: Lab, name: str, screenshots: Path) -> Notebook:
    """Open the notebook `name` in a tab of the JupyterLab in `page`."""
    notebook = Notebook(lab, page, name, screenshots)
    notebook.command("docmanager:open", path=name)
    notebook.cell(0).wait_for()
    return notebook
