"""What people want to choose once about how records look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["rich", "text", "line", "static"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a record is shown.

    Attributes:
        form: ``rich`` (text and HTML), ``text`` (text only), ``line`` (the first line only), ``static``
            (text and a PNG, for where scripts and styles are stripped).
        digits: significant digits of a time.
        colour: whether parts are told apart by hue; if not, by shades of grey.
        width: columns of text.
        rows: lines of a table that may be long.
        picture: whether HTML has a chart; not where one stands beside it.
    """

    form: Form = "rich"
    digits: int = 3
    colour: bool = True
    width: int = 80
    rows: int = 10
    picture: bool = True


DEFAULT = Style()
