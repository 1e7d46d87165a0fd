"""Finds the user's functions that a function calls, or that an object has, which may store what they get."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping
from itertools import takewhile
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

from .....records.call_stack import is_users_file
from .....runtime.around import is_exactly
from ....analysis.parsed_code import parsed
from ....analysis.written_paths import root_of
from ..calls import MISSING, Names, value_of
from ..statement import definition


class HandedOn(NamedTuple):
    """A call of a function of the user's.

    Attributes:
        home: its definition.
        file: the file of this.
        given: the code that the call passes, by parameter.
        names: what the names in the function mean, as far as they are known.
    """

    home: ast.FunctionDef
    file: str
    given: Mapping[str, ast.expr]
    names: Names

    def outside(self, name: str) -> str:
        """Return what the calling function calls something that begins with a parameter, such as ``self.kept``."""
        root = root_of(name)
        return f"{ast.unparse(self.given[root])}{name[len(root) :]}" if root in self.given else name


def calls_from(function: ast.FunctionDef, names: Names) -> Iterator[HandedOn]:
    """Yield the calls of a function's own code whose functions are the user's."""
    for node in ast.walk(function):
        called: Any = value_of(node.func, names) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not is_exactly(called, FunctionType):
            continue
        home = _home_of(called)
        if home is not None and home is not function:
            given = _given(node, home)
            values = {name: value for name, each in given.items() if (value := value_of(each, names)) is not MISSING}
            inside = SimpleNamespace(f_locals=values, f_globals=called.__globals__)
            yield HandedOn(home, called.__code__.co_filename, given, inside)


def methods_around(name: str, names: Names) -> Iterator[HandedOn]:
    """Yield the user's methods of the objects in whose attributes something is, such as ``model.last["h"]``."""
    body = parsed(name).body
    node = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    while isinstance(node, ast.Attribute | ast.Subscript):
        owner = value_of(node.value, names) if isinstance(node, ast.Attribute) else MISSING
        for base in type(owner).__mro__ if owner is not MISSING else ():
            for method in list(vars(base).values()):
                home = _home_of(method) if is_exactly(method, FunctionType) else None
                if home is not None and home.args.args and home.name != "__init__":
                    yield HandedOn(home, method.__code__.co_filename, {home.args.args[0].arg: node.value}, names)
        node = node.value


def _home_of(function: Any) -> ast.FunctionDef | None:
    """Return the definition of a function of the user's."""
    code = function.__code__
    if not is_users_file(code.co_filename):
        return None
    tree = parsed("".join(linecache.getlines(code.co_filename)))
    return definition(tree, code.co_name, code.co_firstlineno)


def _given(call: ast.Call, home: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return what a call passes, by parameter; nothing if that is not written out."""
    places = [each.arg for each in (*home.args.posonlyargs, *home.args.args)]
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) and places[:1] == ["self"] else []
    passed = takewhile(lambda each: not isinstance(each, ast.Starred), (*owner, *call.args))
    named = {each.arg: each.value for each in call.keywords if each.arg is not None}
    return {**dict(zip(places, passed, strict=False)), **named}
