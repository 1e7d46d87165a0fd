"""Sums the device time of operations of one kind by line of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ....profiling.record.profile import OperationTime
from ....records.call_stack import Frame
from ....records.note import Note, note
from ....xla.hlo import HloModule
from ...record.evidence import Evidence
from ...record.program import Program
from ..rule import device_time, least_device_time, source_at, undisturbed_ns

#: How the rules about dominant operations take account of a busy machine.
CERTAIN = (
    "An operation that was executed several times counts with its median time; for one that was executed once, all "
    "that the recorded run took longer than an undisturbed one is subtracted first. An undisturbed run takes no "
    "longer than the shortest run, and on the CPU no longer than the processor time of any run."
)


class DominantLine(NamedTuple):
    """A line whose operations of one kind dominate a run.

    Attributes:
        program: the program.
        line: the user's line, such as ``"cell 3:2"``; where the function is defined if it is unknown.
        time_ns: the device time of the operations per run and device.
        operations: the operations, longest first.
    """

    program: Program
    line: str | None
    time_ns: float
    operations: tuple[OperationTime, ...]

    @property
    def function(self) -> str:
        """The name of the jitted function, or of the program if that is unknown."""
        return self.program.name

    @property
    def evidence(self) -> tuple[Note, ...]:
        """How long the operations take, and which one takes longest."""
        longest, count = self.operations[0], len(self.operations)
        time = note(
            "doctor.dominant_time", operations=count, time_ns=self.time_ns, name=longest.name, shape=longest.shape
        )
        return (time,)

    @property
    def source(self) -> str | None:
        """The text of the line, without its indentation; ``None`` if it cannot be read."""
        return source_at(_frame_at(self.line, self.program))


def dominant(
    evidence: Evidence, least_share: float, is_kind: Callable[[OperationTime, HloModule | None], bool]
) -> Iterator[DominantLine]:
    """Yield the lines for which operations of a kind certainly dominate.

    Programs have to be told apart by their names.

    Args:
        evidence: the observations of the runs.
        least_share: the least share of the run.
        is_kind: whether an operation of a module is of the kind.
    """
    profile, programs = evidence.profile, evidence.programs or ()
    assert profile is not None
    for program in programs:
        named_alike = sum(each.executable.name == program.executable.name for each in programs)
        if program.eager or named_alike > 1:
            continue
        lines: dict[str | None, list[OperationTime]] = {}
        for operation in profile.operation_times:
            if (
                operation.module == program.executable.name
                and operation.time_ns
                and is_kind(operation, program.module)
            ):
                lines.setdefault(operation.source, []).append(operation)
        for line, operations in lines.items():
            time_ns = min(device_time(operations, evidence), evidence.run_ns)
            certain_ns = least_device_time(operations, evidence)
            if time_ns >= least_share * evidence.run_ns and certain_ns >= least_share * undisturbed_ns(evidence):
                longest_first = tuple(sorted(operations, key=lambda each: -each.time_ns))
                yield DominantLine(program, line or program.location, time_ns, longest_first)


def _frame_at(location: str | None, program: Program) -> Frame | None:
    instructions = () if program.module is None else program.module.instructions.values()
    frames = (frame for instruction in instructions for frame in reversed(instruction.stack))
    return next((frame for frame in frames if frame.location == location), None)
