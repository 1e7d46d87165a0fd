"""Operations beside what the device can do: sentences and a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ... import units
from ...report.inside_words import last_names
from ..analysis.operations import counts_by_device, identity
from ..analysis.roofline import Peaks, Placed, peaks_of, place, placed, without_rate
from ..record.profile import OperationTime, Profile
from .lines import parts, short, whole

#: Where peaks are from, in words.
_PEAKS_FROM = {
    "": "as the record tells",
    "recording": "as the recording tells",
    "data sheet": "from the data sheet of the {}",
    "data sheet, recording": "from the data sheet of the {} (for bf16 as the recording tells)",
    "measured": "measured here with float32",
    "given": "as given",
}

#: So much less than the peak that was taken is worth telling.
_CLEARLY_LESS = 0.95

#: Smaller shares of the roof are not told as numbers.
_LEAST_OF_ROOF = 0.001

#: Types of numbers whose peak is told.
_MOST_TYPES = 2

#: The share of the device time from which on it is worth a word that something of it is not known.
_WORTH_A_WORD = 0.01


def about_roof(profile: Profile) -> list[str]:
    """Return what rates are compared with."""
    peaks = peaks_of(profile)
    if peaks is None:
        return []
    use, memory = profile.device_uses[0], units.rate(peaks.bytes, "bytes")
    how = _PEAKS_FROM[use.peaks_from].format(use.model)
    if use.recorded_peak_bytes and use.recorded_peak_bytes < _CLEARLY_LESS * peaks.bytes:
        how += f" (the recording says {units.rate(use.recorded_peak_bytes, 'bytes')})"
    apart = use.peak_flops_from and f" {_PEAKS_FROM[use.peak_flops_from].format(use.model)}"
    if peaks.flops is None:
        told = [
            f"Roof: {memory} of memory, {how}; the peak FLOP/s are not known, so only memory bandwidth is compared."
        ]
    else:
        told = [
            f"Roof: {_flops(profile, peaks)}{apart} and {memory}{',' * (not apart)} {how}. Each rate is FLOP/s for "
            "compute-bound and GB/s for memory-bound operations."
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
    """Return what an operation achieved of what limits it, and how much of the roof that is."""
    if found is None:
        return "", ""
    rate = units.rate(found.bytes_per_s, "bytes") if found.by_memory else units.rate(found.flops_per_s, "flops")
    if found.of_roof > 1:
        return rate, ">100 %"
    return rate, units.percent(found.of_roof) if found.of_roof >= _LEAST_OF_ROOF else "<0.1 %"


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
        "count",
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
            short(each.source),
            *((last_names(each.inside or "") if narrow else each.inside or "",) if called else ()),
        )
        for each in operations
    ]
    return [heads, *rows]
