"""What all live views are made of: labelled controls, a place for what they show, and one for what went wrong."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ipywidgets

from ..charts.spec import Chart
from .html_parts import error_to_html
from .pictures import chart_to_html
from .style import Style
from .to_html import to_html

#: So that a label is never cut.
_WHOLE = {"description_width": "initial"}

#: Room between controls that stand beside each other.
_BESIDE = "2px 14px 2px 0"


class View(ipywidgets.VBox):  # type: ignore[misc]
    """A live view; closing it closes all that it is made of, so that nothing is left in the kernel."""

    def close(self) -> None:
        """Take it away, with its controls and what they hold."""
        for each in reversed(_all_of(self)):
            each.unobserve_all()
            if each is not self:
                each.close()
        super().close()


def _all_of(widget: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    own = [getattr(widget, name, None) for name in ("layout", "style")]
    found = [widget, *(each for each in own if isinstance(each, ipywidgets.Widget))]
    for child in getattr(widget, "children", ()):
        found += _all_of(child)
    return found


def choice(label: str, options: Sequence[Any], value: Any = None) -> ipywidgets.Dropdown:
    """A labelled choice of one of several; the first one to begin with."""
    layout = ipywidgets.Layout(width="auto", min_width="9em", margin=_BESIDE)
    made = ipywidgets.Dropdown(options=options, description=label, style=_WHOLE, layout=layout)
    if value is not None:
        made.value = value
    return made


def words(text: str) -> ipywidgets.Label:
    """A word before several controls."""
    return ipywidgets.Label(text, layout=ipywidgets.Layout(margin="2px 10px 2px 0"))


def tick(label: str, value: bool = True) -> ipywidgets.Checkbox:
    """A labelled box to tick."""
    return ipywidgets.Checkbox(
        value=value, description=label, indent=False, layout=ipywidgets.Layout(width="auto", margin=_BESIDE)
    )


def row(*controls: ipywidgets.Widget) -> ipywidgets.HBox:
    """Controls beside each other, and below each other where the page is narrow."""
    return ipywidgets.HBox(controls, layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center"))


def screen() -> ipywidgets.Output:
    """A place where HTML is shown with its scripts, so that pictures are live."""
    return ipywidgets.Output()


def show(where: ipywidgets.Output, record: object, chart: Chart | None = None) -> None:
    """Show a record's report in a place, instead of what was there, below a chart if there is one of its own."""
    if chart is None:
        where.outputs = (_output(to_html(record)),)
    else:
        where.outputs = (_output(chart_to_html(chart) + to_html(record, Style(picture=False))),)


def show_html(where: ipywidgets.Output, html: str) -> None:
    """Show what has been put together, instead of what was there."""
    where.outputs = (_output(html),)


def show_chart(where: ipywidgets.Output, chart: Chart) -> None:
    """Show a chart alone."""
    where.outputs = (_output(chart_to_html(chart)),)


class Guard:
    """Runs what controls ask for, and shows what goes wrong where the reader looks.

    An exception in a widget's callback would only reach a log.

    Args:
        where: to show it.
    """

    def __init__(self, where: ipywidgets.Output) -> None:
        self._where = where

    def __call__(self, action: Callable[[], None]) -> Callable[[object], None]:
        """`action` as a callback."""

        def run(_: object = None) -> None:
            try:
                action()
            except ValueError as error:  # a choice that cannot be shown, and says so
                self._where.outputs = (_output(error_to_html(str(error))),)
            except Exception:
                self._where.outputs = (_output(error_to_html(traceback.format_exc())),)

        return run

    def watch(self, controls: Iterable[ipywidgets.Widget], action: Callable[[], None]) -> None:
        """Run `action` whenever one of `controls` is given another value."""
        for each in controls:
            each.observe(self(action), names="value")


def _output(html: str) -> dict[str, Any]:
    data = {"text/html": html, "text/plain": "a live view of jaxmagic"}
    return {"output_type": "display_data", "data": data, "metadata": {}}
