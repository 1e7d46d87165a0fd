"""What a picture tells under the mouse has its units: in all pictures of all records, still or made by a script."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from . import gallery
from .gallery import THEMES
from .test_gallery import NAMES
from .test_gallery import record as record

#: Moves the mouse over a picture as a user would, and returns what it tells, with what its parts tell by themselves.
_TOLD = """root => {
  const told = new Set([...root.querySelectorAll('[data-tip]')].map(each => each.dataset.tip));
  const tip = [...root.querySelectorAll('div')].find(each => each.style.position === 'absolute' && each.style.zIndex);
  for (const drawn of root.querySelectorAll('svg, canvas')) {
    const box = drawn.getBoundingClientRect(), type = drawn.matches('svg') ? 'mousemove' : 'pointermove';
    for (let x = box.left + 1; x < box.right; x += box.width / 24) {
      for (let y = box.top + 1; y < box.bottom; y += 9) {
        const over = document.elementFromPoint(x, y);
        if (!over || !drawn.contains(over)) continue;
        over.dispatchEvent(new PointerEvent(type, {clientX: x, clientY: y, bubbles: true}));
        if (tip && tip.style.display !== 'none') told.add(tip.textContent);
      }
    }
  }
  return [...told];
}"""


#: A number where a sentence has one, as opposed to a name, a shape or a line of code, and the units that it may have.
_QUANTITY = re.compile(r"(?:^|: |\(|, | to | for | at |[+<>])(\d[\d.,]*\d|\d)(?![\d\w.]*[\]):])", re.M)
_UNIT = re.compile(r" (ns|µs|ms|s|min|h|B|[KMGT]iB|%|[kMGTP]?(FLOP|B)/s|[KMGT]iB/s)(?!\w)|x(?!\w)")

#: What is counted has no unit, and a ratio may have it in its name.
_WITHOUT = re.compile(r"steps \d+ to \d+|^(sample|n|operational intensity \(FLOPs per byte\)): [\d.]+$", re.M)


def without_unit(tip: str) -> list[str]:
    """Return the numbers in a tooltip that have no unit."""
    rest = _WITHOUT.sub("", tip)
    return [each[1] for each in _QUANTITY.finditer(rest) if not _UNIT.match(rest, each.end())]


def test_a_number_without_its_unit_is_found() -> None:
    for told in ("FLOP/s: 6384000000", "f\n3.5, 20 %", "time: 2.1 ms (2 to 3)", "memory: 12 Mi", "12 to 13 ms"):
        assert without_unit(told), told
    for told in (
        "f\n3.5 ms, 20 % of all\n+2.00 KiB", "dot.1  f32[256,2]\njit(f)/dot.1\ncell.py:3\n1 KiB, steps 3 to 4",
        "n: 64\ntime: 2.1 ms (2 ms to 3 ms)", "(f32[1,2], u32[3])", "jit\n0.500x (0.498x to 0.506x)\nfaster",
    ):  # fmt: skip
        assert without_unit(told) == []


@pytest.mark.parametrize("record", [each for each in NAMES if each != "error"], indirect=True)
def test_every_tooltip_has_its_units(record: Any, context: Any, tmp_path: Path) -> None:
    path = tmp_path / "tips.html"
    path.write_text(gallery.page_of(gallery.pictures(record), THEMES[0]), encoding="utf-8")
    with closing(context.new_page()) as page:
        page.set_viewport_size({"width": 800, "height": 4000})
        page.goto(path.as_uri())
        page.wait_for_function("!document.querySelector('[data-jaxmagic] > img')")
        for root in page.locator("[data-jaxmagic]").all():
            told = root.evaluate(_TOLD)
            assert told
            assert {each: without_unit(each) for each in told if without_unit(each)} == {}
