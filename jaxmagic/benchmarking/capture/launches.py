"""Measure a statement in several fresh processes, one after the other.

A process is spawned by starting the interpreter again, never forked: a fork would share what is to differ, and JAX's
threads do not survive it. The function is pickled once and sent through a pipe, and a record comes back through
another one, so no file is written. The processes share this one's working directory, environment variables, module
path and JAX settings.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ... import errors
from ...errors import LaunchError
from ...interrupts import interrupted as arrived_late
from ...interrupts import interruptible, uninterrupted
from ...progress.record import SILENT, Progress
from ...runtime.several import are_several
from ..record.benchmark import Benchmark
from ..record.processes import combined
from . import launched
from .plan import Plan
from .runner import Runner, runner_of
from .sampler import take_benchmark
from .sending import pack
from .unfinished import Unfinished, ended_by, forgotten

#: How much of what a failed process wrote is told.
_MOST_CHARACTERS = 4000

#: What differs from this process's environment variables, unless the user has set it: this process may hold the
#: memory of a GPU, and a second one can only take what it needs.
_VARIABLES = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


class Statement(NamedTuple):
    """The statement that each process measures.

    Attributes:
        make: called in each process for the statement's runner. It is pickled.
        parts: what `make` is made of, under the names that the user knows, for errors.
    """

    make: Callable[[], Runner]
    parts: Mapping[str, object]


def statement_of(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    setup: Callable[[], Iterable[Any]] | None = None,
) -> Statement:
    """The statement ``fn(*args, **kwargs)``, as :func:`~jaxmagic.benchmarking.capture.runner.runner_of` takes it."""
    parts = {"the function": fn, **{f"args[{index}]": each for index, each in enumerate(args)}, **kwargs}
    parts |= {} if setup is None else {"setup": setup}
    return Statement(partial(runner_of, fn, args, kwargs, setup), parts)


@uninterrupted
def take_launches(
    statement: Statement,
    plan: Plan,
    processes: int,
    *,
    code: str | None = None,
    folded: bool = False,
    device: bool = False,
    progress: Progress = SILENT,
    unfinished: Unfinished = forgotten,
) -> Benchmark:
    """Measure one statement in so many fresh processes, each with the whole plan.

    The first process chooses how many calls a sample is, and the others follow, so that all samples are alike. An
    interrupt ends the running process; what the ones before it have measured is returned.

    Args:
        statement: what is measured.
        plan: how long each process samples.
        processes: how many.
        code: the source, for the record.
        folded: what the caller knows of the statement, for the record.
        device: whether the first process also measures the time that devices work.
        progress: is told which process runs.
        unfinished: gets what the processes before one that failed have measured.

    Raises:
        LaunchError: the statement cannot be sent, or a process failed; with what it wrote.
        KeyboardInterrupt: before one process was through.
    """
    packed = pack(_with_default_device(statement.make), statement.parts)
    records: list[Benchmark] = []
    progress.stage("fresh processes", processes)
    interrupted = False
    try:
        for number in range(processes):
            progress.advance(number, processes)
            job = partial(measure, plan=plan, code=code, folded=folded, device=device and not records)
            records.append(launch(job, packed, f"process {number + 1} of {processes}"))
            plan = plan._replace(evaluations=records[0].latency.evaluations)
    except KeyboardInterrupt:
        if not records:
            raise
        interrupted = True
    except BaseException as error:
        if records:
            unfinished(replace(combined(records), stopped_by=ended_by(error), error=type(error).__name__))
        raise
    progress.advance(len(records), processes)
    return combined(records, interrupted=interrupted or arrived_late())


def measure(make: Callable[[], Runner], *, plan: Plan, code: str | None, folded: bool, device: bool) -> Benchmark:
    """Take a benchmark, in the fresh process; without its value, which stays there."""
    return take_benchmark(make(), plan, code=code, folded=folded, device=device).without_values()


@uninterrupted
def launch(job: Callable[[Any], Any], argument: bytes, who: str) -> Any:
    """``job(argument)`` in a fresh process.

    Args:
        job: a function that the process can import, or a partial of one.
        argument: what :func:`~jaxmagic.benchmarking.capture.sending.pack` has made of it.
        who: which process it is, for the error.

    Raises:
        LaunchError: the process failed; with what it wrote.
        JaxMagicError: the same error of this package in the process.
    """
    if are_several():
        raise LaunchError("This is one of several JAX processes, which a fresh process cannot take part in.")
    told = b"".join(map(pickle.dumps, (sys.path, launched.settings(), job)))
    with subprocess.Popen(
        [sys.executable, "-c", launched.PROGRAM.format(module=launched.__name__)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_VARIABLES | dict(os.environ),
        start_new_session=True,  # an interrupt is for this process, which ends the other one
    ) as child:
        try:
            written, said = interruptible(child.communicate)(told + argument)
        except BaseException:
            _kill(child)
            child.wait()  # leaving the block does not, behind an interrupt
            raise
    return _result_of(written, said.decode(errors="replace"), child.returncode, who)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a process with all that it has started, where the system knows them as a group."""
    if sys.platform == "win32":
        child.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _result_of(written: bytes, said: str, status: int, who: str) -> Any:
    """Return the result of a process.

    Raises:
        LaunchError: it failed.
    """
    try:
        found = pickle.loads(written)
    except (EOFError, pickle.UnpicklingError):
        found = launched.Failure("no result", f"it ended with status {status}", "")
    if not isinstance(found, launched.Failure):
        return found
    own = getattr(errors, found.kind, None)
    if isinstance(own, type) and issubclass(own, errors.JaxMagicError):  # its message says what to do
        raise own(found.message)
    told = "\n".join(each.strip() for each in (said[-_MOST_CHARACTERS:], found.lines) if each.strip())
    raise LaunchError(f"{who} failed: {found.kind}: {found.message}\n{told}".strip())


def _with_default_device(make: Callable[[], Runner]) -> Callable[[], Runner]:
    """`make`, behind the default device that the user has chosen, if it is one."""
    import jax

    chosen = jax.config.jax_default_device
    return partial(_on_device, make, chosen) if isinstance(chosen, jax.Device) else make


def _on_device(make: Callable[[], Runner], device: Any) -> Runner:
    import jax

    jax.config.update("jax_default_device", device)
    return make()
