"""Finds the user's functions that a function calls, which may store what they get."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping
from itertools import takewhile
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

from .....records.inside import library_module
from .....runtime.around import is_exactly
from ....analysis.parsed_code import parsed
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
        root = name.partition(".")[0].partition("[")[0]
        return f"{ast.unparse(self.given[root])}{name[len(root) :]}" if root in self.given else name


def calls_from(function: ast.FunctionDef, names: Names) -> Iterator[HandedOn]:
    """Yield the calls of a function's own code whose functions are the user's."""
    for node in ast.walk(function):
        called: Any = value_of(node.func, names) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not is_exactly(called, FunctionType):
            continue
        code = called.__code__
        if library_module(code.co_filename) is not None:
            continue
        tree = parsed("".join(linecache.getlines(code.co_filename)))
        home = definition(tree, code.co_name, code.co_firstlineno)
        if home is not None and home is not function:
            given = _given(node, home)
            values = {name: value for name, each in given.items() if (value := value_of(each, names)) is not MISSING}
            inside = SimpleNamespace(f_locals=values, f_globals=called.__globals__)
            yield HandedOn(home, code.co_filename, given, inside)


def _given(call: ast.Call, home: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return what a call passes, by parameter; nothing if that is not written out."""
    places = [each.arg for each in (*home.args.posonlyargs, *home.args.args)]
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) and places[:1] == ["self"] else []
    passed = takewhile(lambda each: not isinstance(each, ast.Starred), (*owner, *call.args))
    named = {each.arg: each.value for each in call.keywords if each.arg is not None}
    return {**dict(zip(places, passed, strict=False)), **named}
