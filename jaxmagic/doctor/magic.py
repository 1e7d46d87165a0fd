"""``%jaxdoctor``."""

from __future__ import annotations

import argparse
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import argument, magic_arguments

from ..errors import NotMeasured
from ..magics import options
from ..magics.block import asked_for, show
from ..magics.called_magic import run_called
from ..magics.declare import JaxMagics, of_all_that_run_once, recorded_by
from ..magics.once import shown_already
from ..magics.recorder import Recorder
from ..session.shown_errors import LastCell, quoting
from ..terminal import print_line
from .record.diagnosis import Diagnosis
from .report.diagnosis import about_rules
from .verbs.diagnose import BUDGET_S, examination, require_rules
from .verbs.explain_error import explained


def _recorder(shell: InteractiveShell, arguments: argparse.Namespace, shown: bool) -> Recorder:
    try:
        return examination(
            only=arguments.only,
            repeat=arguments.repeat,
            memory_bytes=arguments.memory,
            verify=arguments.verify,
            budget_s=arguments.budget / 1e9,
        )
    except ValueError as error:
        raise UsageError(f"--{error}. Nothing was run.") from None


def _explain(magics: JaxMagics, arguments: argparse.Namespace) -> Diagnosis | None:
    """Explain the last error."""
    try:
        record = explained(
            None,
            memory_bytes=arguments.memory,
            verify=arguments.verify,
            budget_s=arguments.budget / 1e9,
            earlier=bool(magics.shell.last_execution_succeeded) and not LastCell.showed,  # the cell before this one
        )
    except NotMeasured as error:
        raise quoting(UsageError(f"%jaxdoctor has nothing to run. {error}")) from None
    if arguments.v:
        magics.shell.user_ns[arguments.v] = record
    if arguments.q:
        return record if arguments.o else None
    show(record, asked_for(magics.style, arguments), explain=arguments.explain)
    return shown_already(record) if arguments.o else None


def _tell_rules(names: tuple[str, ...]) -> None:
    """Print how some rules decide."""
    try:
        require_rules("only", names)
    except ValueError as error:
        raise UsageError(f"--{error}. Nothing was run.") from None
    for each in about_rules(names):
        print_line(each, indent="  ")


@magic_arguments("jaxdoctor")
@of_all_that_run_once
@recorded_by(_recorder)
@argument(
    "--only", metavar="RULES", type=options.names, default=(), help="Apply these rules only, separated by commas."
)
@argument("--repeat", action="store_true", help="Run the code several times even if it changes what it reads.")
@argument(
    "--memory",
    metavar="SIZE",
    type=options.size_bytes,
    help="Assume that a device has this much memory, such as 16GiB.",
)
@argument("--verify", action="store_true", help="Try the remedies on a copy of the code, and measure what they gain.")
@argument(
    "--budget",
    metavar="TIME",
    type=options.duration_ns,
    default=round(BUDGET_S * 1e9),
    help="How long --verify, or compiling after memory ran out, may take, such as 20s; 30s by default.",
)
@argument(
    "--top",
    metavar="N",
    type=options.positive_int,
    help="How many findings to show; 10 by default, all with --all.",
)
def jaxdoctor(magics: JaxMagics, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
    """Find what costs time or memory in the code, and what to do.

    In line mode::

        %jaxdoctor [options] statement

    In cell mode, over the cell::

        %%jaxdoctor [options]
        ...

    The code runs once, once more with its waits and lines recorded, once or twice undisturbed, and once under the JAX
    profiler. Code that assigns, donates or changes what it reads, writes files, starts programs, or records a
    trace runs only once, unless ``--repeat`` is given. Its value is the value of the last run.

    ``--verify`` then applies each remedy, where that can be done mechanically, to a copy of the code, and measures
    both in turns. For that the code runs again, as often as the report says, with its assignments kept
    local; what it changes or donates is copied before each run.

    Without code, in the cell after an error that JAX raised, it explains the error. With ``--verify`` it also runs
    the failing call without jit, and the corrected function if the remedy is mechanical, with the same arguments::

        %jaxdoctor

    With ``--only`` and ``--explain``, it prints how these rules decide::

        %jaxdoctor --only recompile --explain

    If memory ran out, it compiles variants of the program that need less, until one fits into the memory of the
    device, or into that of ``--memory``.
    """
    words, statement = options.split(line, jaxdoctor.parser)
    if cell is None and options.only_comment(statement):
        arguments = options.parse(words, jaxdoctor.parser)
        if arguments.only and arguments.explain:
            return _tell_rules(arguments.only)
        if arguments.only:
            raise UsageError("%jaxdoctor --only: expected code after it, got none. Write --only recompile f(x)")
        return _explain(magics, arguments)
    return run_called(magics.shell, "jaxdoctor", jaxdoctor.parser, line, cell, local_ns)
