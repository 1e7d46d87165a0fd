"""Settings whose messages say what was expected, what was given, and what to write."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from traitlets import Float, TraitError

from ...runtime.given import rate, shown

#: What is expected of a rate, and an example.
A_RATE = "a rate per second from 1 to 1e24, or 0 for the default", "1e12"

#: Names of classes that are this similar are taken for each other.
_CLOSE = 0.75


#: The class of the settings, and a line that sets one of a class.
NAME, _CONFIG = "JaxMagics", re.compile(r"^[ \t]*%config[ \t]+(\w+)\.(\w+)[ \t]*=", re.MULTILINE)


def meant_setting(cell: str, known: Iterable[str]) -> str | None:
    """Return a hint for a setting of a class that IPython silently ignores, if its name is close to that of ours.

    >>> meant_setting("%config JaxMagic.form = 'line'", ["IPCompleter", "JaxMagics"])
    'IPython has ignored JaxMagic.form: there is no JaxMagic. Did you mean %config JaxMagics.form?'
    """
    classes = {each.lower(): each for each in known}
    for given, name in _CONFIG.findall(cell):
        if given.lower() not in classes and get_close_matches(given.lower(), [NAME.lower()], 1, _CLOSE):
            return f"IPython has ignored {given}.{name}: there is no {given}. Did you mean %config {NAME}.{name}?"
    return None


class Rate(Float):
    """A rate per second; 0 for the default."""

    def validate(self, obj: Any, value: Any) -> float:
        """Return a value as a rate."""
        try:
            return 0.0 if type(value) in (int, float) and value == 0 else rate(str(self.name), value)
        except ValueError as error:
            raise TraitError(str(error)) from None


def setting(trait: Any, expected: str, example: str | None = None) -> Any:
    """Let a setting say what it expects, what it got, and what to write."""
    validate = trait.validate

    def checked(magics: Any, value: Any) -> Any:
        try:
            return validate(magics, value)
        except TraitError:
            write = f"%config JaxMagics.{trait.name} = {example or repr(trait.default_value)}"
            told = f"{trait.name}: expected {expected}, got {shown(value)}. Write for example {write}"
            raise TraitError(told) from None

    trait.validate = checked
    return trait.tag(config=True)
