"""Every picture of every record fits its page, at three widths, in light and dark; a gallery keeps what was seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fabricate.comparison import grid_of, without_end
from pages import displayable

import jaxmagic
from jaxmagic.report.displayable import Displayable
from jaxmagic.report.style import AT_A_GLANCE
from jaxmagic.report.to_html import to_html
from jaxmagic.session.history import History

from . import gallery
from .accessible import violations
from .gallery import RECORDED, THEMES, WIDTHS

#: What the gallery shows: records that were fabricated, recorded, or are taken here.
NAMES = (
    "timing", "benchmark", "comparison", "sweep", "sweep-grid", "sweep-cut", "memory", "executable", "arrays", "heap",
    "heap-profile", "history", "profile-cpu", "profile-gpu", "profile-2gpu", "diagnosis", "error",
)  # fmt: skip

#: A page in which a report is as narrow as in JupyterLab on a telephone.
NARROWEST = 300

#: What a report may take beside its pictures.
MOST_PIXELS = 400

#: Which texts are in the font that the page has, and not in one of their own.
_IN_THE_FONT_OF_THE_PAGE = """all => all.filter(it =>
  [...it.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim()) && it.checkVisibility() &&
  getComputedStyle(it).fontFamily === 'serif').map(it => it.textContent)"""

#: Whether each picture, or the row of small multiples that it is in, is as wide as its place.
_USES_ITS_PLACE = """() => [...document.querySelectorAll('[data-jaxmagic]')].every(root => {
  const drawn = [...root.querySelectorAll('svg, canvas')].filter(it => it.checkVisibility());
  const boxes = drawn.map(it => it.getBoundingClientRect()), place = root.parentElement.getBoundingClientRect();
  return !boxes.length || Math.abs(Math.max(...boxes.map(it => it.right)) - place.right) < 2 &&
    Math.abs(Math.min(...boxes.map(it => it.left)) - place.left) < 2;
})"""

#: Whether a report takes no more than that.
_IS_SHORT = """most => {
  const tall = it => it.getBoundingClientRect().height;
  const pictures = [...document.querySelectorAll('[data-jaxmagic]')].filter(it => it.checkVisibility());
  return tall(document.querySelector('section')) <= pictures.reduce((sum, it) => sum + tall(it), most);
}"""


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Any:
    """Return the record with a name."""
    return named_record(request.param, request.getfixturevalue)


def named_record(of: str, get: Callable[[str], Any]) -> Any:
    """Return the record with a name, from fixtures."""
    made = {
        "timing": lambda: get("timing")(
            get("compilation")(), get("compilation")(function="update_cross_section_jacobian"), unreached_ns=None
        ),
        "sweep-grid": lambda: grid_of(get("sweep"), get("executable")()),
        "sweep-cut": lambda: without_end(get("sweep")),
        "memory": lambda: get("memory_profile")(heap=get("heap_difference")()),
        "executable": lambda: get("executable")(),
        "arrays": lambda: get("memory_profile")().arrays,
        "heap": lambda: get("heap_difference")(),
        "heap-profile": lambda: get("heap_difference")().after,
        "history": lambda: History.of_records(
            [get("timing")(get("compilation")(), code="step(x)"), get("comparison"), get("memory_profile")()]
        ),
        "profile-cpu": gallery.trained,
        "profile-gpu": lambda: jaxmagic.read_profile(RECORDED / "gpu_mi300_attention.xplane.pb"),
        "profile-2gpu": lambda: jaxmagic.read_profile(RECORDED / "gpu_mi300_2dev_conv_copies.xplane.pb"),
        "diagnosis": lambda: get("diagnosis")(),
        "error": gallery.explained,
    }
    return made[of]() if of in made else get(of)


def test_each_kind_of_record_is_in_the_gallery(request: pytest.FixtureRequest) -> None:
    shown = {type(named_record(each, request.getfixturevalue)).__name__ for each in NAMES}
    assert {each.__name__ for each in displayable(Displayable)} - {"Record"} <= shown


@pytest.fixture(scope="module")
def index_of_the_gallery(screenshots: Path) -> Iterator[Path]:
    yield screenshots
    gallery.index(screenshots, NAMES)


def test_no_screenshot_of_an_earlier_run_stays_whatever_test_is_first(request: pytest.FixtureRequest) -> None:
    assert "screenshots" in request.fixturenames  # which this test does not ask for


def test_the_gallery_shows_what_was_different_in_an_earlier_one(tmp_path: Path) -> None:
    for picture in ("old", "new"):
        directory = tmp_path / "screenshots"
        gallery.keep_earlier(directory)
        directory.mkdir()
        for theme in THEMES:
            for width in WIDTHS:
                (directory / f"gallery-timing-{theme.name}-{width}.png").write_text(
                    picture if width == 360 else "same"
                )
        gallery.index(directory, ["timing"])
    page = (directory / "index.html").read_text("utf-8")
    before = [f"../{gallery.EARLIER}/gallery-timing-{theme.name}-360.png" for theme in THEMES]
    assert [each for each in before if page.count(f'src="{each}"') == 1] == before
    assert page.count("before:") == 2
    (directory / "gallery-timing-dark-360.png").unlink()
    gallery.keep_earlier(directory)  # not whole
    assert (directory.parent / before[0].removeprefix("../")).read_text() == "old"


def test_the_index_lists_only_pictures_that_were_drawn(tmp_path: Path) -> None:
    drawn = ["gallery-timing-dark-360.png", "gallery-timing-dark-1600.png"]
    for each in drawn:
        (tmp_path / each).write_text("picture")
    gallery.index(tmp_path, ["timing", "benchmark"])
    page = (tmp_path / "index.html").read_text("utf-8")
    assert re.findall(r'src="([^"]+)"', page) == drawn
    assert "<th>timing<br>dark</th><td><a" in page
    assert "<td></td>" in page  # below its width
    assert "benchmark" not in page
    assert "light" not in page
    assert "not drawn: 10<" in page
    gallery.keep_earlier(tmp_path)  # not whole
    assert tmp_path.exists()


@pytest.mark.parametrize("record", NAMES, indirect=True)
def test_pictures_fit_their_page(
    record: Any, request: pytest.FixtureRequest, context: Any, tmp_path: Path, index_of_the_gallery: Path
) -> None:
    name = request.node.callspec.params["record"]
    pieces = {"report": to_html(record), **gallery.pictures(record)}
    for theme in THEMES:
        path = tmp_path / f"{theme.name}.html"
        path.write_text(gallery.page_of(pieces, theme), encoding="utf-8")
        page = context.new_page()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 600})
            page.goto(path.as_uri())
            page.wait_for_function("!document.querySelector('[data-jaxmagic] > img')")
            file = index_of_the_gallery / f"gallery-{name}-{theme.name}-{width}.png"
            page.screenshot(path=file, full_page=True)
            wide = page.locator("[data-jaxmagic]").evaluate_all(
                "all => all.map(it => it.getBoundingClientRect().right)"
            )
            assert max(wide, default=0) <= width
            page.wait_for_function(_USES_ITS_PLACE, timeout=20_000)  # once each picture has noticed its width
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("section *").evaluate_all(_IN_THE_FONT_OF_THE_PAGE) == []
        page.close()


@pytest.mark.parametrize("record", NAMES, indirect=True)
def test_a_report_in_a_narrow_page_hides_nothing_that_is_not_folded_and_is_not_longer(
    record: Any, context: Any, tmp_path: Path
) -> None:
    path = tmp_path / "narrow.html"
    path.write_text(gallery.page_of({"report": to_html(record, AT_A_GLANCE)}, THEMES[0]), encoding="utf-8")
    page = context.new_page()
    page.set_viewport_size({"width": NARROWEST, "height": 600})
    page.goto(path.as_uri())
    scrolled = page.locator("[role=group]").evaluate_all(
        "all => all.filter(n => n.checkVisibility() && n.scrollWidth > n.clientWidth).map(n => n.ariaLabel)"
    )
    assert scrolled == []
    page.set_viewport_size({"width": WIDTHS[0], "height": 600})
    page.wait_for_function("!document.querySelector('[data-jaxmagic] > img')")
    page.wait_for_function(_IS_SHORT, arg=MOST_PIXELS)  # once the page has noticed its width
    page.close()


@pytest.mark.parametrize("record", NAMES, indirect=True)
def test_where_no_script_runs_a_narrow_page_shows_an_answer_before_its_folds(
    record: Any, context: Any, tmp_path: Path
) -> None:
    path = tmp_path / "untrusted.html"
    path.write_text(gallery.page_of({"report": to_html(record, AT_A_GLANCE)}, THEMES[0]), encoding="utf-8")
    with closing(context.browser.new_context(java_script_enabled=False)) as untrusted:
        page = untrusted.new_page()
        page.set_viewport_size({"width": WIDTHS[0], "height": 600})
        page.goto(path.as_uri())
        top = page.locator("section").bounding_box()["y"]
        end = min(
            (each.bounding_box()["y"] for each in page.locator("summary").all()),
            default=top + page.locator("section").bounding_box()["height"],
        )
        boxes = [each.bounding_box() for each in page.locator("[data-jaxmagic]").all() if each.is_visible()]
        pictures = sum(each["height"] for each in boxes if each["y"] < end)
    assert end - top <= pictures + MOST_PIXELS


#: The sentences and titles of a report, in their order.
TEXTS = "() => [...document.querySelectorAll('[data-glance] [data-fold], summary')].map(n => n.textContent)"


@pytest.mark.parametrize("record", ["profile-cpu", "profile-gpu", "memory", "sweep-grid"], indirect=True)
def test_what_a_narrow_page_folds_is_below_a_title_and_back_in_its_place_on_a_wide_page(
    record: Any, context: Any, tmp_path: Path
) -> None:
    path = tmp_path / "folded.html"
    path.write_text(gallery.page_of({"report": to_html(record, AT_A_GLANCE)}, THEMES[0]), encoding="utf-8")
    page = context.new_page()
    page.set_viewport_size({"width": WIDTHS[1], "height": 600})
    page.goto(path.as_uri())
    texts, seen = page.evaluate(TEXTS), page.locator("section").inner_text()
    more = page.locator("summary", has_text="More: ")
    assert more.count() == 0
    page.set_viewport_size({"width": NARROWEST, "height": 600})
    more.wait_for()
    assert sorted(each for each in page.evaluate(TEXTS) if not each.startswith("More: ")) == sorted(texts)
    assert page.locator("section").inner_text() != seen
    more.press("Enter")
    assert more.locator("xpath=following-sibling::div[1]").inner_text().strip()
    words = set(seen.split())
    assert words <= set(page.locator("section").inner_text().split())
    page.set_viewport_size({"width": WIDTHS[1], "height": 600})
    more.wait_for(state="detached")
    assert page.evaluate(TEXTS) == texts
    assert page.locator("section").inner_text() == seen
    page.close()


@pytest.mark.parametrize("record", NAMES, indirect=True)
def test_everybody_can_read_reports_and_pictures(record: Any, context: Any, tmp_path: Path, axe: None) -> None:
    pieces = {"glance": to_html(record, AT_A_GLANCE), "report": to_html(record), **gallery.pictures(record)}
    page = context.new_page()
    for theme in THEMES:
        path = tmp_path / f"{theme.name}.html"
        path.write_text(gallery.page_of(pieces, theme), encoding="utf-8")
        page.set_viewport_size({"width": WIDTHS[0], "height": 600})
        page.goto(path.as_uri())
        page.wait_for_function("!document.querySelector('[data-jaxmagic] > img')")
        assert violations(page, "section[data-of=glance]") == []  # as it is met: with its folds closed
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert violations(page, "section:not([data-of=glance])") == []
    page.close()
