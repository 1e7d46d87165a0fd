"""The README's pictures: each is of a record that the README's run left, and of its report as it is drawn now.

``python docs/make_pictures.py`` runs the README and keeps its records in ``recorded/readme``. A test in a browser
draws them, and a picture holds the words of the report that it shows. So a test without a browser notices when a
report has changed since.
"""

from __future__ import annotations

import gzip
import re
from base64 import b64decode
from functools import cache
from html import escape, unescape
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jaxmagic
from jaxmagic.report.style import LAST, Style
from jaxmagic.report.to_html import to_html
from jaxmagic.report.to_text import to_text

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
IMAGES = ROOT / "docs" / "images"

_RECORDS = Path(__file__).parent / "recorded" / "readme"

#: A block of Python, and the output below it if there is one.
BLOCKS = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<output>.*?)^```$)?", re.M | re.S)

#: The end of a picture's name, with the paper, the ink, the cell's background and its border.
THEMES = {
    "": ("#ffffff", "#1f1f1f", "#f5f5f5", "#e0e0e0"),
    "-dark": ("#0d1117", "#e0e0e0", "#1c2128", "#3d444d"),  # GitHub's own dark
}

#: What is written into a picture.
_KEY = "Report"

_PAGE = """<!doctype html><meta charset="utf-8">
<body style="margin:0;background:{paper};color:{ink};font:14px system-ui,sans-serif">
<div id="picture" style="padding:16px;width:760px">
<pre style="margin:0 0 10px;padding:8px 10px;background:{cell};border:1px solid {border};border-radius:4px;
font:13px monospace">{code}</pre>{report}</div></body>"""

#: The style of a magic without options.
_STYLE = Style(whole=False, whole_by=LAST)


def magic_of(code: str) -> str | None:
    """Return the magic that a block begins with."""
    found = re.match(r"%%?(jax\w+)", code)
    return found and found[1]


def blocks() -> dict[str, tuple[str, str]]:
    """Return the code of each magic's first block in the README, and the output below it."""
    found: dict[str, tuple[str, str]] = {}
    for block in BLOCKS.finditer(README.read_text("utf-8")):
        if (magic := magic_of(block["code"])) is not None:
            found.setdefault(magic, (block["code"].strip(), block["output"] or ""))
    return found


def keep(record: Any, magic: str) -> None:
    """Keep a record of the README's run, without where this machine has its files."""
    with TemporaryDirectory() as folder:
        path = jaxmagic.save(record, Path(folder, "record.json"))
        text = path.read_text("utf-8").replace(str(ROOT), "/jaxmagic")
    _RECORDS.mkdir(exist_ok=True)
    (_RECORDS / f"{magic}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def record_of(magic: str) -> Any:
    """Return the record that the README's run left."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "record.json")
        path.write_bytes(gzip.decompress((_RECORDS / f"{magic}.json.gz").read_bytes()))
        return jaxmagic.load(path)


def text_of(magic: str) -> str:
    """Return what a magic prints in a terminal."""
    return to_text(record_of(magic), _STYLE)


@cache
def html_of(magic: str) -> str:
    """Return what a magic shows in a notebook."""
    return to_html(record_of(magic), _STYLE)


def words_now(magic: str) -> str:
    """Return the words of a magic's cell and of its report, those inside of pictures included."""
    shown = re.sub(r"data:image/svg\+xml;base64,([\w+/=]+)", lambda found: _decoded(found[1]), html_of(magic))
    shown = re.sub(r"<(script|style)\b.*?</\1>", " ", shown, flags=re.S)
    return " ".join([blocks()[magic][0], *unescape(re.sub(r"<[^>]*>", " ", shown)).split()])


def _decoded(svg: str) -> str:
    return f'">{b64decode(svg).decode()}<img alt="'


def words_in(picture: Path) -> str:
    """Return the words of the cell and of the report that a picture shows."""
    from PIL import Image

    with Image.open(picture) as image:
        image.load()
        return str(image.info.get(_KEY, ""))


def photograph(browser: Any, magic: str, ending: str, folder: Path) -> Any:
    """Let Chromium draw a cell and its report in a theme, as a picture in a folder; return the page."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    paper, ink, cell, border = THEMES[ending]
    page = browser.new_page(device_scale_factor=2, color_scheme="dark" if ending else "light")
    code = escape(blocks()[magic][0])
    page.set_content(
        _PAGE.format(paper=paper, ink=ink, cell=cell, border=border, code=code, report=html_of(magic)),
        wait_until="networkidle",
    )
    taken = Image.open(BytesIO(page.locator("#picture").screenshot())).convert("RGB")
    about = PngInfo()
    about.add_itxt(_KEY, words_now(magic), zip=True)
    taken.quantize(128).save(folder / f"{magic}{ending}.png", optimize=True, pnginfo=about)
    return page
