"""Says which function, loop or part of a loop to jit, with code where its syntax shows that jit takes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.note import Note, note
from ....record.evidence import Evidence, Input
from ...rewriting.called_function import CalledFunction, called_function
from ...rewriting.changing_values import changing_read, kept_by_called, kept_from_outside
from ...rewriting.jit.arguments import objects, static_option, untraced
from ...rewriting.jit.array_variables import arrays_in
from ...rewriting.jit.caveats import Caveats, caveats, jitted_calls, to_pass
from ...rewriting.jit.jittable import computes_only, counts_to, takes_arrays
from ...rewriting.jit.module_jit import jit_of, jit_of_modules
from ...rewriting.jit.obstacles import obstacles
from ...rewriting.jit.results import changed_results, needs_numbers
from ...rewriting.loops.jitted_round import JittedRound, jitted_round
from ...rewriting.loops.loop_end import end_of
from ...rewriting.loops.while_loop import while_loop
from ...rewriting.meanings import paths_in
from ...rewriting.methods.jitted_method import JittedMethod, jitted_method
from ...rewriting.numbers.texts import returns_text
from ...rewriting.rewritten import pasted
from ...rewriting.syntax import last_name, lines_run, loaded, parameters, tree_of_code
from ..functions.functions_run import calls_unknown, functions_run, functions_seen, waits_in
from ..functions.inputs_inside import inputs_inside, renamed
from ..functions.next_step import called_at, called_in_turn
from ..functions.spared import Part
from ..functions.transformed_function import (
    is_mostly_transformed,
    jit_outermost,
    round_around,
    transformed_function,
    transforms,
)
from ..host_time import jitted_operations
from ..syntax import Function, around, function_around, loop_around, own_nodes
from .called_method import method_remedy
from .converted_items import converted_items
from .filled_loops import filled_loop
from .looped import MOST_UNROLLED, is_looped, unrolled_in
from .rebound import rebound


class Advised(NamedTuple):
    """The advice for operations that are called outside of jit.

    Attributes:
        part: what is to be jitted; ``None`` if it is unknown.
        whole: whether it is known to call nearly all of them.
        transforms: whether functions that ``jax.grad`` or the like transforms call some of them.
        remedy: what to do.
        code: code to paste; ``None`` if there is none.
        applies_to: the function that is transformed; ``None`` if none is.
        round: the lines of a loop that the code replaces; ``None`` if it does not.
        fills: whether it fills arrays in these lines.
    """

    part: Part | None
    whole: bool
    transforms: bool
    remedy: Note
    code: str | None
    applies_to: str | None = None
    round: JittedRound | None = None
    fills: bool = False


def advice_for(line: Frame | None, count: int, evidence: Evidence) -> Advised:
    """Return what to do about operations, the most of which are called at a line."""
    prepared = converted_items(line, evidence)
    if prepared is not None:
        return Advised(None, False, False, prepared, None)
    called = called_function(evidence, count, MOST_UNROLLED - jitted_operations(evidence), line=line)
    traces = transforms(evidence)
    if called is not None:
        whole = Part(called.function, called.file)
        filled = _filled(called_at(whole, evidence), evidence)
        if filled is not None:
            return filled
        in_round = None if called.whole else _in_round(whole, count, evidence)
        return in_round or Advised(whole, called.whole, traces, *compile_called(called, evidence))
    method = jitted_method(evidence)
    if method is not None:
        return Advised(None, False, traces, _of_method(method), method.round.code, round=method.round)
    transformed = transformed_function(line, evidence) if traces else None
    if traces and (transformed is None or is_mostly_transformed(transformed.part, evidence)):
        one = round_around(transformed, evidence)
        method_called = None if transformed is not None else method_remedy(line, evidence)
        if method_called is not None:
            return Advised(None, False, traces, method_called, None)
        if one is not None:
            remedy = group(evidence, known=caveats([], evidence.waits or ()))
            return Advised(None, False, traces, _of_round(remedy, one, evidence), one.code, round=one)
        part = None if transformed is None else transformed.part
        return Advised(part, False, traces, *jit_outermost(transformed, evidence), part and part.function.name)
    part = None if line is None or (function := function_around(line)) is None else Part(function, line.file)
    filled = _filled(line, evidence) or (None if part is None else _filled(called_at(part, evidence), evidence))
    if filled is not None:
        return filled
    own = _at_line(line, part, count, evidence)
    return own if own.round is not None or part is None else _in_round(part, count, evidence) or own


def _filled(line: Frame | None, evidence: Evidence) -> Advised | None:
    """Return the advice for the loop around a line if it fills arrays; ``None`` if it does not."""
    found = None if line is None else filled_loop(line, evidence)
    if found is None:
        return None
    return Advised(None, False, False, found.remedy, found.round.code or None, round=found.round, fills=True)


def _at_line(line: Frame | None, part: Part | None, count: int, evidence: Evidence) -> Advised:
    remedy, code = remedy_at(line, count, evidence)
    one = jitted_round(line, evidence) if line is not None and code is None and _is_of_loop(remedy) else None
    if one is None:
        return Advised(part, False, False, remedy, code)
    return Advised(part, False, False, _of_round(remedy, one, evidence), one.code, round=one)


def _in_round(part: Part, count: int, evidence: Evidence) -> Advised | None:
    """Return the advice to jit a round of the loop that calls a function, and other operations; or ``None``."""
    site = called_in_turn(part, evidence)
    found = None if site is None else _at_line(site, None, count, evidence)
    return None if found is None or found.round is None else found


def _is_of_loop(remedy: Note) -> bool:
    """Return whether the advice is to jit some operations of a loop."""
    return remedy.facts["way"] in ("asked", "generator", "group", "loop", "until")


def _of_round(remedy: Note, one: JittedRound, evidence: Evidence) -> Note:
    """Return the advice for code that is written: caveats about other statements do not concern it."""
    facts = remedy.facts
    if facts["way"] not in ("generator", "group", "loop"):
        return remedy
    reads = int(bool(facts.get("reads") or facts.get("decides")))
    kept = ", ".join(kept_by_called(one.code, evidence))
    known: Caveats = {"parts": len(one.lines), "reads": reads}
    more = {"keeps": kept, "indexed": _indexed(one.code)}
    known |= {name: fact for name, fact in more.items() if fact}
    return _advice("round", function=str(facts["function"]), known=known)


def _indexed(code: str) -> str:
    """Return an item of an array that the jitted functions in some code take by an argument; empty if none do."""
    for function in pasted(code).beside:
        given = parameters(function) if isinstance(function, ast.FunctionDef) else set[str]()
        for node in ast.walk(function):
            match node:
                case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index)) if {name, index} <= given:
                    return ast.unparse(node)
    return ""


def _of_method(one: JittedMethod) -> Note:
    """Return the advice for code that is written for a method."""
    names = {"static": ", ".join(one.static), "donated": ", ".join(one.donated)}
    return _advice("method", one.method, {"parts": len(one.round.lines), **names})


def remedy_at(line: Frame | None, count: int, evidence: Evidence) -> tuple[Note, str | None]:
    """Return what to do, and code if jit can compile the function around a line as it is."""
    function = None if line is None else function_around(line)
    if line is None or function is None:
        found = obstacles(functions_seen(evidence), evidence.names)
        known = caveats(found, evidence.waits or ())
        if line is not None and is_looped(line, evidence):
            return _advice("loop", known={**_jit_of_modules(evidence), **known}), None
        return group(evidence, known=known), None
    functions = functions_run(function, line.file, evidence)
    waits = waits_in(functions, evidence)
    loop, found = loop_around(line), obstacles(functions, evidence.names)
    changing = changing_read(functions, evidence)
    known = caveats(found, waits) | _jit_of_modules(evidence)
    of_model = _is_of_model(line)
    together = known | to_pass(changing, function if of_model or loop is None else loop, functions)
    undecided = {name: fact for name, fact in together.items() if name not in ("decides", "reads")}
    if of_model:
        return _advice("model", function.name, undecided), None
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(function)):
        return _advice("generator", function.name, together), None
    end = "count" if loop is None else end_of(loop)
    if end == "host" or (end == "value" and known["decides"]):
        way = "until" if end == "value" else "asked"
        code = while_loop(line, evidence) if way == "until" and "jit" not in known else None
        return _advice(way, function.name, {"written": 1} if code else undecided), code
    unrolled = function if loop is not None else unrolled_in(functions, count, evidence)
    if count > MOST_UNROLLED and unrolled is not None:
        return _advice("loop", unrolled.name, together), None
    outer = [each for each in around(line) if isinstance(each, Function) and each is not function]
    paths = [(each, file, paths_in(each, file, evidence.names)) for each, file in functions]
    plain = all(
        computes_only(each, known_as, arrays=arrays_in(each, file, evidence, known_as))
        for each, file, known_as in paths
    )
    inputs = renamed(inputs_inside(line, evidence))
    plain = plain and takes_arrays(function, untraced(inputs)) and not calls_unknown(functions, evidence)
    plain = plain and not returns_text(function)
    results = changed_results(function, line.file, evidence)
    plain = plain and not _is_method(function, line)  # jit would take the object as an argument
    if waits or found or changing or not plain or "jit" in known or needs_numbers(results):
        known |= to_pass(changing, function, functions, jitted_calls(function, line, evidence)) | results
        assigned = rebound(function, line.file, evidence.names)
        return group(evidence, function.name, known | assigned | _objects(function, inputs)), None
    runs_outer = not re.search(rf"\b{function.name}\b", evidence.code or "")  # else the code calls it directly
    if outer and runs_outer:
        return _advice("outside", function.name, outer=outer[-1].name), None
    kept = ", ".join(kept_from_outside(function, line.file, evidence))
    if kept and not parameters(function):
        return group(evidence, function.name, {"changes": kept}), None
    known = {**results, **({"keeps": kept} if kept else {})}
    lines = [*_where(function, line.file, evidence), f"{function.name} = jax.jit({function.name})"]
    return _advice("function", function.name, known), "\n".join(lines)


def _objects(function: Function, inputs: Iterable[Input]) -> Caveats:
    """Return the arguments of a function that are objects which jit does not take."""
    given = sorted(objects(inputs) & parameters(function))
    return {"objects": ", ".join(given)} if given else {}


def compile_called(called: CalledFunction, evidence: Evidence) -> tuple[Note, str | None]:
    """Return the advice to jit a function by what it gets: modules need the jit of their library."""
    name, arguments = called.function.name, called.arguments
    jit, needed = "jax.jit", ""
    if arguments.library is not None:
        jit, needed = jit_of(arguments.library, called.function, called.file, evidence.names)
    options = "" if arguments.library == "equinox" else static_option(arguments.static)
    advice = note(
        "doctor.not_jitted_remedy",
        way="function",
        function=name,
        library=arguments.library or "",
        functions=", ".join(arguments.functions),
        rounds=counts_to(called.function, {*arguments.static}) if arguments.library == "equinox" else "",
        jit=jit,
        keeps=", ".join(kept_from_outside(called.function, called.file, evidence)),
        **changed_results(called.function, called.file, evidence, arguments.static),
    )
    lines = [needed, *_where(called.function, called.file, evidence), f"{name} = {jit}({name}{options})"]
    return advice, "\n".join(filter(None, lines))


def _where(function: Function, file: str, evidence: Evidence) -> Iterator[str]:
    """Yield where to write the code: where a module calls its own function, the name in the cell is another one."""
    code = evidence.code or ""
    in_cell = any(each.cell is not None for each in lines_run(evidence) if each.file == file)
    if not code.isidentifier() and not in_cell and function.name not in loaded([tree_of_code(code)]):
        yield f"# in {PurePath(file).name}, below {function.name}()"


def group(evidence: Evidence, function: str = "", known: Caveats | None = None) -> Note:
    """Return the advice to put operations into a jitted function, which may get modules of a library."""
    return _advice("group", function, {**_jit_of_modules(evidence), **(known or {})})


def beside_calls(line: Frame, known: Caveats, evidence: Evidence) -> Note:
    """Return the advice for operations around which no jitted function saves time that each round of a loop calls."""
    loop, function = loop_around(line), function_around(line)
    if loop is None:
        return group(evidence, known=known)
    return _advice("whole", "" if function is None else function.name, {**_jit_of_modules(evidence), **known})


def _jit_of_modules(evidence: Evidence) -> Caveats:
    """Return the jit of the library of the modules that the code calls or reads, if that is not JAX's."""
    jit = jit_of_modules(evidence)
    return {} if jit == "jax.jit" else {"jit": jit}


def _advice(way: str, function: str = "", known: Caveats | None = None, *, outer: str = "") -> Note:
    return note("doctor.not_jitted_remedy", way=way, function=function, outer=outer, **known or {})


def _is_method(function: Function, line: Frame) -> bool:
    return any(isinstance(each, ast.ClassDef) and function in each.body for each in around(line))


def _is_of_model(line: Frame) -> bool:
    """Return whether a line is in a method of a model of flax or equinox, which is jitted where it is called."""
    classes = (each for each in around(line) if isinstance(each, ast.ClassDef))
    return any(last_name(base) == "Module" for each in classes for base in each.bases)
