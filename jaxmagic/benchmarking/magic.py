"""``%jaxtimeit``: measures the statement in its line or cell, and shows the benchmark."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import EllipsisType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import argument, magic_arguments

from ..interrupts import interruptible
from ..magics import options
from ..magics.declare import JaxMagics, of_all_that_repeat, read_with
from ..magics.deliver import finish, finish_early, load_earlier
from ..magics.options.nothing_to_run import nothing_to_run
from ..magics.options.session_globals import refuse_unread
from ..magics.parsed_source import at_its_lines, parse, parse_option
from ..magics.repeatable import Repeatable, Source, called_without_arguments, compile_setup
from ..progress.bar import shown_progress
from ..runtime.functions import is_folded, only_name
from ..runtime.jax_version import require_jax
from ..session.verbs import take_and_keep
from .capture.launches import Statement, take_launches
from .capture.plan import Plan
from .capture.runner import Runner
from .capture.sampler import take_benchmark
from .record.benchmark import Benchmark
from .verbs.earlier import Earlier, about_saved


@magic_arguments("jaxtimeit")
@argument("-n", metavar="N", type=options.positive_int, help="Calls per sample; as many as needed by default.")
@argument("-r", metavar="R", type=options.positive_int, help="Take exactly R samples, however wide the interval is.")
@argument("-p", metavar="P", type=options.digits, help="Significant digits of the report.")
@argument(
    "--rtol",
    metavar="SHARE",
    type=options.share,
    default=0.01,
    help="Stop when the 95 %% interval of the median is within this share of it: 0.01 (the default) or 1%%.",
)
@argument(
    "--budget",
    metavar="TIME",
    type=options.duration_ns,
    default=10**9,
    help="Or stop after this time, excluding the first call; 1s by default.",
)
@argument("--setup", metavar="CODE", help="Code to run once, before everything else; in quotes.")
@argument(
    "--device",
    action="store_true",
    help="Run some more calls under JAX's profiler, and report how long the device was busy.",
)
@argument(
    "--processes",
    metavar="N",
    type=options.positive_int,
    help="Measure in N fresh processes, each with the whole budget; the interval includes their variation.",
)
@of_all_that_repeat
@read_with(str)
def jaxtimeit(
    magics: JaxMagics, line: str, cell: str | EllipsisType | None = None, local_ns: dict[str, Any] | None = None
) -> Any:
    """Repeat a statement or a cell until its median time is reliable.

    In line mode::

        %jaxtimeit [options] statement

    In cell mode the line is the setup, which runs once::

        %%jaxtimeit [options] setup
        ...

    The first call is timed separately, with its compilation. Assignments are local, as in ``%timeit``. The value
    of the last call is in the record, which ``-o`` returns.
    """
    if isinstance(cell, EllipsisType) or (cell is None and not line.strip()):
        raise nothing_to_run("jaxtimeit", line, jaxtimeit.parser)
    return _run(magics.shell, jaxtimeit.parser, line, cell, local_ns)


def _run(
    shell: InteractiveShell,
    parser: argparse.ArgumentParser,
    line: str,
    cell: str | None,
    local_ns: dict[str, Any] | None,
) -> Benchmark | None:
    """Measure the statement in `line`, or `cell` with the setup in `line`.

    Raises:
        UsageError: there is a wrong option, nothing to run, or an ``await``.
        SyntaxError: at the user's line.
    """
    arguments, rest = options.read(line, parser)
    statement, setup = (rest, "") if cell is None else (cell, rest)
    tree = at_its_lines(parse(shell, "jaxtimeit", statement, is_line=cell is None))
    if not tree.body and cell is None:
        raise nothing_to_run("jaxtimeit", line, parser)
    if not tree.body:
        raise UsageError("%%jaxtimeit has nothing to run: the cell is empty. Put the code below it.")
    option, above = parse_option(shell, "jaxtimeit", "--setup", arguments.setup), _source(shell, setup)
    setups = [each for each in (option, above) if each is not None]
    namespace = shell.user_ns if local_ns is None or local_ns is shell.user_ns else {**shell.user_ns, **local_ns}
    earlier = load_earlier(shell, arguments, Benchmark, Earlier)
    require_jax()
    above_all = [each for source in setups for each in source.body]
    refuse_unread(above_all, [*above_all, *tree.body], namespace, "%jaxtimeit" if cell is None else "%%jaxtimeit")
    function = called_without_arguments(tree.body, namespace)
    make = compile_setup(
        [Source(tree.body, tree.filename)],
        setup=setups,
        each=parse_option(shell, "jaxtimeit", "--each", arguments.each),
        namespace=namespace,
        magic="%jaxtimeit" if cell is None else "%%jaxtimeit",
    )
    plan = Plan(
        rtol=arguments.rtol,
        budget_ns=arguments.budget,
        samples=arguments.r,
        evaluations=arguments.n,
    )
    named = only_name(statement.strip())
    folded = function is not None and is_folded(function, (), {})
    how: dict[str, Any] = {"code": statement.strip(), "folded": folded, "device": arguments.device}
    names = shell.user_ns if local_ns is None else local_ns

    def take() -> Benchmark:
        with shown_progress() as progress:
            shared: dict[str, Any] = {
                "progress": progress,
                "unfinished": partial(finish_early, shell, arguments, names),
                **how,
            }
            if arguments.processes is None:
                return take_benchmark(interruptible(_runner)(make, named), plan, **shared)
            sent = Statement(partial(_runner, make, named), _referred_to([*above_all, *tree.body], namespace))
            return take_launches(sent, plan, arguments.processes, **shared)

    record = take_and_keep(take)
    return finish(shell, arguments, record, names, earlier, about_saved)


def _referred_to(statements: Sequence[ast.stmt], namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's values that the statements refer to."""
    names = {node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name)}
    return {name: namespace[name] for name in sorted(names) if name in namespace}


def _runner(make: Callable[[], Repeatable], named: str | None) -> Runner:
    """Run the setup, and return the runner of the statement. Fresh processes also call this."""
    (body,), each = make()
    return Runner(body, each=each, named=named)


def _source(shell: InteractiveShell, code: str | None) -> Source | None:
    if not code or not code.strip():
        return None
    tree = at_its_lines(parse(shell, "jaxtimeit", code, is_line=True))
    return Source(tree.body, tree.filename)
