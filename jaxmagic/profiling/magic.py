"""``%jaxprof``."""

from __future__ import annotations

import argparse
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import argument, magic_arguments

from ..magics import options
from ..magics.called_magic import run_called
from ..magics.declare import JaxMagics, of_all_that_run_once, recorded_by
from ..magics.deliver import refused_path
from ..magics.recorder import Recorder
from .verbs import profile_watch


def _recorder(shell: InteractiveShell, arguments: argparse.Namespace, shown: bool) -> Recorder:
    given = (arguments.logdir, arguments.label, arguments.perfetto)
    logdir, label, perfetto = (None if each is None else shell.var_expand(each) for each in given)
    if label is not None and logdir is None:
        raise UsageError(
            f"--label: expected --logdir as well, got only --label {label}. Write for example --logdir runs."
        )
    try:
        return profile_watch(
            runs=arguments.n,
            cold=arguments.cold,
            fetch=arguments.fetch,
            logdir=logdir,
            label=label,
            perfetto=perfetto,
            **({} if arguments.most is None else {"most_s": arguments.most / 1e9}),
            **({} if arguments.most_events is None else {"most_events": arguments.most_events}),
        )
    except ValueError as error:
        option = "--" if str(error).startswith("label:") else "--logdir: "
        raise UsageError(f"{option}{error}. Nothing was run.") from None
    except OSError as error:
        raise refused_path(
            "--logdir or --perfetto", "paths that can be written", str(error.filename), error
        ) from None


@magic_arguments("jaxprof")
@of_all_that_run_once
@recorded_by(_recorder)
@argument("-n", metavar="N", type=options.positive_int, default=1, help="Record N runs; 1 by default.")
@argument(
    "--most",
    metavar="TIME",
    type=options.duration_ns,
    help="Record for TIME at most, for example 20s, and run the rest without the profiler; 5s by default.",
)
@argument(
    "--most-events",
    metavar="N",
    type=options.positive_int,
    help="Record about N events at most, and run the rest without the profiler; 1000000 by default.",
)
@argument(
    "--cold",
    action="store_true",
    help="Record the first run, with all that it compiles; then nothing is timed without the profiler.",
)
@argument(
    "--logdir",
    metavar="DIR",
    help="Keep the recording in DIR for TensorBoard and XProf, and add the run to DIR/results.json.",
)
@argument("--label", metavar="NAME", help="Keep it in the folder NAME of DIR, with related recordings.")
@argument("--perfetto", metavar="FILE", help="Write a trace to FILE that ui.perfetto.dev opens; compressed if .gz.")
@argument("--top", metavar="N", type=options.positive_int, help="Rows per table; 10 by default, all with --all.")
def jaxprof(magics: JaxMagics, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
    """Show device time by source line, operation and device.

    In line mode::

        %jaxprof [options] statement

    In cell mode, over the cell::

        %%jaxprof [options]
        ...

    The code runs once to warm up, once more to be timed if that compiled anything, and then ``-n`` times under
    the JAX profiler; with ``--cold`` the first run is recorded already. Its value is the value of the last run.
    With ``-n`` short code is also timed more than once. Its side effects are repeated as well, and donated
    inputs have to be replaced in each run, as in ``%jaxprof state = step(state)``.
    """
    return run_called(magics.shell, "jaxprof", jaxprof.parser, line, cell, local_ns)
