"""Deliver a record: to the history, a variable, a file and a report, and beside an earlier record."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from .. import units
from ..errors import NotComparable, NotMeasured, RecordError
from ..records.files import files_like, target_of
from ..records.storage import load, refuse_other_file, save
from ..report.blocks import Caution, Headline, Sentence
from ..report.compose import Composed
from ..report.style import Style
from ..report.to_text import to_text
from ..session.record import Record
from ..session.verbs import keep, replace_last
from ..terminal import print_line
from .attempts import attempt
from .block import asked_for, current_style, report, show

#: At most this many lines about an earlier record stand above a report that is not whole, whose times need room.
_MOST_COMPARED = 8

#: If there are only so many sentences, they have this many lines: a table of few times is short.
_FEW_SENTENCES, _MOST_OF_FEW = 7, 10

_Kept = TypeVar("_Kept", bound=Record)
_Earlier = TypeVar("_Earlier", bound="Earlier")


class Earlier(Protocol):
    """An earlier record, with which a new one is compared."""

    def require_comparable(self, processes: int) -> None:
        """Check that a record of this environment, from so many processes, can be compared with the earlier one."""

    def complete(self, new: Any) -> Any:
        """Add to the new record what the comparison takes."""

    def told(self, new: Any) -> tuple[list[str], list[str]]:
        """Return sentences that compare the new record with the earlier one, and warnings, which are never cut.

        The first sentence is the answer.
        """


def load_earlier(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    kind: type[Record],
    earlier: Callable[..., _Earlier],
) -> _Earlier | None:
    """Load the record of ``--against`` and check that ``--save`` can be written, before anything is measured.

    Args:
        shell: the shell in which variables in a path are looked up.
        arguments: the options.
        kind: the class of the record that will be measured.
        earlier: takes the record, the path as given, and whether to compare records of different environments.

    Raises:
        UsageError: the file cannot be read, or holds no record or one of another kind or environment or with too few
            samples, or ``--save`` cannot be written or is the same file.
    """
    if arguments.save:
        try:
            file = shell.var_expand(arguments.save)
            refuse_other_file(file, arguments.v or "record")
            target_of(file)
        except OSError as error:
            raise refused_path("--save", "a file that can be written", file, error) from None
        except ValueError as error:
            raise UsageError(f"--save: {error} Nothing was run.") from None
    if arguments.against is None:
        return None
    path = shell.var_expand(arguments.against)
    if arguments.save and Path(path).exists() and Path(path).resolve() == Path(file).resolve():
        raise UsageError(
            f"--save: expected another file than that of --against, got {file!r}, which would replace the earlier "
            "record. Name another one. Nothing was run."
        )
    try:
        record = load(path)
    except FileNotFoundError:
        there = files_like(Path(path), ".json")
        raise UsageError(
            f"--against: expected a saved record, got {path!r}. {there} Name a file that --save has written. Nothing "
            "was run."
        ) from None
    except OSError as error:
        raise refused_path("--against", "a saved record", path, error) from None
    except RecordError as error:
        reason = str(error).rstrip(".")
        raise UsageError(
            f"--against: expected a saved record, got {reason}. Name a file that --save has written. Nothing was run."
        ) from None
    if not isinstance(record, kind):
        got = type(record).__name__
        other = f", or write {_COMPARED_BY[got]} --against {arguments.against}" if got in _COMPARED_BY else ""
        raise UsageError(
            f"--against {arguments.against}: expected a {kind.__name__}, which this magic makes, got a {got}. "
            f"Name a file that the same magic has written with --save{other}."
        )
    made = earlier(record, str(arguments.against), anyway=arguments.anyway)
    try:
        made.require_comparable(getattr(arguments, "processes", None) or 1)
    except (NotComparable, NotMeasured) as error:
        raise UsageError(f"--against: {error} Nothing was run.") from None
    return made


#: The magics with --against, by the kind of record that each makes.
_COMPARED_BY = {
    "Benchmark": "%jaxtimeit",
    "Comparison": "%%jaxcompare",
    "Sweep": "%%jaxcompare --sweep n=64,256",
}


def refused_path(option: str, expected: str, given: str, error: OSError) -> UsageError:
    """Return the error for a path that the system refuses, which names the folder if that is the reason."""
    about = "" if error.filename is None or Path(error.filename) == Path(given) else f": {error.filename}"
    advice = "" if ";" in str(error.strerror) else " Give another path."  # behind it, ours says what to give
    return UsageError(
        f"{option}: expected {expected}, got {given!r}. {error.strerror}{about}.{advice} Nothing was run."
    )


def finish(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    record: _Kept,
    namespace: dict[str, Any],
    earlier: Earlier | None,
    about_saved: Callable[[Any], list[str]],
) -> _Kept | None:
    """Bind, save and show `record`, which is in the history, as the options say; return the value of the magic.

    Args:
        shell: the shell in which variables in a path are looked up.
        arguments: the options.
        record: the record.
        namespace: where to bind it.
        earlier: the earlier record to compare it with, if there is one.
        about_saved: says what the record cannot be used for once it is saved.

    Raises:
        UsageError: the two cannot be compared: too few samples, or different environments.
    """
    if arguments.v:
        namespace[arguments.v] = record
    if earlier is not None:
        completed = earlier.complete(record)
        if completed is not record:
            record = completed
            replace_last(record)
    try:
        compared, warned = ([], []) if earlier is None else earlier.told(record)
    except Exception as error:
        # It is kept, though nothing could be compared.
        _deliver(shell, arguments, record, namespace, about_saved=about_saved)
        if isinstance(error, NotComparable | NotMeasured):
            raise UsageError(f"--against: {error}") from None
        raise
    most = _MOST_OF_FEW if len(compared) <= _FEW_SENTENCES else _MOST_COMPARED
    above = 0
    if compared and not arguments.q:
        style = replace(current_style(shell), whole=True)
        verdict = _compared(compared, warned, sys.maxsize if arguments.all else most, style)
        above = _lines(verdict, style)
        attempt("--against", lambda: show(verdict, replace(style, form="static") if arguments.static else style))
    _deliver(shell, arguments, record, namespace, compared=bool(compared), above=above, about_saved=about_saved)
    return record if arguments.o else None


def _compared(sentences: Sequence[str], warned: Sequence[str], most: int, style: Style) -> Composed:
    """Compose the report on how records compare, of at most `most` lines of text. It stands above the record's own.

    If the sentences have more lines, one says how many of them are left out; the first one, which is the answer, and
    warnings never are.
    """
    answer, *others = sentences
    for count in range(len(others), -1, -1):
        left = units.count(len(others) - count, "more sentence")
        rest = [] if count == len(others) else [f"… --all shows {left} about the earlier record"]
        composed = Composed(
            [
                Headline(text=answer.removesuffix(".")),
                *(Sentence(text=each) for each in [*others[:count], *rest]),
                *(Caution(text=each) for each in warned),
            ]
        )
        if _lines(composed, style) <= most:
            break
    return composed


def _lines(composed: Composed, style: Style) -> int:
    return len(to_text(composed, style).splitlines())


def finish_early(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    namespace: dict[str, Any],
    record: Record,
) -> None:
    """Keep, bind, save and show the record of what was measured before the code raised."""
    _deliver(shell, arguments, keep(record), namespace)


def _deliver(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    record: Record,
    namespace: dict[str, Any],
    *,
    compared: bool = False,
    above: int = 0,
    about_saved: Callable[[Any], list[str]] = lambda record: [],
) -> None:
    if arguments.v:
        namespace[arguments.v] = record
    style, digits = asked_for(current_style(shell), arguments), getattr(arguments, "p", None)
    style = replace(
        style, digits=style.digits if digits is None else digits, compared=compared, lines=style.lines - above
    )
    report(record, replace(style, form="static") if arguments.static else style, arguments)
    if arguments.save:
        told = [] if arguments.q else about_saved(record)
        attempt("--save", lambda: _save(record, shell.var_expand(arguments.save), told, quiet=arguments.q))


def _save(record: Record, path: str, told: Sequence[str], *, quiet: bool) -> None:
    """Save a record, and say where, whether it takes the place of an earlier file, and what else is known of it."""
    instead = Path(path).exists()
    saved = save(record, path)
    if not quiet:
        print_line(f"Saved in {saved}{', in place of the file that was there' if instead else ''}.")
        for sentence in told:
            print_line(sentence, indent="  ")
