"""Finds the static arguments of a jitted function that differ from call to call of a loop."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .....records.call_stack import Frame
from ....record.evidence import Evidence
from ....record.program import Program
from ...rewriting.syntax import loaded
from ..syntax import Comprehension, arguments_at, around, assigned, called_as, loop_around


def varying_static(
    function: str, count: int, line: Frame | None, programs: Sequence[Program], evidence: Evidence
) -> tuple[str, ...]:
    """Return the static arguments that differ in the calls of a jitted function; empty if none is known to.

    JAX has said so for at least every second call, or the function has several programs and a loop assigns what its
    call passes for a static argument.

    Args:
        function: its name.
        count: its calls per run.
        line: the only line that calls it; ``None`` if unknown.
        programs: its programs.
        evidence: the causes of its compilations, and what it declares static.
    """
    if not programs[1:]:
        return ()
    compiled = [each for each in evidence.first.compilations if each.function == function]
    causes = [each.cause for each in compiled if each.cause.kind == "static value"]
    said = tuple(dict.fromkeys(each.argument for each in causes if each.argument is not None))
    if said and len(causes) * 2 >= count:
        return said
    declared = said or tuple(name for each in evidence.static if each.function == function for name in each.names)
    if line is None:
        return ()
    loop = loop_around(line)
    inner = (each for node in around(line)[-1:] for each in ast.walk(node) if isinstance(each, Comprehension))
    changed = {name for each in (*([loop] if loop else []), *inner) for name in assigned(each)}
    passed = arguments_at(line, called_as(function, programs, evidence), programs[0].arguments)
    return tuple(each for each in declared if each in passed and loaded([passed[each]]) & changed)
