"""A page with many rectangles or events in Chromium: how often it is drawn in a second while it is dragged."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from large_map import program
from playwright.sync_api import Page, sync_playwright
from profiling import record, record_scopes

import jaxmagic
from jaxmagic.charts.areas import Boxes
from jaxmagic.charts.lanes import Lanes
from jaxmagic.charts.spec import Chart
from jaxmagic.memory_use.charts.buffer_map import map_chart
from jaxmagic.profiling.charts.flame import profile_flame
from jaxmagic.profiling.charts.timeline import profile_timeline_chart
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.report.pictures import chart_to_html

#: Times between the frames of a drag, as the browser draws them.
_DRAG = """async canvas => {
  const box = canvas.getBoundingClientRect(), times = [], before = canvas.toDataURL();
  const send = (kind, x) => canvas.dispatchEvent(new PointerEvent(kind, {
    clientX: x, clientY: box.top + 150, pointerId: 1, bubbles: true,
  }));
  canvas.setPointerCapture = () => {};
  send('pointerdown', box.left + 300);
  for (let frame = 0; frame < 120; frame++) {
    send('pointermove', box.left + 300 + 200 * Math.sin(frame / 9));
    times.push(await new Promise(requestAnimationFrame));
  }
  send('pointerup', box.left + 300);
  if (canvas.toDataURL() === before) throw new Error('the map was not dragged');
  return times.slice(1).map((each, i) => each - times[i]);
}"""

#: The same while the pointer moves over all of it.
_POINT = """async svg => {
  const box = svg.getBoundingClientRect(), times = [];
  for (let frame = 0; frame < 120; frame++) {
    const across = box.left + box.width * (frame * 37 % 120) / 120, down = box.top + box.height * frame / 120;
    const under = document.elementFromPoint(across, down), at = {clientX: across, clientY: down, bubbles: true};
    for (const kind of ['pointermove', 'mousemove']) under.dispatchEvent(new PointerEvent(kind, at));
    times.push(await new Promise(requestAnimationFrame));
  }
  return times.slice(1).map((each, i) => each - times[i]);
}"""


def main(what: str, *counts: int) -> list[dict[str, Any]]:
    """For each number of rectangles or events, the size of the page and the times between frames, in milliseconds."""
    rows = []
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for count in counts:
            drawn = _PICTURES[what](count)
            html = chart_to_html(drawn)
            page = browser.new_page(viewport={"width": 1000, "height": 800})
            page.set_content(f"<!doctype html><body>{html}</body>")
            rows.append(
                {"what": what, "count": _count(drawn), "size_bytes": len(html), "frames_ms": _frames(page, what)}
            )
            page.close()
        browser.close()
    return rows


def _map(count: int) -> Chart:
    drawn = map_chart(program(count), most=count)
    assert drawn is not None
    return drawn


def _timeline(count: int) -> Chart:
    drawn = profile_timeline_chart(_profile(count))
    assert drawn is not None
    return drawn


def _flame(count: int) -> Chart:
    with tempfile.TemporaryDirectory() as folder:
        drawn = profile_flame(jaxmagic.read_profile(record_scopes(Path(folder), 2 * count)))
    assert drawn is not None
    return drawn


@cache
def _profile(count: int) -> Profile:
    """Of a program with so many operations, which was really run; half of what is recorded are operations."""
    with tempfile.TemporaryDirectory() as folder:
        return jaxmagic.read_profile(record(Path(folder), 2 * count))


def _count(drawn: Chart) -> int:
    if isinstance(drawn, Lanes):
        return sum(len(each.start) for each in drawn.lanes)
    return len(drawn.boxes if isinstance(drawn, Boxes) else drawn.cells)


_PICTURES = {"map": _map, "timeline": _timeline, "flame": _flame}


def _frames(page: Page, what: str) -> list[float]:
    """Of a canvas, zoomed in a little so that there is somewhere to go; of a flame graph while it is pointed at."""
    if what == "flame":
        page.locator("svg").wait_for()
        pointed: list[float] = page.locator("svg").evaluate(_POINT)
        return pointed
    canvas = page.locator("canvas")
    canvas.wait_for()
    canvas.press("+")
    found: list[float] = canvas.evaluate(_DRAG)
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], *map(int, sys.argv[2:]))))
