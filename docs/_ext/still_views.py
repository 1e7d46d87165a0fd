"""Show the picture of a live view in place of its widget.

A page has no kernel, and the scripts of ipywidgets would be fetched from elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

#: What MyST-NB writes in place of a widget.
_VIEW = re.compile(r'<script type="application/vnd\.jupyter\.widget-view\+json">(.*)</script>', re.S)


def replace_views(app: Sphinx, doctree: nodes.document) -> None:
    """Called by Sphinx for each page that was read: replace widgets, and leave out their state and scripts."""
    metadata = getattr(app.env, "nb_metadata", {}).get(app.env.docname, {})
    scripts = metadata.get("js_files", {})
    _, state = scripts.get("ipywidgets_state", (None, {"body": "{}"}))
    models = json.loads(state["body"]).get("state", {})
    for name in [each for each in scripts if each.startswith("ipywidgets_")]:
        del scripts[name]
    for node in list(doctree.findall(nodes.raw)):
        if found := _VIEW.fullmatch(node.astext()):
            still = still_view(models, json.loads(found[1])["model_id"])
            node.parent.replace(node, nodes.raw("", still, format="html"))


def still_view(models: dict[str, Any], root: str) -> str:
    """Write the outputs inside a widget as HTML, below a sentence that lists its controls."""
    widgets = list(_inside(models, root))
    controls = [each["description"] for each in widgets if each.get("description") and not _hidden(models, each)]
    outputs = [output["data"]["text/html"] for each in widgets for output in each.get("outputs", ())]
    if not outputs:
        return ""
    sentence = f"<p>In a notebook, this view has controls: {', '.join(controls)}.</p>"
    return f'<div class="still-view">{sentence}{"".join(outputs)}</div>'


def _hidden(models: dict[str, Any], widget: dict[str, Any]) -> bool:
    """Return whether a widget is not displayed, such as a menu that has nothing to choose."""
    layout = models.get(widget.get("layout", "").removeprefix("IPY_MODEL_"), {"state": {}})
    return layout["state"].get("display") == "none"


def _inside(models: dict[str, Any], root: str) -> Iterator[dict[str, Any]]:
    """Yield the state of a widget and of all widgets inside it."""
    if root in models:
        state = models[root]["state"]
        yield state
        for child in state.get("children", ()):
            yield from _inside(models, child.removeprefix("IPY_MODEL_"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-read", replace_views)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
