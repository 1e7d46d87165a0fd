"""The pictures and the printed outputs in the README, made by running the README.

::

    python docs/make_pictures.py

Needs what the browser tests need, and Pillow. It runs the README's blocks of Python in one shell, in order. Of each
block that is a magic, it photographs the cell and its report in light and dark, into ``docs/images/<magic>.png`` and
``<magic>-dark.png``. A block of text right after it becomes what this run printed. Nothing is drawn by hand. Run it
on a quiet machine: reports say so if it was busy.
"""

from __future__ import annotations

import os
import re
import sys
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

_DOCS = Path(__file__).parent
_IMAGES = _DOCS / "images"
_README = _DOCS.parent / "README.md"
sys.path.insert(0, str(_DOCS.parent / "tests"))

from browser.chromium import missing, open_browser  # noqa: E402
from shells import Session, open_shell  # noqa: E402

#: A block of Python, and the output below it if there is one.
_BLOCKS = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<output>.*?)^```$)?", re.M | re.S)

_THEMES = {  # the end of a name: paper, ink, the cell's background and its border
    "": ("#ffffff", "#1f1f1f", "#f5f5f5", "#e0e0e0"),
    "-dark": ("#0d1117", "#e0e0e0", "#1c2128", "#3d444d"),  # GitHub's own dark
}

_PAGE = """<!doctype html><meta charset="utf-8">
<body style="margin:0;background:{paper};color:{ink};font:14px system-ui,sans-serif">
<div id="picture" style="padding:16px;width:760px">
<pre style="margin:0 0 10px;padding:8px 10px;background:{cell};border:1px solid {border};border-radius:4px;
font:13px monospace">{code}</pre>{report}</div></body>"""


def run(readme: str, session: Session) -> tuple[str, dict[str, tuple[str, str]]]:
    """Run all blocks: the README with what they printed now, and of each magic's first report code and HTML."""
    reports: dict[str, tuple[str, str]] = {}

    def written(block: re.Match[str]) -> str:
        code = block["code"]
        session.run(code)
        magic = re.match(r"%%?(jax\w+)", code)
        if magic is None:
            return block[0]
        bundle = session.published[-1]
        reports.setdefault(magic[1], (code.strip(), str(bundle["text/html"])))
        if block["output"] is None:
            return block[0]
        return f"```python\n{code}```\n\n```text\n{str(bundle['text/plain']).strip()}\n```"

    return _BLOCKS.sub(written, readme), reports


def photograph(browser: Any, code: str, report: str, magic: str) -> None:
    """Let Chromium draw a cell and its report in each theme."""
    for ending, (paper, ink, cell, border) in _THEMES.items():
        page = browser.new_page(device_scale_factor=2, color_scheme="dark" if ending else "light")
        page.set_content(
            _PAGE.format(paper=paper, ink=ink, cell=cell, border=border, code=escape(code), report=report),
            wait_until="networkidle",
        )
        taken = Image.open(BytesIO(page.locator("#picture").screenshot())).convert("RGB")
        taken.quantize(128).save(_IMAGES / f"{magic}{ending}.png", optimize=True)
        page.close()


def main() -> None:
    """Run the README once, and photograph that run."""
    if (sentence := missing()) is not None:
        raise SystemExit(sentence)
    os.environ["COLUMNS"] = "80"
    with open_shell() as session:
        readme, reports = run(_README.read_text("utf-8"), session)
    with open_browser() as context:
        for magic, (code, report) in reports.items():
            photograph(context.browser, code, report, magic)
    _README.write_text(readme, "utf-8")


if __name__ == "__main__":
    main()
