"""The script beside a picture, in a page without a notebook: what it does wherever HTML is shown."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fabricate.comparison import grid_of
from fabricate.profiling import MS, fabricated, operation, place

import jaxmagic
from jaxmagic.charts.areas import Cell, Flame
from jaxmagic.charts.chart_of import chart_of
from jaxmagic.charts.curves import Curves, Series
from jaxmagic.charts.lanes import Called, Lane, Lanes
from jaxmagic.charts.scale import Scale
from jaxmagic.charts.spec import Bar, Bars
from jaxmagic.comparison.charts.choices import latencies
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.drawing.scripts import script as live_script
from jaxmagic.drawing.scripts import with_scripts
from jaxmagic.drawing.svg import width_of
from jaxmagic.profiling.charts.flame import profile_flame
from jaxmagic.report.pictures import chart_to_html, picture
from jaxmagic.report.to_html import to_html

from .test_memory import PIXELS

#: The width of a page in which a live picture is as wide as the still one.
AS_STILL = 560 + 2 * 8


def is_like(path: str, other: str) -> bool:
    """Whether two paths have the same commands, to places that differ by less than can be seen."""
    if re.sub(r"[\d.]+", "", path) != re.sub(r"[\d.]+", "", other):
        return False
    one, two = ([float(each) for each in re.findall(r"[\d.]+", text)] for text in (path, other))
    return one == pytest.approx(two, abs=0.25)


class Page:
    """A page without a notebook: what the script does wherever HTML is shown."""

    def __init__(self, browser: Any, path: Path, body: str, script: bool = True, width: int = 900) -> None:
        path.write_text(f'<!doctype html><meta charset="utf-8"><body style="color:#123456">{body}', encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=script)
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


def test_a_hollow_point_tells_that_its_interval_is_unknown(show: Any) -> None:
    x, y = Scale(label="n", quantity="number", low=0, high=3), Scale(label="time", quantity="time", low=1e3, high=4e3)
    f = Series(name="f", x=(1.0, 2.0), y=(2e3, 3e3), low=(1.5e3, None), high=(2.5e3, None), points=True)
    page = show(chart_to_html(Curves(title="t", x=x, y=y, series=(f,))))
    told = []
    for kind in ("dots", "rings"):
        place = page.page.locator(f"[data-kind={kind}]").get_attribute("d")
        across, down, *_ = (float(each) for each in re.findall(r"[\d.]+", place))
        told.append(page.move(across, down))
    assert told == ["f\nn: 1\ntime: 2 µs (1.5 µs to 2.5 µs)", "f\nn: 2\ntime: 3 µs (interval unknown)"]


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
    page = show(html, width=AS_STILL)
    there, back = ("linear", "log") if kind == "forest" else ("log", "linear")
    for name in (None, there, back):
        if name is not None:
            page.page.get_by_role("button", name=name).click()
        same = all(is_like(after, before) for before, after in zip(drawn, page.paths(), strict=True))
        assert same is (name != there)


def test_the_other_kind_of_axis_has_its_own_places_and_ticks(comparison: Comparison, show: Any) -> None:
    page = show(to_html(comparison), width=AS_STILL)
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


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_a_picture_is_as_wide_as_its_page_with_text_of_the_same_size(sweep: Any, show: Any, width: int) -> None:
    page = show(chart_to_html(chart_of(sweep))).page
    page.set_viewport_size({"width": width, "height": 700})
    page.wait_for_function(f"document.querySelector('svg').getBoundingClientRect().width === {width - 16}")
    assert page.evaluate("document.querySelector('svg').getScreenCTM().a") == 1  # nothing is scaled
    ticks = page.locator("[data-ticks=x]:visible text[text-anchor=middle]:visible").evaluate_all(
        "all => all.map(n => n.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    assert len(ticks) >= 4
    assert all(right < left for (_, right), (left, _) in pairwise(ticks))
    drawn = page.locator("svg text:visible, svg path:visible").evaluate_all(
        "all => all.map(n => n.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    assert min(left for left, _ in drawn) >= 0
    assert max(right for _, right in drawn) <= width
    curve = page.locator("path[data-curve=numpy]").bounding_box()
    assert curve["x"] + curve["width"] == pytest.approx(width - 8 - 16, abs=0.04 * width)  # up to the largest n


@pytest.mark.parametrize(("width", "is_whole"), [(1600, True), (800, True), (360, False)])
def test_the_longest_label_is_whole_where_there_is_room(show: Any, width: int, is_whole: bool) -> None:
    names = "params, opt_state, loss = train_step(params, batch)", "y = f(x)"
    bars = tuple(Bar(name=name, parts=(("host", 3.0), ("wait", 1.0))) for name in names)
    page = show(
        chart_to_html(Bars(title="times", x=Scale(label="time", quantity="time", low=0, high=4), bars=bars))
    ).page
    page.set_viewport_size({"width": width, "height": 400})
    page.wait_for_function(f"document.querySelector('svg').getBoundingClientRect().width === {width - 16}")
    label = page.locator("text[data-whole]").first
    assert (label.text_content() == names[0]) == is_whole
    assert label.bounding_box()["x"] >= 0


def test_a_picture_in_a_closed_fold_is_as_wide_as_the_page_when_it_is_opened(sweep: Any, show: Any) -> None:
    page = show(f"<details><summary>more</summary>{chart_to_html(chart_of(sweep))}</details>").page
    page.locator("summary").click()
    page.wait_for_function("document.querySelector('svg').getBoundingClientRect().width === 884")


def graph() -> Flame:
    cells = (
        Cell(x=(0.0, 8e6), level=0, name="all", lines=("all", "8.00 ms, 100 % of all")),
        Cell(x=(0.0, 6e6), level=1, name="step", lines=("step", "6.00 ms, 75 % of all"), kind=1),
        Cell(x=(6e6, 8e6), level=1, name="other", lines=("other", "2.00 ms, 25 % of all"), kind=1),
        Cell(x=(0.0, 5e4), level=2, name="narrow", lines=("narrow", "50.0 µs, <1 % of all")),
    )
    x = Scale(label="device time", quantity="time", low=0.0, high=8e6)
    return Flame(title="graph", x=x, cells=cells, kinds=("operation", "your function"))


def test_a_click_on_a_call_zooms_to_it_and_another_one_back(show: Any) -> None:
    page = show(chart_to_html(graph())).page
    cell = page.locator("[data-name=step]")
    whole = cell.bounding_box()["width"]
    assert page.locator("[data-name=narrow] text").count() == 0
    cell.click(position={"x": 100, "y": 5})
    zoomed = cell.bounding_box()["width"]
    assert zoomed == pytest.approx(whole * 8 / 6, abs=4)
    assert page.locator("[data-name=all]").bounding_box()["width"] == pytest.approx(zoomed, abs=1)
    assert not page.locator("[data-name=other]").is_visible()
    ticks = page.locator("[data-ticks=x] text[text-anchor=middle]").all_text_contents()
    assert (ticks[0], ticks[-1]) == ("0", "6")
    page.locator("[data-name=narrow]").click()
    page.locator("[data-name=narrow] text", has_text="narrow 50.0 µs").wait_for()
    page.get_by_role("button", name="show all").click()
    assert cell.bounding_box()["width"] == pytest.approx(whole, abs=1)
    assert not page.get_by_role("button", name="show all").is_visible()


def test_the_keyboard_goes_from_call_to_call_and_zooms(show: Any) -> None:
    page = show(chart_to_html(graph())).page

    def at() -> str:
        return str(page.evaluate("document.activeElement.dataset.name"))

    page.locator("[data-name=all]").focus()
    visited = []
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        visited.append(at())
    assert visited == ["step", "other", "other", "step", "narrow", "step"]
    assert page.locator("[data-fit=cell][tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    assert not page.locator("[data-name=other]").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("[data-name=other]").is_visible()


@pytest.mark.parametrize("layer", ["Dense_{}", "TransformerBlock_1{}"])
@pytest.mark.parametrize("script", [True, False])
def test_narrow_calls_name_their_pass_and_no_two_look_alike(show: Any, still: Any, script: bool, layer: str) -> None:
    names = [layer.format(number) for number in range(2)]
    steps = [step for name in names for step in (f"jvp({name})", f"transpose(jvp({name}))")]
    places = tuple(place(MS, scope=f"jit(step)/{each}/dot") for each in steps)
    chart = profile_flame(replace(fabricated(), place_times=places))
    assert chart is not None
    if script:
        page = show(chart_to_html(chart), width=440).page
        drawn = page.locator("[data-fit=cell]").evaluate_all("all => all.map(n => [n.dataset.name, n.textContent])")
        box = page.locator("[data-fit=cell]", has_text="bwd").first.bounding_box()
        assert box["width"] == pytest.approx(104, abs=6)
    else:
        narrower = replace(chart, x=replace(chart.x, high=1.3 * chart.x.high))
        groups = ET.fromstring(still(chart_to_html(narrower))).iter("{http://www.w3.org/2000/svg}g")
        drawn = [(each.attrib["data-name"], "".join(each.itertext())) for each in groups if each.get("data-fit")]
    texts = {name: text for name, text in drawn if " of " in name}
    assert len(texts) == len(set(texts.values())) == 4
    for name, text in texts.items():
        assert text.startswith(("fwd ", "forward ") if name.startswith("forward") else ("bwd ", "backward "))
        assert text.endswith(name[-2:])


def test_small_multiples_stand_side_by_side_or_below_each_other(sweep: Any, executable: Any, show: Any) -> None:
    page = show(chart_to_html(chart_of(grid_of(sweep, executable())))).page
    one, other = (each.bounding_box() for each in page.locator("svg").all())
    assert one["y"] == other["y"]
    page.set_viewport_size({"width": 500, "height": 900})
    page.wait_for_function("document.querySelector('svg').getBoundingClientRect().width === 484")
    one, other = (each.bounding_box() for each in page.locator("svg").all())
    assert one["x"] == other["x"]


def test_the_labels_of_points_follow_their_axes_and_the_keyboard_is_told_their_values(show: Any) -> None:
    made = [
        Series(name=name, x=(x,), y=(y,), hue=number, points=True, label=name)
        for number, (name, x, y) in enumerate([("low", 1.0, 1e9), ("high", 100.0, 5e12)])
    ]
    axis = Scale(label="intensity", quantity="number", low=0.5, high=200.0, log=True)
    rate = Scale(label="FLOP/s", quantity="flops", low=1e8, high=1e13, log=True)
    page = show(chart_to_html(Curves(title="roofline", x=axis, y=rate, series=tuple(made))))
    points = page.page.locator("path[data-curve=high]").first
    assert "10 T" in page.page.locator("[data-ticks=y]:visible text").all_text_contents()
    page.page.get_by_role("button", name="y → linear").click()
    place = [float(each) for each in re.findall(r"[\d.]+", points.get_attribute("d"))]
    label = page.page.locator("text[data-y]", has_text="high")
    assert float(label.get_attribute("y")) == pytest.approx(place[1] - 7, abs=0.2)
    told = page.move(place[0], place[1])
    assert "FLOP/s: 5 TFLOP/s" in told
    page.move(5, 5)
    page.page.locator("[data-button=low]").focus()
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.ariaLabel") == told
    assert page.page.locator("[data-jaxmagic] > div").first.inner_text() == told


#: The number of labels that are shown, and what they cover: another label, a point, a curve, or a leader line.
COVERED = """() => {
  const all = q => [...document.querySelectorAll(q)].filter(n => !n.closest("[display=none]"));
  const boxes = all("text[data-y]").map(n => n.getBBox());
  const dots = all("path[data-kind=dots]").map(n => n.getBBox());
  const apart = (a, b) => a.x + a.width <= b.x + 1 || b.x + b.width <= a.x + 1
    || a.y + a.height <= b.y + 4 || b.y + b.height <= a.y + 4;
  const lines = all("path[data-curve], path[data-leader]").map(n => {
    const length = n.getTotalLength();
    return Array.from({length: 400}, (_, i) => n.getPointAtLength(length * i / 399));
  });
  const on = (line, a) => line.some(p =>
    a.x + 1 < p.x && p.x < a.x + a.width - 1 && a.y + 4 < p.y && p.y < a.y + a.height - 4);
  return [boxes.length, [
    boxes.some((a, i) => boxes.slice(0, i).some(b => !apart(a, b))) && "label",
    boxes.some(a => dots.some(b => !apart(a, b))) && "point",
    boxes.some(a => lines.some(line => on(line, a))) && "line",
  ].filter(Boolean)];
}"""


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_each_label_is_shown_and_covers_neither_another_one_nor_a_point_nor_a_line(show: Any, width: int) -> None:
    axis = Scale(label="FLOPs per byte", quantity="number", low=0.1, high=100.0, log=True)
    rate = Scale(label="FLOP/s", quantity="flops", low=1e9, high=1e13, log=True)
    roof = Series(name="roof", x=(0.1, 20.0, 100.0), y=(6e9, 1.2e12, 1.2e12), muted=True)
    places = [(50.0, 1e12), (50.0, 8e11), *((0.4 * 1.4**step, 2e10) for step in range(6))]
    made = tuple(
        Series(name=f"{number}", x=(x,), y=(y,), points=True, label=f"{number}× multiply_add")
        for number, (x, y) in enumerate(places)
    )
    chart = Curves(title="roofline", x=axis, y=rate, series=(roof, *made), tall=True)
    page = show(chart_to_html(chart), width=width).page
    assert page.evaluate(COVERED) == [8, []]
    page.get_by_role("button", name="y → linear").click()
    assert page.evaluate(COVERED)[1] == []
    page.get_by_role("button", name="y → log").click()
    assert page.evaluate(COVERED) == [8, []]


@pytest.mark.parametrize("width", [360, 800, 1600])
@pytest.mark.parametrize("name", ["gpu_mi300_attention", "gpu_mi300_elementwise", "gpu_gfx950_te_attention"])
def test_a_roofline_names_each_operation_whole_where_there_is_room_below_a_roof_that_rises(
    show: Any, name: str, width: int
) -> None:
    recording = Path(__file__).parents[1] / "recorded" / f"{name}.xplane.pb"
    chart = chart_of(jaxmagic.read_profile(recording), "roofline")
    page = show(chart_to_html(chart), width=width).page
    assert page.evaluate(COVERED) == [7, []]
    roof = page.locator("path[data-curve=roof]").bounding_box()
    plot = page.locator("svg").bounding_box()
    assert plot["height"] >= 0.25 * plot["width"]
    assert roof["height"] >= 0.05 * roof["width"]
    if width == 1600:
        entries = page.locator("[data-legend]").evaluate_all("all => all.map(n => [n.dataset.button, n.textContent])")
        assert all(name == written for name, written in entries)
        assert len(entries) == 8
    if name == "gpu_mi300_elementwise" and width >= 800:
        labels = page.locator("[data-label] text").all_text_contents()
        assert all(each.startswith("loop_convert_fusion generate_elementwise_trace.py:") for each in labels)


@pytest.mark.parametrize("script", [True, False])
def test_the_label_of_a_point_at_the_left_stays_beside_the_ticks(show: Any, script: bool) -> None:
    axis = Scale(label="FLOPs per byte", quantity="number", low=1.0, high=100.0, log=True)
    rate = Scale(label="FLOP/s", quantity="flops", low=1e9, high=1e13, log=True)
    point = Series(name="slow", x=(1.1,), y=(1e9,), points=True, label="50× wrapped_tanh")
    page = show(
        chart_to_html(Curves(title="roofline", x=axis, y=rate, series=(point,))), width=360, script=script
    ).page
    if script:
        left = json.loads(page.locator("svg").get_attribute("data-axes"))["x"]["start"]
        box = page.locator("text[data-y]").evaluate("n => n.getBBox().x")
        assert box >= left - 6  # where the ticks end; the width of text is an estimate
    else:
        svg = page.locator("img").evaluate("n => decodeURIComponent(escape(atob(n.src.split(',')[1])))")
        (label,) = [
            each for each in ET.fromstring(svg).iter() if each.tag.endswith("text") and "data-y" in each.attrib
        ]
        axes = json.loads(ET.fromstring(svg).attrib["data-axes"])
        assert float(label.attrib["x"]) - width_of("50× wrapped_tanh") / 2 >= axes["x"]["start"] - 1


@pytest.mark.parametrize("width", [280, 360, 620, 1600])
def test_a_note_is_read_whole_at_any_width_and_covers_nothing(show: Any, width: int) -> None:
    axis = Scale(label="FLOPs per byte", quantity="number", low=1.0, high=100.0, log=True)
    rate = Scale(label="FLOP/s", quantity="flops", low=1e9, high=1e13, log=True)
    note = "above the roof: data were in a cache, or the peak rate is too low"
    points = Series(name="f", x=(1.1, 90.0), y=(1.1e9, 1.1e9), points=True, label="50× wrapped_tanh")
    page = show(
        chart_to_html(Curves(title="roofline", x=axis, y=rate, series=(points,), note=note)), width=width
    ).page
    (written,) = page.locator("text[data-note]").all()
    lines = written.locator("tspan").all_text_contents()
    assert " ".join(lines) == note
    assert (len(lines) > 1) == (width <= 360)
    box, picture = written.bounding_box(), page.locator("[data-jaxmagic]").bounding_box()
    assert picture["x"] <= box["x"]
    assert box["y"] + box["height"] <= picture["y"] + picture["height"]
    others = page.locator("svg text:visible:not([data-note]), svg path:visible, button:visible")
    assert others.count() > 10
    for other in (each.bounding_box() for each in others.all()):
        above = other["y"] + other["height"] <= box["y"] + 2  # a box of text is higher than its letters
        below = box["y"] + box["height"] <= other["y"] + 2
        assert above or below, "the note covers something"


@pytest.mark.parametrize("width", [360, 620, 800, 1600])
def test_the_table_of_operations_begins_with_what_is_read_first(show: Any, width: int) -> None:
    names = ("wrapped_broadcast.17", "transpose_copy_fusion.3", "dot_general.7")
    times = tuple(operation(name, 10**7, source="train_steps.py:1234", category="fusion") for name in names)
    html = to_html(replace(fabricated(), operation_times=times))
    page = show(f'<div style="font:13px system-ui">{html}</div>', width=width).page
    table = page.locator("table", has_text="operation").last
    heads = table.locator("th").all_text_contents()
    assert heads[:4] == ["operation", "share", "time", "line"]
    room = table.locator("xpath=..").bounding_box()
    line = table.locator("th", has_text="line").bounding_box()
    assert line["x"] + line["width"] <= room["x"] + room["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


#: In how many lines a page writes the text of an element.
_LINES = """it => {
  const all = document.createRange();
  all.selectNodeContents(it);
  return new Set([...all.getClientRects()].map(box => Math.round(box.top))).size;
}"""


def test_a_narrow_page_wraps_the_names_of_operations_and_files_between_their_words(show: Any) -> None:
    times = (operation("concatenate_bitcast_fusion", 10**7, source="generate_attention_trace.py:31"),)
    html = to_html(replace(fabricated(), operation_times=times))
    page = show(f'<div style="font:13px system-ui">{html}</div>', width=360).page
    for words in (("concatenate_", "bitcast_", "fusion"), ("generate_", "attention_", "trace.", "py:31")):
        assert page.locator("td", has_text="".join(words)).last.evaluate(_LINES) <= len(words)


def test_a_narrow_page_shows_rates_beside_the_times_of_a_tpu(show: Any) -> None:
    recording = Path(__file__).parents[2] / "notebooks" / "recordings" / "tpu_v6e_4dev_inference.xplane.pb"
    page = show(f'<div style="font:13px system-ui">{to_html(jaxmagic.read_profile(recording))}</div>', width=600).page
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    table = page.locator("table", has_text="of roof").first
    room = table.locator("xpath=..").bounding_box()
    for name in ("rate", "of roof"):
        head = table.locator("th", has_text=name).bounding_box()
        assert head["x"] + head["width"] <= room["x"] + room["width"]


def timeline(*lanes: Lane) -> Lanes:
    called = (Called(name="early", kind=0), Called(name="late", kind=0))
    x = Scale(label="time", quantity="time", low=0.0, high=1e6)
    return Lanes(title="what ran when", x=x, kinds=(("host", 7),), called=called, lanes=lanes)


def lane(name: str, *starts: int) -> Lane:
    many = len(starts)
    return Lane(
        name=name, owner="", rows=1, row=(0,) * many, start=starts, length=(10_000,) * many,
        called=tuple(range(many)),
    )  # fmt: skip


#: Notes what a canvas writes, and where it begins and ends.
NOTED = """<script>
const texts = window.texts = [], write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function(text, x, y) {
  const wide = this.measureText(text).width, begin = x - ({right: wide, center: wide / 2}[this.textAlign] || 0);
  texts.push([String(text), begin, begin + wide]);
  write.call(this, text, x, y);
};
</script>"""


@pytest.mark.parametrize(("width", "is_whole"), [(360, False), (800, False), (1600, True)])
def test_the_name_of_a_lane_ends_before_its_events_and_is_whole_where_there_is_room(
    show: Any, width: int, is_whole: bool
) -> None:
    names = [f"WWWW Stream #{number}(MemcpyD2H,MemcpyH2D,Compute)" for number in (8, 9)]
    page = show(NOTED, chart_to_html(timeline(*(lane(name, 0) for name in names))), width=width).page
    canvas = page.locator("canvas")
    canvas.wait_for()
    texts = page.evaluate("window.texts")
    (axis,) = {(begin + end) / 2 for text, begin, end in texts if text == "0"}
    beside = {text: end for text, begin, end in texts if begin == 0}
    assert len(beside) == 2
    assert max(beside.values()) <= axis - 2
    assert (set(beside) == set(names)) == is_whole
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 12)
    page.get_by_text(names[0]).wait_for()  # the tooltip


def test_an_event_narrower_than_a_pixel_is_seen(show: Any) -> None:
    page = show(chart_to_html(timeline(replace(lane("python", 510_000), length=(1,))))).page
    canvas = page.locator("canvas")
    canvas.wait_for()
    strongest = canvas.evaluate("""it => {
      const {data} = it.getContext('2d').getImageData(0.53 * it.width, 12, 0.15 * it.width, 1);
      return Math.max(...data.filter((_, i) => i % 4 === 3));
    }""")
    assert strongest >= 0.6 * 255 - 1


def test_a_search_while_zoomed_goes_to_what_it_finds(show: Any) -> None:
    page = show(chart_to_html(timeline(lane("python", 0, 980_000)))).page
    canvas = page.locator("canvas")
    for key in ["+"] * 4 + ["ArrowLeft"] * 60:
        canvas.press(key)
    box = canvas.bounding_box()
    middle = box["x"] + 150 + (box["width"] - 160) * 0.68, box["y"] + 12  # the end of the timeline limits the move
    page.mouse.move(*middle)
    assert not page.get_by_text("late").is_visible()
    page.get_by_label("search events").fill("late")
    page.mouse.move(middle[0] + 2, middle[1])
    page.get_by_text("late\n").wait_for()


def test_the_keyboard_chooses_events_of_a_timeline_as_a_click_does(show: Any) -> None:
    lanes = lane("python", 0, 980_000), lane("empty"), lane("other", 500_000)
    page = show(chart_to_html(timeline(*lanes))).page
    canvas, about = page.locator("canvas"), page.locator("[aria-live]").last
    canvas.click(position={"x": 152, "y": 12})
    assert about.inner_text().startswith("early · 10 µs, starting at 0")
    canvas.click(position={"x": 300, "y": 12})
    assert about.inner_text() == ""
    page.get_by_label("search events").focus()
    page.keyboard.press("Tab")
    told = []
    for key in (">", ">", ">", "<", "PageDown", "PageDown", "PageUp", "PageUp"):
        page.keyboard.press(key)
        told.append(about.inner_text().split(" · ")[1])
    early, late, other = (f"10 µs, starting at {moment}" for moment in ("0 ns", "980 µs", "500 µs"))
    assert told == [early, late, late, early, other, other, late, late]
    page.get_by_label("host").uncheck()
    canvas.press("<")
    assert late in about.inner_text()


def test_a_chosen_event_has_a_frame_however_narrow_it_is(show: Any) -> None:
    page = show(chart_to_html(timeline(replace(lane("python", 500_000), length=(100,))))).page
    canvas = page.locator("canvas")
    canvas.press("0")
    before = canvas.evaluate(PIXELS)
    canvas.press(">")
    assert canvas.evaluate(PIXELS) != before


def test_an_event_that_the_keyboard_chooses_comes_into_view(show: Any) -> None:
    page = show(chart_to_html(timeline(*(lane(f"thread {number}", 0, 980_000) for number in range(50))))).page
    canvas = page.locator("canvas")
    for key in ["+"] * 4 + ["ArrowLeft"] * 60 + ["PageDown"] * 50 + [">"]:
        canvas.press(key)
    box = canvas.bounding_box()
    for down in range(8, int(box["height"]) - 30, 8):
        page.mouse.move(box["x"] + 150 + (box["width"] - 160) * 0.68, box["y"] + down)
        if page.get_by_text("late 10 µs").is_visible():  # the tooltip
            break
    else:
        raise AssertionError("the last event of the last thread is not in view")


def test_a_long_timeline_ends_below_a_lane_and_counts_the_others(show: Any) -> None:
    page = show(chart_to_html(timeline(*(lane(f"thread {number}", 0) for number in range(50))))).page
    height = page.locator("canvas").bounding_box()["height"] - 4 - 30
    assert (height + 4) % (15 + 4) == 0  # rows of 15 pixels, with 4 between lanes
    page.get_by_text(f"{50 - round((height + 4) / 19)} more lanes below").wait_for()


@pytest.mark.parametrize("width", [360, 600, 1600])
def test_the_list_below_a_map_fits_and_is_cut_with_an_ellipsis_alone(executable: Any, show: Any, width: int) -> None:
    page = show(chart_to_html(chart_of(executable())), width=width).page
    page.get_by_text("in 4 buffers").wait_for()
    cells = page.locator("td[title]").evaluate_all(
        "all => all.map(n => [n.getBoundingClientRect().right, getComputedStyle(n).textOverflow, n.title])"
    )
    assert "cell.py:3" in [title for *_, title in cells]
    assert max(right for right, *_ in cells) <= width
    assert {overflow for _, overflow, _ in cells} == {"ellipsis"}


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_the_list_below_a_map_looks_like_the_tables_of_a_report(executable: Any, show: Any, width: int) -> None:
    made = executable()
    first, *others = made.allocations
    smaller = replace(first, buffers=(replace(first.buffers[0], size_bytes=100), *first.buffers[1:]))
    page = show(chart_to_html(chart_of(replace(made, allocations=(smaller, *others)))), width=width).page
    page.get_by_text("in 4 buffers").wait_for()
    rows = page.locator("tr", has=page.locator("td[title]")).evaluate_all(
        """all => all.map(row => [...row.querySelectorAll('td[title]')].map(cell => {
          const text = document.createRange(), at = getComputedStyle(cell);
          text.selectNodeContents(cell);
          return {title: cell.title, right: text.getBoundingClientRect().right, font: at.fontFamily,
            align: at.textAlign, inside: cell.getBoundingClientRect().right - parseFloat(at.paddingRight)};
        }))"""
    )
    assert len(rows) == 4
    assert len({size["title"] for size, *_ in rows}) > 1
    assert max(size["right"] for size, *_ in rows) - min(size["right"] for size, *_ in rows) < 1
    assert all(size["inside"] - size["right"] < 1 for size, *_ in rows)
    for size, *code, kind in rows:
        assert {each["font"] for each in code} == {"monospace"}
        assert {each["align"] for each in code} == {"left"}
        assert "monospace" not in size["font"] + kind["font"]


def test_the_list_below_a_map_is_short_and_its_names_are_whole_where_there_is_room(
    executable: Any, show: Any
) -> None:
    made, name = executable(), "loop_broadcast_multiply_fusion.12"
    *others, last = made.allocations
    many = [replace(last, buffers=(replace(last.buffers[0], instruction=name),))] * 8
    page = show(chart_to_html(chart_of(replace(made, allocations=(*others, *many)))), width=800).page
    page.get_by_text("in 11 buffers").wait_for()
    page.get_by_text("and 5 more buffers").wait_for()
    cell = page.locator("td[title]", has_text=name).first
    assert cell.evaluate("n => n.scrollWidth <= n.clientWidth")
    assert page.locator("[data-jaxmagic]").bounding_box()["height"] <= 500
