"""Declares ``%jaxmem``, which measures the memory of a statement or cell, or with ``--before`` lists live arrays."""

from __future__ import annotations

import argparse
from argparse import BooleanOptionalAction
from types import EllipsisType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import argument, magic_arguments

from ..magics import options
from ..magics.block import asked_for, current_style, report
from ..magics.called_magic import run_called
from ..magics.declare import JaxMagics, of_all_that_run_once, recorded_by
from ..magics.deliver import refused_path
from ..magics.recorder import Recorder, silenced
from ..session.verbs import keep
from .verbs import live, memory_watch


def _recorder(shell: InteractiveShell, arguments: argparse.Namespace, shown: bool) -> Recorder:
    def value_name() -> str:
        kept = shown and not arguments.o and not silenced(shell)
        return f"Out[{shell.displayhook.prompt_count}]" if kept else "(the value)"  # its name is not known here

    pprof = shell.var_expand(arguments.pprof) if isinstance(arguments.pprof, str) else arguments.pprof
    try:
        return memory_watch(
            lambda: shell.user_ns,
            value_name=value_name,
            interval_ns=arguments.interval,
            mapped=arguments.map,
            fetch=arguments.fetch,
            pprof=pprof,
        )
    except OSError as error:
        raise refused_path("--pprof", "a file that can be written", pprof, error) from None


@magic_arguments("jaxmem")
@of_all_that_run_once
@recorded_by(_recorder)
@argument("--top", metavar="N", type=options.positive_int, help="Rows per table; 10 by default, all with --all.")
@argument(
    "--map",
    action=BooleanOptionalAction,
    default=True,
    help="Read the memory map of each program; --no-map skips that.",
)
@argument(
    "--interval",
    metavar="TIME",
    type=options.duration_ns,
    default=10**6,
    help="Sampling interval of the timeline; 1ms by default.",
)
@argument(
    "--pprof",
    metavar="FILE",
    nargs="?",
    const=True,
    default=False,
    type=options.file,
    help="Add memory by call stack, before and after; --pprof=FILE also writes JAX's own profile to FILE. "
    "After a space, FILE has to end in .pb.gz, .pprof or .prof; anything else is code.",
)
@argument(
    "--before",
    action="store_true",
    help="Run nothing: list live arrays, and the names that hold them, as %%jaxmem without code does.",
)
def jaxmem(magics: JaxMagics, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
    """Run a statement or a cell once, and measure its memory.

    In line mode::

        %jaxmem [options] statement

    In cell mode, over the cell::

        %%jaxmem [options]
        ...

    Without code it lists the arrays that are alive, and the names that hold them.

    The report has the memory of arrays before and after, and the names that hold them; the memory that each program
    that ran or was compiled needs, with a memory map; and the memory use of the process and its devices during the
    run. The code runs as with ``%jaxtime``.
    """
    return _run(magics.shell, jaxmem.parser, line, cell, local_ns)


def _run(
    shell: InteractiveShell,
    parser: argparse.ArgumentParser,
    line: str,
    cell: str | EllipsisType | None,
    local_ns: dict[str, Any] | None,
) -> Any:
    """Run the code and report its memory, or only list live arrays.

    Raises:
        UsageError: a wrong option, nothing to run, or ``--before`` with something to run or to write.
    """
    arguments, rest = options.read(line, parser)
    unknown, alone = _of_a_run(arguments, parser), cell is None and not rest.strip()
    if alone and unknown and not arguments.before:
        raise UsageError(
            f"%jaxmem {' '.join(unknown)} has nothing to run. Write the statement after it: %jaxmem f(x), or put "
            "%%jaxmem on top of a cell."
        )
    if not arguments.before and not alone:
        return run_called(shell, "jaxmem", parser, line, cell, local_ns)
    below = [rest] if cell is None else [rest, *cell.splitlines()] if isinstance(cell, str) else None
    if below is None or not all(map(options.only_comment, below)):  # None where code follows a marker
        raise UsageError("%jaxmem --before: expected nothing after it, got code. Put the code on a line of its own.")
    if unknown:
        raise UsageError(
            f"%jaxmem --before: expected no option that needs a run, got {' and '.join(unknown)}. "
            "Leave one of them out."
        )
    local = local_ns if local_ns is not None and local_ns is not shell.user_ns else None
    arrays = keep(live(shell.user_ns if local is None else {**shell.user_ns, **local}))
    if arguments.v:
        (shell.user_ns if local is None else local)[arguments.v] = arrays
    report(arrays, asked_for(current_style(shell), arguments), arguments)
    return arrays if arguments.o else None


#: Options that go with ``--before``: those of the report.
_WITHOUT_RUN = frozenset({"before", "q", "v", "o", "w", "top", "all"})


def _of_a_run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> list[str]:
    """Return the given options that need a run."""
    return [
        action.option_strings[-1 if getattr(arguments, action.dest) is False else 0]
        for action in parser._actions
        if action.dest in vars(arguments)
        and action.dest not in _WITHOUT_RUN
        and getattr(arguments, action.dest) != action.default
    ]
