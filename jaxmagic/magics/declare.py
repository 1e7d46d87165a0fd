"""``%jaxtime``: the magic, its options and the settings of all magics."""

from __future__ import annotations

from argparse import BooleanOptionalAction
from typing import Any

from IPython.core.magic import Magics, cell_magic, line_cell_magic, magics_class, needs_local_scope, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from traitlets import Bool, Enum, Float, Int, observe

from ..report.style import Style
from ..runtime.given_peaks import Given, give_peaks
from ..runtime.tracebacks import of_the_user
from . import options

#: Options of every magic that measures repeatedly.
_REPEATED = (
    argument("-o", action="store_true", help="Return the record."),
    argument("-q", action="store_true", help="No report."),
    argument("-v", metavar="NAME", type=options.variable, help="Bind the record to the variable NAME."),
    argument("-w", action="store_true", help="Open a live view of the record below the report."),
    argument(
        "--each",
        metavar="CODE",
        help="Runs before every sample, outside the clock; in quotes. For fresh copies of what is donated.",
    ),
    argument("--static", action="store_true", help="Text and a PNG instead of HTML: for GitHub, and for printing."),
    argument("--save", metavar="FILE", help="Write the record to FILE as JSON."),
    argument("--against", metavar="FILE", help="Put the record beside the one in FILE, which --save has written."),
    argument("--anyway", action="store_true", help="Compare with FILE although it is from another environment."),
)


#: Options of every magic that runs its code once, as the cell would.
_ONCE = (
    argument("-q", action="store_true", help="No report."),
    argument("-v", metavar="NAME", type=options.variable, help="Bind the record to the variable NAME."),
    argument("-o", action="store_true", help="Return the record in place of the value."),
    argument("-w", action="store_true", help="Open a live view of the record below the report."),
    argument(
        "--fetch",
        action="store_true",
        help="Also time the copy of the result to the host, beside the wall time.",
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
    argument("--explain", action="store_true", help="Add five lines on what was measured, and how."),
)


def _of_all_that_repeat(method: Any) -> Any:
    """Give a magic the options that all of these have."""
    for option in reversed(_REPEATED):
        method = option(method)
    return method


def _of_all_that_run_once(method: Any) -> Any:
    """Give a magic the options that all of these have."""
    for option in reversed(_ONCE):
        method = option(method)
    return method


@magics_class
class JaxMagics(Magics):
    """jaxmagic's magics and their settings."""

    form = Enum(
        ["rich", "text", "line", "static"],
        "rich",
        help="How reports are shown: 'rich' (text and HTML), 'text' (text only), 'line' (one line) or 'static' "
        "(text, and a picture as PNG).",
    ).tag(config=True)
    digits = Int(3, min=1, max=9, help="Significant digits of a time.").tag(config=True)
    colour = Bool(True, help="Tell the parts of the bar apart by hue; if not, by shades of grey.").tag(config=True)
    peak_flops = Float(
        0, min=0, help="Floating-point operations in a second to compare with, of a device; 0 for its data sheet."
    ).tag(config=True)
    peak_bytes = Float(
        0, min=0, help="Bytes of memory in a second to compare with, of a device; 0 for its data sheet."
    ).tag(config=True)

    #: Set by the extension: what has to be undone on unloading.
    hooks: Any = None
    replaced: Any = None

    @observe("peak_flops", "peak_bytes")
    def _take_peaks(self, _: object) -> None:
        give_peaks(Given(self.peak_flops or None, self.peak_bytes or None))

    @property
    def style(self) -> Style:
        """The settings as the renderers take them."""
        return Style(form=self.form, digits=self.digits, colour=self.colour)

    @no_var_expand
    @needs_local_scope
    @magic_arguments("jaxtime")
    @_of_all_that_run_once
    @line_cell_magic
    @of_the_user
    def jaxtime(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """Time a statement or a cell, with all the JAX work that it starts.

        In line mode::

            %jaxtime [options] statement

        In cell mode, over the cell::

            %%jaxtime [options]
            …

        The value is displayed, stored and assigned as without the magic, and a final ``;`` silences it. The text
        after the options is run as it is; ``--`` ends the options.
        """
        from .called_magic import run_called  # and with it all that measures: loading is over sooner

        return run_called(self.shell, "jaxtime", type(self).jaxtime.parser, line, cell, local_ns)

    @no_var_expand
    @needs_local_scope
    @magic_arguments("jaxmem")
    @_of_all_that_run_once
    @argument("--top", metavar="N", type=options.positive_int, default=10, help="Rows of a table; 10 if left out.")
    @argument(
        "--map",
        action=BooleanOptionalAction,
        default=True,
        help="Read where the buffers of each program lie, and for how long; --no-map spares that.",
    )
    @argument(
        "--interval",
        metavar="TIME",
        type=options.duration_ns,
        default=10**6,
        help="How far apart the samples of the timeline lie; 1ms if left out.",
    )
    @argument(
        "--pprof",
        metavar="FILE",
        nargs="?",
        const=True,
        default=False,
        type=options.file,
        help="Add what is held by call stack, before and after; --pprof=FILE keeps JAX's own profile in FILE, too. "
        "Behind a space it is a FILE if it ends in .pb.gz, .pprof or .prof; else it is code.",
    )
    @argument("--before", action="store_true", help="Run nothing: only look at what is alive now, and who holds it.")
    @line_cell_magic
    @of_the_user
    def jaxmem(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """Run a statement or a cell once, and tell where the memory goes.

        In line mode::

            %jaxmem [options] statement

        In cell mode, over the cell::

            %%jaxmem [options]
            …

        What the arrays hold before and after, and which variables hold them; what each program needs that ran or was
        compiled, with its memory map; and what the process and its devices really used meanwhile. The code runs as
        with ``%jaxtime``.
        """
        from ..memory_use.magic import run_memory

        return run_memory(self.shell, type(self).jaxmem.parser, line, cell, local_ns)

    @no_var_expand
    @needs_local_scope
    @magic_arguments("jaxprof")
    @_of_all_that_run_once
    @argument("-n", metavar="N", type=options.positive_int, default=1, help="Record N runs; 1 if left out.")
    @argument(
        "--most",
        metavar="TIME",
        type=options.duration_ns,
        help="Record for TIME at most, for example 20s, and run the rest without the profiler; 5s if left out.",
    )
    @argument(
        "--most-events",
        metavar="N",
        type=options.positive_int,
        help="Record about N events at most, and run the rest without the profiler; 1000000 if left out.",
    )
    @argument(
        "--cold",
        action="store_true",
        help="Record the first run already, with all that it compiles; nothing is timed without the profiler then.",
    )
    @argument(
        "--logdir",
        metavar="DIR",
        help="Keep the recording in DIR as TensorBoard and XProf read it, and add the run to DIR/results.json.",
    )
    @argument("--label", metavar="NAME", help="Keep it in the folder NAME of DIR, with others that belong to it.")
    @argument(
        "--perfetto", metavar="FILE", help="Write a trace to FILE that ui.perfetto.dev opens; compressed if .gz."
    )
    @argument("--top", metavar="N", type=options.positive_int, default=10, help="Rows of a table; 10 if left out.")
    @line_cell_magic
    @of_the_user
    def jaxprof(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """Show which lines of the jitted functions that the code calls a device spends its time on.

        In line mode::

            %jaxprof [options] statement

        In cell mode, over the cell::

            %%jaxprof [options]
            …

        The code runs once to warm up, once more to be timed if that compiled anything, and then under the JAX
        profiler, ``-n`` times; with ``--cold`` it is recorded from the first run on. Its value is that of the last
        run. With ``-n`` short code is also timed more than once. So what it changes is changed several times, and
        what it donates has to be made anew: assign it, as in ``%jaxprof state = step(state)``.
        """
        from .called_magic import run_called

        return run_called(self.shell, "jaxprof", type(self).jaxprof.parser, line, cell, local_ns)

    @no_var_expand
    @needs_local_scope
    @magic_arguments("jaxtimeit")
    @argument(
        "-n", metavar="N", type=options.positive_int, help="Calls in a sample; as many as are needed if left out."
    )
    @argument("-r", metavar="R", type=options.positive_int, help="Take R samples, however wide the interval is then.")
    @argument("-p", metavar="P", type=options.positive_int, help="Significant digits of the report.")
    @argument(
        "--rtol",
        metavar="SHARE",
        type=options.share,
        default=0.01,
        help="Stop when the 95 %% interval of the median is within this share of it: 0.01 (as by default) or 1%%.",
    )
    @argument(
        "--budget",
        metavar="TIME",
        type=options.duration_ns,
        default=10**9,
        help="Or stop after this time, the first call aside; 1s by default.",
    )
    @argument("--setup", metavar="CODE", help="Runs once, before everything; in quotes.")
    @argument(
        "--device",
        action="store_true",
        help="Run some more calls under JAX's profiler, and add how long the device worked.",
    )
    @argument(
        "--processes",
        metavar="N",
        type=options.positive_int,
        help="Measure in N fresh processes, each with the whole budget; the interval is then one between processes.",
    )
    @_of_all_that_repeat
    @line_cell_magic
    @of_the_user
    def jaxtimeit(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        """Repeat a statement or a cell until its median time is known, with an interval that can be trusted.

        In line mode::

            %jaxtimeit [options] statement

        In cell mode the line is setup, which runs once::

            %%jaxtimeit [options] setup
            …

        The first call is timed apart, with what it compiles. Assignments are local, as in ``%timeit``, and the value
        is that of the record: ``-o`` returns it.
        """
        from ..benchmarking.magic import run_timeit

        return run_timeit(self.shell, type(self).jaxtimeit.parser, line, cell, local_ns)

    @no_var_expand
    @magic_arguments("%jaxcompare")
    @argument("-r", metavar="R", type=options.positive_int, help="Take R rounds, however wide the intervals are.")
    @argument("--baseline", metavar="LABEL", help="The candidate to compare with; the first one if left out.")
    @argument(
        "--check",
        choices=("allclose", "equal", "none"),
        default="allclose",
        help="How the outputs are compared with the baseline's; allclose by default.",
    )
    @argument("--strict", action="store_true", help="Where outputs differ raise AssertionError, and time nothing.")
    @argument(
        "--profile",
        action="store_true",
        help="Record three more calls of each with JAX's profiler, and compare lines and operations.",
    )
    @argument(
        "--rtol",
        metavar="SHARE",
        type=options.share,
        default=0.01,
        help="Stop when the 95 %% intervals of all ratios are within this share of them: 0.01 (the default) or 1%%.",
    )
    @argument(
        "--budget",
        metavar="TIME",
        type=options.duration_ns,
        help="Or stop after this time, first calls aside; 1s for each candidate if left out. Of a sweep it is for "
        "all points together; 0.5s for each candidate and point if left out.",
    )
    @argument(
        "--sweep",
        metavar="NAME=VALUES",
        action="append",
        default=[],
        help="Measure for each of these values of a variable, such as n=2**6,2**8; given twice, for all pairs.",
    )
    @argument(
        "--modes",
        metavar="MODES",
        type=options.modes,
        default=("forward",),
        help="Which of forward, grad and value_and_grad of each function, with commas between them.",
    )
    @argument(
        "--per",
        metavar="WORK",
        type=options.work,
        help="Add the throughput, for this work in a call: items=N, bytes=N (Python, after the setup) or flops.",
    )
    @_of_all_that_repeat
    @cell_magic
    @of_the_user
    def jaxcompare(self, line: str, cell: str) -> Any:
        """Measure expressions side by side: which is faster, by how much, and how sure is that?

        Lines before the first label are setup::

            %%jaxcompare [options]
            x = jnp.ones((1000, 1000))
            numpy: np_version(x)
            jit: jit_version(x)

        They run in turns, in rounds whose order is shuffled and with the baseline twice in each. What counts is the
        median of the ratios to both of its samples. With ``--sweep n=64,256`` all of that is done for each value of
        ``n``, the setup included.
        """
        from ..comparison.magic.run import run_compare

        return run_compare(self.shell, type(self).jaxcompare.parser, line, cell)
