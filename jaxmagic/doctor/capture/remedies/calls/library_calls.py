"""Puts a call of a library that makes functions anew into a function that is jitted once."""

from __future__ import annotations

import ast
import sys
import types
from typing import Any

from .....records.inside import library_module
from .....records.note import note
from .....runtime.around import is_a, is_exactly, of_type
from ....analysis.replaced_node import ReplacedNode
from ....record.finding import RuleFinding
from ..not_jitted import function_at
from ..remedy import Change, NotTried
from ..tried_code import TriedCode
from .jitted_function import Jitted, has_arrays_only

#: The name of the jitted function in the code.
_JITTED = "__jaxmagic_jitted__"


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose to jit the user's function around the line of the finding, or else the call in the code itself."""
    function = function_at(finding.line, code)
    if function is not None:
        jitted = Jitted(function)
        return Change(
            {id(function): jitted.call},
            used=lambda: jitted.called,
            found=lambda: note("doctor.jitted", name=function.__name__, traces=jitted.traces),
        )
    tree = code.tree
    calls = [] if tree is None else _calls(tree, finding, code)
    if tree is None or len(calls) != 1:
        raise NotTried(note("doctor.call_unclear"))
    return _jitted_call(tree, calls[0], code)


def _calls(tree: ast.Module, finding: RuleFinding, code: TriedCode) -> list[ast.Call]:
    """Return the outermost calls of libraries on the line of a finding, which may have a magic in front."""
    lines = (code.source or "").splitlines()
    calls = _library_calls(tree, code, _assigned(tree))
    return [each for each in calls if (finding.source or "").endswith(lines[each.lineno - 1].strip())]


def _library_calls(node: ast.AST, code: TriedCode, made: set[str]) -> list[ast.Call]:
    if isinstance(node, ast.Call) and _is_librarys(node, code, made):
        return [node]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return []
    return [each for child in ast.iter_child_nodes(node) for each in _library_calls(child, code, made)]


def _is_librarys(call: ast.Call, code: TriedCode, made: set[str]) -> bool:
    """Return whether a call begins with a library's object, or with one that the code makes."""
    node: ast.AST = call.func
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return False
    return node.id in made or _comes_from_library(code.variables.get(node.id))


def _comes_from_library(value: Any) -> bool:
    """Return whether a module, function, class or object comes from an installed package other than NumPy and JAX."""
    if is_exactly(value, types.ModuleType):
        name = value.__name__
    elif is_exactly(value, types.FunctionType, types.MethodType):
        name = value.__module__
    else:
        name = of_type("__module__", value if is_a(value, type) else type(value))
    file = getattr(sys.modules.get(str(name)), "__file__", None) or ""
    return library_module(file) is not None and str(name).partition(".")[0] != "numpy"


def _jitted_call(tree: ast.Module, call: ast.Call, code: TriedCode) -> Change:
    """Return the code with a function that is jitted once in place of a call.

    Arrays are its arguments, and so is all that the code assigns, which has to be arrays; the rest stays as it is.
    """
    loaded = sorted({each.id for each in ast.walk(call) if isinstance(each, ast.Name)})
    made = _assigned(tree)
    if _assigned(call):
        raise NotTried(note("doctor.call_unclear"))
    known = {name for name, value in code.variables.items() if has_arrays_only(value)}
    names = [name for name in loaded if name in made | known]
    text = ast.unparse(call.func)
    function = eval(f"lambda {', '.join(names)}: {ast.unparse(call)}", dict(code.variables))
    function.__name__ = text
    jitted = Jitted(function)

    def checked(*given: Any) -> Any:
        for name, value in zip(names, given, strict=True):
            if not has_arrays_only(value):
                raise NotTried(note("doctor.call_of_objects", name=name))
        return jitted.call(*given)

    new = ReplacedNode(call, ast.parse(f"{_JITTED}({', '.join(names)})", mode="eval").body).visit(tree)
    variables = {**code.variables, _JITTED: checked}
    return Change(
        {},
        code=TriedCode(ast.unparse(new), variables),
        used=lambda: jitted.called,
        found=lambda: note("doctor.call_jitted", call=text, names=", ".join(names), traces=jitted.traces),
    )


def _assigned(node: ast.AST) -> set[str]:
    """Return the names that some code assigns."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
