"""The script beside a picture, in a page without a notebook: what it does wherever HTML is shown."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.charts.chart_of import chart_of
from jaxmagic.comparison.charts.choices import latencies
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.drawing.scripts import script as live_script
from jaxmagic.drawing.scripts import with_scripts
from jaxmagic.report.pictures import chart_to_html, picture
from jaxmagic.report.to_html import to_html


def is_like(path: str, other: str) -> bool:
    """Whether two paths have the same commands, to places that differ by less than can be seen."""
    if re.sub(r"[\d.]+", "", path) != re.sub(r"[\d.]+", "", other):
        return False
    one, two = ([float(each) for each in re.findall(r"[\d.]+", text)] for text in (path, other))
    return one == pytest.approx(two, abs=0.25)


class Page:
    """A page without a notebook: what the script does wherever HTML is shown."""

    def __init__(self, browser: Any, path: Path, body: str, script: bool = True) -> None:
        path.write_text(f'<!doctype html><meta charset="utf-8"><body style="color:#123456">{body}', encoding="utf-8")
        context = browser.new_context(viewport={"width": 900, "height": 900}, java_script_enabled=script)
        self.page = context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def move(self, x: float, y: float, number: int = 0) -> str:
        """Move the mouse to a place of a picture; what is told there."""
        box = self.page.locator("[data-jaxmagic] > svg").nth(number).bounding_box()
        self.page.mouse.move(box["x"] + x, box["y"] + y)
        return self.page.locator("[data-jaxmagic] > div:first-of-type").nth(number).inner_text()

    def pressed(self, number: int = 0) -> list[str]:
        """Whether each series is singled out."""
        root = self.page.locator("[data-jaxmagic]").nth(number)
        found: list[str] = root.locator("[data-button]").evaluate_all("all => all.map(n => n.ariaPressed)")
        return found

    def paths(self) -> list[str]:
        """Each path that has values."""
        found: list[str] = self.page.locator("path[data-x]").evaluate_all("all => all.map(n => n.getAttribute('d'))")
        return found


@pytest.fixture
def show(context: Any, tmp_path: Path) -> Iterator[Any]:
    shown: list[Page] = []

    def make(*bodies: str, **options: Any) -> Page:
        page = Page(context.browser, tmp_path / f"{len(shown)}.html", "<hr>".join(bodies), **options)
        shown.append(page)
        return page

    yield make
    for each in shown:
        assert each.errors == []
        assert [url for url in each.requests if not url.startswith(("file:", "data:"))] == []
        each.page.context.close()


def test_the_image_becomes_the_picture_that_it_holds_in_the_colour_of_the_page(
    comparison: Comparison, show: Any
) -> None:
    page = show(to_html(comparison))
    assert page.page.locator("img").count() == 0
    text = page.page.locator("svg text").first
    assert text.evaluate("n => getComputedStyle(n).fill") == "rgb(18, 52, 86)"
    page.page.locator("svg").wait_for(state="visible")


def test_where_no_script_runs_the_still_picture_stays(comparison: Comparison, show: Any) -> None:
    page = show(to_html(comparison), script=False)
    image = page.page.locator("img")
    assert image.bounding_box()["width"] == 560
    assert page.page.locator("svg").count() == 0


def test_the_mouse_is_told_the_nearest_point_and_what_a_row_comes_to(
    benchmark: Any, comparison: Any, show: Any
) -> None:
    page = show(to_html(replace(benchmark, pipelined=None)), to_html(comparison))
    curve = [float(each) for each in re.findall(r"[\d.]+", page.page.locator("[data-curve]").get_attribute("d"))]
    told = page.move(curve[60], curve[61])
    assert re.fullmatch(r"latency\ntime of a call: [\d.]+ ms\nshare of samples: [\d.]+ %", told)
    assert page.move(5, 5) == ""
    assert page.move(60, 45, 1) == "jit\n0.500x (0.498x to 0.506x)\nfaster"


def test_a_click_singles_a_series_out_and_another_one_restores(comparison: Comparison, show: Any) -> None:
    both = [chart_to_html(latencies(comparison)), to_html(comparison)]
    page = show(*both)
    entry = page.page.locator("[data-button=jit]").first
    entry.click()
    assert page.pressed() == ["false", "true"]
    assert page.pressed(1) == ["false", "false"]  # another chart is not disturbed
    faint = page.page.locator("g[data-s='0']:not([data-button])").first
    assert faint.evaluate("n => n.style.opacity") == "0.15"
    entry.click()
    assert page.pressed() == ["false", "false"]
    assert faint.evaluate("n => n.style.opacity") == "1"


@pytest.mark.parametrize("key", ["Enter", " "])
def test_the_keyboard_does_the_same_and_is_told_the_same(comparison: Comparison, show: Any, key: str) -> None:
    page = show(to_html(comparison))
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Tab")
    row = page.page.locator("[data-button=jit]")
    assert page.page.locator("[data-lm-suppress-shortcuts] [data-button=jit]").count() == 1  # JupyterLab keeps off
    assert row.get_attribute("role") == "button"
    assert row.get_attribute("aria-label").startswith("jit\n0.500x")
    assert page.page.locator("[data-jaxmagic] > div").first.inner_text().startswith("jit\n0.500x")
    page.page.keyboard.press(key)
    assert page.pressed() == ["false", "true"]
    page.page.keyboard.press(key)
    assert page.pressed() == ["false", "false"]


@pytest.mark.parametrize("kind", ["forest", "curves"])
def test_the_script_draws_what_the_still_picture_shows_also_after_switching_to_and_fro(
    comparison: Comparison, show: Any, still: Any, kind: str
) -> None:
    html = to_html(comparison) if kind == "forest" else chart_to_html(latencies(comparison))
    drawn = [
        path.attrib["d"]
        for path in ET.fromstring(still(html)).iter("{http://www.w3.org/2000/svg}path")
        if "data-x" in path.attrib
    ]
    page = show(html)
    there, back = ("linear", "log") if kind == "forest" else ("log", "linear")
    for name in (None, there, back):
        if name is not None:
            page.page.get_by_role("button", name=name).click()
        same = all(is_like(after, before) for before, after in zip(drawn, page.paths(), strict=True))
        assert same is (name != there)


def test_the_other_kind_of_axis_has_its_own_places_and_ticks(comparison: Comparison, show: Any) -> None:
    page = show(to_html(comparison))
    page.page.get_by_role("button", name="linear").click()
    scale = chart_of(comparison).x
    axis = json.loads(page.page.locator("svg").get_attribute("data-axes"))["x"]
    start, end = axis["start"], axis["end"]
    numpy = page.page.locator("[data-button=numpy] [data-kind=dots]").get_attribute("d")
    expected = start + (1 - scale.low) / (scale.high - scale.low) * (end - start)
    assert float(re.findall(r"[\d.]+", numpy)[0]) == pytest.approx(expected, abs=0.2)
    assert page.page.locator("[data-ticks=x]:visible").get_attribute("data-log") == "0"


def test_running_twice_and_running_without_the_picture_do_nothing(comparison: Comparison, show: Any) -> None:
    html = to_html(comparison)
    script = re.search(r"<script>.*</script>", html, re.S)
    assert script is not None
    page = show(
        script[0],
        html,
        html,
        script[0],
        '<div data-jaxmagic="abc"></div>' + f"<script>{live_script('live.js', 'abc')}</script>",
    )
    assert page.page.locator("svg").count() == 2
    assert page.page.locator("[data-jaxmagic] > svg ~ svg").count() == 0


def test_whatever_a_name_holds_is_only_text(named: Any, show: Any, hostile: str) -> None:
    record = named("numpy", hostile)
    page = show(to_html(record), with_scripts(picture(latencies(record), hostile)))
    assert page.page.evaluate("window.evil") is None
    assert page.page.locator("img").count() == 0
    assert page.page.locator("script").count() == 2
    told = page.move(60, 45)
    assert told.startswith("</script><script>window.evil=1")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 900
