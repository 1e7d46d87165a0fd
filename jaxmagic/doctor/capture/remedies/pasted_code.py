"""Puts the code that a finding recommends into a copy of the user's function, or of the examined code itself."""

from __future__ import annotations

import ast
import builtins
import linecache
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ....records.cell_names import known_as, text_of
from ....records.note import note
from ....runtime.around import enclosed, is_exactly
from ...record.finding import RuleFinding
from ...rules.rewriting.loops.loop_facts import reads
from ...rules.rewriting.rewritten import Pasted, pasted, rewritten
from ...rules.rewriting.syntax import first_line, loaded, stored, tree_of
from ..changes import reach
from .function_copies import methods_of
from .remedy import Change, NotTried
from .transfer import seen_variables
from .tried_code import TriedCode
from .user_functions import functions_seen, is_users_function, lines_of

#: The file name of code that was put together here, and the function around a copy, which has what that closes over.
_FILE, _AROUND = "<jaxmagic: a remedy>", "__jaxmagic_around__"


def propose(finding: RuleFinding, code: TriedCode, divide: Callable[[str], Pasted] = pasted) -> Change:
    """Propose the user's function, or the examined code, with the recommended code in its place.

    Args:
        finding: the finding that recommends the code.
        code: the examined code.
        divide: divides the recommended code into its places.

    Raises:
        NotTried: there is no code, or it could not be put in its place.
    """
    if finding.code is None or finding.line is None:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    try:
        new, line = divide(finding.code), int(finding.line.rpartition(":")[2])
    except SyntaxError:  # a part of a statement
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule)) from None
    function = next((each for each in _functions(code) if finding.line in lines_of(each)), None)
    vectorized = None if function is not None else _vectorized_at(finding.line, code)
    if vectorized is not None:
        return Change({id(vectorized): _instead(vectorized, finding, new)}, notes=(note("doctor.pasted"),))
    changed = _in_code(code, finding.line, new) if function is None else _in_function(function, line, new)
    if changed is None:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    if function is None:
        assert isinstance(changed, TriedCode)
        unset = stored([code.tree or ast.Module([], [])]) - stored([changed.tree or ast.Module([], [])])
        return Change({}, code=changed, unset=frozenset(unset), notes=(note("doctor.pasted"),))
    return Change({id(function): changed}, notes=(note("doctor.pasted"),))


def _functions(code: TriedCode) -> Iterator[types.FunctionType]:
    """Yield the user's functions that the code leads to, then the methods of objects."""
    for value in code.read().values():
        yield from (each for each in functions_seen(value) if is_users_function(each))
    methods = methods_of(each.value for each in reach(code.reached()))
    yield from (each for method in methods for each in functions_seen(method) if is_users_function(each))


def _vectorized_at(line: str, code: TriedCode) -> np.vectorize | None:
    """Return an object of ``np.vectorize`` that the code reads, and whose function is at a line."""
    made = (each for each in seen_variables(code.read()).values() if is_exactly(each, np.vectorize))
    return next((each for each in made if is_users_function(each.pyfunc) and line in lines_of(each.pyfunc)), None)


def _instead(vectorized: np.vectorize, finding: RuleFinding, new: Pasted) -> Any:
    """Return what the recommended code assigns in place of such an object, from what its function sees."""
    function: Any = vectorized.pyfunc
    seen = {**function.__globals__, **enclosed(function)}
    names = stored(new.statement)
    if len(names) != 1 or not _knows(new, seen, set()):
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    exec(compile(ast.Module([*new.statement], []), _FILE, "exec"), seen)
    return seen[names.pop()]


def _in_code(code: TriedCode, place: str, new: Pasted) -> TriedCode | None:
    """Return the examined code with new statements; ``None`` if the line is not in it, or if a name is unknown."""
    name, _, number = place.rpartition(":")
    tree, source = code.tree, (code.source or "").strip()
    texts = ("\n".join(text_of(each)).rstrip() for each in list(linecache.cache) if known_as(each) == name)
    cell = next((each for each in texts if source and each.endswith(source)), None)
    defined = _defined(new, code.variables)
    if tree is None or cell is None or defined is None:
        return None
    if any(reads(each) & stored([tree]) for each in new.beside):  # what it assigns is not there yet
        return None
    before = cell[: len(cell) - len(source)].count("\n")
    changed = rewritten(tree, int(number) - before, new, before=before)
    if changed is None:
        return None
    variables = {**code.variables, **defined}
    if not _knows(new, variables, stored([tree])):
        return None
    added = frozenset(stored([changed]) - stored([tree]))  # such as _
    return replace(code, source=ast.unparse(changed), variables=variables, left_out=added)


def _in_function(function: types.FunctionType, line: int, new: Pasted) -> types.FunctionType | None:
    """Return a function with new statements, which sees what the original sees; ``None`` likewise."""
    code = function.__code__
    tree = tree_of(code.co_filename)
    own = (each for each in ast.walk(tree or ast.Module([], [])) if isinstance(each, ast.FunctionDef))
    node = next((each for each in own if (each.name, first_line(each)) == _place(code)), None)
    changed = None if node is None else rewritten(node, line, new)
    seen = {**function.__globals__, **enclosed(function)}
    defined = _defined(new, seen)
    if node is None or changed is None or defined is None:
        return None
    if not _knows(new, {**seen, **defined}, {*code.co_varnames, *code.co_cellvars}):
        return None
    changed.decorator_list = []
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells |= {name: types.CellType(value) for name, value in defined.items()}
    compiled = _compiled(changed, list(cells))
    closure = tuple(cells[each] for each in compiled.co_freevars)
    made = types.FunctionType(compiled, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def _place(code: types.CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _compiled(function: ast.FunctionDef, free: list[str]) -> types.CodeType:
    """Compile a function that may close over some names."""
    around = ast.parse(f"def {_AROUND}({', '.join(free)}): pass").body[0]
    assert isinstance(around, ast.FunctionDef)
    around.body = [function]
    outer = _code_named(_AROUND, compile(ast.Module([around], []), _FILE, "exec"))
    return _code_named(function.name, outer)


def _code_named(name: str, code: types.CodeType) -> types.CodeType:
    return next(each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name)


def _defined(new: Pasted, variables: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what definitions beside the code define; ``None`` if they read what is not there."""
    names = stored(new.beside)
    if not _knows(Pasted(beside=new.beside), variables, names):
        return None
    namespace = dict(variables)
    exec(compile(ast.Module([*new.beside], []), _FILE, "exec"), namespace)
    return {name: namespace[name] for name in names if name in namespace}


def _knows(new: Pasted, variables: Mapping[str, Any], local: set[str]) -> bool:
    """Return whether all names in new code are there: variables, local ones, and those that it assigns itself."""
    nodes = [*new.beside, *new.statement, *new.loop, *new.after, *new.lines, *([new.whole] if new.whole else ())]
    inside = {each.arg for node in nodes for each in ast.walk(node) if isinstance(each, ast.arg)}
    return loaded(nodes) <= {*variables, *vars(builtins), *local, *stored(nodes), *inside}
