"""Sentences about the roofline, and the table of operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ... import units
from ...records.names import listed
from ...report.inside_words import last_names
from ..analysis.operations import OperationGroup, counts_by_device, identity, parts
from ..analysis.roofline import Peaks, Placed, peaks_of, place, placed, without_place
from ..record.profile import Profile
from .lines import short, whole

#: The executions of each operation per device, by its identity.
CountsByDevice = Mapping[tuple[object, ...], Mapping[str, int]]

#: The origin of the peak rates, in words.
_PEAKS_FROM = {
    "": "as recorded",
    "recording": "as recorded",
    "data sheet": "from the data sheet of the {}",
    "data sheet, recording": "from the data sheet of the {} (for bf16 as recorded)",
    "measured": "measured here with float32",
    "given": "as given",
}

#: A recorded memory bandwidth below this fraction of the peak is mentioned.
_CLEARLY_LESS = 0.95

#: Smaller efficiencies are shown as "<0.1 %".
_LEAST_OF_ROOF = 0.001

#: At most this many element types are shown with their peak.
_MOST_TYPES = 2

#: Smaller shares of the device time are not mentioned.
_WORTH_A_WORD = 0.01


def about_roof(profile: Profile) -> list[str]:
    """Describe the peak rates, and the operations that are not compared with them."""
    peaks = peaks_of(profile)
    if peaks is None:
        return []
    use, memory = profile.device_uses[0], units.rate(peaks.bytes, "bytes")
    how = _PEAKS_FROM[use.peaks_from].format(use.model)
    if use.recorded_peak_bytes and use.recorded_peak_bytes < _CLEARLY_LESS * peaks.bytes:
        how += f" (the recording says {units.rate(use.recorded_peak_bytes, 'bytes')})"
    apart = use.peak_flops_from and f" {_PEAKS_FROM[use.peak_flops_from].format(use.model)}"
    if peaks.flops is None:
        sentences = [
            f"Roof: {memory} of memory, {how}; the peak FLOP/s is not known, so only memory bandwidth is compared."
        ]
    else:
        sentences = [
            f"Roof: {_flops(profile, peaks)}{apart} and {memory}{',' * (not apart)} {how}. Each rate is FLOP/s for "
            "compute-bound and GB/s for memory-bound operations."
        ]
    if any(each.roofline_efficiency > 1 for each in placed(profile)):
        sentences.append(">100 % of the roof: the data were in a cache, or the peak rate is too low.")
    sorting_ns = sum(each.time_ns for each in profile.operation_times if each.category == "sort")
    if sorting_ns > _WORTH_A_WORD * profile.device_ns:
        sentences.append("Sorts have no FLOPs; their rate counts one read and one write of the data.")
    for missing, rest in without_place(profile).items():
        time_ns = sum(each.time_ns for each in rest)
        if time_ns >= _WORTH_A_WORD * profile.device_ns:
            names, share = listed([each.name for each in rest], 3), units.share(time_ns, profile.device_ns)
            what = "No roof" if missing == "roof" else f"{missing[0].upper()}{missing[1:]} unknown"
            why = ": a bus, a network or the host limits it" if missing == "roof" else ""
            sentences.append(f"{what} for {share} of the device time ({names}){why}.")
    return sentences


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


def _rate(op: Placed | None) -> tuple[str, str]:
    """Format the achieved rate of an operation and its roofline efficiency."""
    if op is None:
        return "", ""
    memory_bound = op.bound_by == "memory"
    rate = units.rate(op.bytes_per_s, "bytes") if memory_bound else units.rate(op.flops_per_s, "flops")
    if op.roofline_efficiency > 1:
        return rate, ">100 %"
    return rate, units.percent(op.roofline_efficiency) if op.roofline_efficiency >= _LEAST_OF_ROOF else "<0.1 %"


def about_groups(groups: Iterable[OperationGroup]) -> list[str]:
    """Explain the rows that are sums, if there are any."""
    several = [len(each.operations) for each in groups if len(each.operations) > 1]
    if not several:
        return []
    return [
        f"{several[0]}×: {several[0]} operations of one kind, size and line, summed; operations() has a row for each."
    ]


def _runs_of(group: OperationGroup, all_counts: CountsByDevice, profile: Profile) -> str:
    """Format the executions of operations per run: over all devices, and per device if they differ."""
    runs, devices = profile.runs or 1, len(profile.device_uses)
    count = whole(group.total.count, runs)
    if devices < 2:
        return count
    counts: dict[str, int] = {}
    for each in group.operations:
        for device, executions in all_counts.get(identity(each), {}).items():
            counts[device] = counts.get(device, 0) + executions
    if not counts:
        return count
    if len(counts) == 1:
        return f"{count} ({next(iter(counts))})"
    least, most = min(counts.values()) if len(counts) == devices else 0, max(counts.values())
    if least == most or "in all" in count or least % runs or most % runs:
        return count
    return f"{count} ({least // runs} to {most // runs})"


def operation_table(
    groups: Iterable[OperationGroup], profile: Profile, *, narrow: bool = False, narrower: bool = False
) -> list[tuple[str, ...]]:
    """Tabulate groups of operations, with means over devices.

    Args:
        groups: the operations of each row.
        profile: the profile that they are of.
        narrow: have shares of the roof, but no rates.
        narrower: have spans among the means, no device beside a count, and no "fusion" in a category, too.
    """
    peaks = peaks_of(profile)
    rates = ("rate", "of roof")[narrow:] if peaks else ()
    groups = list(groups)
    totals = [each.total for each in groups]
    counts = counts_by_device(profile.operation_times)
    any_inside = any(each.inside for each in totals)  # an empty column is left out
    any_async = any(each.asynchronous for each in totals)
    where = ("line", "inside") if any_inside else ("line",)
    spans = ("span",) if any_async and not narrower else ()
    # The first columns are seen where a page is narrow.
    heads = (
        "operation",
        "share",
        "exposed" if any_async else "time",
        *where,
        *rates,
        "count",
        "mean",
        *spans,
        "category",
    )
    rows = [
        (
            each.name,
            units.share(each.time_ns, max(profile.device_ns, 1)),
            units.time(each.time_ns / parts(profile)),
            short(each.source),
            *((last_names(each.inside or "") if narrow else each.inside or "",) if any_inside else ()),
            *(_rate(place(each, peaks))[narrow:] if peaks else ()),
            _runs_of(group, {} if narrower else counts, profile),
            "" if each.asynchronous and spans else units.time(each.mean_ns),
            *(units.time(each.mean_ns) if each.asynchronous else "" for _ in spans),
            each.category.removesuffix(" fusion") if narrower else each.category,
        )
        for group, each in zip(groups, totals, strict=True)
    ]
    return [heads, *rows]
