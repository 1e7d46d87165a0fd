"""What is said about memory, in every medium."""

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

#: Deleted arrays that are told by name.
_MOST_DELETED = 5

#: For learners, with ``--explain``: five lines.
EXPLANATION = (
    "Arrays: what all JAX arrays hold that are alive when the work is done.",
    "Held by: names that lead to an array. Where one does, its memory is not free.",
    "Needs: what a program takes at once of each device, as the compiler planned it.",
    "Process: what the operating system says is in memory, with Python and JAX.",
    "At least: samples can miss a peak between them; the true one may be higher.",
)


#: Constants that are told of a program, and the bytes from which on one is.
_MOST_CONSTANTS = 3
_LEAST_BYTES = 1024


def headline(profile: MemoryProfile) -> str:
    """Tell how much arrays hold now, how much that is more, and what the hungriest program needs."""
    after, delta = profile.arrays.total_bytes, sum(profile.delta_bytes.values())
    parts = [f"Arrays: {units.size(after)} after, {units.size_change(delta)}"]
    if profile.peak_bytes is not None:
        most = "a program needs" if len(profile.executables) == 1 else "the hungriest program needs"
        parts.append(f"{most} {units.size(profile.peak_bytes)}")
    parts.append(f"ran in {units.time(profile.timing.wall_ns)}")
    return "; ".join(parts)


def live_headline(live: LiveArrays) -> str:
    """Tell how many arrays there are, and what they hold."""
    if not live.arrays:
        return "No JAX array is alive."
    verb = "is" if len(live.arrays) == 1 else "are"
    return f"{units.count(len(live.arrays), 'array')} {verb} alive: {units.size(live.total_bytes)}"


def about_devices(profile: MemoryProfile) -> list[str]:
    """Return what each device holds, where there are several."""
    after, before, delta = profile.after_bytes, dict(profile.before_bytes), profile.delta_bytes
    if len(delta) < 2:
        return []
    each = [
        f"{name} {units.size(after.get(name, 0))} ({units.size_change(after.get(name, 0) - before.get(name, 0))})"
        for name in delta
    ]
    return [f"By device: {', '.join(each)}."]


def about_made(profile: MemoryProfile) -> str:
    """Tell how many arrays were made and are still held."""
    made = profile.arrays.made
    if not made:
        return "No array that was made here is still held."
    verb = "was" if len(made) == 1 else "were"
    size = units.size(sum(each.own_bytes for each in made))
    return f"{units.count(len(made), 'array')} {verb} made here and {verb} still held when all work was done: {size}."


def about_unfound(profile: MemoryProfile) -> list[str]:
    """Tell how much of what was made here is held by nobody who was found, and who may be."""
    unfound = sum(each.own_bytes for each in profile.arrays.made if not each.names)
    if not unfound:
        return []
    return [
        f"Who holds {units.size(unfound)} of this is not known: no name, output, closure or traceback leads there. A "
        "running function, a cache of JAX's, a C extension or another thread may hold it."
    ]


def about_deleted(deleted: Sequence[HeldArray]) -> list[str]:
    """Find which names lead to arrays that are no more."""
    if not deleted:
        return []
    told = [
        f"{holders(each.names)} ({each.shape}, {units.size(each.size_bytes)})" for each in deleted[:_MOST_DELETED]
    ]
    more = f", and {len(deleted) - len(told)} more" if len(deleted) > len(told) else ""
    return [f"Donated or deleted here, and still named: {', '.join(told)}{more}. To read them is an error."]


def array_table(arrays: Sequence[HeldArray]) -> list[tuple[str, ...]]:
    """Arrays as rows below their heads; where all lie on the same device, that is not repeated."""
    several = len({each.sharding for each in arrays}) > 1 or any(len(each.device_bytes) > 1 for each in arrays)
    heads = ("size", "array", *(("where it lies",) if several else ()), "held by")
    rows = [
        (units.size(each.own_bytes), each.shape, *((each.sharding,) if several else ()), holders(each.names))
        for each in arrays
    ]
    return [heads, *rows]


def holders(names: Sequence[str]) -> str:
    """Find where an array can be found.

    >>> holders(("y", "Out[3]")), holders(())
    ('y, Out[3]', 'not found from the namespace')
    """
    return ", ".join(names) if names else "not found from the namespace"


def program_table(programs: Sequence[Executable]) -> list[tuple[str, ...]]:
    """Programs as rows below their heads: what each needs, and what that is made of."""
    optional = {"- alias": "alias_bytes", **_ON_THE_HOST}
    more = {head: field for head, field in optional.items() if any(getattr(each, field) for each in programs)}
    heads = ("program", "needs =", "argument", "+ output", "+ temporary", *more, "")
    return [heads, *(_program_row(each, list(more.values())) for each in programs)]


#: Columns of what lies in the memory of the host; like that of aliases, one of zeros is left out.
_ON_THE_HOST = {
    "host arg": "host_argument_bytes",
    "host out": "host_output_bytes",
    "host temp": "host_temporary_bytes",
    "host alias": "host_alias_bytes",
}


def _program_row(program: Executable, more: Sequence[str]) -> tuple[str, ...]:
    numbers = [program.peak_bytes, program.argument_bytes, program.output_bytes, program.temporary_bytes]
    numbers += [getattr(program, field) for field in more]
    happened = [word for word, whether in (("ran", program.ran), ("compiled", program.compiled)) if whether]
    sizes = ("not known" if each is None else units.size(each) for each in numbers)
    return (program.name, *sizes, ", ".join(happened))


def program_headline(program: Executable) -> str:
    """Say how much a program needs, where the compiler says so."""
    if program.peak_bytes is None:
        return f"{program.name}: what it needs is not known"
    return f"{program.name} needs {units.size(program.peak_bytes)}"


def about_constants(programs: Sequence[Executable]) -> list[str]:
    """Return what is built into programs beside that."""
    built_in = [
        f"{each.name} {units.size(each.constant_bytes)}{_largest_constants(each)}"
        for each in programs
        if each.constant_bytes
    ]
    sentences = [f"Beside that, constants are built in: {'; '.join(built_in)}."] if built_in else []
    code = [f"{each.name} {units.size(each.generated_code_bytes)}" for each in programs if each.generated_code_bytes]
    return [*sentences, f"Their machine code takes: {'; '.join(code)}."] if code else sentences


def _largest_constants(program: Executable) -> str:
    """A few constants that are large, by their names as far as they are known, and where they are used."""
    constants = [each for each in program.allocations or () if each.kind == "constant" and each.buffers]
    large = sorted(constants, key=lambda each: -each.size_bytes)[:_MOST_CONSTANTS]
    told = [
        f"{units.size(each.size_bytes)} {_name(each.buffers[0])}" for each in large if each.size_bytes >= _LEAST_BYTES
    ]
    return f" ({', '.join(told)})" if told else ""


def _name(constant: Buffer) -> str:
    source = f" at {place_and_inside(constant.source, constant.inside)}" if constant.source else ""
    return f"{' or '.join(constant.captured) or constant.shape}{source}"


def _made_by(buffer: Buffer) -> str:
    """Return what a buffer holds: what was captured, or the operation whose result it is."""
    return " or ".join(buffer.captured) or buffer.op_name or buffer.instruction


def about_peak(program: Executable) -> list[str]:
    """Find where a program is at its peak, and what is largest then."""
    peak = peak_of(program)
    if peak is None or not peak.live_bytes:
        return []
    at = f"step {peak.step + 1} of {program.steps}"
    if peak.instruction is not None:
        at += f", {peak.instruction.instruction}"
        if peak.instruction.source:
            at += f" ({place_and_inside(peak.instruction.source, peak.instruction.inside)})"
    made_by = shortened([_made_by(buffer) for _, buffer in peak.live[:3]], 80)
    largest = [
        f"{units.size(buffer.size_bytes)} {allocation.kind} {buffer.shape} {name}"
        + (f" ({place_and_inside(buffer.source, buffer.inside)})" if buffer.source else "")
        for (allocation, buffer), name in zip(peak.live, made_by, strict=False)
    ]
    estimate = " (a lower bound: this backend does not say where its buffers lie)" if program.estimated else ""
    least = "at least " if program.estimated else ""
    used = least + units.size(peak.live_bytes) + _of_all(program, peak.live_bytes)
    (name,) = shortened([program.name], 60)
    return [f"{name} uses most at {at}: {used}{estimate}. The largest then: {'; '.join(largest)}."]


def _of_all(program: Executable, live_bytes: int) -> str:
    """Return what the program gets, where that is more.

    Buffers that are never needed together have room of their own.
    """
    if program.peak_bytes is None or live_bytes >= program.peak_bytes:
        return ""
    return f" of the {units.size(program.peak_bytes)} that it gets"


def about_limit(program: Executable) -> list[str]:
    """Tell whether it fits, where the device says what it has."""
    if program.fits is None or program.limit_bytes is None or program.peak_bytes is None:
        return []
    verdict = "fits into" if program.fits else "does not fit into"
    return [f"{program.name} {verdict} the {units.size(program.limit_bytes)} that its device has in all."]


def about_timeline(timeline: MemoryTimeline) -> list[str]:
    """Return what was really used meanwhile."""
    sentences = []
    if timeline.rss_start_bytes is not None and timeline.rss_end_bytes is not None:
        peak = f", {at_most(timeline.rss_peak)} at its peak" if timeline.rss_peak else ""
        delta = units.size_change(timeline.rss_end_bytes - timeline.rss_start_bytes)
        sentences.append(f"The process: {units.size(timeline.rss_end_bytes)} resident, {delta}{peak}.")
    for device, column in timeline.device_bytes.items():
        seen = [each for each in column if each is not None]
        used = f"{units.size(seen[-1])} in use" if seen else "use not known"
        window = timeline.window_peak(device)
        peak = f", {at_most(window)} at its peak" if window else ""
        limit = timeline.device_limit_bytes.get(device)
        sentences.append(f"{device}: {used}{peak}{f', of {units.size(limit)}' if limit else ''}.")
    taken = len(timeline.times_ns)
    sentences.append(f"{units.count(taken, 'sample')}, every {units.time_short(timeline.interval_ns)} at best.")
    return sentences


def at_most(peak: Peak) -> str:
    """A peak that may have been missed between two samples."""
    return units.size(peak.at_least_bytes) if peak.exact else f"at least {units.size(peak.at_least_bytes)}"


def about_suspects(suspects: Sequence[Suspect]) -> list[str]:
    """Return what may leak, and what to do."""
    return [
        f"{each.path} grew in each of the last {len(each.bytes_seen)} looks, by "
        f"{units.size(each.bytes_seen[-1] - each.bytes_seen[0])} to {units.size(each.bytes_seen[-1])} "
        f"({units.count(each.arrays, 'array')}): a leak? "
        f"{remedy(each.path)}"
        for each in suspects
    ]


def remedy(path: str) -> str:
    """Tell how to let go of what is held under a path.

    >>> remedy("losses[*]"), remedy("model.w")
    ('If they are no longer needed: losses.clear().', 'If they are no longer needed: del model.w.')
    """
    if path.startswith("Out[*]"):
        return (
            "Out keeps the value of every cell: end the line with a semicolon, or run %reset -f out. The last three "
            "IPython keeps elsewhere as well: get_ipython().user_ns_hidden.update(_=0, __=0, ___=0)."
        )
    if path.startswith("last traceback"):
        return "The last exception keeps the variables of its functions: run del sys.last_traceback, sys.last_value."
    if re.fullmatch(r"[\w.]+", name := path.removesuffix("[*]")):
        return f"If they are no longer needed: {f'del {name}' if name == path else f'{name}.clear()'}."
    return "If they are no longer needed, let go of them there."


def notes(profile: MemoryProfile) -> list[str]:
    """Return what could not be measured, and why."""
    sampled = profile.timeline.notes if profile.timeline else ()
    sentences = list(map(str, (*profile.notes, *profile.timing.notes, *profile.arrays.notes, *sampled)))
    sentences += [f"{program.name}: {note}" for program in profile.executables for note in program.notes]
    if profile.timing.error is not None:
        sentences.append(f"The code ended with {profile.timing.error}; the record covers what ran until then.")
    return list(dict.fromkeys(sentences))
