"""Writes a function that captures a module of a library with the module as its first argument."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ...records.cell_names import text_of
from ...records.note import Note, note
from ..record.evidence import Evidence
from ..record.library_use import ModuleLibrary
from ..record.program import Program
from .rewriting.jit.module_jit import jit_in_code, jit_of
from .rewriting.syntax import file_of, first_line, is_jit, loaded, parameters, stored, tree_of

#: Functions with more lines are not shown again.
_MOST_LINES = 20


def module_with(names: Sequence[str], evidence: Evidence) -> tuple[str, ModuleLibrary] | None:
    """Return the only variable that leads to some captured arrays, and its library, if it is a module."""
    roots = {re.split(r"\W", each)[0] for each in names}
    libraries = {each.path: each.library for each in evidence.inputs}
    root = roots.pop() if len(roots) == 1 else ""
    library = libraries.get(root)
    return None if library is None else (root, library)


def about_module(module: str, library: ModuleLibrary, program: Program, evidence: Evidence) -> Note:
    """Advise to pass a module as an argument, under the jit of its library as the function's file writes it."""
    place = _definition(program, evidence)
    jit = jit_in_code(library, evidence) if place is None else jit_of(library, *place, evidence.names)[0]
    return note("doctor.captured_module", name=module, function=program.function or "", jit=jit)


def code_with_module(module: str, library: ModuleLibrary, program: Program, evidence: Evidence) -> str | None:
    """Return the function, with its module as the first parameter; ``None`` where that is not mechanical."""
    place = _definition(program, evidence)
    if place is None:
        return None
    function, file = place
    given = function.args
    plain = not (given.vararg or given.kwonlyargs or given.kwarg or given.posonlyargs)
    decorated = len(function.decorator_list) == 1 and is_jit(function.decorator_list[0])
    options = not decorated or isinstance(function.decorator_list[0], ast.Call)
    if not plain or options or module in parameters(function) | stored(function.body):
        return None
    head = re.compile(rf"^(\s*)def {function.name}\(", re.MULTILINE)
    first, last = first_line(function), function.end_lineno or 0
    text = "\n".join(text_of(file)[function.lineno - 1 : last])
    if last - first >= _MOST_LINES or module not in loaded(function.body) or not head.match(text):
        return None
    jit, needed = jit_of(library, function, file, evidence.names)
    taken = ", ".join([module, *(each.arg for each in given.args)])
    written = head.sub(rf"\1def {function.name}({module}{', ' if given.args else ''}", text, count=1)
    indent = " " * function.col_offset
    call = f"{indent}# Call it as {function.name}({taken})."
    return "\n".join([*([needed, "", ""] if needed else []), f"{indent}@{jit}", written, "", "", call])


def _definition(program: Program, evidence: Evidence) -> tuple[ast.FunctionDef, str] | None:
    place = file_of(program.location, evidence)
    tree = None if place is None else tree_of(place[0])
    if place is None or tree is None:
        return None
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    at = [each for each in functions if each.name == program.function and first_line(each) <= place[1] <= each.lineno]
    return (at[0], place[0]) if len(at) == 1 else None
