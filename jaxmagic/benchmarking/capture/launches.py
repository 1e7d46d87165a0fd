"""Measures a statement in several fresh processes, one after the other.

A process is spawned by starting the interpreter again, never forked: forks would share the state that should vary
between processes, and JAX's threads do not survive a fork. The function is pickled once and sent through a pipe, and
a record comes back through another pipe, so no file is written. The processes share this one's working directory,
environment variables, module path and JAX settings.
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

#: How many characters of a failed process's standard error are shown.
_MOST_CHARACTERS = 4000

#: Environment variables of the fresh processes, unless the user has set them. This process may already hold most of a
#: GPU's memory, so a second one must not preallocate.
_VARIABLES = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


class Statement(NamedTuple):
    """The statement that each process measures.

    Attributes:
        make: makes the statement's runner in each process. It is pickled.
        parts: the objects that `make` refers to, under names that the user knows, for error messages.
    """

    make: Callable[[], Runner]
    parts: Mapping[str, object]


def statement_of(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    setup: Callable[[], Iterable[Any]] | None = None,
) -> Statement:
    """Return the statement ``fn(*args, **kwargs)``; see :func:`~jaxmagic.benchmarking.capture.runner.runner_of`."""
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
    """Measure one statement in several fresh processes, each with the whole plan.

    The first process chooses the number of calls per sample, and the others use the same number, so that all samples
    are alike. An interrupt ends the running process; the measurements of the earlier processes are returned.

    Args:
        statement: the statement to measure.
        plan: how long each process samples.
        processes: how many processes.
        code: the source, for the record.
        folded: see :attr:`Conditions.folded`, for the record.
        device: whether the first process also measures device time.
        progress: shows which process is running.
        unfinished: receives the measurements of the earlier processes if a process fails.

    Raises:
        LaunchError: the statement cannot be sent, or a process failed; the message includes what it wrote.
        KeyboardInterrupt: interrupted before the first process had finished.
    """
    packed = pack(_with_default_device(statement.make), statement.parts)
    records: list[Benchmark] = []
    progress.stage("fresh processes", processes)
    interrupted = False
    try:
        for number in range(processes):
            progress.advance(number, processes)
            job = partial(
                measure,
                plan=plan,
                evaluations=records[0].latency.evaluations if records else None,
                code=code,
                folded=folded,
                device=device and not records,
            )
            records.append(launch(job, packed, f"process {number + 1} of {processes}"))
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


def measure(make: Callable[[], Runner], *, plan: Plan, **how: Any) -> Benchmark:
    """Take a benchmark in the fresh process. Its value stays there."""
    return take_benchmark(make(), plan, **how).without_values()


@uninterrupted
def launch(job: Callable[[Any], Any], argument: bytes, who: str) -> Any:
    """Return ``job(argument)``, computed in a fresh process.

    Args:
        job: a function that the process can import, or a partial of one.
        argument: the argument, packed by :func:`~jaxmagic.benchmarking.capture.sending.pack`.
        who: names the process in error messages.

    Raises:
        LaunchError: the process failed; the message includes what it wrote.
        JaxMagicError: the process raised this error of jaxmagic.
    """
    if are_several():
        raise LaunchError("This is one of several JAX processes, and a fresh process cannot join them.")
    sent = b"".join(map(pickle.dumps, (sys.path, launched.settings(), job)))
    with subprocess.Popen(
        [sys.executable, "-c", launched.PROGRAM.format(module=launched.__name__)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_VARIABLES | dict(os.environ),
        start_new_session=True,  # Ctrl-C interrupts this process only, which then ends the other one
    ) as child:
        try:
            stdout, stderr = interruptible(child.communicate)(sent + argument)
        except BaseException:
            _kill(child)
            child.wait()  # leaving the block does not wait after an interrupt
            raise
    return _result_of(stdout, stderr.decode(errors="replace"), child.returncode, who)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a process, and its children where the system has process groups."""
    if sys.platform == "win32":
        child.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _result_of(stdout: bytes, stderr: str, status: int, who: str) -> Any:
    """Return the result of a process.

    Raises:
        LaunchError: the process failed.
    """
    try:
        result = pickle.loads(stdout)
    except (EOFError, pickle.UnpicklingError):
        result = launched.Failure("no result", f"it exited with status {status}", "")
    if not isinstance(result, launched.Failure):
        return result
    own = getattr(errors, result.kind, None)
    if isinstance(own, type) and issubclass(own, errors.JaxMagicError):  # its message says what to do
        raise own(result.message)
    output = "\n".join(each.strip() for each in (stderr[-_MOST_CHARACTERS:], result.lines) if each.strip())
    raise LaunchError(f"{who} failed: {result.kind}: {result.message}\n{output}".strip())


def _with_default_device(make: Callable[[], Runner]) -> Callable[[], Runner]:
    """Return `make`, preceded by selecting the default device if the user has chosen one."""
    import jax

    chosen = jax.config.jax_default_device
    return partial(_on_device, make, chosen) if isinstance(chosen, jax.Device) else make


def _on_device(make: Callable[[], Runner], device: Any) -> Runner:
    import jax

    jax.config.update("jax_default_device", device)
    return make()
