"""The record of a recording, with what only this process and this machine know of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...records.call_stack import is_users
from ...records.note import Note, note
from ...runtime.environment import probe
from ...runtime.given_peaks import Given, given_peaks
from ...runtime.jax_version import about_lines
from ..analysis.devices.command_buffers import ran_in_graphs
from ..analysis.roofline import fastest_product
from ..analysis.summarize import ProfileSummary
from ..record.profile import DeviceUse, OperationTime, Profile
from ..record.recording import Interpreted, Trace
from .cpu_peaks import cpu_peaks
from .source_excerpts import codes_of


def make_profile(
    times: ProfileSummary,
    recording: Interpreted | None,
    *,
    here: bool = True,
    notes: Sequence[Note] = (),
    **more: Any,
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
        told.append(note("profiling.source_of_now"))
    measured, given = times._asdict(), given_peaks()
    if here and None in given:
        measured["device_uses"], more_told = with_peaks(times.device_uses, times.operation_times)
        told += more_told
    measured["device_uses"] = tuple(with_given(each, given) for each in measured["device_uses"])
    return Profile(**measured, codes=codes, notes=tuple(told), environment=probe() if here else None, **more)


def with_peaks(
    uses: tuple[DeviceUse, ...], operations: Iterable[OperationTime]
) -> tuple[tuple[DeviceUse, ...], list[Note]]:
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
    return (found,), [] if peaks.quiet else [note("profiling.peaks_under_load")]


def with_given(use: DeviceUse, given: Given) -> DeviceUse:
    """With the peaks that somebody gave, where there are any."""
    if given == Given():
        return use
    if given.flops is not None:
        use = replace(use, peak_flops=given.flops, peak_flops_by_type={})
    if given.bytes is not None:
        use = replace(use, peak_bytes=given.bytes)
    return replace(use, peaks_from="given")


def _notes(recording: Trace | None, here: bool) -> list[Note]:
    if recording is None:
        return []
    found = list(recording.notes)
    if ran_in_graphs(recording.kinds):
        found.append(note("profiling.command_buffers"))
    if recording.unread:
        errors = ", ".join(sorted(set(recording.unread.values())))
        found.append(note("profiling.unread_modules", programs=len(recording.unread), errors=errors))
    if here and recording.modules and about_lines():
        found.append(note("profiling.lines_of_earlier_calls"))
    return found
