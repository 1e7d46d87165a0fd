"""Rewrites a function of the user: with fewer rounds of one of its loops, or with other statements in its place."""

from __future__ import annotations
import __future__

import ast
import types
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, cast

from ....rules.rewriting.syntax import Loop, function_around, loops_around, tree_of
from ..user_functions import all_codes, functions_seen, is_users_function, lines_of

#: The name of the iterator in the loop of a copy.
_ROUNDS = "__jaxmagic_rounds__"

#: The name of the function around a copy. Its parameters are the variables that the copy closes over.
_AROUND = "__jaxmagic_around__"

#: The copies are compiled under this name.
_FILE = "<jaxmagic: a remedy>"


class Rounds:
    """Iterates over the values of a loop, or over the first part of them.

    Attributes:
        counts: how many rounds there would be, for each time that the loop began.
        part: the number of parts of which the first one is iterated over.
    """

    def __init__(self, part: int = 1) -> None:
        self.counts: list[int] = []
        self.part = part

    def __call__(self, values: Iterable[Any]) -> Iterator[Any]:
        """Yield the first values, at least one."""
        items: Sequence[Any] = list(values)
        self.counts.append(len(items))
        yield from items[: max(len(items) // self.part, 1)]


class FoundLoop(NamedTuple):
    """A loop in a function of the user.

    Attributes:
        function: the function.
        definition: its syntax.
        number: the place of the loop among the nodes of the function.
    """

    function: types.FunctionType
    definition: ast.FunctionDef
    number: int

    def with_rounds(self, rounds: Rounds) -> types.FunctionType | None:
        """Return a copy of the function whose loop goes through `rounds`; ``None`` if that is not mechanical."""
        definition, loop = self._copied()
        if isinstance(loop, ast.While) or any(isinstance(each, ast.Break | ast.Return) for each in ast.walk(loop)):
            return None
        owner = loop if isinstance(loop, ast.For) else loop.generators[0]
        owner.iter = ast.Call(ast.Name(_ROUNDS, ast.Load()), [owner.iter], [])
        return self._made(definition, {_ROUNDS: rounds})

    def with_code(self, code: str) -> types.FunctionType | None:
        """Return a copy of the function with other statements for the loop; ``None`` if that is not mechanical."""
        definition, loop = self._copied()
        for node in ast.walk(definition):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and loop in block:
                    place = block.index(loop)
                    block[place : place + 1] = ast.parse(code).body
                    return self._made(definition, {})
        return None

    def _copied(self) -> tuple[ast.FunctionDef, Loop]:
        definition = deepcopy(self.definition)
        loop = list(ast.walk(definition))[self.number]
        assert isinstance(loop, Loop)
        return definition, loop

    def _made(self, definition: ast.FunctionDef, names: dict[str, Any]) -> types.FunctionType | None:
        """Compile a definition with the globals, the closure and the defaults of the function."""
        function: Any = self.function
        code = self.function.__code__
        definition.decorator_list = []
        around = ast.parse(f"def {_AROUND}({', '.join(code.co_freevars)}):\n    pass")
        assert isinstance(around.body[0], ast.FunctionDef)
        around.body[0].body = [definition]
        unevaluated = __future__.annotations.compiler_flag
        compiled = compile(ast.fix_missing_locations(around), _FILE, "exec", unevaluated, dont_inherit=True)
        made = [each for each in all_codes(compiled) if each.co_name == code.co_name]
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        if not made or not set(made[0].co_freevars) <= {*cells}:
            return None
        closure = tuple(cells[name] for name in made[0].co_freevars)
        copied: Any = types.FunctionType(
            made[0], {**function.__globals__, **names}, function.__name__, function.__defaults__, closure
        )
        copied.__kwdefaults__ = function.__kwdefaults__
        return cast("types.FunctionType", copied)


def find_loop(function: Any, line: str | None) -> FoundLoop | None:
    """Find the loop at a line of a function, or of one that it calls; ``None`` if there is not one.

    That is the loop that begins there, or else the innermost one around it.

    Args:
        function: the function, which may be a transformed one.
        line: the line, such as ``"cell 3:2"``.
    """
    for inner in filter(is_users_function, functions_seen(function)):
        code = inner.__code__
        if line not in lines_of(inner):
            continue
        tree, number = tree_of(code.co_filename), int((line or "").rpartition(":")[2])
        loops = [] if tree is None else [*loops_around(tree, number, code.co_name), *_begun(tree, number)]
        definition = None if tree is None or not loops else function_around(tree, loops[-1].lineno)
        if not isinstance(definition, ast.FunctionDef) or definition.name != code.co_name:
            continue
        first = min([definition.lineno, *(decorator.lineno for decorator in definition.decorator_list)])
        if first == code.co_firstlineno:
            return FoundLoop(inner, definition, list(ast.walk(definition)).index(loops[-1]))
    return None


def _begun(tree: ast.AST, line: int) -> list[Loop]:
    """Return the loop whose first line this is."""
    loops = (node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While))
    return [each for each in loops if each.lineno == line < each.body[0].lineno]
