"""Finds the user's lines that lead to operations outside of jit, also through a library that calls the user back."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from .....records.call_stack import Frame
from .....records.cell_names import text_of
from .....records.inside import library_module
from .....records.note import Note, note
from ....analysis.program_names import name_in_xla
from ....record.evidence import Evidence
from ...host.host_time import names_of_program
from ...host.jitting.called_method import calls_at, method_in_loop
from ...host.syntax import around
from ...rewriting.syntax import last_name, tree_of_code
from ...rule import source_at

#: So many lines are told.
_MOST_LINES = 3

#: A line is told that has at least this share of the programs.
_LEAST_SHARE = 0.1


def calling_sites(evidence: Evidence) -> list[tuple[Frame, int]]:
    """Return the lines that lead to the programs of operations, with how many they led to first, most first.

    It is the outermost line that calls none of the functions which it leads to: an operation, or a library's
    function, which may call a function of the user's. A line that only calls the user's function says less.
    """
    sites = Counter[Frame]()
    for each in evidence.programs or ():
        lines = each.called_from or ((each.called_at,) if each.called_at is not None else ())
        if each.eager and lines:
            sites[_site(_in_the_code(lines, evidence), evidence)] += 1
    least = _LEAST_SHARE * sites.total()
    return [(line, count) for line, count in sites.most_common(_MOST_LINES) if count >= least]


def _site(lines: Sequence[Frame], evidence: Evidence) -> Frame:
    """Return the first line from the outermost one on that does not itself call the function of the next one."""
    for inner, line in zip(lines[-2::-1], lines[:0:-1], strict=True):
        calls = _calls_of_magic(evidence) if _is_magic(line) else calls_at(line)
        if inner.function.rpartition(".")[2] not in {last_name(each.func) for each in calls}:
            return line
    return lines[0]


def _in_the_code(lines: Sequence[Frame], evidence: Evidence) -> Sequence[Frame]:
    """Return the lines without those that run the cell of the examined code."""
    code = (evidence.code or "").strip()
    own = [
        at
        for at, each in enumerate(lines)
        if each.cell is not None or (code and "\n".join(text_of(each.file)).rstrip().endswith(code))
    ]
    return lines[: own[-1] + 1] if own else lines


def _is_magic(line: Frame) -> bool:
    return any(isinstance(each, ast.Pass) for each in around(line)[-1:])


def _calls_of_magic(evidence: Evidence) -> list[ast.Call]:
    """Return the calls in the code that a line magic examines."""
    return [each for each in ast.walk(tree_of_code(evidence.code)) if isinstance(each, ast.Call)]


def jits_by_itself(line: Frame, evidence: Evidence) -> bool:
    """Return whether a line calls a library that runs jitted functions of its own, as ``mcmc.run`` of numpyro does.

    Its operations outside of jit are the library's as well: the user's code cannot put them into a jitted function.
    """
    own = {
        name_in_xla(each.function)
        for each in evidence.first.compilations
        if each.compiled and not each.eager and library_module((each.location or "").rpartition(":")[0]) is not None
    }
    programs = (
        each for each in evidence.programs or () if not each.eager and line in (each.called_at, *each.called_from)
    )
    return any(own & {*map(name_in_xla, names_of_program(each))} for each in programs)


def about_sites(sites: Sequence[tuple[Frame, int]]) -> Iterator[Note]:
    """Say how many operations each line led to first, and how to jit a method that it calls in a loop."""
    for line, count in sites:
        yield note(
            "doctor.compile_time_eager_at",
            line=line.location,
            source=source_at(line) or "",
            programs=count,
            called=method_in_loop(line),
        )
