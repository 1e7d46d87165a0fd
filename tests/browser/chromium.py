"""Debian's Chromium under Playwright, which can reach this machine only, and a record of what its pages did."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:  # the version matrix collects these tests too, and leaves them out by their marker
    expect = sync_playwright = None

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request

__all__ = ["MOST_MS", "Watch", "expect", "find_chromium", "missing", "open_browser", "watch"]

#: As long as nothing takes unless it hangs.
MOST_MS = 60_000

_OPTIONS = [
    "--disable-gpu",
    "--disable-quic",
    # Every other name fails at once: what a page asks of the outside can neither arrive nor hang.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
]


class Watch:
    """What the pages of a browser asked of anything but the server, and what went wrong in them."""

    def __init__(self, server: str) -> None:
        self._local = (f"{server}/", f"{server.replace('http', 'ws', 1)}/", "data:", "blob:", "file:", "about:")
        self.outside: list[str] = []
        self.errors: list[str] = []

    def on_request(self, address: str) -> None:
        if not address.startswith(self._local):
            self.outside.append(address)

    def take(self) -> tuple[list[str], list[str]]:
        """What has come together since the last time."""
        found = self.outside, self.errors
        self.outside, self.errors = [], []
        return found


def find_chromium() -> str | None:
    """The program, or `None`. It comes from the system: Playwright's own is never fetched."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def missing() -> str | None:
    """What these tests need and do not find, with what to do; `None` where nothing is missing."""
    needs = "The tests in a browser need"
    if sync_playwright is None:
        return f"{needs} Playwright; this Python has none. Install it: pip install -e '.[browser]'"
    if find_chromium() is None:
        return f"{needs} Chromium; there is none on the path. Install it: sudo apt install chromium"
    return None


@contextmanager
def open_browser() -> Iterator[BrowserContext]:
    """A browser with an empty profile; its window is tall, so that a screenshot holds a whole notebook."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=_OPTIONS)
        try:
            context = browser.new_context(viewport={"width": 1200, "height": 2000})
            context.set_default_timeout(MOST_MS)
            expect.set_options(timeout=MOST_MS)
            yield context
        finally:
            browser.close()


def watch(context: BrowserContext, server: str) -> Watch:
    """Note what all pages of `context` do from now on."""
    noted = Watch(server)

    def on_request(request: Request) -> None:
        noted.on_request(request.url)

    def on_console(said: ConsoleMessage) -> None:
        if said.type == "error":
            noted.errors.append(f"{said.text} ({said.location['url']})")

    def on_page(page: Page) -> None:
        page.on("websocket", lambda socket: noted.on_request(socket.url))

    context.on("request", on_request)
    context.on("page", on_page)
    context.on("weberror", lambda error: noted.errors.append(str(error.error)))
    context.on("console", on_console)
    return noted
