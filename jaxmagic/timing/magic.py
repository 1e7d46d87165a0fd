"""Declares ``%jaxtime``."""

from __future__ import annotations

import argparse
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import magic_arguments

from ..magics.called_magic import run_called
from ..magics.declare import JaxMagics, of_all_that_run_once, recorded_by
from ..magics.recorder import Recorder
from .verbs import stopwatch


def _recorder(shell: InteractiveShell, arguments: argparse.Namespace, shown: bool) -> Recorder:
    return stopwatch(fetch=arguments.fetch)


@magic_arguments("jaxtime")
@of_all_that_run_once
@recorded_by(_recorder)
def jaxtime(magics: JaxMagics, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
    """Time a statement or a cell, with all the JAX work that it starts.

    In line mode::

        %jaxtime [options] statement

    In cell mode, over the cell::

        %%jaxtime [options]
        ...

    The value is displayed, stored and assigned as without the magic, and a final ``;`` silences it. The text
    after the options is run as it is; ``--`` ends the options.
    """
    return run_called(magics.shell, "jaxtime", jaxtime.parser, line, cell, local_ns)
