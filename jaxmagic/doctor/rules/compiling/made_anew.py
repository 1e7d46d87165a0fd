"""Finds where the user's code makes anew a function that compiles in every run, or jits a method."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....compilation.record.compilation import Compilation
from ....records.call_stack import Frame
from ....records.cell_names import text_of
from ....records.note import Note, note
from ...record.evidence import Evidence
from ...record.program import Program
from ..host.functions.functions_run import definition, functions_at, functions_run
from ..host.syntax import Function, called_as, own_nodes
from ..rewriting.changing_values import Kept, changed_only, values_kept
from ..rewriting.hoisting import Made, find_making, makings_alone
from ..rewriting.made_once import is_made_once, making_called
from ..rewriting.new_objects import NewObject, find_new_object
from ..rewriting.syntax import file_of, first_line, last_name, lines_run, tree_of, tree_of_code
from .recompilations import Group, in_first_run, own_name, programs_of

#: The comment above a definition that the examined code would make anew in each run.
EARLIER = "# in an earlier cell"


_Method = ast.FunctionDef | ast.AsyncFunctionDef


class NewArguments(NamedTuple):
    """The static parts of arguments that are objects re-created for each call: JAX compiles for each of them.

    Attributes:
        names: their names, such as ``"state.tx"``.
        made: where the first of them is made, if that is known.
        vary: whether they hold different values in one run, as far as is known.
    """

    names: tuple[str, ...] = ()
    made: NewObject | None = None
    vary: bool = False


class _Read(NamedTuple):
    """The attributes that a method reads of its object.

    Attributes:
        names: the attributes, as ``"self.w"``, in their order.
        objects: those of which it calls methods that no array has.
        known: whether that is all; it is not if the method calls others, or passes its object on.
    """

    names: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    known: bool = True


def made_anew(group: Group, evidence: Evidence) -> Made | None:
    """Find where the user's code makes the function anew."""
    place = file_of(group.location, evidence)
    if place is None:
        return None
    ran = [(each.file, each.line) for each in lines_run(evidence)]
    own = (each for each in own_nodes(tree_of_code(evidence.code)) if isinstance(each, ast.Name))
    name = _name_at(group, place)
    made = find_making(name, place, ran, {each.id for each in own if isinstance(each.ctx, ast.Store)})
    if made is None:
        inside = [each for each in makings_alone(name, place, ran) if _is_in_the_code(each, evidence)]
        return inside[0] if len(inside) == 1 else None
    if made.code is None or not _is_in_the_code(made, evidence):
        return made
    return made._replace(code=f"{EARLIER}\n{made.code}")


def _name_at(group: Group, place: tuple[str, int]) -> str:
    """Return the name of a function; that of its definition if a library has named it, as Flax does a partial."""
    tree = tree_of(place[0]) or ast.Module([], [])
    names = {
        "<lambda>" if isinstance(each, ast.Lambda) else each.name
        for each in ast.walk(tree)
        if (isinstance(each, ast.Lambda) and each.lineno == place[1])
        or (isinstance(each, ast.FunctionDef) and first_line(each) == place[1])
    }
    return names.pop() if len(names) == 1 and group.own_name not in names else group.own_name


def _is_in_the_code(made: Made, evidence: Evidence) -> bool:
    """Return whether the examined code itself makes the function, and not a function that is there before."""
    cell, code = "\n".join(text_of(made.file)).rstrip(), (evidence.code or "").strip()
    return bool(code) and cell.endswith(code) and made.line > cell[: -len(code)].count("\n")


def kept_if_made_once(group: Group, evidence: Evidence) -> Kept:
    """Return what the function, and those of the user's that it calls, read again each time that JAX traces them."""
    return values_kept(_functions(group, evidence), evidence)


def changed_for_effect(group: Group, evidence: Evidence) -> list[str]:
    """Return what is known to differ, if the function only changes it, as a list that counts traces; else nothing."""
    changed = changed_only(_functions(group, evidence))
    again = group.compilations[1:]  # the first one may differ from a function of an earlier cell
    differing = {each.cause.argument for each in again if each.cause.argument}
    return sorted(differing) if differing <= changed else []


def new_arguments(group: Group, evidence: Evidence) -> NewArguments:
    """Return the objects that are re-created for the programs of a group."""
    names = tuple(dict.fromkeys(name for each in group.compilations for name in each.cause.new_objects))
    place = file_of(group.location, evidence)
    if not names:
        return NewArguments()
    programs = programs_of(group, evidence)
    sites = [each.called_at for each in programs if each.called_at is not None]
    function = None if place is None else Frame(function=group.own_name, file=place[0], line=place[1])
    called = called_as(group.own_name, programs, evidence)
    made = None if function is None else find_new_object(names[0], function, called, sites)
    first = [each.cause for each in in_first_run(group, evidence)]
    return NewArguments(names, made, any(each.new_objects and each.remedy is None for each in first))


def _functions(group: Group, evidence: Evidence) -> list[tuple[Function, str]]:
    """Return the function that is made, and those of the user's that it calls."""
    place = file_of(group.location, evidence)
    if place is None:
        return []
    begin = functions_at(Frame(function=group.own_name, file=place[0], line=place[1]))
    return [each for begun in begin for each in functions_run(*begun, evidence)]


def location_like(location: str | None, made: Made | NewObject | Frame, evidence: Evidence) -> str | None:
    """Return the line that makes a function or an object, in the words of the records for another line."""
    place = file_of(location, evidence)
    if place is not None and place[0] == made.file:
        return f"{(location or '').rpartition(':')[0]}:{made.line}"
    cells = (each.cell for each in lines_run(evidence) if each.file == made.file and each.cell)
    return f"{next(cells, made.file)}:{made.line}"


def location_called(compilation: Compilation, programs: Sequence[Program], evidence: Evidence) -> str | None:
    """Return where a function is defined; if its gradient was compiled, and it is jitted as well, where that is made.

    Args:
        compilation: a compilation of the function.
        programs: the programs of the function.
        evidence: what is known of the code.
    """
    place, sites = file_of(compilation.location, evidence), {each.called_at for each in programs if each.called_at}
    found = set() if place is None else {making_called(own_name(compilation.function), place, each) for each in sites}
    made = found.pop() if len(found) == 1 else None
    return compilation.location if made is None else location_like(compilation.location, made, evidence)


def is_made_by_the_code(group: Group, evidence: Evidence) -> bool:
    """Return whether the code itself makes a function and keeps it: run a single time, it compiles nothing again."""
    place = file_of(group.location, evidence)
    if group.kind != "new function" or len(group.compilations) > 1 or place is None:
        return False
    ran = [(each.file, each.line) for each in lines_run(evidence)]
    return is_made_once(group.own_name, place, ran, tree_of_code(evidence.code))


def method_remedy(group: Group, made: Made, evidence: Evidence) -> Note | None:
    """Return the advice to pass what a method reads of its object; ``None`` if no method of a variable is jitted.

    Args:
        group: the programs of the method, of a partial of it, or of a lambda that calls it.
        made: where it is jitted.
        evidence: the observations of the runs.
    """
    owner, dot, name = made.method.partition(".")
    method = _definition(group, made, name, evidence) if dot and owner in made.captured else None
    read = None if method is None else _read(method, owner)
    if read is None:
        return None
    others = [each for each in made.captured if each != owner]
    filters = (made.maker or "").rpartition(".")[2] == "filter_jit"
    return note(
        "doctor.recompile_method",
        method=made.method,
        names=", ".join(read.names) if read.known else "",
        others=", ".join(others),
        objects="" if filters or not read.known else ", ".join(read.objects),
        reads=int(bool(read.names) or not read.known),
    )


def _definition(group: Group, made: Made, name: str, evidence: Evidence) -> _Method | None:
    """Return the definition of the method: the only one of its name in the file where a lambda calls it."""
    place = file_of(group.location, evidence)
    found = None if place is None else definition(Frame(function=name, file=place[0], line=place[1]))
    if found is not None:
        return found[0]
    classes = [each for each in ast.walk(tree_of(made.file) or ast.Module([], [])) if isinstance(each, ast.ClassDef)]
    methods = [each for one in classes for each in one.body if isinstance(each, _Method) and each.name == name]
    return methods[0] if len(methods) == 1 else None


def _read(method: _Method, owner: str) -> _Read | None:
    """Return what a method reads of its object; ``None`` if it has no parameter for it."""
    if "staticmethod" in map(last_name, method.decorator_list):
        return _Read()
    own = [*method.args.posonlyargs, *method.args.args][:1]
    if not own:
        return None
    nodes = [*ast.walk(method)]
    called = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
    uses = [each for each in nodes if isinstance(each, ast.Name) and each.id == own[0].arg]
    attributes = [each for each in nodes if isinstance(each, ast.Attribute)]
    read = [each for each in attributes if each.value in uses and isinstance(each.ctx, ast.Load)]
    owners = [each.value for each in attributes if id(each) in called and not hasattr(np.ndarray, each.attr)]
    read.sort(key=lambda each: (each.lineno, each.col_offset))
    return _Read(
        names=tuple(dict.fromkeys(f"{owner}.{each.attr}" for each in read)),
        objects=tuple(dict.fromkeys(f"{owner}.{each.attr}" for each in read if each in owners)),
        known=len(read) == len(uses) and not any(id(each) in called for each in read),
    )
