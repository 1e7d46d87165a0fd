"""A page with a map of many rectangles in Chromium: how often it is drawn in a second while it is dragged."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

from large_map import program
from playwright.sync_api import Page, sync_playwright

from jaxmagic.analysis.memory_chart import map_chart
from jaxmagic.render.tags import chart_to_html

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


def main(*counts: int) -> list[dict[str, Any]]:
    """For each number of rectangles, the size of the page and the times between frames, in milliseconds."""
    rows = []
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for count in counts:
            drawn = map_chart(program(count), most=count)
            assert drawn is not None
            html = chart_to_html(drawn)
            page = browser.new_page(viewport={"width": 1000, "height": 800})
            page.set_content(f"<!doctype html><body>{html}</body>")
            rows.append({"rectangles": len(drawn.boxes), "size_bytes": len(html), "frames_ms": _frames(page)})
            page.close()
        browser.close()
    return rows


def _frames(page: Page) -> list[float]:
    """Of the whole map, zoomed in a little so that there is somewhere to go."""
    canvas = page.locator("canvas")
    canvas.wait_for()
    canvas.press("+")
    found: list[float] = canvas.evaluate(_DRAG)
    return found


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
