"""Finds steps, and divides the time of each into the activity of the device and its waits.

Steps are the events of the profiler's own "Steps" line. Without it they are the events of
``jax.profiler.StepTraceAnnotation``. Without these they last from one execution to the next of the program with most
time among those with three or more executions, if such programs take most of the time. These executions are the steps
as well if most of the devices' work lies outside of the annotations, as it does if those surround an asynchronous
dispatch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...record.recording import Trace
from ...record.steps import StepTimes
from ..attribution import Ints, Segments, columns_of, overlap, union_of
from ..run_windows import Window
from ..timeline import Gaps, is_main
from .executions import Executions, StepSpans
from .idle_gaps import Cause, length_ps
from .step_marks import step_marks
from .step_parts import PARTS, step_totals

#: The columns of a device have at most this many steps, the first.
MOST_STEPS = 500

_COLUMNS = ("start_ns", "time_ns", *(field for _, field in PARTS))

#: Annotations with a smaller share of a device's work surround something else, such as its dispatch.
_LEAST_INSIDE = 0.5

#: Causes of idle time that are the host's.
_OF_THE_HOST: tuple[Cause, ...] = ("callback", "compilation", "transfer", "host")

#: Python functions that fetch the next item of an iterator, as they are recorded, under Python's own names.
_NEXT = re.compile(r"\$(?:.+ __next__|builtins next)")


def step_times(
    recording: Trace, executions: Executions, gaps: Sequence[Gaps], windows: Sequence[Window]
) -> tuple[StepTimes, ...]:
    """Return the steps of each device that has any.

    Args:
        recording: the trace.
        executions: the executions of programs.
        gaps: the gaps of each device with activity.
        windows: the recorded times.
    """
    if not windows:
        return ()
    by_program = executions.steps(windows)
    nexts = [number for number, kind in enumerate(recording.kinds) if _NEXT.fullmatch(kind.name)]
    fetching, known = _when(recording, nexts), _when(recording, range(len(recording.kinds)))

    def divided(steps: Mapping[str, StepSpans]) -> dict[str, StepTimes]:
        return {
            each.device: _times(each, steps[each.device], fetching, known, windows)
            for each in gaps
            if each.device in steps
        }

    annotated = divided(_annotated(recording, [each.device for each in gaps], windows))
    work = sum(_work(each, windows) for each in gaps if each.device in annotated)
    runs = divided(by_program)
    if runs and sum(map(_work_inside, annotated.values())) < _LEAST_INSIDE * work:
        for device in annotated.keys() & runs.keys():
            marks = annotated[device]
            runs[device] = replace(runs[device], other_names=(marks.name, *marks.other_names))
        annotated = {}
    found = runs | annotated | divided(_marked(recording, [each.device for each in gaps]))
    return tuple(_first_ones(found[each.device]) for each in gaps if each.device in found)


def _work_inside(steps: StepTimes) -> int:
    return sum(sum(each) for each in (steps.compute_ns, steps.collective_ns, steps.copy_ns))


def _work(gaps: Gaps, windows: Sequence[Window]) -> float:
    """Return how long a device did anything but wait for the host."""
    waits = sum(length_ps(gaps.by_cause[each]) for each in _OF_THE_HOST)
    return (sum(each.end_ps - each.start_ps for each in windows) - waits) / 1000


def _marked(recording: Trace, devices: Iterable[str]) -> dict[str, StepSpans]:
    """Return the steps of the profiler's own "Steps" lines, the first of each device."""
    return {
        track.device: StepSpans("steps", "steps", track.start_ps, track.end_ps)
        for track in reversed(recording.tracks)
        if track.device is not None and track.device in devices and track.role == "steps" and len(track.kinds) > 1
    }


def _annotated(recording: Trace, devices: Iterable[str], windows: Sequence[Window]) -> dict[str, StepSpans]:
    """Return the annotated steps of each device's host."""
    hosts = {device: device.rpartition(" ")[0] for device in devices}
    marks = {host: step_marks(recording, host, windows) for host in set(hosts.values())}
    return {
        device: StepSpans(found.name, "annotation", found.start, found.end, found.other_names)
        for device, host in hosts.items()
        if (found := marks[host]) is not None
    }


def _when(recording: Trace, kinds: Sequence[int]) -> Segments:
    """Return the times in which events of some kinds were recorded on the Python thread."""
    parts = [
        (track.start_ps[chosen], track.end_ps[chosen])
        for track in recording.tracks
        if track.role == "host" and is_main(track, recording)
        for chosen in [np.isin(track.kinds, kinds)]
    ]
    return union_of(*columns_of(parts, 2))


def _times(gaps: Gaps, steps: StepSpans, fetching: Segments, known: Segments, windows: Sequence[Window]) -> StepTimes:
    """Divide each step, clipped to the recorded windows, outside of which device activity is unknown."""
    base, over = windows[0].start_ps, windows[-1].end_ps
    start, end = (np.clip(each, base, over) for each in (steps.start, steps.end))
    start, end = start[end > start], end[end > start]
    waits = gaps.by_cause
    fetched = overlap(waits["host"], fetching, inside=True)
    rest = overlap(waits["host"], fetching, inside=False)
    on_host = waits["callback"], waits["compilation"], overlap(rest, known, inside=True)
    parts = {
        "collective_ns": _within(waits["collective"], start, end),
        "copy_ns": _within(waits["copy"], start, end),
        "input_ns": _within(waits["transfer"], start, end) + _within(fetched, start, end),
        "host_ns": np.sum([_within(each, start, end) for each in on_host], axis=0),
        "idle_ns": _within(overlap(rest, known, inside=False), start, end),
    }
    whole = {name: each // 1000 for name, each in parts.items()}
    time_ns = (end - start) // 1000
    columns: dict[str, Any] = {name: _numbers(each) for name, each in whole.items()}
    return StepTimes(
        device=gaps.device,
        name=steps.name,
        known_by=steps.known_by,
        other_names=steps.other_names,
        start_ns=_numbers((start - base) // 1000),
        time_ns=_numbers(time_ns),
        compute_ns=_numbers(time_ns - sum(whole.values())),
        **columns,
    )


def _first_ones(steps: StepTimes) -> StepTimes:
    """Cut the columns of very many steps, and keep the totals of all of them."""
    if len(steps.time_ns) <= MOST_STEPS:
        return steps
    columns = {each: getattr(steps, each)[:MOST_STEPS] for each in _COLUMNS}
    return replace(steps, all_steps=step_totals(steps), **columns)


def _within(segments: Segments, start: Ints, end: Ints) -> Ints:
    """Return the time that sorted, disjoint segments cover in each interval."""
    lengths: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(segments.end - segments.start)])

    def before(times: Ints) -> Ints:
        at = np.searchsorted(segments.start, times, side="right")
        last = np.maximum(at - 1, 0)
        if not len(segments.end):
            return np.zeros(len(times), np.int64)
        over = np.where(at > 0, np.maximum(segments.end[last] - times, 0), 0)
        return (lengths[at] - over).astype(np.int64)

    return before(end) - before(start)


def _numbers(values: Ints) -> tuple[int, ...]:
    return tuple(values.tolist())
