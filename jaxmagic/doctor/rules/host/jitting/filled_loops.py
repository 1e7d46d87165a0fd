"""Advises one call for a loop that fills an array element by element, where each ``.at[i].set`` copies it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.note import Note, note
from ....record.evidence import Dispatch, Evidence, HostUse
from ....record.program import Program
from ...rewriting.loops.fills.filled_arrays import Filling
from ...rewriting.loops.fills.filling_code import filled
from ...rewriting.loops.jitted_round import JittedRound
from ...rewriting.loops.loop_facts import trip_count
from ..functions.inside_function import SourceRange, is_within
from ..functions.spared import Spared
from ..host_time import HostTime, best_run, names_of_program
from ..syntax import function_around

#: How the names of the operations begin that ``x.at[i].set(y)`` and the like call.
_WRITING = "scatter"


class FilledLoop(NamedTuple):
    """What to do about a loop that fills arrays.

    Attributes:
        remedy: the advice.
        round: the lines of the loop, and the code; empty if it could not be written.
    """

    remedy: Note
    round: JittedRound


def filled_loop(line: Frame, evidence: Evidence) -> FilledLoop | None:
    """Return the advice for the loop around a line; ``None`` if it fills no array, or does not only compute."""
    found = filled(line, evidence)
    if found is None:
        return None
    function, loop = function_around(line), found.filling.loop
    remedy = note(
        "doctor.not_jitted_remedy",
        way="rows" if found.filling.independent else "in_turn",
        function="" if function is None else function.name,
        fills=", ".join(found.filling.names),
        written=int(found.code is not None),
    )
    fill = replace(line, line=found.filling.fills[0].statement.lineno)
    lines = SourceRange(line.file, loop.body[0].lineno, loop.end_lineno or loop.lineno)
    times = _times_run(found.filling, lines, evidence)
    return FilledLoop(remedy, JittedRound(found.code or "", fill, (lines,), 1, len(loop.body), calls=times))


def _times_run(found: Filling, lines: SourceRange, evidence: Evidence) -> int:
    """Return how often a loop runs: its rounds are as many as its syntax or else the size of what it fills tells."""
    written = [] if evidence.host_use is None else list(_writing((lines,), evidence, evidence.host_use))
    if not written:
        return 1
    call, program = written[0]
    outputs = () if program.module is None else program.module.outputs
    axis = found.fills[0].axis(found.counter) or 0
    sizes = outputs[0].shape.partition("[")[2].rstrip("]").split(",") if outputs else []
    size = next((each for each in sizes[axis : axis + 1] if each.isdecimal()), "1")
    rounds = trip_count(found.loop) or int(size)
    return max(round(call.count / max(rounds, 1)), 1)


def with_copies(spared: Spared, one: JittedRound, evidence: Evidence, time: HostTime) -> Spared:
    """Add what the device needs to copy whole arrays for the elements that rounds write.

    Idle time of the device is no part of that. One call writes all of them, and copies the arrays once.

    Args:
        spared: what one call spares of the idle time.
        one: the loop.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    shares = [each.facts["share"] for each in spared.evidence if "share" in each.facts]
    told = tuple(note("doctor.filled_share", share=float(each)) for each in shares[:1])
    spared = Spared(spared.time_ns, told, spared.own_ns)
    copies = [pair for pair in _writing(one.lines, evidence, time.use) if pair[0].count > 1]
    if not copies:
        return spared
    busy_ns = sum(call.busy_ns * (1 - 1 / call.count) for call, _ in copies) * time.scale
    size_bytes = max(program.executable.output_bytes or 0 for _, program in copies)
    told += (note("doctor.filled_copies", size_bytes=size_bytes),) if size_bytes else ()
    together_ns = min(spared.time_ns + busy_ns, best_run(evidence).wall_ns)
    return Spared(together_ns, told, spared.own_ns)


def _writing(lines: Sequence[SourceRange], evidence: Evidence, use: HostUse) -> Iterator[tuple[Dispatch, Program]]:
    """Yield the calls of operations that write elements, with the only program of each, which the loop ran first."""
    for call in use.dispatches:
        programs = [each for each in evidence.programs or () if each.eager and call.name in names_of_program(each)]
        if len(programs) == 1 and call.name.startswith(_WRITING):
            line = programs[0].called_at
            if line is not None and is_within(line, lines):
                yield call, programs[0]
