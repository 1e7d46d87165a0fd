"""Where devices spend their time: of a call, of a block, and of recordings that were made elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from ..interrupts import begins, ends
from ..progress.bar import shown_progress
from ..records.files import target_of, write
from ..runtime.functions import name_of
from ..runtime.given import rate, whole
from ..runtime.given_peaks import Given, give_peaks
from ..runtime.tracebacks import of_the_user
from ..session.verbs import history
from .capture.command_buffers import NOTE, without_command_buffers
from .capture.logdir import LogDir
from .capture.run import MOST_RECORDED_EVENTS, MOST_RECORDED_S, ProfileWatch
from .record.profile import Profile
from .record.recording import Trace
from .report.perfetto import perfetto as to_perfetto


@of_the_user
def profile(
    fn: Callable[..., Any],
    *args: Any,
    n: int = 1,
    cold: bool = False,
    logdir: str | os.PathLike[str] | None = None,
    label: str | None = None,
    perfetto: str | os.PathLike[str] | None = None,
    command_buffers: bool = True,
    most_s: float | None = MOST_RECORDED_S,
    most_events: int | None = MOST_RECORDED_EVENTS,
    **kwargs: Any,
) -> Profile:
    """Call a function under the JAX profiler, and tell which lines, operations and devices its time went to.

    It is called once to warm up, once more to be timed if that compiled anything, and then `n` times under the
    profiler. If `n` is more than 1, short calls are timed more than once, too. Everything that it starts is waited
    for.

    Args:
        fn: the function, jitted or not. What it returns is thrown away.
        args: its positional arguments.
        n: how many calls are recorded.
        cold: whether the first call is recorded already, with all that it compiles; then nothing is timed without the
            profiler, and ``wall_ns`` is None.
        logdir: a folder in which the recording is kept as TensorBoard and XProf read it, and a line about it is added
            to ``results.json``; without one nothing is left on disk.
        label: the name of a folder in `logdir` for recordings that belong together.
        perfetto: a file to write that Perfetto opens, compressed if its name ends in ``.gz``.
        command_buffers: False to compile `fn`, which has to be jitted, once more without XLA's command buffers (CUDA
            graphs of NVIDIA's GPUs): then the profiler files each kernel under its operation and line.
        most_s: for how many seconds is recorded at most, from the first recorded call on; the rest runs without the
            profiler, and the record says which part it has. ``None`` for all of it. Not where `cold` is true.
        most_events: about how many events are recorded at most, in the same way: moments of a first call that
            compiles and takes more than a second tell how many there are per second. ``None`` for any number.
        kwargs: keyword arguments of `fn`.

    Returns:
        The record. It is in :func:`history` as well.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `n` or `most_events` is no number, `most_s` no time, or `label` no name of a folder.
        OSError: nothing can be written into `logdir`, or where `perfetto` is to be; nothing is run then.
        NotMeasured: the JAX profiler is running already, or `fn` cannot be compiled without command buffers.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> p = jaxmagic.profile(jax.jit(lambda x: jnp.sort(x @ x)), jnp.ones((200, 200)))
    >>> frame = p.lines()
    >>> int(frame["time_ns"].sum()) == p.device_ns
    True
    """
    if not callable(fn):
        raise TypeError(
            f"profile(): expected a function and its arguments, got {type(fn).__name__}, which cannot be called. "
            "Write profile(f, x), not profile(f(x))."
        )
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n: expected a whole number of calls from 1 on, got {n!r}")
    if most_s is not None and not (isinstance(most_s, int | float) and most_s > 0):
        raise ValueError(f"most_s: expected seconds above 0 or None, got {most_s!r}")
    if most_events is not None:
        whole("most_events", most_events)
    called = fn if command_buffers else without_command_buffers(fn, *args, **kwargs)
    notes = () if command_buffers else (NOTE,)
    watch = profile_watch(
        runs=n,
        cold=cold,
        logdir=logdir,
        label=label,
        perfetto=perfetto,
        notes=notes,
        most_s=most_s,
        most_events=most_events,
    )
    watch.start()
    error: BaseException | None = None
    try:
        for _ in watch.runs():
            watch.result = called(*args, **kwargs)
            watch.returned(watch.result)
    except BaseException as raised:
        error = raised
        raise
    finally:
        try:
            watch.stop(error=error, code=name_of(fn))
        finally:
            watch.cancel()
            del error  # with its frames it holds this one, and so the arguments
    return watch.record


def peaks(*, flops: float | None = None, bytes: float | None = None) -> None:
    """Set the peak rates that operations are compared with, instead of data sheets or measurements.

    Applies to all profiles made or read later in this session. Without arguments the defaults are restored.

    Args:
        flops: floating-point operations that a device can do in a second, such as ``989e12``.
        bytes: bytes that its memory can move in a second, such as ``3.35e12``.

    Raises:
        ValueError: one is no number from 1 to 1e24.

    >>> import jaxmagic
    >>> jaxmagic.peaks(flops=989e12, bytes=3.35e12)
    >>> jaxmagic.peaks()
    """
    give_peaks(
        Given(None if flops is None else rate("flops", flops), None if bytes is None else rate("bytes", bytes))
    )


def profile_watch(
    *,
    runs: int = 1,
    cold: bool = False,
    fetch: bool = False,
    logdir: str | os.PathLike[str] | None = None,
    label: str | None = None,
    perfetto: str | os.PathLike[str] | None = None,
    notes: tuple[str, ...] = (),
    most_s: float | None = MOST_RECORDED_S,
    most_events: int | None = MOST_RECORDED_EVENTS,
) -> ProfileWatch:
    """Return what ``%jaxprof`` runs: it keeps its record in the session's history.

    Raises:
        ValueError: there is a label and no folder, or it is no name of a folder.
        OSError: nothing can be written into `logdir`, or where `perfetto` is to be.
    """
    if logdir is None and label is not None:
        raise ValueError(
            f"label: expected a folder to keep recordings in as well, got {label!r} alone. Give logdir too"
        )
    kept = None if logdir is None else LogDir(logdir, label)
    file = None if perfetto is None else target_of(perfetto)

    def recorded(recording: Trace) -> list[str]:
        if file is None:
            return []
        write(to_perfetto(recording, compressed=file.suffix == ".gz"), file)
        return [f"Written for Perfetto: {file}. Open it at https://ui.perfetto.dev."]

    return ProfileWatch(
        runs=runs,
        cold=cold,
        fetch=fetch,
        logdir=kept,
        recorded=recorded,
        record=history().append,
        progress=shown_progress(),
        notes=notes,
        most_s=most_s,
        most_events=most_events,
    )


class Profiled:
    """A block under the JAX profiler; see :func:`jaxmagic.profiler`.

    Attributes:
        profile: the record, once the block has ended; ``None`` before.
    """

    def __init__(self) -> None:
        self.profile: Profile | None = None
        self._watch = profile_watch(cold=True)

    @begins("_cancel")
    def __enter__(self) -> Profiled:
        self._watch.start()
        self._runs = self._watch.runs()
        next(self._runs)
        return self

    @ends
    @of_the_user
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._watch.returned()
                next(self._runs, None)
        except BaseException as surfaced:  # the computation failed while it was waited for
            error = surfaced
            raise
        finally:
            try:
                self._watch.stop(error=error)
                self.profile = self._watch.record
            finally:
                self._watch.cancel()
                del error

    @ends
    def _cancel(self) -> None:
        self._watch.cancel()


def profiler() -> Profiled:
    """A context manager that runs a block under the JAX profiler.

    The block runs once, so nothing is timed without the profiler: call what is of interest once before, to have it
    compiled.

    Raises:
        NotMeasured: on entering, where the JAX profiler is running already.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> f, x = jax.jit(lambda x: jnp.sort(x @ x)), jnp.ones((200, 200))
    >>> y = f(x)
    >>> with jaxmagic.profiler() as p:
    ...     y = f(x)
    >>> p.profile.device_ns > 0
    True
    """
    return Profiled()


def read_profile(path: str | os.PathLike[str]) -> Profile:
    """Open a recording of the JAX profiler that was made elsewhere.

    Args:
        path: a file that ends in ``.xplane.pb``, or a folder with one somewhere below it, or with one for each host;
            where several runs lie below it, the newest counts.

    Returns:
        The record. There is no ``wall_ns``, and the source of lines only where their files are on this machine.

    Raises:
        FileNotFoundError: there is no recording at `path`.
        NotMeasured: it cannot be read.

    >>> import jax, jax.numpy as jnp, jaxmagic, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with jax.profiler.trace(folder):
    ...     y = jax.jit(jnp.sin)(jnp.ones(1000)).block_until_ready()
    >>> jaxmagic.read_profile(folder).device_uses[0].device
    'CPU:0'
    """
    from .capture.open_recording import open_recording

    with shown_progress() as progress:
        progress.stage("reading the recording")
        return open_recording(Path(path))
