"""Tells whether a failing statement stores its value in an object that the traced function has not made."""

from __future__ import annotations

import ast
from types import FrameType, ModuleType

from .....runtime.around import attribute, is_a
from ....analysis.written_paths import variable_of
from ....record.failing_code import Traced
from ..calls import value_of
from ..statement import Place
from .escapes import stored_into

#: Functions that make a container or an object of Python's.
_MAKES = "list", "dict", "set", "defaultdict", "deque", "OrderedDict", "Counter", "SimpleNamespace", "bytearray"

_DISPLAYS = ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp


def stores_outside(place: Place, frame: FrameType, traced: Traced | None) -> bool:
    """Return whether the failing statement stores into an object that is not known to be made in the traced function.

    A call whose result nobody uses counts: it may store its arguments as well.
    """
    statement, node = place.statement, place.node
    if not isinstance(statement, ast.stmt) or not isinstance(node, ast.expr) or frame.f_code.co_name == "<module>":
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        targets = [statement.value.func]
    else:
        holding = [each for each in ast.walk(statement) if node in ast.walk(each)]
        targets = [target for each in holding for target in stored_into(each)]
    homes = _homes(place, traced)
    return any(_is_outside(each, homes, frame) for each in targets)


def _homes(place: Place, traced: Traced | None) -> list[ast.FunctionDef]:
    """Return the functions around a statement, the innermost first, up to the traced one."""
    line = getattr(place.statement, "lineno", 0)
    around = [
        each
        for each in ast.walk(place.tree or ast.Module([], []))
        if isinstance(each, ast.FunctionDef) and each.lineno <= line <= (each.end_lineno or 0)
    ]
    around.sort(key=lambda each: -each.lineno)
    for number, each in enumerate(around):
        first = min([each.lineno, *(one.lineno for one in each.decorator_list)])
        if traced is not None and (each.name, first) == (traced.function, traced.line):
            return around[: number + 1]
    return around[:1]


def _is_outside(target: ast.expr, homes: list[ast.FunctionDef], frame: FrameType) -> bool:
    name = variable_of(target)
    if not name:
        return False
    scopes = (ast.Global, ast.Nonlocal)
    declared = {one for home in homes for each in ast.walk(home) if isinstance(each, scopes) for one in each.names}
    if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
        return name in declared
    if name not in declared and any(_makes(each, name, frame) for home in homes for each in ast.walk(home)):
        return False
    owner = value_of(ast.Name(name, ast.Load()), frame)
    module = attribute(owner, "__name__" if is_a(owner, ModuleType) else "__module__")
    return str(module).partition(".")[0] != "jax"  # such as jax.debug.print(), which takes traced values


def _makes(node: ast.AST, name: str, frame: FrameType) -> bool:
    """Return whether a statement assigns a new object to a variable."""
    match node:
        case (
            ast.Assign(targets=[ast.Name(id=target)], value=value)
            | ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value)
        ):
            called = value.func if isinstance(value, ast.Call) else None
            is_class = called is not None and is_a(value_of(called, frame), type)
            made = called is not None and ast.unparse(called).rpartition(".")[2] in _MAKES
            return target == name and (isinstance(value, _DISPLAYS) or made or is_class)
    return False
