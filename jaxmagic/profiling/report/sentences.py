"""What is said about a profile, in every medium."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from ... import units
from ...records.call_stack import is_users
from ...records.other_load import loaded
from ...records.paths import short_source
from ...report.inside_words import inside_shares, last_names
from ...timing.report.sentences import about_fetch
from ...xla.lines.labels import BACKWARD
from ..analysis.devices.bound import Bound, bound_of, slowed_down
from ..analysis.operations import counts_by_device, identity
from ..analysis.roofline import Peaks, Placed, peaks_of, place, placed, without_rate
from ..analysis.source_lines import LineTime, Listing
from ..analysis.stale_callers import compiled_earlier
from ..record.profile import OperationTime, Profile

#: For learners, with ``--explain``: five lines.
EXPLANATION = (
    "Device time: how long a device was busy. What overlaps counts once.",
    "Wall time: of a run without the profiler, which takes time of its own.",
    "Line: your innermost line of an operation; in: the function that it called.",
    "With calls: includes the functions that the line calls.",
    "≈: partly the line's share of a fusion of several lines, by their work.",
)

#: The share of the device time from which on it is worth a word that something of it is not known.
_WORTH_A_WORD = 0.01

#: Where peaks are from, in words.
_PEAKS_FROM = {
    "": "as the record tells",
    "recording": "as the recording tells",
    "data sheet": "from the data sheet of the {}",
    "measured": "measured here with float32",
    "given": "as given",
}

#: So much less than the peak that was taken is worth to be told.
_CLEARLY_LESS = 0.95

#: Smaller shares of the roof are not told as numbers.
_LEAST_OF_ROOF = 0.001

#: Types of numbers whose peak is told.
_MOST_TYPES = 2

#: What to do where only the first run was recorded.
_WITHOUT_COLD = " Record without --cold (cold=False) to time one."

#: Names that are told of a list.
_MOST_NAMES = 4


def headline(profile: Profile) -> str:
    """How long devices were busy, of how much, and what a run takes without the profiler."""
    wall = "" if profile.wall_ns is None else f"wall time {units.time(profile.wall_ns)} without the profiler"
    if not profile.device_uses:
        return f"No device time was recorded{'; ' * bool(wall)}{wall}."
    each = profile.device_ns / len(profile.device_uses) / (profile.runs or 1)
    of = profile.recorded_ns / (profile.runs or 1)
    run = "" if profile.runs is None else " per run"
    several = "" if len(profile.device_uses) == 1 else f" in the mean of {len(profile.device_uses)} devices"
    share = units.share(each, max(of, 1))
    told = f"Device time: {units.time(each)}{run}{several}, {share} of what was recorded"
    if profile.whole_ns is not None:  # with a host that may have done other things for most of it
        between = f"the {units.time(of)} from the first operation to the end of the last"
        recording = units.time(profile.whole_ns)
        told = f"Device time: {units.time(each)}{several}, {share} of {between} (recording: {recording})"
    return f"{told}; {wall}" if wall else told


def about_bound(profile: Profile) -> list[str]:
    """Whether the host or the device limits a run, where that is known."""
    found = bound_of(profile)
    if found is None:
        return []
    device = "the device" if len(profile.device_uses) == 1 else found.use.device
    share = units.share(found.busy_ns, found.run_ns)
    if found.limit == "not timed":
        return [
            "Whether the host or the device limits a run is not known: no run was timed without the profiler, which "
            "can be most of the load where operations are short."
            + (_WITHOUT_COLD if profile.warm_up is None and profile.error is None else "")
        ]
    if found.limit == "distorted":
        assert found.slower is not None
        return [
            f"A run took {units.number(found.slower, 2)} times as long under the profiler, so short operations look "
            "longer than they are. Whether the host or the device limits a run is not known."
        ]
    if found.limit == "unsteady":
        wall, recorded = units.time(profile.wall_ns or 0), units.time(found.run_ns)
        return [
            f"A run took {wall} without the profiler, and {recorded} when it was recorded, with {device} busy for "
            f"{share} of that. Something slowed the first one down, so whether the host or the device limits a run "
            "is not known. Profile it again."
        ]
    if found.limit == "device":
        return [f"Device-bound: {device} is busy for {share} of the run."]
    idle = units.time(found.run_ns - found.busy_ns)
    subject = f"Host-bound: {device}" if found.limit == "host" else _capital(device)
    return [f"{subject} is busy for {share} of the run and idle for {idle}{_idle_causes(found, profile.runs or 1)}."]


def _idle_causes(found: Bound, runs: int) -> str:
    """What the host did while the device was idle."""
    parts = (("compiles", found.use.compile_idle_ns), ("moves data", found.use.transfer_idle_ns))
    causes = [f"{units.time(time_ns / runs)} while the host {what}" for what, time_ns in parts if time_ns]
    return f" ({', '.join(causes)})" if causes else ""


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def about_profiler(profile: Profile) -> list[str]:
    """What the profiler itself cost."""
    more = slowed_down(profile)
    if more is None or not profile.runs:
        return []
    each = "" if profile.runs == 1 else " each"
    change = f"{units.percent(more - 1)} more than without" if more > 1 else "no more than without"
    timed = "" if profile.timed_runs <= 1 else f", the median of {profile.timed_runs}"
    return [
        f"{units.count(profile.runs, 'run')} recorded, {units.time(profile.recorded_ns / profile.runs)}{each} under "
        f"the profiler ({change}{timed})."
    ]


def about_error(profile: Profile) -> list[str]:
    """That the code did not end."""
    if profile.error is None:
        return []
    if profile.runs is None:
        return [f"The code ended with {profile.error} before a run was complete; this is how far it came."]
    before = "the run" if profile.runs == 1 else f"the {profile.runs} runs"
    return [f"The code ended with {profile.error}; this is of {before} before."]


def about_warm_up(profile: Profile) -> list[str]:
    """What the first run compiled, and what compiled in the recording."""
    told = []
    warm_up = profile.warm_up
    if warm_up is not None and (compiled := [each for each in warm_up.compilations if each.compiled]):
        told.append(
            f"The run before compiled {units.count(len(compiled), 'program')} in {units.time(warm_up.compile_ns)}; "
            "it is not in the recording."
        )
    again = [each for each in profile.compilations if each.compiled]
    if again:
        names = ", ".join(dict.fromkeys(each.function for each in again))
        told.append(f"Compiled while it was recorded: {names}.")
    if again and profile.warm_up is not None:
        cause = again[-1].cause
        remedy = f" {cause.remedy[0].upper()}{cause.remedy[1:]}." if cause.remedy else ""
        told.append(f"It compiles again in each run: {cause.reason}.{remedy}")
    return told


def about_earlier(profile: Profile) -> list[str]:
    """What had been compiled before, by a call whose lines are told."""
    names = compiled_earlier(profile)
    if not names:
        return []
    told = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    return [f"Compiled by earlier calls: {told}. Source lines outside jitted code refer to those calls."]


def about_load(profile: Profile) -> list[str]:
    """What else kept the machine busy."""
    if profile.environment is None:
        return []
    return [f"{each.text} {each.remedy}" for each in loaded(profile.other_load, profile.environment)]


def about_copy(profile: Profile, digits: int) -> list[str]:
    """How long the copy of the result to the host took, where that was asked for."""
    timing = profile.unprofiled
    return [] if timing is None or timing.fetch_ns is None else [about_fetch(timing, digits)]


def about_kept(profile: Profile) -> list[str]:
    """Where the recording is, and how to open it with others' tools."""
    if profile.kept is None:
        return []
    kept = PurePath(profile.kept)
    folder = shlex.quote(str(kept.parents[2] if len(kept.parents) > 2 else kept))
    return [f"Kept in {kept}. Open it with: xprof --logdir {folder} or: tensorboard --logdir {folder}"]


def line_cells(line: LineTime, profile: Profile) -> tuple[str, str, str, str]:
    """Time of a run, share, time with calls where it is more, and hits of a run."""
    runs = parts(profile)
    own = line.time_ns > 0
    about = "≈" if line.split else ""
    more = line.total_ns > 1.005 * line.time_ns
    return (
        f"{about}{units.time(line.time_ns / runs)}" if own else "",
        units.share(line.time_ns, profile.device_ns) if own else "",
        units.time(line.total_ns / runs) if more else "",
        whole(line.count, profile.runs or 1) if own else "",
    )


#: Lines that are told without their text.
_MOST_UNLISTED = 5


def parts(profile: Profile) -> int:
    """Of how many runs and devices all times are the sum: what is shown is the mean of a run on a device."""
    return (profile.runs or 1) * max(len(profile.device_uses), 1)


LINE_HEADS = ("time", "share", "with calls", "hits")


def operations_of(line: LineTime, most: int = 3) -> str:
    """The operations of a line, the one that took longest first."""
    names = sorted(line.operations, key=lambda each: -line.operations[each])
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def about_nowhere(lines: Iterable[LineTime], profile: Profile) -> list[str]:
    """The time that reaches no line."""
    return [
        f"Without a line: {units.time(each.time_ns / parts(profile))} "
        f"({units.share(each.time_ns, profile.device_ns)}): {operations_of(each)}."
        for each in lines
        if each.frame is None
    ]


#: Shares of all the time from which on is said what it is, and of a line's for a backward pass, which most have.
_WORTH_A_LABEL = 0.05
_ALL_BACKWARD = 0.95


def about_labels(lines: Iterable[LineTime], profile: Profile) -> list[str]:
    """What the time of lines is, where their source does not show it."""
    told = []
    for line in lines:
        where = "Without a line" if line.frame is None else _short(line.frame.location)
        for label, time_ns in sorted(line.labels.items(), key=lambda each: -each[1]):
            if time_ns < _WORTH_A_LABEL * profile.device_ns:
                continue
            if label != BACKWARD or time_ns > _ALL_BACKWARD * line.time_ns:
                share = units.share(time_ns, profile.device_ns)
                told.append(f"{where}: {units.time(time_ns / parts(profile))} ({share}) is {label}.")
    return told[:_MOST_UNLISTED]


def about_unlisted(lines: Iterable[LineTime], listed: Iterable[Listing], profile: Profile) -> list[str]:
    """Lines with time of their own that stand in no listing: of libraries, or whose source is not there."""
    shown = {id(each.time) for one in listed for each in one.lines}
    rest = [each for each in lines if each.frame and each.time_ns and id(each) not in shown]
    mine = [each for each in rest if each.frame and is_users(each.frame)]
    theirs = [each for each in rest if each.frame and not is_users(each.frame)]
    kinds = (("Also", mine), ("Library lines (JAX recorded no line of yours for them)", theirs))
    return [f"{what}: {_several(some, profile)}." for what, some in kinds if some]


def _several(lines: Sequence[LineTime], profile: Profile) -> str:
    told = [
        f"{_short(each.frame.location)} {units.time(each.time_ns / parts(profile))} "
        f"{inside_shares(each.inside, each.time_ns)}".rstrip()
        for each in lines[:_MOST_UNLISTED]
        if each.frame is not None
    ]
    more = f", and {len(lines) - len(told)} more" if len(lines) > len(told) else ""
    return f"{', '.join(told)}{more}"


def _short(place: str | None) -> str:
    return "" if place is None else short_source(place.replace("\\", "/"))


def about_roof(profile: Profile) -> list[str]:
    """What rates are compared with."""
    peaks = peaks_of(profile)
    if peaks is None:
        return []
    use, memory = profile.device_uses[0], units.rate(peaks.bytes, "bytes")
    how = _PEAKS_FROM[use.peaks_from].format(use.model)
    if use.recorded_peak_bytes and use.recorded_peak_bytes < _CLEARLY_LESS * peaks.bytes:
        how += f" (the recording says {units.rate(use.recorded_peak_bytes, 'bytes')})"
    if peaks.flops is None:
        told = [
            f"Roof: {memory} of memory, {how}; the peak FLOP/s are not known, so only memory bandwidth is compared."
        ]
    else:
        told = [
            f"Roof: {_flops(profile, peaks)} and {memory}, {how}. Each rate is FLOP/s for compute-bound and GB/s for "
            "memory-bound operations."
        ]
    if any(found.of_roof > 1 for found in placed(profile)):
        told.append(">100 % of the roof: the data were in a cache, or the peak rate is too low.")
    sorting_ns = sum(each.time_ns for each in profile.operation_times if each.category == "sort")
    if sorting_ns > _WORTH_A_WORD * profile.device_ns:
        told.append("Sorts have no FLOPs; their rate counts one read and one write of the data.")
    rest = without_rate(profile)
    time_ns = sum(each.time_ns for each in rest)
    if time_ns >= _WORTH_A_WORD * profile.device_ns:
        names = ", ".join(each.name for each in rest[:3]) + (", …" if len(rest) > 3 else "")
        told.append(
            f"FLOPs or bytes unknown for {units.share(time_ns, profile.device_ns)} of the device time ({names})."
        )
    return told


def _flops(profile: Profile, peaks: Peaks) -> str:
    """Format the peak FLOP/s for the element types of most products."""
    times: dict[str, int] = {}
    for each in profile.operation_times if peaks.by_type else ():
        if each.multiplied and peaks.flops_for(each.multiplied) is not None:
            times[each.multiplied] = times.get(each.multiplied, 0) + each.time_ns
    types = sorted(times, key=lambda each: -times[each])[:_MOST_TYPES]
    if not types:
        return units.rate(peaks.flops_for("") or peaks.flops or 0, "flops")
    return ", ".join(f"{units.rate(peaks.flops_for(each) or 0, 'flops')} for {each}" for each in types)


def _rate(found: Placed | None) -> tuple[str, str]:
    """What an operation achieved of what limits it, and how much of the roof that is."""
    if found is None:
        return "", ""
    rate = units.rate(found.bytes_per_s, "bytes") if found.by_memory else units.rate(found.flops_per_s, "flops")
    if found.of_roof > 1:
        return rate, ">100 %"
    return rate, units.percent(found.of_roof) if found.of_roof >= _LEAST_OF_ROOF else "<0.1 %"


def whole(count: int, parts: int) -> str:
    """Format a count per part, or the total if it does not divide evenly.

    >>> whole(6, 3), whole(7, 3)
    ('2', '7 in all')
    """
    return f"{count:,} in all" if count % parts else f"{count // parts:,}"


def _runs_of(operation: OperationTime, counts: Mapping[str, int], profile: Profile) -> str:
    """Format the executions of an operation per run: over all devices, and per device if they differ."""
    runs, devices = profile.runs or 1, len(profile.device_uses)
    told = whole(operation.count, runs)
    if devices < 2:
        return told
    if len(counts) == 1:
        return f"{told} ({next(iter(counts))})"
    least, most = min(counts.values()) if len(counts) == devices else 0, max(counts.values())
    if least == most or "in all" in told or least % runs or most % runs:
        return told
    return f"{told} ({least // runs} to {most // runs})"


def operation_table(
    operations: Iterable[OperationTime], profile: Profile, *, narrow: bool = False
) -> list[tuple[str, ...]]:
    """Operations as rows below their heads; of several devices the mean of them. Where it is narrow without rates."""
    peaks = peaks_of(profile)
    rates = ("rate", "of roof")[narrow:] if peaks else ()
    operations = list(operations)
    counts = counts_by_device(profile.operation_times)
    called = any(each.inside for each in operations)  # an empty column is left out
    beside = any(each.asynchronous for each in operations)
    where = ("line", "inside") if called else ("line",)
    spans = ("span",) if beside else ()
    heads = (
        "operation",
        "category",
        "exposed" if beside else "time",
        "share",
        "runs",
        "mean",
        *spans,
        *rates,
        *where,
    )
    rows = [
        (
            each.name,
            each.category,
            units.time(each.time_ns / parts(profile)),
            units.share(each.time_ns, max(profile.device_ns, 1)),
            _runs_of(each, counts.get(identity(each), {}), profile),
            "" if each.asynchronous else units.time(each.mean_ns),
            *((units.time(each.mean_ns) if each.asynchronous else "",) if beside else ()),
            *(_rate(place(each, peaks))[narrow:] if peaks else ()),
            _short(each.source),
            *((last_names(each.inside or "") if narrow else each.inside or "",) if called else ()),
        )
        for each in operations
    ]
    return [heads, *rows]
