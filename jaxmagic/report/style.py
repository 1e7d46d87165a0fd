"""Settings for how records are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["rich", "text", "line", "static"]

#: Shows the whole report of the last measurement without measuring again: it may take long, or compile nothing then.
LAST = "%jaxmagic last"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The way in which a record is shown.

    Attributes:
        form: ``rich`` (text and HTML), ``text`` (text only), ``line`` (the first line only), ``static``
            (text and a PNG, for where scripts and styles are stripped).
        digits: significant digits of a time.
        colour: whether parts differ in hue; otherwise they differ in shades of grey.
        width: the width of text in columns.
        rows: the maximum number of rows of a table.
        picture: whether HTML contains the chart; ``False`` where a view shows a chart of its own.
        whole: whether all of the report is shown; otherwise it can be read at a glance, and the rest is folded.
        compared: whether a verdict on the record and another one is shown beside it, with the noise that it rests on.
        lines: the maximum number of lines of a text that is not whole.
        whole_by: how a reader gets the whole report, at the end of a short text.
    """

    form: Form = "rich"
    digits: int = 3
    colour: bool = True
    width: int = 80
    rows: int = 10
    picture: bool = True
    whole: bool = True
    compared: bool = False
    whole_by: str = "printing it"
    lines: int = 14

    def rows_by(self, method: str) -> str:
        """Return what shows all rows of a table: a magic that shows the whole report, or a record's method."""
        return self.whole_by if self.shows_all_rows and not self.whole else method

    @property
    def shows_all_rows(self) -> bool:
        """Whether what shows the whole report shows all rows of its tables."""
        return self.whole_by == LAST


#: The whole report.
DEFAULT = Style()

#: The style of a record that is the value of a cell.
AT_A_GLANCE = Style(whole=False)
