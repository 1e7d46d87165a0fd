"""Find statements that leave the code of a magic before its end, which can then not run several times."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_LEAVES = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}

_OTHER_CODE = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda

_LOOPS = ast.For, ast.AsyncFor, ast.While


def leaving(body: Sequence[ast.AST]) -> str | None:
    """Return the keyword with which code may leave its surroundings; ``None`` if it always reaches its end.

    >>> leaving(ast.parse("for x in xs: break").body), leaving(ast.parse("if x: break").body)
    (None, 'break')
    """
    return next(_leaving(body, looping=False), None)


def _leaving(nodes: Sequence[ast.AST], looping: bool) -> Iterator[str]:
    for node in nodes:
        if type(node) is ast.Return or (type(node) in _LEAVES and not looping):
            yield _LEAVES[type(node)]
        elif isinstance(node, _LOOPS):
            yield from _leaving(node.body, looping=True)
            yield from _leaving(node.orelse, looping)
        elif not isinstance(node, _OTHER_CODE):
            yield from _leaving(list(ast.iter_child_nodes(node)), looping)
