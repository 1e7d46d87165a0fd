"""Jits a function of the user."""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

from ....records.call_stack import Frame
from ....records.note import Note, note
from ...analysis.written_paths import variable_of
from ...record.finding import RuleFinding
from ...rules.host.functions.functions_run import definition
from ...rules.host.jitting.looped import MOST_UNROLLED
from ...rules.rewriting.jit.arguments import static_option
from ...rules.rewriting.syntax import loops_around, parameters, stored, tree_of
from .calls.jitted_function import Jitted
from .remedy import Change, NotTried, calls_in_advice, constant_of, first_arguments, names_given
from .tried_code import TriedCode
from .user_functions import definition_of, is_users_function, lines_of, seen_by, users_functions


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose to call the jitted function instead of the function that the finding is about."""
    function = _function(finding, code)
    if inspect.isgeneratorfunction(function):
        raise NotTried(note("doctor.not_tried_generator", function=function.__name__))
    if _is_blocked(function, finding):
        raise NotTried(note("doctor.not_tried_blocked", function=function.__name__))
    if _would_unroll(function, finding):
        raise NotTried(note("doctor.not_tried_unrolled", function=function.__name__))
    library = "" if finding.remedy is None else str(finding.remedy.facts.get("library", ""))
    called = users_functions(seen_by(function)) if is_users_function(function) else ()
    changing = next(filter(_changes_arguments, (function, *called)), None)
    if library != "nnx" and changing is not None:
        raise NotTried(note("doctor.not_tried_changing", function=changing.__name__))
    jitted = Jitted(function, declared_static(finding), library)

    jit = "" if finding.remedy is None else str(finding.remedy.facts.get("jit", ""))

    def about() -> Note:
        code = "" if library else _code(jitted, jit)
        used, name = jitted.library if code else "", function.__name__
        line, source = ("", "") if finding.line in lines_of(function) else definition_of(function)
        return note(
            "doctor.jitted", name=name, code=code, library=used, line=line, source=source, traces=jitted.traces
        )

    return Change({id(function): jitted.call}, met=lambda: jitted.called, found=about)


def _is_blocked(function: Any, finding: RuleFinding) -> bool:
    """Return whether the advice says that jit cannot compile a function as it is, and has no code for another one."""
    facts = {} if finding.remedy is None or finding.code is not None else finding.remedy.facts
    blocked = facts.get("way") in ("asked", "until") or any(facts.get(each) for each in ("decides", "mask", "size"))
    return blocked and facts.get("function") == function.__name__


def _changes_arguments(function: types.FunctionType) -> bool:
    """Return whether a function assigns elements or attributes of what it gets, which jit has copied before.

    A run that finds there what the last one has stored may not tell.
    """
    found = definition(_first_line(function))
    if found is None:
        return False
    given = parameters(found[0]) - stored(found[0].body)
    stores = (each for each in ast.walk(found[0]) if isinstance(each, ast.Subscript | ast.Attribute))
    return any(not isinstance(each.ctx, ast.Load) and variable_of(each) in given for each in stores)


def _first_line(function: types.FunctionType) -> Frame:
    code = function.__code__
    return Frame(function=code.co_name, file=code.co_filename, line=code.co_firstlineno)


def _would_unroll(function: Any, finding: RuleFinding) -> bool:
    """Return whether jit would unroll a loop of many operations, which takes longer to compile than a trial may."""
    line, count = finding.line or "", finding.found.facts.get("count", 0)
    if finding.code is not None or not isinstance(count, int) or count <= MOST_UNROLLED:
        return False
    facts = {} if finding.remedy is None else finding.remedy.facts
    if facts.get("way") == "loop" and facts.get("function") == function.__name__:
        return True  # the line may be behind the loop
    if line not in lines_of(function):
        return False
    tree = tree_of(function.__code__.co_filename)
    return tree is not None and bool(loops_around(tree, int(line.rpartition(":")[2])))


def _code(jitted: Jitted, advised: str) -> str:
    """Return the code that does what was tried; empty if that would not replace the function, or is not known.

    Args:
        jitted: what was tried.
        advised: the jit that the finding advises, as the user's code writes that of a library.
    """
    function = jitted.function
    name, seen = function.__name__, getattr(function, "__globals__", {})
    jit = advised if jitted.library else "jax.jit"
    is_known = jit == "jax.jit" or (jit != "" and jit.partition(".")[0] in seen)
    is_global = seen.get(name) is function
    return f"{name} = {jit}({name}{static_option(jitted.static)})" if is_global and is_known and jitted.called else ""


def declared_static(finding: RuleFinding) -> tuple[str, ...] | None:
    """Return the static arguments of the code to paste; ``None`` if the finding has no code."""
    calls = _calls_of_jit(finding)
    given = constant_of(calls[0], "static_argnames") if calls else None
    return None if not calls else (given,) if isinstance(given, str) else tuple(given or ())


def _calls_of_jit(finding: RuleFinding) -> list[ast.Call]:
    return calls_in_advice(finding, "(filter_)?jit")


def _function(finding: RuleFinding, code: TriedCode) -> Any:
    """Return the function: named by the finding, or around its line, or the only one that the code calls."""
    read = code.read()
    reached = {id(each): each for each in users_functions(read)}.values()
    advised = first_arguments(_calls_of_jit(finding))
    for name in (*names_given(finding), *advised):
        named = [each for each in reached if each.__name__ == name]
        named = named or [each for variable, each in read.items() if variable == name and is_users_function(each)]
        if len(named) == 1:
            return named[0]
    if advised:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    around = function_at(finding.line, code)
    if around is not None:
        return around
    called = [each for each in read.values() if is_users_function(each)]
    if len(called) != 1:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    return called[0]


def function_at(line: str | None, code: TriedCode) -> Any:
    """Return the nearest of the user's functions that the code leads to around a line; ``None`` without one."""
    return next((each for each in users_functions(code.read()) if line in lines_of(each)), None)
