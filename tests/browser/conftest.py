"""One JupyterLab and one browser for all tests here, and a watch over what leaves the machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from . import accessible, chromium
from .chromium import Watch, open_browser
from .gallery import keep_earlier
from .lab import Lab, start_lab
from .notebook import Notebook, load, open_in, write

#: What is kept of a run, for people to look at.
_SCREENSHOTS = Path("build/screenshots")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Photograph what is on the screen when a test fails."""
    report = yield
    context = getattr(item, "funcargs", {}).get("context")
    for number, page in enumerate(context.pages if report.failed and context is not None else ()):
        with suppress(Exception):  # a page that cannot be photographed must not hide why the test failed
            page.screenshot(path=item.config.rootpath / _SCREENSHOTS / f"{item.name}-failed-{number}.png")
    return report


# Used by every test here: pictures of failures neither stay from a run before, nor vanish in the middle of this one.
@pytest.fixture(scope="session", autouse=True)
def screenshots(request: pytest.FixtureRequest) -> Path:
    """Where they go, without those of the run before; a check of the manual leaves the gallery."""
    directory: Path = request.config.rootpath / _SCREENSHOTS
    if "JAXMAGIC_MANUAL" not in os.environ:
        keep_earlier(directory)
        shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


# Of the package, not of the session: while Playwright runs, no other test of this worker can start an event loop.
@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    if (sentence := chromium.missing()) is not None:
        # Where changes are let in, nothing may pass because it was not looked at.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(sentence)
    with start_lab(tmp_path_factory.mktemp("lab")) as it:
        yield it


@pytest.fixture(scope="package")
def context(lab: Lab) -> Iterator[Any]:
    """The browser; it starts while the server does."""
    with open_browser() as it:
        lab.wait_until_ready()
        yield it


@pytest.fixture(scope="package")
def watched(context: Any, lab: Lab) -> Watch:
    return chromium.watch(context, lab.url)


@pytest.fixture(scope="session")
def axe() -> None:
    """Say what to install where axe-core is missing."""
    if (sentence := accessible.missing()) is not None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(sentence)


@pytest.fixture(autouse=True)
def nothing_leaves_and_nothing_fails(watched: Watch) -> Iterator[None]:
    yield
    outside, errors = watched.take()
    assert outside == []
    assert errors == []


@pytest.fixture(scope="package")
def new_page(lab: Lab, context: Any, watched: Watch) -> Callable[[], Any]:
    """Loads JupyterLab into a page of its own, which knows of no other. That takes seconds."""

    def make() -> Any:
        page = context.new_page()
        load(lab, page)
        return page

    return make


@pytest.fixture(scope="module")
def page(new_page: Callable[[], Any]) -> Iterator[Any]:
    """A page for the notebooks of a module, each in its tab."""
    it = new_page()
    yield it
    it.close()


@pytest.fixture(scope="module")
def new_notebook(lab: Lab, page: Any, screenshots: Path) -> Callable[..., Notebook]:
    """Writes a notebook of these cells and opens it in the module's page."""

    def make(name: str, *sources: str) -> Notebook:
        write(lab.directory / name, *sources)
        return open_in(page, lab, name, screenshots)

    return make
