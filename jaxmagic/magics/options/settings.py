"""Settings whose messages say what was expected, what was given, and what to write."""

from __future__ import annotations

from typing import Any

from traitlets import Float, TraitError

from ...runtime.given import rate, shown

#: What is expected of a rate, and an example.
A_RATE = "a rate per second from 1 to 1e24, or 0 for the default", "1e12"


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
