"""Words the arrays and the use of memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ... import units
from ...runtime.functions import only_name
from ..record.live_arrays import HeldArray, LiveArrays
from ..record.memory_profile import MemoryProfile, Suspect
from ..record.usage import MemoryTimeline, Peak
from .notes import ASIDE

#: The note that is the headline.
_NOT_CALLED = "timing.not_called"

#: Number of deleted arrays that are listed.
_MOST_DELETED = 5

#: Number of variables whose memory is named, and the variable of a path.
_MOST_ROOTS = 5

#: With more variables that all hold an array, the first is named.
_MOST_TOGETHER = 2

_ROOT = re.compile(r"[^\W\d][\w ]*")

#: The value of a cell, as a name of it begins.
_OUTPUT = re.compile(r"Out\[(\d+)\]")

#: Where IPython keeps a value that has lost its name, as by ``%reset -f out``.
_HIDDEN = re.compile(r"get_ipython\(\)\.user_ns_hidden\['\w+'\]")

#: Where the search for the holders of arrays goes.
_SEARCHED = "The search follows names, outputs, closures and tracebacks through the objects of Python and NumPy."

#: What keeps an array to which no name leads.
_MAY_HOLD = (
    "Possible holders: the constants of a jitted function, a running function, a cache in JAX, an object of a C "
    "extension, another thread, or garbage in a cycle, which gc.collect() frees."
)

#: How to free what a traceback holds. Its frames form a cycle, which the previous cell's result may hold as well.
_OF_TRACEBACK = (
    "The last traceback keeps the variables of its functions until the next error: run import gc, sys; "
    "sys.last_value = sys.last_exc = sys.last_traceback = get_ipython().InteractiveTB.tb = None, and gc.collect() in "
    "the next cell."
)

_TRACEBACKS = ("last traceback", "IPython's last traceback")

#: For learners, with ``--explain``: five lines.
EXPLANATION = (
    "Arrays: memory of all JAX arrays that are alive when all work is done.",
    "Held by: the names that lead to an array, and so keep it in memory.",
    "Needs: memory that a program takes on each device, as the compiler planned it.",
    "Process: resident set size, which includes Python and JAX.",
    "At least: a peak between two samples is missed, so the true one may be higher.",
)


def headline(profile: MemoryProfile) -> str:
    """Name the most that a program needs, the memory of arrays, and its growth; or say that nothing ran."""
    uncalled = [str(each) for each in profile.timing.notes if each.kind == _NOT_CALLED]
    if uncalled:
        return uncalled[0]
    ran = profile.timing.error is not None or profile.executables or profile.arrays.made  # a property may run code
    if only_name(profile.timing.code) and not ran:
        return f"Reading {profile.timing.code} runs nothing. %jaxmem alone lists all arrays that are alive."
    after, delta = profile.arrays.total_bytes, sum(profile.delta_bytes.values())
    parts = []
    if profile.peak_bytes is not None:
        most = "A program needs" if len(profile.executables) == 1 else "The largest program needs"
        at_least = "at least " if any(each.at_least for each in profile.executables) else ""
        parts.append(f"{most} {at_least}{units.size(profile.peak_bytes)}")
    arrays = "arrays" if parts else "Arrays"
    parts.append(f"{arrays}: {units.size(after)} after, {_change(delta)}")
    parts.append(f"ran in {units.time(profile.timing.wall_ns)}")
    return "; ".join(parts)


def _change(delta: int) -> str:
    """Name the change of the memory of arrays; new arrays may have replaced others of the same size.

    >>> _change(2048), _change(0)
    ('+2.00 KiB', 'unchanged in total')
    """
    return units.size_change(delta) if delta else "unchanged in total"


def arrays_title(made: Sequence[HeldArray]) -> str:
    """Name the number of new arrays, and their memory."""
    return f"{units.count(len(made), 'new array')}, {units.size(sum(each.own_bytes for each in made))}"


def usage_title(profile: MemoryProfile) -> str:
    """Name the memory of the process at the end."""
    end = None if profile.timeline is None else profile.timeline.rss_end_bytes
    return "Memory while the code ran" + ("" if end is None else f": process {units.size(end)} at the end")


def about_error(error: str) -> str:
    """Name the exception that ended the code."""
    return f"The code ended with {error}; the record covers what ran until then."


def live_headline(live: LiveArrays) -> str:
    """Name the number of live arrays, and their memory."""
    if not live.arrays:
        return "No JAX array is alive."
    verb = "is" if len(live.arrays) == 1 else "are"
    return f"{units.count(len(live.arrays), 'array')} {verb} alive: {units.size(live.total_bytes)}"


def about_roots(arrays: Sequence[HeldArray]) -> list[str]:
    """Name the memory under each variable, largest first, if one leads to several arrays.

    ``params["w"]`` and ``params["b"]`` are of ``params``. An array counts once: with names of several variables, for
    all of these together, as deleting one of them frees nothing.
    """
    if not all(each.dtype for each in arrays):  # one entry for many arrays, whose names are not known any more
        return []
    under: dict[str, list[int]] = {}
    for each in arrays:
        found = dict.fromkeys(root[0].strip() for name in each.names if (root := _ROOT.match(name)))
        found = {root: None for root in found if root.strip("_") or len(found) == 1}  # IPython's _ is also in Out
        under.setdefault(_all_of([*found]) if found else "no name found", []).append(each.own_bytes)
    if len(under) == len(arrays):
        return []
    largest = sorted(under.items(), key=lambda item: -sum(item[1]))
    parts = [f"{root} {units.size(sum(sizes))} in {units.count(len(sizes), 'array')}" for root, sizes in largest]
    more = len(parts) - _MOST_ROOTS
    rest = [f"and {units.count(more, 'more name')}"] if more > 0 else []
    return [f"By name: {', '.join([*parts[:_MOST_ROOTS], *rest])}."]


def _all_of(roots: Sequence[str]) -> str:
    return " and ".join(roots) if len(roots) <= _MOST_TOGETHER else f"{roots[0]} and {len(roots) - 1} more names"


def about_devices(profile: MemoryProfile) -> list[str]:
    """Name the memory of arrays on each device, if there are several."""
    after, delta = profile.after_bytes, profile.delta_bytes
    if len(delta) < 2:
        return []
    devices = [f"{name} {units.size(after.get(name, 0))} ({_change(delta[name])})" for name in delta]
    return [f"By device: {', '.join(devices)}."]


def about_made(profile: MemoryProfile) -> list[str]:
    """Name the number and memory of arrays that were made during the run and are still alive."""
    made = profile.arrays.made
    if not made:
        return ["No new array was alive when all work was done."]
    verb = "was" if len(made) == 1 else "were"
    made_bytes = sum(each.own_bytes for each in made)
    gone_bytes = made_bytes - sum(profile.delta_bytes.values())
    gone = f", while earlier ones of {units.size(gone_bytes)} are gone" if gone_bytes > 0 else ""
    new = units.count(len(made), "new array")
    return [f"{new} {verb} alive when all work was done: {units.size(made_bytes)}{gone}."]


def about_unfound(profile: MemoryProfile) -> list[str]:
    """Name the memory of new arrays for which no name was found, and what may hold them."""
    unfound = sum(each.own_bytes for each in profile.arrays.made if not each.names)
    if not unfound:
        return []
    return [f"{units.size(unfound)} of this is held by something unknown. {_SEARCHED} {_MAY_HOLD}"]


def about_unnamed(live: LiveArrays) -> list[str]:
    """Name the memory of arrays without a name and what may hold them; nothing where the search did not finish."""
    unnamed = [each for each in live.unnamed if each.dtype]
    if not unnamed or not live.search_complete:
        return []
    size, count = units.size(sum(each.own_bytes for each in unnamed)), units.count(len(unnamed), "array")
    return [f"Found no holder of {count} of {size}. {_SEARCHED} {_MAY_HOLD}"]


def about_outputs(live: LiveArrays) -> list[str]:
    """Tell how to free the value of a cell, for the largest array that one holds."""
    names = [name for each in live.arrays for name in each.names]
    outputs = [found[1] for name in names if (found := _OUTPUT.match(name))]
    told = [
        f"IPython has more names for Out[{number}], also hidden ones: %xdel _{number} deletes all names of the value."
        for number in outputs[:1]
    ]
    if hidden := dict.fromkeys(found[0] for name in names if (found := _HIDDEN.match(name))):
        told.append(
            f"IPython keeps values without a name, as after %reset -f out. To free them: del {', '.join(hidden)}."
        )
    return told


def about_traceback(live: LiveArrays) -> list[str]:
    """Tell how to free what the last traceback holds, if it holds an array."""
    held = any(name.startswith(_TRACEBACKS) for each in live.arrays for name in each.names)
    return [_OF_TRACEBACK] if held else []


def about_deleted(deleted: Sequence[HeldArray]) -> list[str]:
    """Name the deleted arrays that are still held by names."""
    if not deleted:
        return []
    listed = [
        f"{holders(each.names)} ({each.shape}, {units.size(each.size_bytes)})" for each in deleted[:_MOST_DELETED]
    ]
    more = f", and {len(deleted) - len(listed)} more" if len(deleted) > len(listed) else ""
    return [f"Donated or deleted during the run, but still named: {', '.join(listed)}{more}. Reading one fails."]


def array_table(arrays: Sequence[HeldArray]) -> list[tuple[str, ...]]:
    """Make the rows of arrays below the column heads; shardings have a column only if they differ."""
    several = len({each.sharding for each in arrays}) > 1 or any(len(each.device_bytes) > 1 for each in arrays)
    heads = ("size", "array", *(("sharding",) if several else ()), "held by")
    rows = [
        (units.size(each.own_bytes), each.shape, *((each.sharding,) if several else ()), holders(each.names))
        for each in arrays
    ]
    return [heads, *rows]


def holders(names: Sequence[str]) -> str:
    """List the names that hold an array.

    >>> holders(("y", "Out[3]")), holders(())
    ('y, Out[3]', 'no name found')
    """
    return ", ".join(names) if names else "no name found"


def about_timeline(timeline: MemoryTimeline) -> list[str]:
    """Name the memory in use at the end, and its peak, for the process and each device."""
    sentences = []
    if timeline.rss_start_bytes is not None and timeline.rss_end_bytes is not None:
        peak = f", peak {_bounded(timeline.rss_peak)}" if timeline.rss_peak else ""
        delta = units.size_change(timeline.rss_end_bytes - timeline.rss_start_bytes)
        sentences.append(f"Process: {units.size(timeline.rss_end_bytes)} resident, {delta}{peak}.")
    for device, column in timeline.device_bytes.items():
        known = [each for each in column if each is not None]
        used = f"{units.size(known[-1])} in use" if known else "memory in use unknown"
        window = timeline.window_peak(device)
        peak = f", peak {_bounded(window)}" if window else ""
        limit = timeline.device_limit_bytes.get(device)
        sentences.append(f"{device}: {used}{peak}{f', limit {units.size(limit)}' if limit else ''}.")
    taken = len(timeline.times_ns)
    sentences.append(f"{units.count(taken, 'sample')}, every {units.time_short(timeline.interval_ns)} at best.")
    return sentences


def _bounded(peak: Peak) -> str:
    """Mark a peak that may be higher, because it can fall between two samples."""
    return units.size(peak.at_least_bytes) if peak.exact else f"at least {units.size(peak.at_least_bytes)}"


def about_suspects(suspects: Sequence[Suspect]) -> list[str]:
    """Name what may leak, and what to do."""
    return [
        f"{each.path} kept growing over the last {len(each.bytes_seen)} records, by "
        f"{units.size(each.bytes_seen[-1] - each.bytes_seen[0])} to {units.size(each.bytes_seen[-1])} "
        f"({units.count(each.arrays, 'array')}): a leak? "
        f"{remedy(each.path)}"
        for each in suspects
    ]


def remedy(path: str) -> str:
    """Advise how to free the arrays under a path.

    >>> remedy("losses[*]"), remedy("model.w")
    ('If they are no longer needed: losses.clear().', 'If they are no longer needed: del model.w.')
    """
    if path.startswith("Out[*]"):
        return (
            "Out keeps the value of every cell: end the line with a semicolon. For Out[3], %xdel _3 deletes every "
            "name of the value, also IPython's hidden ones."
        )
    if path.startswith(_TRACEBACKS):
        return _OF_TRACEBACK
    if re.fullmatch(r"[\w.]+", name := path.removesuffix("[*]")):
        return f"If they are no longer needed: {f'del {name}' if name == path else f'{name}.clear()'}."
    return "If they are no longer needed, delete them there."


def notes(profile: MemoryProfile, *, aside: bool) -> list[str]:
    """Word the notes of a record and its parts, each once: those that can be folded, or all others."""
    sampled = profile.timeline.notes if profile.timeline else ()
    own = (*profile.notes, *profile.timing.notes, *profile.arrays.notes, *sampled)
    sentences = [str(each) for each in own if (each.kind in ASIDE) == aside and each.kind != _NOT_CALLED]
    sentences += [
        f"{program.name}: {each}"
        for program in profile.executables
        for each in program.notes
        if (each.kind in ASIDE) == aside
    ]
    return list(dict.fromkeys(sentences))
