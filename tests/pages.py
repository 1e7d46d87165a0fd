"""Reports as HTML, for tests of what they say rather than of where their lines may end."""

from __future__ import annotations

import re
from typing import Any

from jaxmagic.report import to_html as written


def breakable(page: str) -> str:
    """Return HTML without the marks that keep a number with its unit, and an option in one piece."""
    return re.sub(r'<span style="white-space:nowrap">(.*?)</span>', r"\1", page)


def to_html(*record: Any, **options: Any) -> str:
    """Write a record as HTML in which lines may end at any space."""
    return breakable(written.to_html(*record, **options))
