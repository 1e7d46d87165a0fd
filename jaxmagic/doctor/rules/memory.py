"""Finds programs that hardly fit into the memory of the device, or do not."""

from __future__ import annotations

from collections.abc import Iterator

from ...records.note import note
from ..record.evidence import Evidence, Program
from ..record.finding import RuleFinding
from .rule import Rule

#: A program that needs this share of the memory leaves too little for other arrays and for fragmentation.
_LARGE = 0.9


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the programs that need most of the memory."""
    limit_bytes = evidence.limit_bytes
    for program in evidence.programs or ():
        peak_bytes = program.executable.peak_bytes
        if limit_bytes and peak_bytes is not None and peak_bytes >= _LARGE * limit_bytes:
            yield _finding(program, peak_bytes, limit_bytes)


def _finding(program: Program, peak_bytes: int, limit_bytes: int) -> RuleFinding:
    executable = program.executable
    missing_bytes = peak_bytes - limit_bytes
    return RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.memory",
            function=program.function or executable.name,
            peak_bytes=peak_bytes,
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
        remedy=note("doctor.memory_remedy", function=program.function or executable.name),
    )


RULE = Rule(
    name="memory",
    looks_for="programs that hardly fit into the memory of the device",
    decides=f"A program needs at least {_LARGE:.0%} of the memory of a device, or of what --memory gives: its "
    "arguments, results and temporaries, as the compiler planned them. Other live arrays are not counted.",
    source="https://openxla.org/xla/errors/error_1000",
    look=look,
    needs=("programs",),
)
