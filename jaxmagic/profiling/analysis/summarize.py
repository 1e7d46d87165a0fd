"""From a recording to the times of its operations, places and devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..record.allocators import AllocatorUse
from ..record.communication import CollectiveTime, ProgramTime, TransferTime
from ..record.kernels import KernelTime
from ..record.profile import DeviceUse, OperationTime, PlaceTime
from ..record.recording import Interpreted, StatValue, Trace, TraceLine
from ..record.steps import StepTimes
from ..record.timeline import ProfileTimeline
from .attribution import BESIDE, CALLBACK, COLLECTIVE, COMPUTE, COPY, Segments, union_of
from .data_sheets import data_sheet_of, peak_of
from .devices.activity import DeviceWork, OpClassifier
from .devices.allocators import allocator_uses
from .devices.communication import Collectives, transfers
from .devices.idle_gaps import gaps, host_stretches, length_ps
from .devices.kernel_times import kernels_of
from .devices.steps import Executions, step_times
from .rows import Programs, SourceTotals, operations_of
from .run_windows import Window, from_first_to_last, within
from .timeline import Gaps, make_timeline


class ProfileSummary(NamedTuple):
    """What :class:`~jaxmagic.Profile` says of the devices, under the names that it has there."""

    recorded_ns: int
    device_uses: tuple[DeviceUse, ...]
    operation_times: tuple[OperationTime, ...]
    place_times: tuple[PlaceTime, ...]
    collectives: tuple[CollectiveTime, ...] = ()
    transfers: tuple[TransferTime, ...] = ()
    programs: tuple[ProgramTime, ...] = ()
    timeline: ProfileTimeline | None = None
    kernel_times: tuple[KernelTime, ...] = ()
    step_times: tuple[StepTimes, ...] = ()
    allocator_uses: tuple[AllocatorUse, ...] = ()
    whole_ns: int | None = None
    idle_devices: tuple[str, ...] = ()


def summarize(recording: Interpreted, windows: Sequence[Window] | None = None) -> ProfileSummary:
    """Return what devices did.

    Args:
        recording: it.
        windows: what counts, in order and apart from each other; from the first operation to the end of the last if
            left out.
    """
    by_device: dict[str, list[TraceLine]] = {}
    for track in recording.tracks:
        if track.device is not None and track.role in ("operations", "asynchronous"):
            by_device.setdefault(track.device, []).append(track)
    whole_ns = None
    if windows is None:
        whole_ns = _whole_ns(recording)
        windows = from_first_to_last([each for tracks in by_device.values() for each in tracks])
    recorded_ps = sum(each.end_ps - each.start_ps for each in windows)
    kinds = OpClassifier(recording)
    uses, operations, kernels, places, waits = [], [], [], SourceTotals(), []
    collectives, programs, executions = Collectives(), Programs(recording), Executions(recording)
    host, when = host_stretches(recording), _stretches(windows)
    for device, tracks in sorted(by_device.items()):
        work = DeviceWork(tracks, windows, kinds)
        if not work.count.any():  # nothing, or only programs of ours
            continue
        barrier_ps = _barriers(recording, device, windows)
        executions.add(device, work, kinds)
        waits.append(Gaps(device, gaps(work.segments, work.ranks, when, host), barrier_ps))
        uses.append(_use(device, work, recorded_ps, recording.devices.get(device, {}), waits[-1]))
        operations += operations_of(device, work, kinds)
        kernels += kernels_of(device, work, kinds)
        for number in np.flatnonzero(work.count).tolist():
            mine, time_ps, count = kinds.of(number), float(work.time_ps[number]), int(work.runs[number])
            places.add(device, mine, time_ps, count)
            programs.add(device, number, time_ps)
            if mine.rank == COLLECTIVE:
                collectives.add(device, mine, (count, float(work.total_ps[number]), time_ps), work.spans(number))
    return ProfileSummary(
        recorded_ns=-(-recorded_ps // 1000),
        device_uses=tuple(uses),
        operation_times=tuple(sorted(operations, key=lambda each: -each.time_ns)),
        kernel_times=tuple(sorted(kernels, key=lambda each: -each.total_ns)),
        place_times=places.times(sum(each.busy_ns for each in uses)),
        collectives=collectives.times(),
        transfers=transfers(recording, windows),
        programs=programs.times(),
        timeline=make_timeline(recording, windows, waits, kinds.known),
        step_times=step_times(recording, executions, waits, windows),
        allocator_uses=allocator_uses(recording, windows[0].start_ps) if windows else (),
        whole_ns=whole_ns,
        idle_devices=tuple(each for each in sorted(recording.devices) if each not in {use.device for use in uses}),
    )


def _whole_ns(recording: Trace) -> int | None:
    """From the first event of a recording to the end of the last, of devices and hosts."""
    tracks = [each for each in recording.tracks if len(each.start_ps)]
    if not tracks:
        return None
    first, last = (np.array([find(each) for each in tracks]) for find in (_first, _last))
    return int(last.max() - first.min()) // 1000


def _first(track: TraceLine) -> int:
    return int(track.start_ps.min())


def _last(track: TraceLine) -> int:
    return int(track.end_ps.max())


def _barriers(recording: Trace, device: str, windows: Sequence[Window]) -> int:
    """Tell how long a device waited at barriers, as its profiler tells."""
    total = 0
    for track in recording.tracks:
        if track.device == device and track.role == "waits":
            names = [
                number for number in np.unique(track.kinds).tolist() if "barrier" in recording.kinds[number].name
            ]
            chosen = np.isin(track.kinds, names)
            start, end, _ = within(track.start_ps[chosen], track.end_ps[chosen], windows)
            total += int((end - start).sum())
    return total


def _stretches(windows: Sequence[Window]) -> Segments:
    start, end = np.array(windows, np.int64).reshape(-1, 2).T
    return union_of(start, end)


def _use(device: str, work: DeviceWork, recorded_ps: int, facts: Mapping[str, StatValue], waits: Gaps) -> DeviceUse:
    busy, exposed = work.busy, work.busy.exposed
    return DeviceUse(
        device=device,
        busy_ns=busy.total // 1000,
        compute_ns=busy.ranks[COMPUTE] // 1000,
        copy_ns=work.copy_ps // 1000,
        collective_ns=busy.ranks[COLLECTIVE] // 1000,
        exposed_copy_ns=(exposed[COPY] + exposed[BESIDE]) // 1000,
        exposed_collective_ns=exposed[COLLECTIVE] // 1000,
        idle_ns=(recorded_ps - busy.total) // 1000,
        barrier_ns=waits.barrier_ps // 1000,
        callback_ns=exposed[CALLBACK] // 1000,
        compile_idle_ns=length_ps(waits.by_cause["compilation"]) // 1000,
        transfer_idle_ns=length_ps(waits.by_cause["transfer"]) // 1000,
        **_peaks(facts),
    )


def _peaks(facts: Mapping[str, StatValue]) -> dict[str, Any]:
    """Return the peak rates of a device: the larger of data sheet and recording."""
    flops = _peak(facts, "peak_teraflops_per_second", 1e12)
    size = _peak(facts, "peak_hbm_bw_gigabytes_per_second", 1e9) or _peak(facts, "memory_bandwidth", 1)
    sheet = data_sheet_of(facts)
    if sheet is None:
        known = {"peaks_from": "recording"} if size or flops else {}
        return {"peak_flops": flops, "peak_bytes": size, "recorded_peak_bytes": size, **known}
    by_type = dict(sheet.flops)
    if flops and flops > by_type.get("bf16", 0):
        by_type["bf16"] = flops
    return {
        "peak_flops": peak_of(by_type, "bf16"),
        "peak_bytes": max(sheet.bytes_per_s, size or 0),
        "peaks_from": "data sheet",
        "model": sheet.name,
        "peak_flops_by_type": by_type,
        "recorded_peak_bytes": size,
    }


def _peak(facts: Mapping[str, StatValue], name: str, unit: float) -> float | None:
    found = facts.get(name)
    return found * unit if isinstance(found, int | float) and found > 0 else None
