"""Finds the executions of each program on each device, and the steps from one execution to the next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...record.recording import ProgramKey, Trace, TraceLine
from ...record.steps import KnownBy
from ..attribution import Ints, columns_of
from ..run_windows import SKEW_PS, Window
from .activity import DeviceWork, OpClassifier

#: At least this many executions of a program make steps.
_LEAST_RUNS = 3

#: Programs that repeat make steps if they take at least this share of the time of all programs.
_LEAST_REPEATED = 0.5

#: Counts of operations that differ by at most this factor may differ only because events were lost.
_LITTLE_MORE = 1.5

_NUMBER = re.compile(r"\(-?\d+\)$")


class StepSpans(NamedTuple):
    """The start and end times of the steps of one device."""

    name: str
    known_by: KnownBy
    start: Ints
    end: Ints
    other_names: tuple[str, ...] = ()


class Executions:
    """The executions of programs on each device."""

    def __init__(self, recording: Trace) -> None:
        self._recording = recording
        self._starts: dict[str, dict[object, Ints]] = {}
        self._called: dict[ProgramKey, set[int]] = {}
        self._names: dict[object, str] = {}
        self._time_ps: dict[object, float] = {}

    def add(self, device: str, work: DeviceWork, classifier: OpClassifier) -> None:
        """Add the programs that ran on a device, from its line of programs, or else from their operations."""
        tracks = [each for each in self._recording.tracks if each.device == device and each.role == "programs"]
        if tracks:
            self._add_recorded(device, tracks)
        else:
            self._add_by_operations(device, work, classifier)

    def _add_recorded(self, device: str, tracks: Iterable[TraceLine]) -> None:
        for track in tracks:
            for number in np.unique(track.kinds).tolist():
                chosen = track.kinds == number
                name = self._recording.kinds[number].name
                taken_ps = float((track.end_ps - track.start_ps)[chosen].sum())
                self._note(device, name, _NUMBER.sub("", name), track.start_ps[chosen], taken_ps)

    def _add_by_operations(self, device: str, work: DeviceWork, classifier: OpClassifier) -> None:
        """Take executions from operations outside loops and branches, which run once per execution.

        Without the module, the least frequent operations are taken. Events may be lost, so their number is
        the most common count among the operations that ran nearly as rarely.
        """
        programs: dict[object, dict[object, list[int]]] = {}
        for number in np.flatnonzero(work.count).tolist():
            program, op = self._recording.kinds[number].program, classifier.of(number)
            if program is not None and op.module and not op.asynchronous and self._is_outside(program, op.name):
                programs.setdefault(program, {}).setdefault(op.identity, []).append(number)
        for key, operations in programs.items():
            began = [np.sort(_starts(work, numbers)) for numbers in operations.values()]
            runs = [int(work.runs[numbers].sum()) for numbers in operations.values()]
            whole = [at for at, each in enumerate(began) if runs[at] >= _LEAST_RUNS and len(each) % runs[at] == 0]
            taken_ps = sum(float(work.time_ps[numbers].sum()) for numbers in operations.values())
            name = classifier.of(next(iter(operations.values()))[0]).module
            if not whole:
                self._note(device, key, name, np.zeros(0, np.int64), taken_ps)
                continue
            few = [runs[at] for at in whole if runs[at] <= _LITTLE_MORE * min(runs[each] for each in whole)]
            usual = max(sorted(set(few)), key=few.count)
            first = min((at for at in whole if runs[at] == usual), key=lambda at: began[at][0])
            self._note(device, key, name, began[first][:: len(began[first]) // runs[first]], taken_ps)

    def _is_outside(self, program: ProgramKey, name: str) -> bool:
        """Return whether an operation is outside all called computations, or the module is not known."""
        module = self._recording.modules.get(program)
        number = None if module is None else module.instruction_ids.get(name)
        if module is None or number is None:
            return module is None
        if program not in self._called:
            instructions = module.instructions.values()
            called = {each for one in instructions for each in one.called_computation_ids}
            self._called[program] = {number for each in called for number in module.computations.get(each, ())}
        return number not in self._called[program]

    def _note(self, device: str, program: object, name: str, starts: Ints, taken_ps: float) -> None:
        self._starts.setdefault(device, {})[program] = np.sort(starts)
        self._names[program] = name
        self._time_ps[program] = self._time_ps.get(program, 0.0) + taken_ps

    def steps(self, windows: Sequence[Window]) -> Mapping[str, StepSpans]:
        """Return the steps of each device, all of the same program; none if most time is of programs that ran once.

        The program is the one with most time among those that repeat.
        """
        repeated: dict[object, dict[str, StepSpans]] = {}
        for device, programs in self._starts.items():
            for program, starts in programs.items():
                start, end = _between(starts, windows)
                if len(start):
                    name = self._names[program]
                    repeated.setdefault(program, {})[device] = StepSpans(name, "program", start, end)
        time_ps = self._time_ps
        if sum(time_ps[each] for each in repeated) < _LEAST_REPEATED * sum(time_ps.values()):
            return {}
        return repeated[max(repeated, key=time_ps.__getitem__)] if repeated else {}


def _starts(work: DeviceWork, numbers: Sequence[int]) -> Ints:
    return np.concatenate([work.spans(each)[0] for each in numbers])


def _between(starts: Ints, windows: Sequence[Window]) -> tuple[Ints, Ints]:
    """Return the intervals between consecutive starts in each window with enough of them."""
    intervals: list[tuple[Ints, Ints]] = []
    for low, high in windows:
        mine = np.maximum(starts[(starts >= low - SKEW_PS) & (starts < high)], low)
        if len(mine) >= _LEAST_RUNS:
            intervals.append((mine[:-1], mine[1:]))
    start, end = columns_of(intervals, 2)
    return start, end
