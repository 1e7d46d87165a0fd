"""Summarizes a trace: device time by operation, source line, program and step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...runtime.given import LEAST_RATE, MOST_RATE
from ..record.allocators import AllocatorUse
from ..record.communication import CollectiveTime, ProgramTime, TransferTime
from ..record.kernels import KernelTime
from ..record.profile import DeviceUse, OperationTime, PlaceTime
from ..record.recording import Interpreted, StatValue, Trace, TraceLine
from ..record.steps import StepTimes
from ..record.timeline import ProfileTimeline
from .attribution import ASYNC, CALLBACK, COLLECTIVE, COMPUTE, COPY, union_of
from .data_sheets import data_sheet_of, peak_of
from .devices.activity import DeviceWork, OpClassifier
from .devices.allocators import allocator_uses
from .devices.communication import Collectives, transfers
from .devices.executions import Executions
from .devices.idle_gaps import gaps, host_stretches, length_ps
from .devices.kernel_times import kernels_of
from .devices.steps import step_times
from .rows import Programs, SourceTotals, operations_of
from .run_windows import Window, from_first_to_last, within
from .timeline import Gaps, make_timeline


class ProfileSummary(NamedTuple):
    """The fields of :class:`~jaxmagic.Profile` that come from the trace, with the same names."""

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
    """Summarize the activity of devices.

    Args:
        recording: the trace.
        windows: the times to summarize, in order and disjoint; from the first operation to the end of the last one
            if left out.
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
    classifier = OpClassifier(recording)
    uses, operations, kernels, places, waits = [], [], [], SourceTotals(), []
    collectives, programs, executions = Collectives(), Programs(recording), Executions(recording)
    host, when = host_stretches(recording), union_of(*np.array(windows, np.int64).reshape(-1, 2).T)
    for device, tracks in sorted(by_device.items()):
        work = DeviceWork(tracks, windows, classifier)
        if not work.count.any():  # nothing, or only programs of ours
            continue
        barrier_ps = _barriers(recording, device, windows)
        executions.add(device, work, classifier)
        waits.append(Gaps(device, gaps(work.segments, work.priorities, when, host), barrier_ps))
        uses.append(_use(device, work, recorded_ps, recording.devices.get(device, {}), waits[-1]))
        operations += operations_of(device, work, classifier)
        kernels += kernels_of(device, work, classifier)
        for number in np.flatnonzero(work.count).tolist():
            op, time_ps, count = classifier.of(number), float(work.time_ps[number]), int(work.runs[number])
            places.add(device, op, time_ps, count)
            programs.add(device, number, time_ps)
            if op.priority == COLLECTIVE:
                collectives.add(device, op, (count, float(work.total_ps[number]), time_ps), work.spans(number))
    return ProfileSummary(
        recorded_ns=-(-recorded_ps // 1000),
        device_uses=tuple(uses),
        operation_times=tuple(sorted(operations, key=lambda each: -each.time_ns)),
        kernel_times=tuple(sorted(kernels, key=lambda each: -each.total_ns)),
        place_times=places.times(sum(each.busy_ns for each in uses)),
        collectives=collectives.times(),
        transfers=transfers(recording, windows),
        programs=programs.times(),
        timeline=make_timeline(recording, windows, waits, classifier.known),
        step_times=step_times(recording, executions, waits, windows),
        allocator_uses=allocator_uses(recording, windows[0].start_ps) if windows else (),
        whole_ns=whole_ns,
        idle_devices=tuple(each for each in sorted(recording.devices) if each not in {use.device for use in uses}),
    )


def _whole_ns(recording: Trace) -> int | None:
    """Return the time from the first event to the end of the last one, of devices and hosts."""
    tracks = [each for each in recording.tracks if len(each.start_ps)]
    if not tracks:
        return None
    return int(max(each.end_ps.max() for each in tracks) - min(each.start_ps.min() for each in tracks)) // 1000


def _barriers(recording: Trace, device: str, windows: Sequence[Window]) -> int:
    """Return how long a device waited at barriers; only TPUs record this."""
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


def _use(device: str, work: DeviceWork, recorded_ps: int, stats: Mapping[str, StatValue], waits: Gaps) -> DeviceUse:
    busy, exposed = work.busy, work.busy.exposed
    return DeviceUse(
        device=device,
        busy_ns=busy.total // 1000,
        compute_ns=busy.priorities[COMPUTE] // 1000,
        copy_ns=work.copy_ps // 1000,
        collective_ns=busy.priorities[COLLECTIVE] // 1000,
        exposed_copy_ns=(exposed[COPY] + exposed[ASYNC]) // 1000,
        exposed_collective_ns=exposed[COLLECTIVE] // 1000,
        idle_ns=(recorded_ps - busy.total) // 1000,
        barrier_ns=waits.barrier_ps // 1000,
        callback_ns=exposed[CALLBACK] // 1000,
        compile_idle_ns=length_ps(waits.by_cause["compilation"]) // 1000,
        transfer_idle_ns=length_ps(waits.by_cause["transfer"]) // 1000,
        **_peaks(stats),
    )


def _peaks(stats: Mapping[str, StatValue]) -> dict[str, Any]:
    """Return the peak rates of a device: the larger of data sheet and recording."""
    flops = _peak(stats, "peak_teraflops_per_second", 1e12)
    size = _peak(stats, "peak_hbm_bw_gigabytes_per_second", 1e9) or _peak(stats, "memory_bandwidth", 1)
    sheet = data_sheet_of(stats)
    if sheet is None:
        known = {"peaks_from": "recording"} if size or flops else {}
        return {"peak_flops": flops, "peak_bytes": size, "recorded_peak_bytes": size, **known}
    by_type = dict(sheet.flops)
    flops_from, bytes_from = "data sheet", "recording" if size and size > sheet.bytes_per_s else "data sheet"
    if flops and flops > by_type.get("bf16", 0):
        by_type["bf16"] = flops
        flops_from = "data sheet, recording"
    return {
        "peak_flops": peak_of(by_type, "bf16"),
        "peak_bytes": max(sheet.bytes_per_s, size or 0),
        "peaks_from": bytes_from,
        "peak_flops_from": "" if flops_from == bytes_from else flops_from,
        "model": sheet.name,
        "peak_flops_by_type": by_type,
        "recorded_peak_bytes": size,
    }


def _peak(stats: Mapping[str, StatValue], name: str, unit: float) -> float | None:
    value = stats.get(name)
    rate = value * unit if isinstance(value, int | float) else 0.0
    return rate if LEAST_RATE <= rate <= MOST_RATE else None
