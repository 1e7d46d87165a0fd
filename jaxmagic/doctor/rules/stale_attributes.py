"""Finds programs that keep values of attributes or outer variables although the code assigns others."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from ...records.note import Note, note
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from ..record.program import Program, StaleAttribute
from .captured_module import about_module, code_with_module, module_with
from .host.functions.used_in_loop import loops_of
from .host.syntax import Function, assigned
from .rewriting.list_items import changed_in_place
from .rewriting.syntax import (
    file_of,
    first_line,
    loaded,
    parameters,
    source_of_location,
    stored,
    tree_of,
    tree_of_code,
    with_imports,
)

#: Methods that run before the first call of another one.
_MAKING = frozenset({"__init__", "__new__", "__post_init__", "setup"})


def stale_attributes(evidence: Evidence, rule: str) -> Iterator[RuleFinding]:
    """Yield the functions whose programs compute with values that attributes no longer have."""
    found: dict[tuple[str | None, str | None], dict[str, StaleAttribute]] = {}
    first: dict[tuple[str | None, str | None], Program] = {}
    for program in evidence.programs or ():
        key = program.function, program.location
        stale = [each for each in program.stale if each.parameter or _is_called_after(each.root, program, evidence)]
        if stale and not program.eager:
            first.setdefault(key, program)
            found.setdefault(key, {}).update({each.path: each for each in stale})
    for key, program in first.items():
        stale = list(found[key].values())
        function = _function(program, evidence)
        module = None if stale[0].parameter else module_with([each.path for each in stale], evidence)
        code = None if function is None else _code(function[0], stale, function[1])
        yield RuleFinding(
            rule=rule,
            found=note("doctor.stale", function=program.name, names=", ".join(each.path for each in stale)),
            line=program.location,
            source=source_of_location(program.location, evidence),
            evidence=tuple(_evidence(stale, program, evidence)),
            remedy=_remedy(stale, program) if module is None else about_module(*module, program, evidence),
            code=code if module is None else code_with_module(*module, program, evidence),
        )


def _is_called_after(variable: str, program: Program, evidence: Evidence) -> bool:
    """Return whether the function of a program is called after a variable changes: in a loop, or by code run again.

    A function that each run of the code makes anew sees what the variable is by then.
    """
    site = program.called_at
    if site is not None and any(variable in assigned(each) | changed_in_place(each) for each in loops_of(site)):
        return True
    function = _function(program, evidence)
    made = (each for each in ast.walk(tree_of_code(evidence.code)) if isinstance(each, Function))
    is_made = any(each.name == program.function for each in made)
    return function is not None and function[0] in function[1].body and not is_made


def _evidence(stale: Sequence[StaleAttribute], program: Program, evidence: Evidence) -> Iterator[Note]:
    for each in stale[:3]:
        yield note(
            "doctor.stale_value",
            name=each.path,
            before=each.before,
            now=each.now,
            line=_assigned_at(each, program, evidence),
        )


def _remedy(stale: Sequence[StaleAttribute], program: Program) -> Note:
    return note(
        "doctor.stale_remedy",
        function=program.name,
        names=", ".join(each.path for each in stale if each.passable),
        owner=stale[0].owner,
        parameter=stale[0].parameter,
        bound=int(stale[0].bound),
        numbers=int(any(each.number for each in stale)),
    )


def _assigned_at(stale: StaleAttribute, program: Program, evidence: Evidence) -> str:
    """Return the only line of the class that assigns an attribute of an object once it is made; empty if unknown."""
    place = file_of(program.location, evidence)
    tree = None if place is None else tree_of(place[0])
    if tree is None or program.location is None:
        return ""
    lines = {
        node.lineno
        for kind in ast.walk(tree)
        if isinstance(kind, ast.ClassDef) and kind.name == stale.owner
        for method in kind.body
        if isinstance(method, Function) and method.name not in _MAKING and method.args.args
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node) == f"{method.args.args[0].arg}.{stale.name}"
    }
    return f"{program.location.rpartition(':')[0]}:{lines.pop()}" if len(lines) == 1 else ""


def _function(program: Program, evidence: Evidence) -> tuple[ast.FunctionDef, ast.Module] | None:
    place = file_of(program.location, evidence)
    tree = None if place is None else tree_of(place[0])
    if place is None or tree is None:
        return None
    functions = [
        each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == program.function
    ]
    at = [each for each in functions if first_line(each) <= place[1] <= each.lineno]
    return (at[0], tree) if len(at) == 1 else None


def _code(function: ast.FunctionDef, stale: Sequence[StaleAttribute], tree: ast.Module) -> str | None:
    """Return the function with the attributes as further parameters; ``None`` where that is not mechanical."""
    given, owner = function.args, stale[0].parameter
    names = [each.name for each in stale]
    if not all(name.isidentifier() for name in names):
        return None
    if given.vararg or given.kwonlyargs or given.kwarg or given.defaults or given.posonlyargs:
        return None
    if not all(each.passable and not each.number and not each.bound and each.parameter == owner for each in stale):
        return None
    if not owner:
        return _with_variables(function, names, tree)
    replaced = _AsParameters(owner, names)
    written = replaced.visit(copy.deepcopy(function))
    if (
        replaced.calls_others
        or replaced.seen != {*names}
        or {*names} & (parameters(function) | stored(function.body))
    ):
        return None
    if any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(function)):
        return None
    taken = [each.arg for each in given.args]
    written.args.args += [ast.arg(name) for name in names]
    passed = [f"{owner}.{name}" for name in names]
    if any(isinstance(each, ast.ClassDef) and function in each.body for each in ast.walk(tree)):
        call = (
            f"# Call it as {owner}.{function.name}({', '.join([*taken[1:], *passed])}), where {owner} is the object."
        )
    else:
        call = f"# Call it as {function.name}({', '.join([*taken, *passed])})."
    return with_imports(f"{ast.unparse(ast.fix_missing_locations(written))}\n\n\n{call}", tree)


def _with_variables(function: ast.FunctionDef, names: Sequence[str], tree: ast.Module) -> str | None:
    """Return a function with outer variables as further parameters; ``None`` where another one reads them."""
    if not {*names} <= loaded(function.body) or {*names} & (parameters(function) | stored(function.body)):
        return None
    written, taken = copy.deepcopy(function), [each.arg for each in function.args.args]
    written.args.args += [ast.arg(name) for name in names]
    call = f"# Call it as {function.name}({', '.join([*taken, *names])})."
    return with_imports(f"{ast.unparse(ast.fix_missing_locations(written))}\n\n\n{call}", tree)


class _AsParameters(ast.NodeTransformer):
    """Puts a parameter in place of an attribute.

    Attributes:
        seen: the attributes that were replaced.
        calls_others: whether methods of the object, or functions that get it, may read them as well.
    """

    def __init__(self, owner: str, names: Sequence[str]) -> None:
        self._owner, self._names = owner, names
        self.seen: set[str] = set()
        self.calls_others = False

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replace the attribute where it is read."""
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name, ctx=ast.Load()) if owner == self._owner:
                if name in self._names:
                    self.seen.add(name)
                    return ast.Name(name, ast.Load())
                return node
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Note a call of a method of the object."""
        match node.func:
            case ast.Attribute(value=ast.Name(id=owner)) if owner == self._owner:
                self.calls_others = True
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Note a use of the object itself."""
        self.calls_others = self.calls_others or node.id == self._owner
        return node
