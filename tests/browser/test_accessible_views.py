"""Live views in JupyterLab as axe-core sees them, in light and dark; `make suites` tries each control."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest

from .accessible import violations
from .notebook import Notebook

#: Whether a view is shown for each value of each control: a hundred of them take minutes.
EVERY = bool(os.environ.get("JAXMAGIC_ACCESSIBLE"))

#: What a control does depends on its value alone, so a view that begins with the value is what a user sees.
SHOW = """\
%load_ext jaxmagic
import dataclasses, ipywidgets, jaxmagic, jax, jax.numpy as jnp

def controls(widget):
    inside = [each for child in getattr(widget, "children", ()) for each in controls(child)]
    return [widget, *inside] if hasattr(widget, "value") else inside

def changes(control):
    if hasattr(control, "options"):
        return [("index", index) for index in range(len(control.options)) if index != control.index]
    if isinstance(control, ipywidgets.Checkbox):
        return [("value", not control.value)]
    return [("value", text) for text in ("f(x)", "no such code")] if isinstance(control, ipywidgets.Text) else []

views = []

def show(*records, change=lambda view: None):
    view = jaxmagic.explore(*records)
    view.saved = ()  # the report below it is hidden, and JupyterLab shows 50 outputs of a cell
    change(view)
    views.append(view)
    display(view)

def show_each(*records):
    show(*records)
    for number, control in enumerate(controls(views[-1]) if every else ()):
        for name, value in changes(control):
            show(*records, change=lambda view: setattr(controls(view)[number], name, value))

def hide_all(view):
    for each in view.shown.values():
        each.value = False

x = jnp.ones((64, 64))
f = jax.jit(lambda x: jnp.tanh(x @ x))
g = jax.jit(lambda x: x + 1)"""

VIEWS = (
    "for call in (f, g, f):\n    with jaxmagic.stopwatch():\n        call(x)\nshow_each()",
    "show_each(jaxmagic.benchmark(f, x, budget_s=0.1))",
    "compared = jaxmagic.compare({'eager': lambda: jnp.tanh(x @ x), 'jit': lambda: f(x)}, budget_s=0.1)\n"
    "show_each(compared)\n"
    "show(dataclasses.replace(compared, measure_again=None))\n"
    "show(compared, change=hide_all)  # a sentence says so in place of the picture",
    "show_each(jaxmagic.sweep({'f': f, 'g': g}, lambda n: (jnp.ones((n, n)),), n=[8, 16], budget_s=0.2))",
    "show_each(jaxmagic.profile(f, x))",
    "show_each(jaxmagic.memory(f, x), jaxmagic.memory(g, x))",
    "show_each(jaxmagic.live())",
)

#: Whether so many views have been drawn, each with its answer, and with its picture or what is said in its place.
DRAWN = """count => {
  const all = [...document.querySelectorAll("[class*='jaxmagic-view-']")];
  const whole = all.filter(it => !it.parentElement.closest("[class*='jaxmagic-view-']") &&
    it.querySelector("b") && it.querySelector("[data-jaxmagic] :is(svg, canvas), pre"));
  return whole.length === count && !document.querySelector("[data-jaxmagic] > img");
}"""


@pytest.fixture(scope="module")
def notebook(new_notebook: Callable[..., Notebook]) -> Notebook:
    it = new_notebook("accessible.ipynb", SHOW, f"every = {EVERY}", *VIEWS)
    it.run_all()
    it.page.wait_for_function(DRAWN, arg=it.kernel_value("len(views)"))
    return it


@pytest.fixture(params=["light", "dark"])
def shown(notebook: Notebook, request: pytest.FixtureRequest) -> Iterator[Notebook]:
    with notebook.in_the_dark() if request.param == "dark" else nullcontext():
        yield notebook


def test_everybody_can_read_live_views(shown: Notebook, axe: None) -> None:
    assert violations(shown.page, ".jp-Notebook .jp-Cell-outputArea") == []


#: Finds what a key can work on in a part of a page, and focuses the first of it.
BEGIN = """area => {
  window.looks = it => {
    const {outlineStyle, outline, borderColor, boxShadow, backgroundColor} = getComputedStyle(it);
    return [outlineStyle === 'none' || outline, borderColor, boxShadow, backgroundColor].join();
  };
  window.turns = [...area.querySelectorAll("select, input, button, summary, [tabindex]")].filter(
    it => !it.disabled && it.tabIndex >= 0 && it.checkVisibility({visibilityProperty: true}));
  window.plain = turns.map(looks);
  turns[0].focus();
  return turns.length;
}"""

#: Whether that number of it has the focus, and looks other than without: a style may change slowly.
HAS_FOCUS = "turn => document.activeElement === turns[turn] && looks(turns[turn]) !== plain[turn]"


def test_tab_reaches_every_control_of_a_view_in_its_order_and_shows_where_it_is(shown: Notebook) -> None:
    for index in range(len(VIEWS)):
        view = shown.output(2 + index)
        count = view.evaluate(BEGIN)
        assert count > 1
        for turn in range(1, count):
            shown.page.keyboard.press("Tab")
            shown.page.wait_for_function(HAS_FOCUS, arg=turn)
