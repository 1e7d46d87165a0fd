"""How a subject declares a magic: the options that all have, what records its code, and the settings of all."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from IPython.core.magic import MAGIC_NO_VAR_EXPAND_ATTR, Magics, magics_class
from IPython.core.magic_arguments import argument
from traitlets import Bool, Enum, Float, Int, TraitError, observe

from ..report.style import Style
from ..runtime.given import rate
from ..runtime.given_peaks import Given, give_peaks
from ..runtime.tracebacks import of_the_user
from ..subjects import Magic, magics
from . import options

#: Options of every magic that measures repeatedly.
_REPEATED = (
    argument("-o", action="store_true", help="Return the record."),
    argument("-q", action="store_true", help="No report."),
    argument("-v", metavar="NAME", type=options.variable, help="Bind the record to the variable NAME."),
    argument("-w", action="store_true", help="Open a live view of the record below the report."),
    argument(
        "--each",
        metavar="CODE",
        help="Runs before every sample, outside the clock; in quotes. For fresh copies of what is donated.",
    ),
    argument("--static", action="store_true", help="Text and a PNG instead of HTML: for GitHub, and for printing."),
    argument("--save", metavar="FILE", help="Write the record to FILE as JSON."),
    argument("--against", metavar="FILE", help="Put the record beside the one in FILE, which --save has written."),
    argument("--anyway", action="store_true", help="Compare with FILE although it is from another environment."),
)


#: Options of every magic that runs its code once, as the cell would.
_ONCE = (
    argument("-q", action="store_true", help="No report."),
    argument("-v", metavar="NAME", type=options.variable, help="Bind the record to the variable NAME."),
    argument("-o", action="store_true", help="Return the record in place of the value."),
    argument("-w", action="store_true", help="Open a live view of the record below the report."),
    argument(
        "--fetch",
        action="store_true",
        help="Also time the copy of the result to the host, beside the wall time.",
    ),
    argument(
        "--expect-no-compile",
        action="store_true",
        help="Raise AssertionError, with the report, if anything compiled.",
    ),
    argument(
        "--max-time",
        metavar="TIME",
        type=options.duration_ns,
        help="Raise AssertionError, with the report, if it took longer; for example 50ms.",
    ),
    argument(
        "--no-raise-error",
        action="store_true",
        help="Show the traceback of the code's exception, but go on with the next cell.",
    ),
    argument("--explain", action="store_true", help="Add five lines on what was measured, and how."),
)


def of_all_that_repeat(method: Any) -> Any:
    """Give a magic the options that all of these have."""
    for option in reversed(_REPEATED):
        method = option(method)
    return method


def of_all_that_run_once(method: Any) -> Any:
    """Give a magic the options that all of these have."""
    for option in reversed(_ONCE):
        method = option(method)
    return method


def recorded_by(make: Callable[..., Any]) -> Callable[[Any], Any]:
    """Name what makes the recorder of a block, of a shell, the options, and whether its value is shown."""

    def named(method: Any) -> Any:
        method.recorder = make
        return method

    return named


def declared(name: str) -> Any:
    """Import the function of a magic, with its ``parser`` and what makes its ``recorder``."""
    return getattr(import_module(f"{magics()[name].package}.magic"), name)


class Parsers(Mapping[str, argparse.ArgumentParser]):
    """The parsers of some magics; the subject of a magic is imported when its parser is asked for.

    Args:
        wanted: which magics.
    """

    def __init__(self, wanted: Callable[[Magic], bool] = lambda magic: True) -> None:
        self._names = [name for name, entry in magics().items() if wanted(entry.magic)]

    def __getitem__(self, name: str) -> argparse.ArgumentParser:
        if name not in self._names:
            raise KeyError(name)
        found: argparse.ArgumentParser = declared(name).parser
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class LazyMagic:
    """A magic whose subject is imported when somebody uses it, or asks for its documentation."""

    needs_local_scope = True

    def __init__(self, magics: JaxMagics, name: str) -> None:
        self.__self__ = magics  # whose class %lsmagic names
        self.__name__ = name
        setattr(self, MAGIC_NO_VAR_EXPAND_ATTR, True)

    @property
    def __wrapped__(self) -> Any:  # %jaxprof?? shows its source
        return declared(self.__name__)

    @property
    def __doc__(self) -> str:  # type: ignore[override]  # %jaxprof?
        return str(declared(self.__name__).__doc__)

    @of_the_user
    def __call__(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """Run the magic, as IPython calls it."""
        return declared(self.__name__)(self.__self__, line, cell, local_ns)


class _Rate(Float):
    """A rate per second; 0 for the default."""

    def validate(self, obj: Any, value: Any) -> float:
        if type(value) in (int, float) and value == 0:
            return 0.0
        try:
            return rate(str(self.name), value)
        except ValueError as error:
            raise TraitError(f"{error}. Give 0 for the default.") from None


@magics_class
class JaxMagics(Magics):
    """jaxmagic's magics and their settings."""

    form = Enum(
        ["rich", "text", "line", "static"],
        "rich",
        help="How reports are shown: 'rich' (text and HTML), 'text' (text only), 'line' (one line) or 'static' "
        "(text, and a picture as PNG).",
    ).tag(config=True)
    digits = Int(3, min=1, max=9, help="Significant digits of a time.").tag(config=True)
    colour = Bool(True, help="Tell the parts of the bar apart by hue; if not, by shades of grey.").tag(config=True)
    peak_flops = _Rate(
        0, help="Floating-point operations in a second to compare with, of a device; 0 for its data sheet."
    ).tag(config=True)
    peak_bytes = _Rate(0, help="Bytes of memory in a second to compare with, of a device; 0 for its data sheet.").tag(
        config=True
    )

    #: Set by the extension: what has to be undone on unloading.
    hooks: Any = None
    replaced: Any = None

    @observe("peak_flops", "peak_bytes")
    def _take_peaks(self, _: object) -> None:
        give_peaks(Given(self.peak_flops or None, self.peak_bytes or None))

    @property
    def style(self) -> Style:
        """The settings as the renderers take them."""
        return Style(form=self.form, digits=self.digits, colour=self.colour)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name, entry in magics().items():
            for kind in entry.magic.kinds:
                self.magics[kind][name] = LazyMagic(self, name)
