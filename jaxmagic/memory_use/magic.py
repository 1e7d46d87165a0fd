"""``%jaxmem``, called: a block like that of ``%jaxtime``, or with ``--before`` only a look."""

from __future__ import annotations

import argparse
from dataclasses import replace
from types import EllipsisType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ..magics import options
from ..magics.block import current_style, show, view
from ..magics.called_magic import run_called


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
    words, rest = options.split(line, parser)
    arguments = options.parse(words, parser)
    if not arguments.before:
        return run_called(shell, "jaxmem", parser, line, cell, local_ns)
    below = [rest] if cell is None else [rest, *cell.splitlines()] if isinstance(cell, str) else None
    if below is None or not all(map(options.only_comment, below)):  # None where code follows a marker
        raise UsageError("%jaxmem --before: expected no code, got some behind it. Put the code on a line of its own.")
    if unknown := _of_a_run(arguments, parser):
        raise UsageError(
            f"%jaxmem --before: expected no option that needs a run, got {' and '.join(unknown)}. "
            "Leave one of them out."
        )
    local = local_ns if local_ns is not None and local_ns is not shell.user_ns else None
    from .verbs import live

    found = live(shell.user_ns if local is None else {**shell.user_ns, **local})
    if arguments.v:
        (shell.user_ns if local is None else local)[arguments.v] = found
    if not arguments.q:
        show(found, replace(current_style(shell), rows=arguments.top))
    if arguments.w:
        view(found)
    return found if arguments.o else None


#: Options that ``--before`` knows: those of what is shown.
_OF_A_LOOK = frozenset({"before", "q", "v", "o", "w", "top"})


def _of_a_run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> list[str]:
    """The options that were given and are about a run."""
    return [
        action.option_strings[-1 if getattr(arguments, action.dest) is False else 0]
        for action in parser._actions
        if action.dest in vars(arguments)
        and action.dest not in _OF_A_LOOK
        and getattr(arguments, action.dest) != action.default
    ]
