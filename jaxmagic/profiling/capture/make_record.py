"""Makes the record of a trace, and adds source, environment and peak rates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...compilation.record.compilation import Compilation
from ...records.call_stack import Frame, is_users
from ...records.names import listed
from ...records.note import Note, note
from ...runtime.environment import probe
from ...runtime.given_peaks import Given, given_peaks
from ...runtime.jax_version import keeps_lines
from ..analysis.devices.command_buffers import ran_in_graphs
from ..analysis.roofline import fastest_product
from ..analysis.stale_callers import without_stale_callers
from ..analysis.summarize import ProfileSummary
from ..record.profile import DeviceUse, OperationTime, Profile
from ..record.recording import Interpreted, Trace
from .called_now import compiled_now, is_called_by, running_cells
from .cpu_peaks import cpu_peaks
from .source_excerpts import codes_of

#: At most this many programs are named.
_MOST_NAMES = 4


def make_profile(
    summary: ProfileSummary,
    recording: Interpreted | None,
    *,
    here: bool = True,
    compiled: Iterable[Compilation] = (),
    notes: Sequence[Note] = (),
    **more: Any,
) -> Profile:
    """Make the record of a trace.

    Args:
        summary: the activity of the devices.
        recording: the trace; ``None`` if there is none.
        here: whether the trace was recorded in this process.
        compiled: what this process compiled for the measured code.
        notes: other notes of the record.
        more: the other fields of the record.
    """
    stale: list[Note] = []
    if here:
        summary, stale = _without_stale_callers(summary, recording, compiled, more.get("code"))
    frames = dict.fromkeys(frame for each in summary.place_times for frame in each.stack if is_users(frame))
    codes = codes_of(frames, trusted=here)
    all_notes = [*notes, *stale, *_notes(recording, here)]
    if codes and not here:
        all_notes.append(note("profiling.source_of_now"))
    uses, given = summary.device_uses, given_peaks()
    if here and None in given:
        uses, about_peaks = with_peaks(uses, summary.operation_times)
        all_notes += about_peaks
    more |= summary._asdict() | {"device_uses": tuple(with_given(each, given) for each in uses)}
    return Profile(codes=codes, notes=tuple(all_notes), environment=probe() if here else None, **more)


def _without_stale_callers(
    summary: ProfileSummary, recording: Trace | None, compiled: Iterable[Compilation], code: str | None
) -> tuple[ProfileSummary, list[Note]]:
    """Take callers of earlier calls out of a summary, and name the programs whose callers are not known."""
    cells = running_cells()

    def called(frame: Frame) -> bool:
        return (frame.function == "<module>" and frame.file in cells) or is_called_by(code, frame)

    ran = () if recording is None else (each.name for each in recording.modules.values())
    names = compiled_now((each.function for each in compiled), ran)
    found = without_stale_callers(summary.place_times, summary.operation_times, names, called)
    summary = summary._replace(place_times=found.places, operation_times=found.operations)
    if not found.unknown:
        return summary, []
    return summary, [note("profiling.compiled_earlier", functions=listed(found.unknown, _MOST_NAMES))]


def with_peaks(
    uses: tuple[DeviceUse, ...], operations: Iterable[OperationTime]
) -> tuple[tuple[DeviceUse, ...], list[Note]]:
    """Add the measured peak rates of the CPU if it is one device; several devices share it."""
    if [each.device for each in uses] != ["CPU:0"]:
        return uses, []
    import jax

    if jax.local_device_count(backend="cpu") > 1:
        return uses, []
    peaks = cpu_peaks(fastest_product(operations))
    if peaks is None:
        return uses, []
    use = replace(uses[0], peak_flops=peaks.flops, peak_bytes=peaks.bytes, peaks_from="measured")
    return (use,), [] if peaks.quiet else [note("profiling.peaks_under_load")]


def with_given(use: DeviceUse, given: Given) -> DeviceUse:
    """Replace the peak rates with those given by the user, if any."""
    flops_from = use.peak_flops_from or use.peaks_from
    if given.flops is not None:
        use, flops_from = replace(use, peak_flops=given.flops, peak_flops_by_type={}), "given"
    if given.bytes is not None:
        use = replace(use, peak_bytes=given.bytes, peaks_from="given")
    return replace(use, peak_flops_from=flops_from if use.peak_flops and flops_from != use.peaks_from else "")


def _notes(recording: Trace | None, here: bool) -> list[Note]:
    if recording is None:
        return []
    notes = list(recording.notes)
    if ran_in_graphs(recording.kinds):
        notes.append(note("profiling.command_buffers"))
    if recording.unread:
        errors = ", ".join(sorted(set(recording.unread.values())))
        notes.append(note("profiling.unread_modules", programs=len(recording.unread), errors=errors))
    if here and recording.modules and not keeps_lines():
        notes.append(note("profiling.lines_of_earlier_calls"))
    return notes
