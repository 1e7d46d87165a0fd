"""Words the memory that compiled programs need."""

from __future__ import annotations

from collections.abc import Sequence

from ... import units
from ...records.names import shortened
from ...report.inside_words import place_and_inside
from ..analysis.origin import has_backward, origin
from ..analysis.peak import peak_of
from ..record.memory_profile import Buffer, Executable

#: Number of constants of a program that are listed, and the size of the smallest.
_MOST_CONSTANTS = 3
_LEAST_BYTES = 1024

#: Number of live buffers that are listed at the peak.
MOST_BUFFERS = 3

#: Columns of host memory; like the column of aliases, a column of zeros is left out.
_ON_THE_HOST = {
    "host arg": "host_argument_bytes",
    "host out": "host_output_bytes",
    "host temp": "host_temporary_bytes",
    "host alias": "host_alias_bytes",
}


def programs_title(programs: Sequence[Executable]) -> str:
    """Name the number of programs, and the memory of the largest."""
    most = programs[0]
    needs = "an unknown amount" if most.peak_bytes is None else needed(most)
    verb = "the largest needs" if len(programs) > 1 else f"{shortened([most.name], 40)[0]} needs"
    return f"{units.count(len(programs), 'program')}, {verb} {needs}"


def program_table(programs: Sequence[Executable]) -> list[tuple[str, ...]]:
    """Make the rows of programs below the column heads: the memory that each needs, and its parts."""
    optional = {"- alias": "alias_bytes", **_ON_THE_HOST}
    more = {head: field for head, field in optional.items() if any(getattr(each, field) for each in programs)}
    heads = ("program", "needs =", "argument", "+ output", "+ temporary", *more, "in this run")
    return [heads, *(_program_row(each, list(more.values())) for each in programs)]


def _program_row(program: Executable, more: Sequence[str]) -> tuple[str, ...]:
    numbers = [program.peak_bytes, program.argument_bytes, program.output_bytes, program.temporary_bytes]
    numbers += [getattr(program, field) for field in more]
    events = [word for word, whether in (("ran", program.ran), ("compiled", program.compiled)) if whether]
    sizes = ("unknown" if each is None else units.size(each) for each in numbers)
    return (program.name, *sizes, ", ".join(events))


def about_parts(program: Executable) -> str:
    """Name the parts of the memory that a program needs, and then those on the host."""
    heads, row = program_table([program])
    named = list(zip(heads, row, strict=True))[2:-1]
    own, on_the_host = ([pair for pair in named if (pair[0] in _ON_THE_HOST) == host] for host in (False, True))
    return "; ".join(" ".join(map(" ".join, part)) for part in (own, *([each] for each in on_the_host)))


def program_headline(program: Executable) -> str:
    """Name the memory that a program needs."""
    if program.peak_bytes is None:
        return f"{program.name} needs an unknown amount of memory"
    return f"{program.name} needs {needed(program)}"


def needed(program: Executable) -> str:
    """Name the memory that a program needs, if that is known, and whether it may be more."""
    return f"{'at least ' if program.at_least else ''}{units.size(program.peak_bytes or 0)}"


def about_constants(programs: Sequence[Executable]) -> list[str]:
    """Name the memory of constants and machine code, which is not in the sums."""
    constants = [
        f"{each.name} {units.size(each.constant_bytes)}{_largest_constants(each)}"
        for each in programs
        if each.constant_bytes
    ]
    code = [f"{each.name} {units.size(each.generated_code_bytes)}" for each in programs if each.generated_code_bytes]
    named = (("Constants", constants), ("Machine code", code))
    return [f"{what}, not included above: {'; '.join(sizes)}." for what, sizes in named if sizes]


def _largest_constants(program: Executable) -> str:
    """List the largest constants with their names, if known, and the lines that use them."""
    constants = [each for each in program.allocations or () if each.kind == "constant" and each.buffers]
    large = sorted(constants, key=lambda each: -each.size_bytes)[:_MOST_CONSTANTS]
    listed = [
        f"{units.size(each.size_bytes)} {_name(each.buffers[0])}" for each in large if each.size_bytes >= _LEAST_BYTES
    ]
    return f" ({', '.join(listed)})" if listed else ""


def _name(constant: Buffer) -> str:
    source = f" at {place_and_inside(constant.source, constant.inside)}" if constant.source else ""
    return f"{' or '.join(constant.captured) or constant.shape}{source}"


def about_peak(program: Executable, most: int = MOST_BUFFERS) -> list[str]:
    """Name the step at which most bytes of a program are live, and the largest buffers then."""
    peak = peak_of(program)
    if peak is None or not peak.live_bytes:
        return []
    at = f"step {peak.step + 1} of {program.steps}"
    if peak.instruction is not None:
        at += f", {peak.instruction.instruction}"
        if peak.instruction.source:
            at += f" ({place_and_inside(peak.instruction.source, peak.instruction.inside)})"
    backward = has_backward(program)
    made_by = (origin(*each, backward) or each[1].instruction for each in peak.live[:most])
    names = shortened(list(made_by), 80)
    largest = [
        f"{units.size(buffer.size_bytes)} {allocation.kind} {buffer.shape} {name}"
        + (f" ({place_and_inside(buffer.source, buffer.inside)})" if buffer.source else "")
        for (allocation, buffer), name in zip(peak.live, names, strict=False)
    ]
    estimate = " (a lower bound: this backend does not report its buffer assignment)" if program.estimated else ""
    least = "at least " if program.estimated else ""
    live = f"{least}{units.size(peak.live_bytes)} live{_of_allocated(program, peak.live_bytes)}"
    (name,) = shortened([program.name], 60)
    buffers = "buffer" if len(largest) == 1 else "buffers"
    return [f"{name} peaks at {at}: {live}{estimate}. Largest live {buffers}: {'; '.join(largest)}."]


def _of_allocated(program: Executable, live_bytes: int) -> str:
    """Name the allocated memory if it is more, because buffers that are never live together do not share memory."""
    if program.peak_bytes is None or live_bytes >= program.peak_bytes:
        return ""
    allocated = units.size(program.peak_bytes)
    return "" if allocated == units.size(live_bytes) else f" of {allocated} allocated"


def about_limit(program: Executable) -> list[str]:
    """Return whether a program fits in the memory of its device, if the device reports it."""
    if program.fits is None or program.limit_bytes is None or program.peak_bytes is None:
        return []
    verdict = "fits" if program.fits else "does not fit"
    if program.fits and program.at_least:
        verdict = "fits, as far as it is counted,"
    return [f"{program.name} {verdict} in the {units.size(program.limit_bytes)} of memory of its device."]
