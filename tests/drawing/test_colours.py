"""The colours of charts can be told apart by everybody, and text on them can be read."""

from __future__ import annotations

import re
from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from contrast import XYZ, Floats, contrast, linear

from jaxmagic.drawing import scripts
from jaxmagic.drawing.colours import HUES, INK, hue
from jaxmagic.profiling.charts.timeline import _HUES
from jaxmagic.profiling.record.timeline import Activity

#: How eyes see linear sRGB: as most people do, and without red, green or blue cones (Machado et al. 2009).
EYES = {
    "all cones": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def lab(colour: str, eyes: str) -> Floats:
    """Return a colour in CIELAB, in which distances are about what eyes see."""
    seen = np.clip(XYZ @ np.clip(np.array(EYES[eyes]) @ linear(colour), 0, 1), 0, None)
    x, y, z = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_contrast_is_what_wcag_says_it_is() -> None:
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("fill", HUES)
def test_text_on_an_area_in_any_hue_can_be_read(fill: str) -> None:
    assert contrast(INK, fill) >= 4.5


@pytest.mark.parametrize("name", ["live.js", "lanes.js"])
def test_scripts_write_on_areas_in_the_same_ink(name: str) -> None:
    assert set(re.findall(r"(?:fill: ?|fillStyle ?= ?)'(#\w+)'", scripts.source(name))) == {INK}


def test_each_activity_of_a_timeline_has_a_colour_of_its_own_on_which_text_can_be_read() -> None:
    fills = {each: hue(_HUES[each]) for each in get_args(Activity)}
    assert len(set(fills.values())) == len(fills)
    assert {each: round(contrast(INK, fill), 2) for each, fill in fills.items() if contrast(INK, fill) < 4.5} == {}


@pytest.mark.parametrize("eyes", EYES)
def test_no_two_hues_look_alike(eyes: str) -> None:
    seen = {each: lab(each, eyes) for each in HUES}
    near = {
        pair: float(np.linalg.norm(seen[pair[0]] - seen[pair[1]]))
        for pair in combinations(HUES, 2)
        if np.linalg.norm(seen[pair[0]] - seen[pair[1]]) < 10
    }
    assert near == {}


@pytest.mark.parametrize("fill", HUES)
def test_every_hue_shows_on_a_light_and_on_a_dark_page(fill: str) -> None:
    assert min(contrast(fill, "#fff"), contrast(fill, "#111")) >= 1.7
