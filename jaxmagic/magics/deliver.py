"""What becomes of a record that has been measured: the history, a variable, a file, a report, an earlier record."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ..benchmarking.record.benchmark import Benchmark
from ..comparison.record.comparison import Comparison
from ..comparison.record.sweep import Sweep
from ..comparison.report.sentences import about_basis, about_earlier
from ..comparison.verbs.earlier import noise_for, put_beside
from ..records.files import target_of
from ..records.storage import load, save
from ..session.record import Record
from ..session.verbs import keep, replace_last
from ..terminal import printable
from ..timing.record import Timing
from .attempts import attempt
from .block import current_style, show, view

_Repeated = TypeVar("_Repeated", bound=Benchmark | Comparison | Sweep)


def load_earlier(shell: InteractiveShell, arguments: argparse.Namespace, kind: type[Record]) -> Record | None:
    """The record of ``--against``, read before anything is measured; and ``--save`` can be written, as far as seen.

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
    return found


def finish(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    record: _Repeated,
    namespace: dict[str, Any],
    earlier: Record | None,
) -> _Repeated | None:
    """Bind, save and show `record`, as the options want it; what the magic evaluates to. It is in the history.

    Raises:
        NotComparable: it is from another environment than the earlier one.
    """
    if arguments.v:
        namespace[arguments.v] = record
    noise = None if earlier is None else noise_for(earlier, record)
    if isinstance(record, Benchmark) and noise is not None:
        record = replace(record, process_noise=noise)  # saved with it, so that another session need not measure it
        replace_last(record)
    _deliver(shell, arguments, record, namespace)
    if earlier is not None:
        found = put_beside(earlier, record, anyway=arguments.anyway, measure=False, process_noise=noise)
        told = [about_earlier(versus, str(arguments.against)) for versus in found]
        told += about_basis(found)
        if differing := found[0].differing:
            told.append(f"Compared although the environments differ: {'; '.join(differing)}.")
        for sentence in () if arguments.q else told:
            print(printable(sentence))
    return record if arguments.o else None


def finish_early(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    namespace: dict[str, Any],
    record: Timing | Benchmark | Comparison,
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
