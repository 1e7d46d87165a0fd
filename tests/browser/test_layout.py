"""A report uses the width of its page: nothing is broken that has room, and what has none stays readable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.drawing.scripts import mark, with_scripts
from jaxmagic.report import html_parts
from jaxmagic.report.style import AT_A_GLANCE
from jaxmagic.report.to_html import to_html

from . import gallery
from .gallery import THEMES, WIDTHS
from .test_gallery import NAMES, named_record

#: The widths of a report in JupyterLab on a telephone, and of a page of its own there.
NARROW = (224, 300, 360)

#: The width in em in which sentences are read.
MEASURE = 60

#: The cells of tables narrower than the page, the texts of which take more than one line. A cell of sentences may be
#: as wide as `most` times its font.
_WRAPPED = """([page, most]) => [...document.querySelectorAll('table')].flatMap(table => {
  if (!table.checkVisibility() || table.getBoundingClientRect().width >= page) return [];
  return [...table.querySelectorAll('td, th')].filter(cell => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), tops = new Set();
    const breaks = cell.querySelectorAll('br, pre span').length;
    while (texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      for (const it of range.getClientRects()) if (it.width > 1) tops.add(Math.round(it.bottom / 8));
    }
    const ems = cell.getBoundingClientRect().width / parseFloat(getComputedStyle(cell).fontSize);
    return tops.size > 1 + breaks && ems < most - 1;
  }).map(cell => cell.textContent);
})"""

#: How wide texts are, in em.
_EMS = """all => all.map(n => {
  const range = document.createRange();
  range.selectNodeContents(n);
  return range.getBoundingClientRect().width / parseFloat(getComputedStyle(n).fontSize);
})"""

#: How wide the shadow is that is seen at the right edge of each table which is seen, and what is left to be scrolled.
_SHADOWS = """() => [...document.querySelectorAll('[role=group]')].filter(n => n.checkVisibility()).flatMap(group => {
  const shadow = group.querySelector(':scope > div > div');
  if (!shadow) return [];
  const [it, window, place] = [shadow, shadow.parentElement, group].map(n => n.getBoundingClientRect());
  const right = Math.min(it.right, window.right, place.right), left = Math.max(it.left, window.left, place.left);
  return [[Math.max(right - left, 0), group.scrollWidth - group.clientWidth - group.scrollLeft]];
})"""

#: The lines of the code that is seen, as the left edges of their first letters: a line that is wrapped has several.
_EDGES_OF_CODE = """() => [...document.querySelectorAll('tr span')].filter(it =>
  it.checkVisibility() && it.textContent && getComputedStyle(it).whiteSpace === 'pre-wrap').map(it => {
  const range = document.createRange(), code = it.firstChild, edges = new Map();
  for (let at = code.data.search(/\\S/); at < code.length; at++) {
    range.setStart(code, at);
    range.setEnd(code, at + 1);
    const {left, top, width} = range.getBoundingClientRect();
    if (width && !edges.has(Math.round(top))) edges.set(Math.round(top), left);
  }
  return [...edges.values()];
})"""

#: In how many lines the numbers of each row of a listing are, which is not in a fold.
_LINES_OF_NUMBERS = """() => [...document.querySelectorAll('tr[data-share]')].filter(row =>
  !row.closest('details')).map(row => {
  const [code, ...numbers] = [...row.cells].map(it => it.getBoundingClientRect()).reverse();
  return new Set(numbers.map(it => Math.round(it.top))).size;
})"""


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Any:
    """Return the record with a name."""
    return named_record(request.param, request.getfixturevalue)


@pytest.fixture
def shown(context: Any, tmp_path: Path) -> Iterator[Callable[[str, int], Any]]:
    """Show HTML in a page of a width."""
    page = context.new_page()

    def show(html: str, width: int) -> Any:
        path = tmp_path / "report.html"
        path.write_text(gallery.page_of({"report": html}, THEMES[0]), encoding="utf-8")
        page.set_viewport_size({"width": width, "height": 600})
        page.goto(path.as_uri())
        return page

    yield show
    page.close()


@pytest.mark.parametrize("record", NAMES, indirect=True)
def test_on_a_wide_page_no_cell_of_a_table_wraps_and_sentences_are_no_wider_than_is_read(
    record: Any, shown: Callable[[str, int], Any]
) -> None:
    page = shown(to_html(record), WIDTHS[-1])
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate(_WRAPPED, [WIDTHS[-1] - 20, MEASURE]) == []
    sentences = page.locator("section div:not(:has(*)), section b").evaluate_all(_EMS)
    assert max(sentences) <= MEASURE + 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("record", ["profile-gpu", "profile-2gpu", "memory"], indirect=True)
def test_a_table_has_a_shadow_where_it_goes_on_and_none_at_its_end(
    record: Any, width: int, shown: Callable[[str, int], Any]
) -> None:
    page = shown(to_html(record), width)
    shadows = page.evaluate(_SHADOWS)
    assert shadows
    assert all(seen == pytest.approx(min(left, 16), abs=1) for seen, left in shadows)
    assert any(left for _, left in shadows) == (width == WIDTHS[0])
    page.evaluate("document.querySelectorAll('[role=group]').forEach(each => each.scrollLeft = 9999)")
    assert all(seen < 1 for seen, _ in page.evaluate(_SHADOWS))


@pytest.mark.parametrize("width", NARROW)
@pytest.mark.parametrize("record", ["profile-cpu"], indirect=True)
def test_on_a_narrow_page_wrapped_code_is_indented_and_numbers_are_in_one_line(
    record: Any, width: int, shown: Callable[[str, int], Any]
) -> None:
    page = shown(to_html(record, AT_A_GLANCE), width + 16)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    wrapped = [edges for edges in page.evaluate(_EDGES_OF_CODE) if len(edges) > 1]
    assert wrapped
    assert [edges for edges in wrapped if len({round(each) for each in edges[1:]}) > 1] == []
    assert [
        edges for edges in wrapped if edges[0] < 170 and edges[1] <= edges[0]
    ] == []  # the deepest begin further right
    assert set(page.evaluate(_LINES_OF_NUMBERS)) == {1}


@pytest.mark.parametrize("width", [224, 360, 600])
def test_a_row_of_the_buffers_below_a_memory_map_goes_on_beside_its_colour(
    width: int, memory_profile: Any, shown: Callable[[str, int], Any]
) -> None:
    page = shown(to_html(memory_profile(), AT_A_GLANCE), width + 16)
    rows = page.locator("[data-jaxmagic] tr")
    rows.first.wait_for()
    places = rows.evaluate_all("all => all.map(n => [...n.cells].map(cell => cell.getBoundingClientRect().toJSON()))")
    assert len(places) > 2
    for colour, *cells in places:
        assert min(cell["left"] for cell in cells) >= colour["right"]
        assert all(cell["left"] >= colour["right"] + 10 for cell in cells if cell["top"] >= colour["bottom"] - 1)
    wrapped = [any(cell["top"] > colour["top"] + 5 for cell in cells) for colour, *cells in places]
    assert any(wrapped) == (width < 600)


def test_a_path_is_wrapped_after_a_folder_and_its_file_keeps_its_line(shown: Callable[[str, int], Any]) -> None:
    sentence = html_parts.line("ValueError at /home/someone/experiments/with_a_long_name/train_steps.py:128.")
    for width in range(160, 420, 20):
        page = shown(sentence, width)
        file = page.get_by_text("train_steps.py:128.", exact=True)
        assert file.evaluate("it => it.getClientRects().length") == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_title_of_what_is_folded_counts_lines_and_names_the_rest(shown: Callable[[str, int], Any]) -> None:
    lines = "".join(f'<tr data-share="0.{at}" style="height:200px"><td>line</td></tr>' for at in (1, 2, 3))
    inside = (
        f'<div><div data-fold>Device time: 3 ms</div></div><div role="group"><table>{lines}</table></div>'
        "<details><summary>Whole listing: 9 lines</summary>all of it</details>"
    )
    page = shown(with_scripts(f'<div data-glance="{mark("fold.js")}">{inside}</div>'), 800)
    title = page.locator("summary", has_text="More: ")
    title.wait_for()
    named = "of code\u00a0· Device time\u00a0· Whole listing"
    assert title.inner_text() == f"More: 2 lines {named}"
    page.locator("tr").first.evaluate("it => it.style.height = '10px'")
    page.set_viewport_size({"width": 500, "height": 600})
    page.wait_for_function("document.querySelector('details summary').textContent.includes('1 line ')")


def test_what_a_reader_opened_stays_open_where_it_is_when_the_page_becomes_narrower(
    shown: Callable[[str, int], Any],
) -> None:
    inside = '<details><summary>Whole listing: 9 lines</summary><div style="height:900px">all of it</div></details>'
    page = shown(with_scripts(f'<div data-glance="{mark("fold.js")}">{inside}</div>'), 800)
    page.locator("summary").click()
    page.set_viewport_size({"width": 780, "height": 600})
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.get_by_text("all of it").is_visible()
    assert page.locator("summary").count() == 1
