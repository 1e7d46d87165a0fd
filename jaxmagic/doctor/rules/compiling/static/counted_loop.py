"""Finds the loop of Python that needs a static argument, where a loop of JAX would take any value of it."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ....record.evidence import Evidence
from ...rewriting.loop_of_jax import way_of
from ...rewriting.loops.loop_code import loop_code
from ...rewriting.loops.loop_facts import is_range
from ...rewriting.loops.unrolled_loops import unrolled_loops
from ...rewriting.syntax import with_imports
from ..recompilations import Group, programs_of
from .definition import definition_of


class CountedLoop(NamedTuple):
    """A loop of Python that needs a static argument, and nothing else does.

    Attributes:
        code: the loop of JAX; ``None`` if a dtype changes in it.
        converts: this dtype; empty if none does.
    """

    code: str | None
    converts: str = ""


def counted_loop(group: Group, evidence: Evidence) -> CountedLoop | None:
    """Return a loop of JAX in place of the one that counts to a static argument.

    ``None`` if there is no such loop, if it cannot be rewritten mechanically, or if the function reads the argument
    elsewhere, where it may have to be static.
    """
    names = {each.cause.argument for each in group.compilations}
    name, found = names.pop(), definition_of(group, evidence)
    if group.kind != "static value" or names or name is None or found is None:
        return None
    function, tree = found
    reads = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == name]
    loops = [each for each in ast.walk(function) if isinstance(each, ast.For) and _counts_to(each, reads)]
    if len(loops) != 1 or way_of(loops[0]) != "fori_loop":
        return None
    code = loop_code(loops[0], function)
    unrolled = (each for program in programs_of(group, evidence) for each in unrolled_loops(program))
    converts = next((each.converts for each in unrolled if each.converts), "")
    if code is None:
        return None
    return CountedLoop(None, converts) if converts else CountedLoop(with_imports(code, tree))


def _counts_to(loop: ast.For, reads: list[ast.Name]) -> bool:
    """Return whether the only place that reads a variable is a bound of a loop's range."""
    return is_range(loop.iter) and isinstance(loop.iter, ast.Call) and loop.iter.args[:2][-1:] == reads
