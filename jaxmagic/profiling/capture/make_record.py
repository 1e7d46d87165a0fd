"""The record of a recording, with what only this process and this machine know of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ... import units
from ...records.call_stack import is_users
from ...runtime.environment import probe
from ...runtime.given_peaks import Given, given_peaks
from ...runtime.jax_version import about_lines
from ..analysis.devices.command_buffers import about_graphs
from ..analysis.roofline import fastest_product
from ..analysis.summarize import ProfileSummary
from ..record.profile import DeviceUse, OperationTime, Profile
from ..record.recording import Interpreted, Trace
from .cpu_peaks import cpu_peaks
from .source_excerpts import codes_of

_MEASURED_UNDER_LOAD = (
    "Peak rates were measured on a busy machine and may be too low, so '% of roof' may be too high."
)


def make_profile(
    times: ProfileSummary, recording: Interpreted | None, *, here: bool = True, notes: Sequence[str] = (), **more: Any
) -> Profile:
    """The record of a recording that was made here, with the source of what took time.

    Args:
        times: what the devices did.
        recording: what that is from; ``None`` if there is none.
        here: whether it was made in this process.
        notes: what else a reader must know.
        more: the other fields of the record.
    """
    frames = dict.fromkeys(found for each in times.place_times for found in each.stack if is_users(found))
    codes = codes_of(frames, trusted=here)
    told = [*notes, *_notes(recording, here)]
    if codes and not here:
        told.append("The source is that of the files as they are on this machine now; the recording has none.")
    measured, given = times._asdict(), given_peaks()
    if here and None in given:
        measured["device_uses"], more_told = with_peaks(times.device_uses, times.operation_times)
        told += more_told
    measured["device_uses"] = tuple(with_given(each, given) for each in measured["device_uses"])
    return Profile(**measured, codes=codes, notes=tuple(told), environment=probe() if here else None, **more)


def with_peaks(
    uses: tuple[DeviceUse, ...], operations: Iterable[OperationTime]
) -> tuple[tuple[DeviceUse, ...], list[str]]:
    """With what the CPU can do, where it is one device: several share it."""
    if [each.device for each in uses] != ["CPU:0"]:
        return uses, []
    import jax

    if jax.local_device_count(backend="cpu") > 1:
        return uses, []
    peaks = cpu_peaks(fastest_product(operations))
    if peaks is None:
        return uses, []
    found = replace(uses[0], peak_flops=peaks.flops, peak_bytes=peaks.bytes, peaks_from="measured")
    return (found,), [] if peaks.quiet else [_MEASURED_UNDER_LOAD]


def with_given(use: DeviceUse, given: Given) -> DeviceUse:
    """With the peaks that somebody gave, where there are any."""
    flops_from = use.peak_flops_from or use.peaks_from
    if given.flops is not None:
        use, flops_from = replace(use, peak_flops=given.flops, peak_flops_by_type={}), "given"
    if given.bytes is not None:
        use = replace(use, peak_bytes=given.bytes, peaks_from="given")
    return replace(use, peak_flops_from=flops_from if use.peak_flops and flops_from != use.peaks_from else "")


def _notes(recording: Trace | None, here: bool) -> list[str]:
    if recording is None:
        return []
    found = [*recording.notes, *about_graphs(recording.kinds)]
    if recording.unread:
        found.append(
            f"Of {units.count(len(recording.unread), 'program')} the module could not be read: their operations have "
            f"no lines ({', '.join(sorted(set(recording.unread.values())))})."
        )
    if here and recording.modules:
        found += about_lines()
    return found
