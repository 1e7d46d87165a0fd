"""What becomes of a record that has been measured: the history, a variable, a file, a report, an earlier record."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ..records.files import target_of
from ..records.storage import load, save
from ..session.record import Record
from ..session.verbs import keep, replace_last
from ..terminal import printable
from .attempts import attempt
from .block import current_style, show, view

_Kept = TypeVar("_Kept", bound=Record)


class Earlier(Protocol):
    """An earlier record, which a new one is put beside."""

    def complete(self, new: Any) -> Any:
        """Add to the new record what putting it beside the other one takes."""

    def told(self, new: Any) -> list[str]:
        """Say what it is beside the earlier one."""


def load_earlier(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    kind: type[Record],
    earlier: Callable[..., Earlier],
) -> Earlier | None:
    """The record of ``--against``, read before anything is measured; and ``--save`` can be written, as far as seen.

    Args:
        shell: where names in a path are looked up.
        arguments: the options.
        kind: of the record that will be measured.
        earlier: made with the record, the path as given, and whether to compare in spite of other environments.

    Raises:
        UsageError: it is a record of another kind, or nothing can be written where ``--save`` says.
        RecordError: it is none.
        OSError: it cannot be read.
    """
    if arguments.save:
        try:
            target_of(shell.var_expand(arguments.save))
        except OSError as error:
            raise UsageError(f"--save: {error.strerror}: {error.filename}. Nothing was run.") from None
    if arguments.against is None:
        return None
    found = load(shell.var_expand(arguments.against))
    if not isinstance(found, kind):
        raise UsageError(
            f"--against {arguments.against}: this magic makes a {kind.__name__}; the file holds a "
            f"{type(found).__name__}. Name a file that the same magic has written with --save."
        )
    return earlier(found, str(arguments.against), anyway=arguments.anyway)


def finish(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    record: _Kept,
    namespace: dict[str, Any],
    earlier: Earlier | None,
) -> _Kept | None:
    """Bind, save and show `record`, as the options want it; what the magic evaluates to. It is in the history.

    Raises:
        NotComparable: it is from another environment than the earlier one.
    """
    if arguments.v:
        namespace[arguments.v] = record
    if earlier is not None:
        completed = earlier.complete(record)
        if completed is not record:
            record = completed
            replace_last(record)
    _deliver(shell, arguments, record, namespace)
    for sentence in () if earlier is None else earlier.told(record):
        if not arguments.q:
            print(printable(sentence))
    return record if arguments.o else None


def finish_early(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    namespace: dict[str, Any],
    record: Record,
) -> None:
    """Keep, bind, save and show what was taken before the code raised."""
    _deliver(shell, arguments, keep(record), namespace)


def _deliver(
    shell: InteractiveShell, arguments: argparse.Namespace, record: Record, namespace: dict[str, Any]
) -> None:
    if arguments.v:
        namespace[arguments.v] = record
    if not arguments.q:
        style, digits = current_style(shell), getattr(arguments, "p", None)
        style = style if digits is None else replace(style, digits=digits)
        style = replace(style, form="static") if arguments.static else style
        attempt("The report", lambda: show(record, style))
    if arguments.w:
        attempt("-w", lambda: view(record))
    if arguments.save:
        attempt("--save", lambda: save(record, shell.var_expand(arguments.save)))
