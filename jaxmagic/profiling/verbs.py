"""Profiles calls and blocks, and opens recordings that were made elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import inf
from types import TracebackType
from typing import Any

from ..interrupts import begins, ends
from ..progress.bar import shown_progress
from ..records.exportable import Holder
from ..records.files import path_of, target_of, write
from ..records.note import Note, note
from ..runtime.functions import name_of
from ..runtime.given import check_function, rate, seconds, whole
from ..runtime.given_arguments import measured_by, over_a_block
from ..runtime.given_peaks import Given, give_peaks
from ..session.verbs import history
from ..timing.capture.recorded_calls import record_calls
from ..tracebacks import drop_handler, of_the_user
from .capture.command_buffers import without_command_buffers
from .capture.logdir import LogDir
from .capture.run import ProfileWatch
from .capture.run_plan import MOST_RECORDED_EVENTS, MOST_RECORDED_S
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
    """Call a function under the JAX profiler, and attribute its device time to source lines and operations.

    The function is called once to warm up, once more to be timed if that compiled anything, and then `n` times under
    the profiler. If `n` is more than 1, short calls are timed more than once, too. All work that a call starts is
    waited for.

    Args:
        fn: the function, jitted or not. Its results are discarded.
        args: positional arguments of `fn`.
        n: how many calls are recorded.
        cold: record the first call, with all that it compiles; then nothing is timed without the profiler, and
            ``wall_ns`` is None.
        logdir: a folder in which the recording is kept for TensorBoard and XProf, with an entry in ``results.json``;
            without one nothing is left on disk.
        label: the name of a folder in `logdir` for related recordings.
        perfetto: a file to write for Perfetto, compressed if its name ends in ``.gz``.
        command_buffers: False to compile `fn`, which must be jitted, once more without XLA's command buffers (CUDA
            graphs of NVIDIA's GPUs), so that each kernel keeps its operation and line.
        most_s: for how many seconds is recorded at most, from the first recorded call on; the rest runs without the
            profiler, and a note in the record says so. ``None`` for any time. Without effect if `cold`.
        most_events: about how many events are recorded at most, likewise. The event rate is estimated during a first
            call that compiles and takes more than a second. ``None`` for any number.
        kwargs: keyword arguments of `fn`.

    Returns:
        The record, which ``history()`` keeps as well.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `n`, `most_s` or `most_events` is out of range, or `label` is not a valid name of a folder.
        OSError: `logdir` or `perfetto` cannot be written to; then nothing is run.
        NotMeasured: the JAX profiler is running already, or `fn` cannot be compiled without command buffers.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> p = jaxmagic.profile(jax.jit(lambda x: jnp.sort(x @ x)), jnp.ones((200, 200)))
    >>> frame = p.lines()
    >>> int(frame["time_ns"].sum()) == p.device_ns
    True
    """
    check_function("profile", fn)
    whole("n", n)
    if most_s not in (None, inf):
        seconds("most_s", most_s)
    if most_events is not None:
        whole("most_events", most_events)
    notes = () if command_buffers else (note("profiling.without_command_buffers"),)
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

    def record() -> Profile:
        compiled = fn if command_buffers else without_command_buffers(fn, *args, **kwargs)

        def call_of_the_user() -> Any:
            return compiled(*args, **kwargs)

        record_calls(watch, call_of_the_user, name_of(fn))
        return watch.record

    return measured_by(profile, record, fn, args, kwargs)


@of_the_user
def peaks(*, flops: float | None = None, bytes: float | None = None) -> None:
    """Set the peak rates that operations are compared with, instead of data sheets or measurements.

    They apply to all profiles that are made or read later in this session. Without arguments the defaults are
    restored.

    Args:
        flops: peak FLOP/s of a device, such as ``989e12``.
        bytes: memory bandwidth of a device in bytes/s, such as ``3.35e12``.

    Raises:
        ValueError: a rate is not a number from 1 to 1e24.

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
    notes: tuple[Note, ...] = (),
    most_s: float | None = MOST_RECORDED_S,
    most_events: int | None = MOST_RECORDED_EVENTS,
) -> ProfileWatch:
    """Make the watch of ``%jaxprof``, which adds its record to the session's history.

    Raises:
        ValueError: there is a label but no folder, or it is not a valid name of a folder.
        OSError: `logdir` or `perfetto` cannot be written to.
    """
    if logdir is None and label is not None:
        raise ValueError(
            f"label: expected a folder to keep recordings in as well, got {label!r} alone. "
            "Write for example logdir='runs' too"
        )
    kept = None if logdir is None else LogDir(logdir, label)
    file = None if perfetto is None else target_of(path_of("perfetto", perfetto, "perfetto='run.json.gz'"))

    def recorded(recording: Trace) -> list[Note]:
        if file is None:
            return []
        write(to_perfetto(recording, compressed=file.suffix == ".gz"), file)
        return [note("profiling.written_for_perfetto", path=str(file))]

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


class Profiled(Holder):
    """A block under the JAX profiler; see :func:`jaxmagic.profiler`.

    Attributes:
        profile: the record, once the block has ended; ``None`` before.
    """

    _holds, _record_class = "profile", Profile

    def __init__(self) -> None:
        self.profile: Profile | None = None
        self._watch = profile_watch(cold=True)

    def _held(self) -> Profile | None:
        return self.profile

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
        if isinstance(error, KeyboardInterrupt):
            drop_handler(error)
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


@over_a_block("no argument", "with profiler() as p: f(x), or profile(f, x) to profile a function")
def profiler() -> Profiled:
    """Return a context manager that runs its block under the JAX profiler.

    The block runs once, so nothing is timed without the profiler. Call the functions of interest once before, so that
    they are compiled.

    Raises:
        NotMeasured: the JAX profiler is running already; raised on entering the block.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> f, x = jax.jit(lambda x: jnp.sort(x @ x)), jnp.ones((200, 200))
    >>> y = f(x)
    >>> with jaxmagic.profiler() as p:
    ...     y = f(x)
    >>> p.profile.device_ns > 0
    True
    """
    return Profiled()


@of_the_user
def read_profile(path: str | os.PathLike[str]) -> Profile:
    """Open a recording of the JAX profiler that was made elsewhere.

    Args:
        path: a file that ends in ``.xplane.pb``, or a folder with one such file, or one for each host, anywhere
            below it. The newest of several runs counts.

    Returns:
        The record. It has no ``wall_ns``, and the source of lines only if their files are on this machine.

    Raises:
        FileNotFoundError: there is no recording at `path`.
        NotMeasured: the recording cannot be read, or the files in a folder are of different kinds of devices.

    >>> import jax, jax.numpy as jnp, jaxmagic, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with jax.profiler.trace(folder):
    ...     y = jax.jit(jnp.sin)(jnp.ones(1000)).block_until_ready()
    >>> jaxmagic.read_profile(folder).device_uses[0].device
    'CPU:0'
    """
    from .capture.open_recording import open_recording

    folder_or_file = path_of("read_profile()", path, "read_profile('runs')")
    with shown_progress() as progress:
        progress.stage("reading the recording")
        return open_recording(folder_or_file)
