"""Where memory goes: of a call, of what is alive, and of a program that has not run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ..progress.bar import shown_progress
from ..progress.compiling_line import compiling_line
from ..records.files import target_of, write
from ..runtime.functions import name_of
from ..runtime.jax_version import require_jax
from ..runtime.tracebacks import of_the_user
from ..session.verbs import history
from .capture.heap_snapshots import HeapWatch
from .capture.run import MemoryWatch
from .record.live_arrays import LiveArrays
from .record.memory_profile import Executable, MemoryProfile


@of_the_user
def memory(
    fn: Callable[..., Any],
    *args: Any,
    interval_s: float = 0.001,
    pprof: bool | str | os.PathLike[str] = False,
    **kwargs: Any,
) -> MemoryProfile:
    """Call a function once, and tell where the memory went.

    Args:
        fn: the function, jitted or not. Everything that it starts is waited for. What it returns is thrown away.
        args: its positional arguments.
        interval_s: how far apart the samples of the timeline lie, in seconds.
        pprof: whether to take JAX's heap profile before and after, for bytes by call stack; the name of a file keeps
            the later one there, for the ``pprof`` tool.
        kwargs: keyword arguments of `fn`.

    Returns:
        The record: ``executables``, what each program that ran needs, with its memory map; ``arrays``, what is alive
        afterwards and which of the caller's names hold it; ``timeline``, what was really used meanwhile; ``heap``,
        what is held by call stack, if that was asked for. It is in :func:`history` as well.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `interval_s` is not positive.
        OSError: the file of `pprof` cannot be written, as far as that is seen beforehand; later it becomes a note.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> profile = jaxmagic.memory(jax.jit(lambda x: x @ x), jnp.ones((100, 100)))
    >>> program = profile.executables[0]
    >>> program.argument_bytes, program.output_bytes, program.peak_bytes
    (40000, 40000, 80000)

    What has come and gone from one profile to a later one is their difference:

    >>> kept = []
    >>> earlier = jaxmagic.memory(lambda: kept.append(jnp.zeros((100, 100))), pprof=True)
    >>> later = jaxmagic.memory(lambda: kept.append(jnp.zeros((200, 100))), pprof=True)
    >>> (later.heap.after - earlier.heap.after).change_bytes
    80000
    """
    from ..runtime.given import positive

    if not callable(fn):
        raise TypeError(
            f"memory(): expected a function and its arguments, got {type(fn).__name__}, which cannot be called. "
            "Write memory(f, x), not memory(f(x))."
        )
    namespace = sys._getframe(2).f_globals  # behind what keeps our lines out of tracebacks
    interval_ns = max(round(positive("interval_s", interval_s) * 1e9), 1)
    watch = memory_watch(lambda: namespace, interval_ns=interval_ns, pprof=pprof)
    watch.start()
    error: BaseException | None = None
    try:
        watch.result = fn(*args, **kwargs)
    except BaseException as raised:
        error = raised
        raise
    finally:
        try:
            watch.returned(watch.result)
            watch.stop(error=error, code=name_of(fn))
        finally:
            watch.cancel()  # an interrupt in one of our own lines
            del error  # with its frames it holds this one, and so the arguments
    return watch.record


def memory_watch(
    namespace: Callable[[], dict[str, Any]],
    *,
    value_name: Callable[[], str] = lambda: "(the value, not kept)",
    interval_ns: int = 1_000_000,
    mapped: bool = True,
    fetch: bool = False,
    pprof: bool | str | os.PathLike[str] = False,
) -> MemoryWatch:
    """Return what ``%jaxmem`` runs: it keeps its record in the session's history.

    Raises:
        OSError: the file that `pprof` names cannot be written.
    """
    heap = None
    if not isinstance(pprof, bool):
        target = target_of(pprof)
        heap = HeapWatch(keep=lambda data: write(data, target))
    elif pprof:
        heap = HeapWatch()
    earlier = [record.arrays for record in history() if isinstance(record, MemoryProfile)]
    return MemoryWatch(
        namespace,
        value_name=value_name,
        interval_ns=interval_ns,
        mapped=mapped,
        fetch=fetch,
        earlier=earlier,
        heap=heap,
        record=history().append,
        progress=shown_progress(),
        compiling=compiling_line(),
    )


def live(namespace: Mapping[str, Any] | None = None) -> LiveArrays:
    """The JAX arrays that are alive, the largest first, and which names hold them.

    On every backend that has been started. Nothing is run, waited for or read.

    Args:
        namespace: names and what they hold; the caller's global ones if left out, in a notebook those of its cells.

    Raises:
        TypeError: `namespace` is no mapping.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax.numpy as jnp, jaxmagic
    >>> params = {"w": [jnp.ones((30, 50))]}
    >>> [each.names for each in jaxmagic.live({"params": params}).arrays if each.shape == "f32[30,50]"]
    [("params['w'][0]",)]
    """
    from .capture.live_arrays import look

    require_jax()
    if namespace is None:
        return look(sys._getframe(1).f_globals)  # no copy: a module is known by its own names
    if not isinstance(namespace, Mapping):
        raise TypeError(
            f"live(): expected names and what they hold, got {type(namespace).__name__}. "
            'Write live({"params": params}), or live() for the names of the caller.'
        )
    return look(namespace if type(namespace) is dict else dict(namespace))


@of_the_user
def memory_requirement(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Executable:
    """Return what a jitted function needs of each device's memory for these arguments, without running it.

    It is compiled, because only then it is known.

    Args:
        fn: what :func:`jax.jit` returns; another function is jitted.
        args: its positional arguments, arrays or :class:`jax.ShapeDtypeStruct`.
        kwargs: its keyword arguments.

    Returns:
        ``peak_bytes`` and what it is made of, the memory map in ``allocations``, and ``fits``: whether the device has
        as much in all; ``None`` where it does not say how much it has, as on the CPU.

    Raises:
        TypeError: `fn` cannot be called.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> x = jax.ShapeDtypeStruct((1000, 1000), jnp.float32)
    >>> jaxmagic.memory_requirement(jax.jit(lambda x: x @ x), x).peak_bytes
    8000000
    """
    from ..runtime.functions import compiled_for
    from .capture.executables import requirement

    require_jax()
    if not callable(fn):
        raise TypeError(
            f"memory_requirement(): expected a function and its arguments, got {type(fn).__name__}, which cannot be "
            "called. Write memory_requirement(f, x), not memory_requirement(f(x))."
        )
    namespace = sys._getframe(2).f_globals  # behind what keeps our lines out of tracebacks
    with shown_progress() as progress:
        progress.stage("compiling")
        program, origin = compiled_for(fn, args, kwargs)
        progress.stage("reading the memory map")
        return requirement(program, origin, namespace)
