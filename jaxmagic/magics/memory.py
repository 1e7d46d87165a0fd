"""``%jaxmem``, called: a block like that of ``%jaxtime``, or with ``--before`` only a look."""

from __future__ import annotations

import argparse
from dataclasses import replace
from types import EllipsisType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from .. import api
from . import options
from .block import current_style, show
from .direct import run_called


def run_memory(
    shell: InteractiveShell,
    parser: argparse.ArgumentParser,
    line: str,
    cell: str | EllipsisType | None,
    local_ns: dict[str, Any] | None,
) -> Any:
    """Run the code and report, or only report what is alive.

    Raises:
        UsageError: a wrong option, nothing to run, or ``--before`` with something to run or to write.
    """
    __tracebackhide__ = True
    words, rest = options.split(line, parser)
    arguments = options.parse(words, parser)
    if not arguments.before:
        return run_called(shell, "jaxmem", parser, line, cell, local_ns)
    below = [rest] if cell is None else [rest, *cell.splitlines()] if isinstance(cell, str) else None
    if below is None or not all(map(options.only_comment, below)):  # None where code follows a marker
        raise UsageError("%jaxmem --before runs nothing; found code behind it. Put the code on a line of its own.")
    if arguments.pprof:
        raise UsageError("%jaxmem --before only lists arrays; found --pprof beside it. Leave one of them out.")
    found = api.live(shell.user_ns)
    if arguments.v:
        shell.user_ns[arguments.v] = found
    if not arguments.q:
        show(found, replace(current_style(shell), rows=arguments.top))
    return found if arguments.o else None
