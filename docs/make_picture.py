"""The picture in the README: the record of a real recompilation, as HTML, photographed by Chromium.

::

    python docs/make_picture.py

Needs Chromium and Pillow beside jaxmagic; writes ``docs/images/jaxtime.png`` and ``jaxtime-dark.png``. Nothing is
drawn by hand: the report is what ``render`` makes of the record, and only the cell above it is added here.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from html import escape
from pathlib import Path

import jax
import jax.numpy as jnp
from PIL import Image, ImageChops

import jaxmagic
from jaxmagic.report.to_html import to_html

_CELL = "%jaxtime params, loss = train_step(params, last_x, last_y)"
_IMAGES = Path(__file__).parent / "images"
_THEMES = {  # paper, ink, the cell's background and its border
    "jaxtime.png": ("#ffffff", "#1f1f1f", "#f5f5f5", "#e0e0e0"),
    "jaxtime-dark.png": ("#111111", "#e0e0e0", "#212121", "#424242"),
}
_PAGE = """<!doctype html><meta charset="utf-8">
<body style="margin:0;padding:20px;width:820px;background:{paper};color:{ink};font:14px system-ui,sans-serif">
<pre style="margin:0 0 10px;padding:8px 10px;background:{cell};border:1px solid {border};border-radius:4px;
font:13px monospace">{code}</pre>{report}</body>"""


def recompilation() -> jaxmagic.Timing:
    """A training step that has run on full batches meets a smaller one."""

    @jax.jit
    def train_step(params, x, y):  # type: ignore[no-untyped-def]
        def loss(params):  # type: ignore[no-untyped-def]
            *hidden, last = params
            h = x
            for w in hidden:
                h = jnp.tanh(h @ w)
            return jnp.mean((h @ last - y) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda w, g: w - 0.1 * g, params, grads), value

    key = jax.random.key(0)
    params = [jax.random.normal(key, shape) / 16 for shape in ((64, 512), (512, 512), (512, 512), (512, 1))]
    x, y = jax.random.normal(key, (1024, 64)), jnp.ones((1024, 1))
    jax.block_until_ready(train_step(params, x, y))
    last_x, last_y = x[:1000], y[:1000]
    with jaxmagic.stopwatch() as t:
        t.result = train_step(params, last_x, last_y)
    return t.timing


def photograph(page: str, path: Path) -> None:
    """Let Chromium draw `page`, and cut away what is empty below and beside it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("There is no Chromium. Install it: sudo apt install chromium")
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "page.html"
        source.write_text(page, encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += ["--window-size=900,600", "--force-device-scale-factor=2"]
        command = [chromium, *options, f"--screenshot={path}", source.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
    image = Image.open(path).convert("RGB")
    empty = Image.new("RGB", image.size, image.getpixel((0, 0)))
    left, top, right, bottom = ImageChops.difference(image, empty).getbbox() or (0, 0, *image.size)
    margin = 32
    image = image.crop((max(left - margin, 0), max(top - margin, 0), right + margin, bottom + margin))
    image.quantize(128).save(path, optimize=True)


def main() -> None:
    """Measure once, and photograph that in each theme."""
    report = to_html(recompilation())
    for name, (paper, ink, cell, border) in _THEMES.items():
        page = _PAGE.format(paper=paper, ink=ink, cell=cell, border=border, code=escape(_CELL), report=report)
        photograph(page, _IMAGES / name)


if __name__ == "__main__":
    main()
