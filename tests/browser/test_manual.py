"""The built manual as axe-core sees it, in light and dark, on a wide and on a narrow page: `make docs-check`.

That looks at pages of each kind, and `make suites` at all of them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from .accessible import violations
from .chromium import Watch
from .lab import Lab

#: The folder of the manual. Building it takes minutes, so other runs of the tests have none.
MANUAL = os.environ.get("JAXMAGIC_MANUAL")

#: Whether all pages are looked at: each takes seconds.
EVERY = bool(os.environ.get("JAXMAGIC_ACCESSIBLE"))

#: Pages of each kind: prose, tables, what ran, notebooks, pictures, options, signatures, and what the theme makes.
OF_EACH_KIND = (
    "index", "quickstart", "profile", "memory", "how-to/slow-line", "how-to/will-it-fit", "questions", "gallery",
    "versions", "reference/magics", "reference/timing", "reference/platforms", "genindex", "search",
)  # fmt: skip

_FILES = sorted(Path(MANUAL).rglob("*.html")) if MANUAL is not None else []
PAGES = [each.relative_to(MANUAL or "").with_suffix("").as_posix() for each in _FILES] if EVERY else OF_EACH_KIND

VIEWS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 400)]

#: What the theme writes in every page, or in the page of the search, and why it is not mended here.
OF_THE_THEME = {
    ("landmark-unique", '<aside class="sidebar-drawer">'): "its second aside, the contents of the page, has no name",
    ("page-has-heading-one", "<html"): "a script of the theme writes the heading of the search",
}

#: Until a page has noticed its new width.
_TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def is_of_the_theme(rule: str, element: str) -> bool:
    return any(rule == known and element.startswith(start) for known, start in OF_THE_THEME)


@pytest.mark.skipif(MANUAL is None, reason="make docs-check names the manual that it has built: JAXMAGIC_MANUAL")
@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_read_the_manual(name: str, context: Any, watched: Watch, axe: None) -> None:
    page = context.new_page()
    found = set()
    page.goto((Path(MANUAL or "") / f"{name}.html").resolve().as_uri())
    for scheme, width in VIEWS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("!document.querySelector('[data-jaxmagic] > img')")
        page.evaluate(_TWO_FRAMES)
        found |= {(rule, element[:300], scheme, width) for rule, element in violations(page)}
    page.close()
    assert [each for each in sorted(found) if not is_of_the_theme(*each[:2])] == []
    assert watched.take() == ([], [])


@pytest.mark.skipif(MANUAL is None, reason="make docs-check names the manual that it has built: JAXMAGIC_MANUAL")
def test_no_page_fetches_anything_from_elsewhere() -> None:
    loads = re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*\s(?:src|href)=["']?(?:https?:)?//[^>]*>""")
    assert len(_FILES) > len(OF_EACH_KIND)
    assert {page.name: found for page in _FILES if (found := loads.findall(page.read_text("utf-8")))} == {}


@pytest.mark.skipif(MANUAL is None, reason="make docs-check names the manual that it has built: JAXMAGIC_MANUAL")
def test_live_views_are_shown_as_pictures(context: Any, watched: Watch) -> None:
    page = context.new_page()
    page.goto((Path(MANUAL or "") / "memory.html").resolve().as_uri())
    views = page.locator(".still-view", has_text="In a notebook, this view has controls: Show,")
    assert views.count() == 2
    for view in views.all():
        view.locator("canvas, svg").first.wait_for()
    page.close()
    assert watched.take() == ([], [])


@pytest.mark.skipif(MANUAL is None, reason="make docs-check names the manual that it has built: JAXMAGIC_MANUAL")
def test_a_search_lists_the_page_that_answers_first(
    context: Any, lab: Lab, watched: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sphinx", reason="Sphinx is installed for the manual")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "_ext"))
    from searched import IN_OTHER_WORDS, QUERIES

    page = context.new_page()
    manual = f"{lab.url}/manual"  # a page that is a file may not read the pages that it has found
    page.route(
        f"{manual}/**",
        lambda route: route.fulfill(
            path=Path(MANUAL or "", urlsplit(route.request.url).path.removeprefix("/manual/"))
        ),
    )
    queries = QUERIES | IN_OTHER_WORDS
    first = {}
    for query in queries:
        page.goto(f"{manual}/search.html?{urlencode({'q': query})}")
        page.locator("#search-results .search-summary", has_text="Search finished").wait_for()
        first[query] = page.locator("#search-results .search a").first.get_attribute("href").partition(".html")[0]
    page.close()
    assert first == queries
    assert watched.take() == ([], [])
