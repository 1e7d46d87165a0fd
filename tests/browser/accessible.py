"""What axe-core finds in a page: contrast, names of controls, structure, and what a keyboard cannot reach."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["missing", "violations"]


def missing() -> str | None:
    """What these tests need and do not find, with what to do; `None` where nothing is missing."""
    if find_spec("axe_playwright_python") is None:
        return "These tests need axe-core; this Python has none. Install it: pip install -e '.[browser]'"
    return None


def violations(page: Page, within: str | None = None) -> list[tuple[str, str]]:
    """Return the rules that `page` breaks, of any impact, each with the element that breaks it.

    Args:
        page: the page as it is now: its theme, its width, what is folded.
        within: a selector of the part to look at; rules about whole pages are then left out.
    """
    from axe_playwright_python.sync_playwright import Axe

    options: dict[str, object] = {"resultTypes": ["violations"], "preload": False}  # a file may read no other file
    if within is not None:
        options["rules"] = {name: {"enabled": False} for name in _OF_WHOLE_PAGES}
    found = Axe().run(page, within, options).response["violations"]
    return [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]]


#: A report is a part of a page, which has landmarks and a heading of its own.
_OF_WHOLE_PAGES = ("region", "landmark-one-main", "page-has-heading-one", "html-has-lang")
