"""Tells the name that a program has in XLA."""

from __future__ import annotations

import re


def name_in_xla(function: str) -> str:
    """Return the name of a function as programs of XLA have it after ``jit_``.

    JAX replaces what is no letter, digit, dot or hyphen (``sanitize_name``), and XLA drops underscores at the end.

    >>> name_in_xla("<lambda>")
    '_lambda'
    """
    return re.sub(r"[^\w.-]", "_", function).rstrip("_")
