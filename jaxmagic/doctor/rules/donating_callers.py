"""Finds calls inside the user's functions whose arguments nothing uses afterwards, by code and by the arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from ...records.call_stack import Frame
from ..analysis.donating.rebinding import ReplacedArguments
from ..analysis.written_paths import is_within, root_of
from ..record.evidence import Evidence
from ..record.jitted_names import JittedName
from ..record.program import PassedArray, Program
from .rewriting.replaced_inside import Site, replaced_after_copy, replacing_sites
from .rewriting.syntax import around, function_around, loaded, parameters, tree_of, tree_run


class GivenUp(NamedTuple):
    """A call inside a function, with arguments that its code does not use afterwards.

    Attributes:
        jitted: the function that is called.
        call: the call with these arguments.
        given: those that the function itself was given.
        later: the names that the function reads from the statement with the call on, or that others may read.
        once_copied: the name of the function if it has to copy the arguments before its loop, since other code holds
            them; empty otherwise.
    """

    jitted: JittedName
    call: ReplacedArguments
    given: frozenset[str]
    later: frozenset[str]
    once_copied: str = ""

    def is_free(self, path: str, arrays: Iterable[PassedArray]) -> bool:
        """Return whether nothing else holds the arrays of an argument, or would hold its copy."""
        return bool(self.once_copied) or all(self._is_free(path, each) for each in arrays)

    def _is_free(self, path: str, array: PassedArray) -> bool:
        inside = [each for each in array.paths or () if is_within(each, path)]
        if array.shares_memory or not inside or array.paths is None or array.outer_paths is None:
            return False
        others = [root_of(each) for each in array.paths if each not in inside]
        if any(not each.isidentifier() or each in self.later for each in others):  # a closure has no path
            return False
        parts = tuple(each[len(root_of(each)) :] for each in inside if root_of(each) != each and "." in path)
        if any(not parts or not each.endswith(parts) for each in array.outer_paths):
            return False
        return not array.names if path in self.given else not array.alive


def given_up_inside(program: Program, evidence: Evidence) -> GivenUp | None:
    """Return the call of a program's function by another function, if all calls of it give up some arguments."""
    function, line = _calling(program)
    if function is None or line is None:
        return None
    keep_nothing = _keeping_nothing(evidence)
    texts = [ast.unparse(each) for each in around(function, line.line) if isinstance(each, ast.stmt)]
    for jitted in program.caller.jitted if program.caller else ():
        sites = replacing_sites(tree_run(line.file, evidence), jitted.name, keep_nothing, (function, line.line))
        own = [each for each in sites if each.function is function and each.call.text in texts]
        call = _common(own[0].call, sites) if own else None
        if call is not None:
            return GivenUp(jitted, call, own[0].given, _read_later(function, line.line))
    return None


def given_up_after_copy(program: Program, evidence: Evidence) -> GivenUp | None:
    """Return the only call of a program's function, if it gives up arguments that are copied before the loop."""
    function, line = _calling(program)
    if function is None or line is None:
        return None
    for jitted in program.caller.jitted if program.caller else ():
        tree = tree_run(line.file, evidence)
        call = replaced_after_copy(tree, jitted.name, _keeping_nothing(evidence), function, line.line)
        if call is not None and (call.positions or call.keywords):
            return GivenUp(jitted, call, frozenset(), frozenset(), function.name)
    return None


def _calling(program: Program) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef | None, Frame | None]:
    """Return the user's function that called a program first, if its source is known, and the line."""
    line = program.called_at
    tree = None if line is None else tree_of(line.file)
    function = None if line is None or tree is None else function_around(tree, line.line)
    return (function if function is not None and line is not None and function.name == line.function else None), line


def _keeping_nothing(evidence: Evidence) -> set[str]:
    callers = [each.caller for each in evidence.programs or () if each.caller is not None]
    return {each.name for one in callers for each in one.jitted}


def _common(call: ReplacedArguments, sites: Iterable[Site]) -> ReplacedArguments | None:
    """Return a call with the arguments that all calls replace."""
    others = [each.call for each in sites]
    positions = {at: path for at, path in call.positions.items() if all(at in each.positions for each in others)}
    keywords = {name: path for name, path in call.keywords.items() if all(name in each.keywords for each in others)}
    return call._replace(positions=positions, keywords=keywords) if positions or keywords else None


def _read_later(function: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> frozenset[str]:
    """Return the names that a function reads from a statement on, or has from outside, or shares with others inside.

    If the statement is in a loop, all of the loop counts.
    """
    rest = [each for each in function.body if (each.end_lineno or each.lineno) >= line]
    inner = [each for each in ast.walk(function) if isinstance(each, ast.Lambda | ast.FunctionDef)]
    outer = (each for each in ast.walk(function) if isinstance(each, ast.Global | ast.Nonlocal))
    own = {each for declared in outer for each in declared.names} | parameters(function)
    return frozenset(loaded([*rest, *(each for each in inner if each is not function)]) | own)
