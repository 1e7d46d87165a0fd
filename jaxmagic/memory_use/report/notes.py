"""Words for the notes of memory records."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...compilation.report import lines_before_0_10

#: Names of the parts of a record that may be missing.
_PARTS = {
    "statistics": "the compiler's memory statistics",
    "module": "the HLO module",
    "schedule": "the schedule of instructions",
    "buffer_assignment": "the buffer assignment",
    "constant_names": "the names of captured constants",
    "live_ranges": "the live ranges of buffers",
    "executables": "the memory that programs need",
    "arrays": "the names that hold arrays",
    "heap": "memory by call stack",
}


def _devices_silent(devices: str, missing: str, error: str = "") -> str:
    why = f"memory_stats() failed ({error})" if error else f"memory_stats() has no {missing}"
    if missing == "peak_bytes_in_use":
        return f"The peak memory of {devices} is a lower bound, from samples alone: {why}."
    if not error and missing == "memory_stats":
        why = "the device has no memory_stats()"
    return f"The memory in use on {devices} is unknown: {why}."


#: Words for notes, by the kind behind ``memory_use.``; each gets the facts of the note.
NOTES: dict[str, Callable[..., str]] = {
    "unread": lambda part, error: f"Could not read {_PARTS[part]} ({error}).",
    "uncounted": lambda calls, names, lines: (
        f"Not counted: memory that {units.count(calls, 'library call')} ({names}{f' at {lines}' if lines else ''}) "
        "may allocate while running, which XLA does not plan."
    ),
    "interrupted": lambda part: f"Interrupted while the record was made: {_PARTS[part]} could not be read.",
    "programs_unknown": lambda: (
        "This version of JAX does not show which programs ran: the programs that were compiled are listed."
    ),
    "lines_of_earlier_calls": lines_before_0_10,
    "shards_not_listed": lambda arrays: (
        f"Not listed: {units.count(arrays, 'unnamed array')} of jax.live_arrays(). "
        f"{'Its' if arrays == 1 else 'Their'} memory is counted for a listed array. JAX makes such arrays for a "
        "jitted function that captures an array, and for each shard of an array that is printed, for example."
    ),
    "search_cut_short": lambda: (
        "The search for names was cut short: an array that is shown without a name may have one."
    ),
    "largest_arrays": lambda kept, arrays: (
        f"Only the {kept} largest of {arrays} arrays are listed: the history shortens earlier records."
    ),
    "history_dropped": lambda parts: f"The history shortens earlier records. Dropped from this one: {parts}.",
    "no_backend": lambda: "No JAX backend had been started, so no device memory was in use.",
    "no_heap_profile": lambda when, error: f"JAX returned no heap profile {when} the code ({error}).",
    "heap_unreadable": lambda error: f"Could not read JAX's heap profile: {error.removeprefix('heap profile: ')}.",
    "heap_not_written": lambda error: f"Could not write the raw heap profile: {error}.",
    "sampling_hung": lambda: "The sampling thread did not end: it hangs while reading the memory of a device.",
    "sampling_failed": lambda after_ns, error: f"Sampling ended {units.time(after_ns)} after the start ({error}).",
    "sampled_less_often": lambda interval_ns, wanted_ns: (
        f"Sampled every {units.time(interval_ns, 2)}, not {units.time_short(wanted_ns)}, to limit overhead."
    ),
    "samples_thinned": lambda taken, kept: (
        f"The code ran long: {kept} of {taken} samples are kept, including the extremes."
    ),
    "reading_failed": lambda source, error: f"Could not read the memory of {source} ({error}); not tried again.",
    "devices_silent": _devices_silent,
    "devices_unknown": lambda: (
        "Arrays and devices were not sampled: this version of JAX does not show whether a backend has started."
    ),
}

#: Notes that can be folded: the first numbers of a report mean the same without them.
ASIDE = frozenset(
    f"memory_use.{kind}"
    for kind in (
        "devices_silent", "lines_of_earlier_calls", "sampled_less_often", "samples_thinned", "shards_not_listed",
    )
)  # fmt: skip
