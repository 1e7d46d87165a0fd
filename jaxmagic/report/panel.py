"""The parts of live views: labelled controls, an output for what they show, and error handling."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import ipywidgets
from IPython.core.getipython import get_ipython
from IPython.display import display

from ..charts.spec import Chart
from ..terminal import wrapped, written_to
from .html_parts import error_to_html
from .mimebundle import outputs
from .pictures import chart_to_html
from .style import AT_A_GLANCE, Style
from .to_html import answer_and_rest, to_html

#: The style of a report whose picture is chosen in a view.
WITHOUT_PICTURE = Style(picture=False, whole=False)

#: Keeps labels from being cut.
_WHOLE = {"description_width": "initial"}

#: The margin between controls side by side.
_BESIDE = "2px 14px 2px 0"


class View(ipywidgets.VBox):  # type: ignore[misc]
    """A live view; closing it closes all its widgets, so that nothing is left in the kernel.

    Attributes:
        saved: the records whose reports are shown below the view, in outputs of their own. A saved notebook shows
            them without a kernel and untrusted, when the view itself is not shown.
    """

    saved: tuple[object, ...] = ()

    def __init__(self, children: Sequence[ipywidgets.Widget]) -> None:
        super().__init__(children)
        self.add_class(self._own_class)

    @property
    def repeats(self) -> bool:
        """Whether the view contains these reports, which are then hidden while it is drawn."""
        return True

    def for_report(self, place: Literal["above", "below"]) -> str:
        """Return what a report needs to know of the view: its class, where it is, and whether it repeats the report.

        While the view is drawn, it hides a report that it repeats. Otherwise the report hides what stands in the
        place of the view.
        """
        return f"{self._own_class}-{place}-{'hides' if self.repeats else 'keeps'}"

    @property
    def _own_class(self) -> str:
        return f"jaxmagic-view-{self.model_id}"

    def __repr__(self) -> str:
        """Say what helps where the view is not shown: in a saved notebook that is not trusted, and in a terminal."""
        if _in_notebook():
            return "A live view, which needs the kernel that made it."
        return (
            "A live view, which only a notebook can draw. Here, print(jaxmagic.history()) lists all records, and "
            "print(jaxmagic.last()) shows the report of the last."
        )

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return what ipywidgets shows, with the whole text: ipywidgets cuts it, with a character beyond ASCII."""
        inherited = getattr(super(), "_repr_mimebundle_", self._as_before_8)
        return {**inherited(**options), "text/plain": wrapped(written_to(repr(self), sys.stdout))}

    def _as_before_8(self, **_: Any) -> dict[str, Any]:
        """Return what ipywidgets shows, before version 8, which has it nowhere by itself."""
        model = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"application/vnd.jupyter.widget-view+json": model}

    def _ipython_display_(self, **options: Any) -> None:
        display(self._repr_mimebundle_(), raw=True)
        if hasattr(super(), "_ipython_display_"):  # ipywidgets before 8
            self._handle_displayed(**options)
        for each in self.saved:
            for bundle in outputs(each, view=self.for_report("above")):
                display(bundle, raw=True)

    def close(self) -> None:
        """Close the view and all its widgets."""
        for widget in reversed(_all_of(self)):
            widget.unobserve_all()
            if widget is not self:
                widget.close()
        super().close()


def _in_notebook() -> bool:
    return hasattr(get_ipython(), "kernel")


def _all_of(widget: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    own = [getattr(widget, name, None) for name in ("layout", "style")]
    widgets = [widget, *(each for each in own if isinstance(each, ipywidgets.Widget))]
    for child in getattr(widget, "children", ()):
        widgets += _all_of(child)
    return widgets


def choice(label: str, options: Sequence[Any], value: Any = None) -> ipywidgets.Dropdown:
    """Create a labelled drop-down list; the first option is selected unless `value` is given.

    A list without a choice, of one option or none, is not displayed.
    """
    layout = ipywidgets.Layout(width="auto", min_width="9em", margin=_BESIDE)
    if len(options) < 2:
        layout.display = "none"
    dropdown = ipywidgets.Dropdown(options=options, description=label, style=_WHOLE, layout=layout)
    if value is not None:
        dropdown.value = value
    return dropdown


def words(text: str) -> ipywidgets.Label:
    """Create a label for several controls."""
    return ipywidgets.Label(text, layout=ipywidgets.Layout(margin="2px 10px 2px 0"))


def tick(label: str, value: bool = True) -> ipywidgets.Checkbox:
    """Create a labelled checkbox."""
    return ipywidgets.Checkbox(
        value=value, description=label, indent=False, layout=ipywidgets.Layout(width="auto", margin=_BESIDE)
    )


def row(*controls: ipywidgets.Widget) -> ipywidgets.HBox:
    """Arrange controls side by side, or below each other if the page is narrow."""
    return ipywidgets.HBox(controls, layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center"))


def screen() -> ipywidgets.Output:
    """Create an output that shows HTML with its scripts, so that pictures are live."""
    return ipywidgets.Output()


def show(where: ipywidgets.Output, record: object) -> None:
    """Replace the content of an output by a record's report."""
    show_html(where, to_html(record, AT_A_GLANCE))


def show_below(
    answer: ipywidgets.Output, where: ipywidgets.Output, record: object, chart: Chart | None = None
) -> None:
    """Show the sentence with which a record's report begins in one output, and its picture and the rest in another.

    Args:
        answer: the output that is above the controls, since every report begins with its answer.
        where: the output that is below them.
        record: the record.
        chart: a chart that replaces those of the report.
    """
    first, rest = answer_and_rest(record, AT_A_GLANCE if chart is None else WITHOUT_PICTURE)
    show_html(answer, first)
    show_html(where, rest if chart is None else chart_to_html(chart) + rest)


def show_html(where: ipywidgets.Output, html: str) -> None:
    """Replace the content of an output by HTML."""
    where.outputs = (_output(html),)


def show_chart(where: ipywidgets.Output, chart: Chart) -> None:
    """Replace the content of an output by a chart."""
    where.outputs = (_output(chart_to_html(chart)),)


class Guard:
    """Runs the actions of controls, and shows their exceptions, which would otherwise only reach a log.

    Args:
        where: the output that shows the exceptions.
    """

    def __init__(self, where: ipywidgets.Output) -> None:
        self._where = where

    def __call__(self, action: Callable[[], None]) -> Callable[[object], None]:
        """Wrap `action` as a widget's callback."""

        def run(_: object = None) -> None:
            try:
                action()
            except ValueError as error:  # a choice that cannot be shown, with a message that says so
                self._where.outputs = (_output(error_to_html(str(error))),)
            except Exception:
                self._where.outputs = (_output(error_to_html(traceback.format_exc())),)

        return run

    def watch(self, controls: Iterable[ipywidgets.Widget], action: Callable[[], None]) -> None:
        """Run `action` whenever the value of one of the controls changes."""
        for control in controls:
            control.observe(self(action), names="value")


def _output(html: str) -> dict[str, Any]:
    data = {"text/html": html, "text/plain": "a live view of jaxmagic"}
    return {"output_type": "display_data", "data": data, "metadata": {}}
