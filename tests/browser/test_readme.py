"""The README's pictures are drawn here: in light and dark, of the records that its run left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import readme_pictures
from readme_pictures import IMAGES, THEMES, blocks

#: Where the pictures go: to the README, or to the others of this run for people to look at.
WRITE = os.environ.get("JAXMAGIC_PICTURES") == "write"


@pytest.mark.parametrize("ending", THEMES)
@pytest.mark.parametrize("magic", blocks())
def test_a_report_of_the_readme_fits_its_picture(magic: str, ending: str, context: Any, screenshots: Path) -> None:
    page = readme_pictures.photograph(context.browser, magic, ending, IMAGES if WRITE else screenshots)
    assert page.evaluate("document.getElementById('picture').scrollWidth") <= 760 + 2 * 16
    assert page.locator("[data-jaxmagic] > img").count() == 0
    page.close()
