"""Words for memory records, in every medium."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ... import units
from ...records.names import shortened
from ...report.inside_words import place_and_inside
from ..analysis.peak import peak_of
from ..record.live_arrays import HeldArray, LiveArrays
from ..record.memory_profile import Buffer, Executable, MemoryProfile, Suspect
from ..record.usage import MemoryTimeline, Peak
from .notes import ASIDE

#: Number of deleted arrays that are listed.
_MOST_DELETED = 5

#: For learners, with ``--explain``: five lines.
EXPLANATION = (
    "Arrays: memory of all JAX arrays that are alive when all work is done.",
    "Held by: the names that lead to an array, and so keep it in memory.",
    "Needs: memory that a program takes on each device, as the compiler planned it.",
    "Process: resident set size, which includes Python and JAX.",
    "At least: a peak between two samples is missed, so the true one may be higher.",
)


#: Number of constants of a program that are listed, and the size of the smallest.
_MOST_CONSTANTS = 3
_LEAST_BYTES = 1024


def headline(profile: MemoryProfile) -> str:
    """Name the most that a program needs, the memory of arrays, and its growth."""
    after, delta = profile.arrays.total_bytes, sum(profile.delta_bytes.values())
    parts = []
    if profile.peak_bytes is not None:
        most = "A program needs" if len(profile.executables) == 1 else "The largest program needs"
        parts.append(f"{most} {units.size(profile.peak_bytes)}")
    arrays = "arrays" if parts else "Arrays"
    parts.append(f"{arrays}: {units.size(after)} after, {units.size_change(delta)}")
    parts.append(f"ran in {units.time(profile.timing.wall_ns)}")
    return "; ".join(parts)


def programs_title(programs: Sequence[Executable]) -> str:
    """Name the number of programs, and the memory of the largest."""
    most = programs[0]
    needs = "an unknown amount" if most.peak_bytes is None else units.size(most.peak_bytes)
    verb = "the largest needs" if len(programs) > 1 else f"{shortened([most.name], 40)[0]} needs"
    return f"{units.count(len(programs), 'program')}, {verb} {needs}"


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


def about_devices(profile: MemoryProfile) -> list[str]:
    """Name the memory of arrays on each device, if there are several."""
    after, delta = profile.after_bytes, profile.delta_bytes
    if len(delta) < 2:
        return []
    devices = [f"{name} {units.size(after.get(name, 0))} ({units.size_change(delta[name])})" for name in delta]
    return [f"By device: {', '.join(devices)}."]


def about_made(profile: MemoryProfile) -> list[str]:
    """Name the number and memory of arrays that were made during the run and are still alive."""
    made = profile.arrays.made
    if not made:
        return ["No new array was alive when all work was done."]
    verb = "was" if len(made) == 1 else "were"
    size = units.size(sum(each.own_bytes for each in made))
    return [f"{units.count(len(made), 'new array')} {verb} alive when all work was done: {size}."]


def about_unfound(profile: MemoryProfile) -> list[str]:
    """Name the memory of new arrays for which no name was found, and what may hold them."""
    unfound = sum(each.own_bytes for each in profile.arrays.made if not each.names)
    if not unfound:
        return []
    return [
        f"{units.size(unfound)} of this is held by something unknown: no name, output, closure or traceback leads to "
        "it. A running function, a cache in JAX, a C extension or another thread may hold it."
    ]


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


def program_table(programs: Sequence[Executable]) -> list[tuple[str, ...]]:
    """Make the rows of programs below the column heads: the memory that each needs, and its parts."""
    optional = {"- alias": "alias_bytes", **_ON_THE_HOST}
    more = {head: field for head, field in optional.items() if any(getattr(each, field) for each in programs)}
    heads = ("program", "needs =", "argument", "+ output", "+ temporary", *more, "in this run")
    return [heads, *(_program_row(each, list(more.values())) for each in programs)]


#: Columns of host memory; like the column of aliases, a column of zeros is left out.
_ON_THE_HOST = {
    "host arg": "host_argument_bytes",
    "host out": "host_output_bytes",
    "host temp": "host_temporary_bytes",
    "host alias": "host_alias_bytes",
}


def _program_row(program: Executable, more: Sequence[str]) -> tuple[str, ...]:
    numbers = [program.peak_bytes, program.argument_bytes, program.output_bytes, program.temporary_bytes]
    numbers += [getattr(program, field) for field in more]
    events = [word for word, whether in (("ran", program.ran), ("compiled", program.compiled)) if whether]
    sizes = ("unknown" if each is None else units.size(each) for each in numbers)
    return (program.name, *sizes, ", ".join(events))


def program_headline(program: Executable) -> str:
    """Name the memory that a program needs."""
    if program.peak_bytes is None:
        return f"{program.name} needs an unknown amount of memory"
    return f"{program.name} needs {units.size(program.peak_bytes)}"


def about_constants(programs: Sequence[Executable]) -> list[str]:
    """Name the memory of constants and machine code, which is not in the sums."""
    constants = [
        f"{each.name} {units.size(each.constant_bytes)}{_largest_constants(each)}"
        for each in programs
        if each.constant_bytes
    ]
    code = [f"{each.name} {units.size(each.generated_code_bytes)}" for each in programs if each.generated_code_bytes]
    named = (("Constants", constants), ("Machine code", code))
    return [f"{what}, not included above: {'; '.join(sizes)}." for what, sizes in named if sizes]


def _largest_constants(program: Executable) -> str:
    """List the largest constants with their names, if known, and the lines that use them."""
    constants = [each for each in program.allocations or () if each.kind == "constant" and each.buffers]
    large = sorted(constants, key=lambda each: -each.size_bytes)[:_MOST_CONSTANTS]
    listed = [
        f"{units.size(each.size_bytes)} {_name(each.buffers[0])}" for each in large if each.size_bytes >= _LEAST_BYTES
    ]
    return f" ({', '.join(listed)})" if listed else ""


def _name(constant: Buffer) -> str:
    source = f" at {place_and_inside(constant.source, constant.inside)}" if constant.source else ""
    return f"{' or '.join(constant.captured) or constant.shape}{source}"


def _made_by(buffer: Buffer) -> str:
    """Name a buffer by the captured array, or by the operation whose result it is."""
    return " or ".join(buffer.captured) or buffer.op_name or buffer.instruction


#: Number of live buffers that are listed at the peak.
MOST_BUFFERS = 3


def about_peak(program: Executable, most: int = MOST_BUFFERS) -> list[str]:
    """Name the step at which most bytes of a program are live, and the largest buffers then."""
    peak = peak_of(program)
    if peak is None or not peak.live_bytes:
        return []
    at = f"step {peak.step + 1} of {program.steps}"
    if peak.instruction is not None:
        at += f", {peak.instruction.instruction}"
        if peak.instruction.source:
            at += f" ({place_and_inside(peak.instruction.source, peak.instruction.inside)})"
    names = shortened([_made_by(buffer) for _, buffer in peak.live[:most]], 80)
    largest = [
        f"{units.size(buffer.size_bytes)} {allocation.kind} {buffer.shape} {name}"
        + (f" ({place_and_inside(buffer.source, buffer.inside)})" if buffer.source else "")
        for (allocation, buffer), name in zip(peak.live, names, strict=False)
    ]
    estimate = " (a lower bound: this backend does not report its buffer assignment)" if program.estimated else ""
    least = "at least " if program.estimated else ""
    live = f"{least}{units.size(peak.live_bytes)} live{_of_allocated(program, peak.live_bytes)}"
    (name,) = shortened([program.name], 60)
    buffers = "buffer" if len(largest) == 1 else "buffers"
    return [f"{name} peaks at {at}: {live}{estimate}. Largest live {buffers}: {'; '.join(largest)}."]


def _of_allocated(program: Executable, live_bytes: int) -> str:
    """Name the allocated memory if it is more, because buffers that are never live together do not share memory."""
    if program.peak_bytes is None or live_bytes >= program.peak_bytes:
        return ""
    return f" of {units.size(program.peak_bytes)} allocated"


def about_limit(program: Executable) -> list[str]:
    """Return whether a program fits in the memory of its device, if the device reports it."""
    if program.fits is None or program.limit_bytes is None or program.peak_bytes is None:
        return []
    verdict = "fits" if program.fits else "does not fit"
    return [f"{program.name} {verdict} in the {units.size(program.limit_bytes)} of memory of its device."]


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
            "Out keeps the value of every cell: end the line with a semicolon, or run %reset -f out. IPython has "
            "hidden copies of the last three: get_ipython().user_ns_hidden.update(_=0, __=0, ___=0)."
        )
    if path.startswith("last traceback"):
        return "The last traceback keeps the variables of its functions: run del sys.last_traceback, sys.last_value."
    if re.fullmatch(r"[\w.]+", name := path.removesuffix("[*]")):
        return f"If they are no longer needed: {f'del {name}' if name == path else f'{name}.clear()'}."
    return "If they are no longer needed, delete them there."


def notes(profile: MemoryProfile, *, aside: bool) -> list[str]:
    """Word the notes of a record and its parts, each once: those that can be folded, or all others."""
    sampled = profile.timeline.notes if profile.timeline else ()
    own = (*profile.notes, *profile.timing.notes, *profile.arrays.notes, *sampled)
    sentences = [str(each) for each in own if (each.kind in ASIDE) == aside]
    sentences += [
        f"{program.name}: {each}"
        for program in profile.executables
        for each in program.notes
        if (each.kind in ASIDE) == aside
    ]
    return list(dict.fromkeys(sentences))
