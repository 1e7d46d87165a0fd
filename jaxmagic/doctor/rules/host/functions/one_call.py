"""Writes the loop around a wait as one call, if all that waits in it can be read after the loop."""

from __future__ import annotations

import ast

from .....records.call_stack import Frame
from ....record.evidence import Evidence
from ...rewriting.loops.scanned_loop import scanned_loop
from ..host_time import names_of_program, shapes_of
from ..syntax import called_as, loop_around, site_of
from .given_objects import modules_given


def one_call_around(line: Frame, evidence: Evidence) -> str | None:
    """Write the loop around a line as one call; ``None`` if it does more than call a jitted function and show values.

    All calls have to be of one jitted function, with the same shapes and without static arguments and modules.

    Args:
        line: the line that waits, below the call.
        evidence: the evidence.
    """
    loop = loop_around(line)
    match loop:
        case ast.For(body=[ast.Assign(value=ast.Call(func=ast.Name(id=called))) as first, *_]):
            pass
        case _:
            return None
    own = [each for each in evidence.programs or () if not each.eager]
    programs = [each for each in own if called in (*names_of_program(each), called_as(each.name, [each], evidence))]
    site = site_of(called, programs, evidence)
    if site is None or site.file != line.file or not first.lineno <= site.line <= (first.end_lineno or 0):
        return None
    kinds = {(each.location, shapes_of(each)) for each in programs}
    is_static = any(each.names for each in evidence.static if each.function in {one.function for one in programs})
    if len(kinds) > 1 or is_static or modules_given(site, evidence, programs) is not None:
        return None
    return scanned_loop(site)
