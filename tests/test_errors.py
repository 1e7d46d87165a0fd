"""The exception tree."""

from __future__ import annotations

import jaxmagic


def test_every_exception_is_caught_by_its_base_and_by_its_builtin() -> None:
    for error, builtin in (
        (jaxmagic.JaxNotAvailable, ImportError),
        (jaxmagic.RecordError, ValueError),
        (jaxmagic.NotMeasured, LookupError),
        (jaxmagic.DonatedTwice, ValueError),
        (jaxmagic.OutputsDiffer, AssertionError),
        (jaxmagic.NotComparable, ValueError),
        (jaxmagic.LaunchError, RuntimeError),
    ):
        assert issubclass(error, jaxmagic.JaxMagicError)
        assert issubclass(error, builtin)
