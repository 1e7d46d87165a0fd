"""What has reports, and these as HTML for tests of what they say rather than of where their lines may end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jaxmagic.report import to_html as written


def breakable(page: str) -> str:
    """Return HTML without the marks that keep a number with its unit, and an option in one piece."""
    return re.sub(r'<span style="white-space:nowrap">(.*?)</span>', r"\1", page)


def to_html(*record: Any, **options: Any) -> str:
    """Write a record as HTML in which lines may end at any space."""
    return breakable(written.to_html(*record, **options))


def displayable(kind: type) -> Iterator[type]:
    """List the records of the package that can be displayed; a test may have made others."""
    for each in kind.__subclasses__():
        if each.__module__.startswith("jaxmagic."):
            yield each
            yield from displayable(each)
