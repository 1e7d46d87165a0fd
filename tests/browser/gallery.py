"""The pictures of every kind of record, as pages for a browser and an index of their screenshots."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import jaxmagic
from jaxmagic.report.pictures import chart_to_html
from jaxmagic.subjects import of_record

RECORDED = Path(__file__).parent.parent / "recorded"

#: The folder of an earlier gallery, beside that of this run.
EARLIER = "screenshots-before"

#: The widths of pages: a telephone, half a screen, and a whole one.
WIDTHS = (360, 800, 1600)


#: What an index says below its pictures if it is not whole.
_NOT_DRAWN = "Pictures that were not drawn"


class Theme(NamedTuple):
    """The colours of a page."""

    name: str
    paper: str
    ink: str


THEMES = (Theme("light", "#fff", "#111"), Theme("dark", "#111", "#ddd"))


def pictures(record: Any) -> dict[str, str]:
    """Return each picture of a record as HTML, by its name."""
    drawn = {name: each.draw(record) for name, each in (of_record(type(record), "charts", "CHARTS") or {}).items()}
    return {name: chart_to_html(chart) for name, chart in drawn.items() if chart is not None}


def page_of(pieces: Mapping[str, str], theme: Theme) -> str:
    """Write pieces of HTML below each other, each in a section that a notebook's output would be.

    The page has a font that nothing in a section may take over.
    """
    sections = "".join(f'<section data-of="{escape(name)}">{html}</section>' for name, html in pieces.items())
    style = f"background:{theme.paper};color:{theme.ink};margin:8px;font:13px/1.4 serif"
    return f'<!doctype html><meta charset="utf-8"><title>jaxmagic</title><body style="{style}">{sections}'


def index(directory: Path, names: Sequence[str]) -> None:
    """Write a page with the screenshots of the gallery: a row for each record and theme, a column for each width.

    Only pictures that were drawn are shown: the checks of a change draw a part of them. Where an earlier gallery has
    another picture of the same, that is below.
    """
    heads = "".join(f"<th>{width} px</th>" for width in WIDTHS)
    rows, lacking = [], 0
    for name in names:
        for theme in THEMES:
            files = [f"gallery-{name}-{theme.name}-{width}.png" for width in WIDTHS]
            drawn = [each for each in files if (directory / each).exists()]
            lacking += len(files) - len(drawn)
            if not drawn:
                continue
            images = "".join(
                f"<td>{_image(each)}{_before(directory, each)}</td>" if each in drawn else "<td></td>"
                for each in files
            )
            rows.append(f"<tr><th>{escape(name)}<br>{theme.name}</th>{images}</tr>")
    others = "".join(
        f'<li><a href="{each.name}">{escape(each.stem)}</a></li>'
        for each in sorted(directory.glob("*.png"))
        if not each.name.startswith("gallery-")
    )
    rest = f"<p>{_NOT_DRAWN}: {lacking}</p>" if lacking else ""
    (directory / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>Pictures of jaxmagic</title>'
        "<style>body{font:14px sans-serif;background:#888}td,th{vertical-align:top;padding:4px}</style>"
        f"<h1>Pictures of jaxmagic</h1><table><tr><th></th>{heads}</tr>{''.join(rows)}</table>"
        f"<ul>{others}</ul>{rest}",
        encoding="utf-8",
    )


def _image(file: str) -> str:
    return f'<a href="{file}"><img src="{file}" alt="{file}" width="360"></a>'


def _before(directory: Path, file: str) -> str:
    """Show the picture of an earlier gallery, if it differs."""
    earlier = directory.parent / EARLIER / file
    if not earlier.exists() or earlier.read_bytes() == (directory / file).read_bytes():
        return ""
    return f"<p>before:</p>{_image(f'../{EARLIER}/{file}')}"


def keep_earlier(directory: Path) -> None:
    """Put a whole gallery aside, to show its pictures beside those of the next one."""
    page = directory / "index.html"
    files = re.findall(r'href="(gallery-[^"]+)"', page.read_text("utf-8")) if page.exists() else []
    whole = files and _NOT_DRAWN not in page.read_text("utf-8")
    if whole and all((directory / each).exists() for each in files):
        shutil.rmtree(directory.parent / EARLIER, ignore_errors=True)
        directory.rename(directory.parent / EARLIER)


def trained() -> Any:
    """Profile a training step of this process."""

    def layer(w: Any, x: Any) -> Any:
        h = jnp.tanh(x @ w)
        return h * jax.nn.sigmoid(h) + jnp.sort(h)

    def loss(ws: Any, x: Any) -> Any:
        for number, w in enumerate(ws):
            with jax.named_scope(f"Dense_{number}"):
                x = layer(w, x)
        return (x * x).sum()

    @jax.jit
    def step(ws: Any, x: Any) -> Any:
        grads = jax.grad(loss)(ws, x)
        return [w - 0.1 * g for w, g in zip(ws, grads, strict=True)]

    ws, x = [jnp.eye(128)] * 4, jnp.ones((128, 128))
    return jaxmagic.profile(step, ws, x)


def explained() -> Any:
    """Explain an error of this process: a report without a picture, but with code."""

    @jax.jit
    def relu(x: Any) -> Any:
        if x > 0:
            return x
        return 0.0

    try:
        relu(1.0)
    except jax.errors.TracerBoolConversionError as error:
        return jaxmagic.explain_error(error)
