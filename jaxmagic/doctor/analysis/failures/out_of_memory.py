"""Explains that memory ran out: what needs it, and which variants of the program need less.

The messages that are read are those of XLA's CPU client, of its BFC allocator (``Out of memory while trying to
allocate …``) and of its compiler for TPUs (https://openxla.org/xla/errors/error_1000).
"""

from __future__ import annotations

import ast
import re

from ....records.note import Note, note
from ...record.failure import Failure
from ...record.finding import RuleFinding
from ...record.out_of_memory import ANY_CALL, LEAST_SPARED, FailedProgram, OutOfMemory, Shortage, Smaller
from .expression import spelled
from .origin import error_finding

_SIZE = r"(\d+(?:\.\d+)?) ?(bytes|[KMGT]iB|[KMGT]|B)?"
_ASKED = re.compile(rf"(?:Out of memory (?:while trying to allocate|allocating)|allocate request for) {_SIZE}")
_EXACT = re.compile(r"allocate request for [^(]{1,20}\((\d+)B\)")
_SPACE = re.compile(rf"[Rr]an out of memory in memory space (\w+)\. Used {_SIZE} of {_SIZE} ")


def shortage(text: str) -> Shortage:
    """Return what a message says about memory.

    >>> shortage("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.").asked_bytes
    6291456
    >>> shortage("Ran out of memory in memory space hbm. Used 2.00G of 1.50G hbm.").capacity_bytes
    1610612736
    """
    if found := _SPACE.search(text):
        return Shortage(
            space=found[1], used_bytes=_bytes(found[2], found[3]), capacity_bytes=_bytes(*found.group(4, 5))
        )
    if found := _EXACT.search(text):
        return Shortage(asked_bytes=int(found[1]))
    if found := _ASKED.search(text):
        return Shortage(asked_bytes=_bytes(found[1], found[2]))
    return Shortage()


def _bytes(number: str, unit: str | None) -> int:
    power = " KMGT".find((unit or "B")[0])
    return round(float(number) * 1024 ** max(power, 0)) if "." in number or power > 0 else int(number)


def explain_memory(failure: Failure) -> RuleFinding:
    """Explain that memory ran out: what was asked for, what needs memory, and what needs less."""
    memory = failure.memory or OutOfMemory(shortage=Shortage())
    program = memory.program
    said = memory.shortage
    evidence = [] if program is None else [*_of_program(program), *_of_variants(program)]
    if program is None and memory.unknown is not None:
        call, argument = _computed_again(memory)
        evidence.append(note("doctor.memory_unknown_program", reason=memory.unknown, call=call, argument=argument))
    evidence += _of_alive(failure, said)
    best = None if program is None else program.best
    return error_finding(
        failure,
        found=note(
            "doctor.error_memory",
            asked_bytes=said.asked_bytes or 0,
            space=said.space,
            used_bytes=said.used_bytes or 0,
            capacity_bytes=said.capacity_bytes or 0,
            function="" if program is None else program.function,
            need_bytes=0 if program is None else program.need_bytes,
        ),
        evidence=evidence,
        remedy=_remedy(failure, memory, best),
        code=None if best is None else best.code,
    )


#: A longer argument is not quoted.
_LONGEST_ARGUMENT = 60


def _computed_again(memory: OutOfMemory) -> tuple[str, str]:
    """Return the call whose program is unknown, and the argument for which code would have to run once more."""
    if memory.unknown not in ("call", "unexamined") or memory.unknown_call in ("", ANY_CALL):
        return "", ""
    given = ast.parse(f"_({memory.unknown_call})", mode="eval").body
    assert isinstance(given, ast.Call)
    function, *args = given.args
    call = ast.unparse(ast.Call(func=function, args=args, keywords=given.keywords))
    computed = (each for each in [*args, *(each.value for each in given.keywords)] if not isinstance(each, _KNOWN))
    argument = next(map(ast.unparse, computed), "")
    return call, argument if len(argument) <= _LONGEST_ARGUMENT else ""


#: Expressions whose values are known without running code, as far as they are short.
_KNOWN = ast.Name | ast.Attribute | ast.Subscript | ast.Constant


def _of_program(program: FailedProgram) -> list[Note]:
    return [
        note(
            "doctor.memory_need",
            function=program.function,
            need_bytes=program.need_bytes,
            argument_bytes=program.argument_bytes,
            output_bytes=program.output_bytes,
            temporary_bytes=program.temporary_bytes,
            current=program.at_module_level,
        ),
        *(
            note("doctor.memory_held", line=each.line or "", name=each.name, size_bytes=each.size_bytes)
            for each in program.held
        ),
        note(
            "doctor.memory_limit",
            limit_bytes=program.limit_bytes or 0,
            given=program.limit_given,
            others_bytes=program.others_bytes or 0,
            counted=program.others_bytes is not None,
            fits=_fits(program),
        ),
    ]


def _fits(program: FailedProgram, variant: Smaller | None = None) -> str:
    fits = program.fits(variant)
    return "unknown" if fits is None else "yes" if fits else "no"


def _of_variants(program: FailedProgram) -> list[Note]:
    notes = [about_variant(each, _fits(program, each)) for each in program.variants]
    if program.uncheckpointed == "inside":
        notes.append(note("doctor.memory_uncheckpointed", function=program.function))
    if program.unsplit:
        notes.append(note("doctor.memory_unsplit", reason=program.unsplit))
    if program.incomplete:
        notes.append(note("doctor.memory_incomplete", reason=program.incomplete))
    return notes


def about_variant(variant: Smaller, fits: str) -> Note:
    """Return a note on what a compiled variant needs, and whether it fits."""
    return note(
        "doctor.memory_variant",
        fits=fits,
        by="+".join(variant.by),
        donated=", ".join(variant.donated),
        checkpointed=", ".join(variant.checkpointed),
        batch=", ".join(variant.batch),
        parts=variant.parts,
        mean=variant.mean,
        need_bytes=variant.need_bytes,
    )


def _remedy(failure: Failure, memory: OutOfMemory, best: Smaller | None) -> Note:
    jax, program = spelled(failure, "jax"), memory.program
    if program is None:
        return note("doctor.write_smaller", jax=jax, asks=memory.unknown_call)
    if best is None:
        return _of_others(program, jax)
    return note(
        "doctor.write_variant",
        fits=_fits(program, best),
        jax=jax,
        function=program.function,
        before_bytes=program.need_bytes,
        by="+".join(best.by),
        donated=", ".join(best.donated),
        checkpointed=", ".join(best.checkpointed),
        batch=", ".join(best.batch),
        parts=best.parts,
        mean=best.mean,
        need_bytes=best.need_bytes,
    )


def _of_others(program: FailedProgram, jax: str) -> Note:
    """Advise on what was not compiled, and may help: nothing that was compiled does."""
    vain: set[str] = {*program.in_vain}
    least_bytes = LEAST_SPARED * program.need_bytes
    if program.others_bytes is not None and program.others_bytes < least_bytes:
        vain.add("delete")
    if min(program.output_bytes, program.argument_bytes) < least_bytes:  # results lie in the memory of arguments
        vain.add("donate")
    if program.uncheckpointed == "no gradient":
        vain.add("checkpoint")
    first = program.held[0] if program.held else None
    large = first is not None and first.line is not None and 2 * first.size_bytes >= program.need_bytes
    if first is not None and first.size_bytes > program.temporary_bytes:  # the results are not split by blocks
        large = False
    of_results = 2 * program.output_bytes >= program.need_bytes
    return note(
        "doctor.write_smaller",
        jax=jax,
        vain="+".join(sorted(vain)),
        block=first.name if first is not None and large else "",
        block_line=(first.line or "") if first is not None and large else "",
        result_bytes=program.output_bytes if of_results else 0,
    )


#: Arrays that are alive are not listed if they are smaller than this, and take a smaller share of what was asked for.
_WORTH_LISTING_BYTES, _WORTH_LISTING = 2**20, 0.001


def _of_alive(failure: Failure, said: Shortage) -> list[Note]:
    """Name the largest arrays that are alive, if they are not too small to matter."""
    arrays = list(zip(failure.alive, failure.alive_bytes, strict=True))
    asked_bytes = said.asked_bytes or said.used_bytes
    least_bytes = min(_WORTH_LISTING * (asked_bytes or float("inf")), _WORTH_LISTING_BYTES)
    listed = [(name, size) for name, size in arrays if size >= least_bytes]
    if arrays and not listed:
        return [note("doctor.error_little_alive", size_bytes=arrays[0][1])]
    return [note("doctor.error_alive", array=name, size_bytes=size) for name, size in listed]
