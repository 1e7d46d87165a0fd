"""Declare magics: the options that they share, the recorder of each, and the settings of all."""

from __future__ import annotations

import argparse
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, get_args

from IPython.core.error import UsageError
from IPython.core.magic import MAGIC_NO_VAR_EXPAND_ATTR, Magics, magics_class
from IPython.core.magic_arguments import argument
from traitlets import Bool, Enum, Int, observe

from ..report.style import LAST, Form, Style
from ..runtime.given_peaks import Given, give_peaks
from ..session.shown_errors import keep_last_shown
from ..subjects import Magic, magics
from ..terminal import width, wrapped, written_to
from ..tracebacks import of_the_user
from . import options
from .options.settings import A_RATE, Rate, setting

_HELP = argument("-h", "--help", action="store_true", help="Print this help, and run nothing.")
_QUIET = argument("-q", action="store_true", help="Show no report.")
_BIND = argument("-v", metavar="NAME", type=options.variable, help="Bind the record to the variable NAME.")
_LIVE = argument("-w", action="store_true", help="Open a live view of the record, with its report.")
_ALL = argument(
    "--all", action="store_true", help="Show the whole report, also what is otherwise folded or left out."
)

#: Options of every magic that measures repeatedly.
_REPEATED = (
    _HELP,
    argument("-o", action="store_true", help="Return the record."),
    _QUIET,
    _BIND,
    _LIVE,
    argument(
        "--each",
        metavar="CODE",
        help="Code to run before every sample, untimed; in quotes. For fresh copies of donated arguments.",
    ),
    _ALL,
    argument("--static", action="store_true", help="Text and a PNG instead of HTML: for GitHub, and for printing."),
    argument("--save", metavar="FILE", help="Write the record to FILE as JSON."),
    argument(
        "--against",
        metavar="FILE",
        help="Compare with the record in FILE, which --save has written. If one of the two is from fewer than three "
        "processes, the first comparison of a session also measures the noise between processes for 15 s or more.",
    ),
    argument("--anyway", action="store_true", help="Compare even if FILE is from a different environment."),
)

#: Options of every magic that runs its code once, as the cell would.
_ONCE = (
    _HELP,
    _QUIET,
    _BIND,
    argument("-o", action="store_true", help="Return the record in place of the value."),
    _LIVE,
    argument(
        "--fetch",
        action="store_true",
        help="Also time the copy of the result to the host, in addition to the wall time.",
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
    _ALL,
    argument(
        "--explain",
        action="store_true",
        help="Show the whole report, and what was measured and how; %%jaxdoctor: how its rules decide.",
    ),
)


def of_all(method: Any) -> Any:
    """Give a magic the options of all magics."""
    return _HELP(method)


def of_all_that_repeat(method: Any) -> Any:
    """Give a magic the options of all magics that measure repeatedly."""
    return functools.reduce(lambda magic, option: option(magic), reversed(_REPEATED), method)


def of_all_that_run_once(method: Any) -> Any:
    """Give a magic the options of all magics that run their code once."""
    return functools.reduce(lambda magic, option: option(magic), reversed(_ONCE), method)


def _set(name: str, value: Any) -> Callable[[Any], Any]:
    def decorated(method: Any) -> Any:
        setattr(method, name, value)
        return method

    return decorated


def recorded_by(make: Callable[..., Any]) -> Callable[[Any], Any]:
    """Set the function that makes the recorder of a block, from the shell, the options, and whether it is shown."""
    return _set("recorder", make)


def read_with(as_python: Callable[[str], str]) -> Callable[[Any], Any]:
    """Set the function that makes Python of the cell of a magic; it raises UsageError if it has better words."""
    return _set("as_python", as_python)


def labelled_by(labels_of: Callable[[str], list[str]]) -> Callable[[Any], Any]:
    """Set the function that finds the labels in the cell of a magic, to complete them."""
    return _set("labels_of", labels_of)


def declared(name: str) -> Any:
    """Import the function of a magic, which has its ``parser`` and its ``recorder`` as attributes."""
    return getattr(import_module(f"{magics()[name].package}.magic"), name)


class Parsers(Mapping[str, argparse.ArgumentParser]):
    """The parsers of some magics, by name; a parser is imported on first access.

    Args:
        wanted: whether a magic is included.
    """

    def __init__(self, wanted: Callable[[Magic], bool] = lambda magic: True) -> None:
        self._names = [name for name, entry in magics().items() if wanted(entry.magic)]

    def __getitem__(self, name: str) -> argparse.ArgumentParser:
        if name not in self._names:
            raise KeyError(name)
        parser: argparse.ArgumentParser = declared(name).parser
        return parser

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class KeepingLastShown:
    """Lets an error about the usage of a magic, raised in the block, keep the error that ``%jaxdoctor`` explains."""

    def __init__(self, magic: str) -> None:
        self._magic = magic

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, UsageError):
            keep_last_shown(error, magic=self._magic)


class LazyMagic:
    """A magic whose package is imported on first use, or when its documentation is read."""

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
        return _with_usage_aligned(str(declared(self.__name__).__doc__))

    @of_the_user
    def __call__(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """Run the magic, as IPython calls it, or print its help."""
        magic = declared(self.__name__)
        if not options.asks_for_help(line, magic.parser):
            with KeepingLastShown(self.__name__):
                try:
                    return magic(self.__self__, line, cell, local_ns)
                except NameError as error:
                    options.note_late_flags(error, line, magic.parser)
                    raise
        print(written_to(_as_text(help_of(magic)), sys.stdout))
        return None


def help_of(magic: Any) -> str:
    """Return the help of a magic: how it is written, what it does, and its options."""
    return inspect.cleandoc(_with_usage_aligned(magic.__doc__.removeprefix("::\n"))).strip()


def _with_usage_aligned(doc: str) -> str:
    r"""Align the lines of a usage behind the name of its magic; IPython also counts the line above it as an indent.

    >>> print(_with_usage_aligned("%jaxtime [-h]\n               [-q]\n\nTime a statement."))
    %jaxtime [-h]
             [-q]
    <BLANKLINE>
    Time a statement.
    """
    usage = re.search(r"^ *(%+\w+ )(.*?)(?=\n\n|\Z)", doc, re.S | re.M)
    if usage is None:
        return doc
    lines = [line.strip() for line in usage[2].split("\n")]
    return doc[: usage.start()] + usage[1] + f"\n{' ' * len(usage[1])}".join(lines) + doc[usage.end() :]


def _as_text(help_text: str) -> str:
    """Write the help for a terminal: paragraphs fit its width and have no markup; code, usage and options stay."""
    described, options_title, listed = help_text.partition("\n\noptions:\n")
    usage, *parts = described.split("\n\n")
    told = [each if each.startswith(" ") else _paragraph(each) for each in parts]
    return "\n\n".join([usage, *told]) + options_title + listed


def _paragraph(text: str) -> str:
    plain = " ".join(text.split()).replace("``", "")
    return wrapped(plain.removesuffix(":") if plain.endswith("::") else plain)


@magics_class
class JaxMagics(Magics):
    """jaxmagic's magics and their settings."""

    form = setting(
        Enum(
            get_args(Form),
            "rich",
            help="How reports are shown: 'rich' (text and HTML), 'text' (text only), 'line' (one line) or 'static' "
            "(text, and a picture as PNG).",
        ),
        f"one of {', '.join(map(repr, get_args(Form)))}",
    )
    digits = setting(Int(3, min=1, max=9, help="Significant digits of a time."), "an integer from 1 to 9")
    colour = setting(
        Bool(True, help="Distinguish the parts of the bar by hue; if not, by shades of grey."), "True or False"
    )
    peak_flops = setting(
        Rate(
            0, help="Peak FLOP/s of a device to compare with; 0 for the default (data sheet, trace or measurement)."
        ),
        *A_RATE,
    )
    peak_bytes = setting(
        Rate(0, help="Peak memory bandwidth of a device to compare with, in bytes/s; 0 for the default."), *A_RATE
    )
    error_hint = setting(
        Bool(True, help="Print a line under the traceback of an error that %jaxdoctor explains."), "True or False"
    )

    #: Set by the extension, to be undone on unloading.
    hooks: Any = None
    replaced: Any = None

    @observe("peak_flops", "peak_bytes")
    def _take_peaks(self, _: object) -> None:
        give_peaks(Given(self.peak_flops or None, self.peak_bytes or None))

    @property
    def style(self) -> Style:
        """The settings as the renderers take them."""
        return Style(
            form=self.form, digits=self.digits, colour=self.colour, width=width(), whole=False, whole_by=LAST
        )

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name, entry in magics().items():
            for kind in entry.magic.kinds:
                self.magics[kind][name] = LazyMagic(self, name)
