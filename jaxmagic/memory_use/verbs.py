"""Measures memory: of a call, of live arrays, and of a program that has not run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ..progress.bar import shown_progress
from ..progress.compiling_line import compiling_line
from ..records.files import path_of, target_of, write
from ..records.names import type_in_words
from ..runtime.functions import name_of
from ..runtime.given import check_function, nanoseconds
from ..runtime.given_arguments import measured_by
from ..runtime.jax_version import require_jax
from ..session.verbs import history
from ..tracebacks import of_the_user
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
    """Call a function once, and measure its memory.

    Args:
        fn: the function, jitted or not. All work that it starts is waited for. Its result is discarded.
        args: positional arguments of `fn`.
        interval_s: sampling interval of the timeline in seconds.
        pprof: whether to take JAX's heap profile before and after, for memory by call stack. If this is the name of a
            file, the later profile is written there, for the ``pprof`` tool.
        kwargs: keyword arguments of `fn`.

    Returns:
        The record. ``executables`` has the memory and the memory map of each program that ran, ``arrays`` the arrays
        that are alive after the call and which of the caller's names hold them, ``timeline`` the memory use during
        the call, and ``heap`` the memory by call stack, if requested. The record is in ``history()`` as well.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `interval_s` is not positive.
        OSError: the file of `pprof` cannot be written. If that shows only after the call, it becomes a note.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax, jax.numpy as jnp, jaxmagic
    >>> profile = jaxmagic.memory(jax.jit(lambda x: x @ x), jnp.ones((100, 100)))
    >>> program = profile.executables[0]
    >>> program.argument_bytes, program.output_bytes, program.peak_bytes
    (40000, 40000, 80000)

    The difference of two profiles shows what was allocated and freed in between:

    >>> kept = []
    >>> earlier = jaxmagic.memory(lambda: kept.append(jnp.zeros((100, 100))), pprof=True)
    >>> later = jaxmagic.memory(lambda: kept.append(jnp.zeros((200, 100))), pprof=True)
    >>> (later.heap.after - earlier.heap.after).change_bytes
    80000
    """
    check_function("memory", fn)
    namespace = sys._getframe(2).f_globals  # of the caller of the decorator's wrapper
    watch = memory_watch(lambda: namespace, interval_ns=nanoseconds(interval_s, "interval_s"), pprof=pprof)
    watch.start()
    error: BaseException | None = None

    def call_of_the_user() -> Any:
        return fn(*args, **kwargs)

    try:
        watch.result = measured_by(memory, call_of_the_user, fn, args, kwargs)
    except BaseException as raised:
        error = raised
        raise
    finally:
        try:
            watch.returned(watch.result)
            watch.stop(error=error, code=name_of(fn))
        finally:
            watch.cancel()  # in case an interrupt came in one of our own lines
            del error  # its traceback holds this frame, and so the arguments
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
    """Make the watch that ``%jaxmem`` runs, which keeps its record in the session's history.

    Raises:
        OSError: the file that `pprof` names cannot be written.
    """
    heap = None
    if not isinstance(pprof, bool):
        target = target_of(path_of("pprof", pprof, "pprof='heap.pb.gz'"))
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


@of_the_user
def live(namespace: Mapping[str, Any] | None = None) -> LiveArrays:
    """List live JAX arrays, largest first, and the names that hold them.

    This covers every backend that has been started. It runs and waits for nothing, and reads no array.

    Args:
        namespace: names and their values; the caller's globals if left out, which in a notebook are its variables.

    Raises:
        TypeError: `namespace` is not a mapping.
        JaxNotAvailable: JAX is not installed or too old.

    >>> import jax.numpy as jnp, jaxmagic
    >>> params = {"w": [jnp.ones((30, 50))]}
    >>> [each.names for each in jaxmagic.live({"params": params}).arrays if each.shape == "f32[30,50]"]
    [("params['w'][0]",)]
    """
    from .capture.live_arrays import list_live_arrays

    require_jax()
    if namespace is None:
        return list_live_arrays(sys._getframe(2).f_globals)  # no copy: modules are recognized by their globals
    if not isinstance(namespace, Mapping):
        raise TypeError(
            f"live(): expected a mapping from names to values, got {type_in_words(namespace)}. "
            'Write live({"params": params}), or live() for the names of the caller.'
        )
    return list_live_arrays(namespace if type(namespace) is dict else dict(namespace))


@of_the_user
def memory_requirement(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Executable:
    """Return the memory that a jitted function needs on each device for these arguments, without running it.

    The function is compiled, because the compiler plans its memory. On the CPU, libraries that run products and
    convolutions for XLA allocate more while they run: ``at_least`` says whether such calls were found, and ``notes``
    names them.

    Args:
        fn: a jitted function; another function is jitted.
        args: positional arguments of `fn`: arrays or ``jax.ShapeDtypeStruct``.
        kwargs: keyword arguments of `fn`.

    Returns:
        The program: ``peak_bytes`` and its parts, the memory map in ``allocations``, and ``fits``: whether the device
        has enough memory in total, or ``None`` if the device does not report its memory, as on the CPU.

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
    check_function("memory_requirement", fn)
    namespace = sys._getframe(2).f_globals  # of the caller of the decorator's wrapper
    with shown_progress() as progress:
        progress.stage("compiling")
        try:
            compiled = measured_by(memory_requirement, lambda: compiled_for(fn, args, kwargs), fn, args, kwargs)
        except Exception as error:
            for shape in filter(_is_shape, (*args, *kwargs.values())):
                error.add_note(
                    f"memory_requirement(): got {shape}. If this is the shape of an array, "
                    f"write jax.ShapeDtypeStruct({shape}, jnp.float32) in its place."
                )
                break
            raise
        progress.stage("reading the memory map")
        return requirement(*compiled, namespace)


def _is_shape(given: object) -> bool:
    """Return whether an argument may be the shape of an array, which is no array."""
    return isinstance(given, tuple) and bool(given) and all(type(size) is int for size in given)
