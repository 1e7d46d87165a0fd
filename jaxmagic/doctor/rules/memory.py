"""Finds programs that hardly fit into the memory of the device, or do not, and arrays and programs that pile up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ... import units
from ...records.note import Note, note
from ..record.evidence import Evidence, KeptArrays
from ..record.finding import RuleFinding
from ..record.program import Program
from .compiling.piling_programs import piling_programs
from .rule import Rule

#: A program that needs this share of the memory leaves too little for fragmentation.
_LARGE = 0.9

#: Code that keeps less per run is no finding: collecting a loss per step is usual.
_LEAST_KEPT_BYTES = 2**20


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the programs that need most of the memory, and what each run keeps."""
    limit_bytes = evidence.limit_bytes
    for program in evidence.programs or ():
        peak_bytes = program.executable.peak_bytes
        if limit_bytes and peak_bytes is not None:
            others_bytes = max((evidence.resident_bytes or 0) - (program.executable.argument_bytes or 0), 0)
            if peak_bytes + others_bytes >= _LARGE * limit_bytes:
                yield _finding(program, peak_bytes, others_bytes, limit_bytes)
    for kept in _by_container(evidence.kept or ()):
        if kept.size_bytes >= _LEAST_KEPT_BYTES:
            yield _piling_up(kept)
    yield from piling_programs(evidence, RULE.name)


def uncounted(evidence: Evidence) -> Note | None:
    """Return a note on the largest program that may need more of a given memory than was counted; or ``None``."""
    more = [each for each in evidence.programs or () if each.executable.at_least]
    if not more or not evidence.limit_bytes:
        return None
    largest = max(more, key=lambda each: each.executable.peak_bytes or 0)
    return note("doctor.memory_uncounted", function=largest.name, peak_bytes=largest.executable.peak_bytes or 0)


def _finding(program: Program, peak_bytes: int, others_bytes: int, limit_bytes: int) -> RuleFinding:
    executable = program.executable
    missing_bytes = peak_bytes + others_bytes - limit_bytes
    return RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.memory",
            function=program.name,
            peak_bytes=peak_bytes,
            others_bytes=others_bytes,
            limit_bytes=limit_bytes,
        ),
        line=program.location,
        evidence=(
            note(
                "doctor.memory_parts",
                argument_bytes=executable.argument_bytes or 0,
                output_bytes=(executable.output_bytes or 0) - (executable.alias_bytes or 0),
                temporary_bytes=executable.temporary_bytes or 0,
            ),
        ),
        cost_bytes=missing_bytes if missing_bytes > 0 else None,
        basis="measured" if missing_bytes > 0 else None,
        remedy=note("doctor.memory_remedy", function=program.name),
    )


def _by_container(kept: Iterable[KeptArrays]) -> Iterator[KeptArrays]:
    """Add up what the items of one container hold, such as the two moments in each state of an optimizer."""
    groups: dict[str, list[KeptArrays]] = {}
    for each in kept:
        groups.setdefault(_container(each.name), []).append(each)
    for name, parts in groups.items():
        yield KeptArrays(
            name=name if len(parts) > 1 else parts[0].name,
            arrays=sum(each.arrays for each in parts),
            size_bytes=sum(each.size_bytes for each in parts),
            runs=parts[0].runs,
        )


def _container(name: str) -> str:
    """Return the items of the outermost container in the name of an array.

    >>> _container("step (in states[*][*].mu)")
    'step (in states[*])'
    """
    items, _, rest = name.partition("[*]")
    return f"{items}[*]{')' * (rest.count(')') - rest.count('('))}" if rest else name


def _piling_up(kept: KeptArrays) -> RuleFinding:
    return RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.memory_kept", name=kept.name, arrays=kept.arrays, size_bytes=kept.size_bytes, runs=kept.runs
        ),
        cost_bytes=kept.size_bytes,
        basis="measured",
        remedy=note("doctor.memory_kept_remedy", name=kept.name),
    )


RULE = Rule(
    name="memory",
    looks_for="programs that hardly fit into the memory of the device, and arrays and compiled programs that pile up "
    "from run to run",
    decides=f"Reports a program that needs at least {units.percent(_LARGE)} of the memory of a device, or of what "
    "--memory gives. That counts its arguments, results and temporaries, as the compiler planned them, and other "
    "arrays that are alive both before the first run and after the last. Also reports arrays of at least "
    f"{_LEAST_KEPT_BYTES // 2**20} MiB that the second run makes and that a variable still holds after at least two "
    "more runs, if each of these has made as many. What the items of one container hold is one finding. "
    "Arrays in a bounded deque do not count. Also reports a function that compiles in every run after the first one, "
    "if all of these programs are still alive after the last run, and recompile does not report it already. "
    "Code that runs only once is not examined for these.",
    source="https://openxla.org/xla/errors/error_1000",
    look=look,
    needs=("programs",),
)
