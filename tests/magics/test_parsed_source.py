"""Statements that leave the code around them are found."""

from __future__ import annotations

import ast

import pytest

from jaxmagic.magics.parsed_source import leaving


@pytest.mark.parametrize(
    ("code", "keyword"),
    [
        ("return f(x)", "return"),
        ("for x in xs:\n    if x: return", "return"),
        ("f(x); break", "break"),
        ("with a:\n    try: f(x)\n    finally: continue", "continue"),
        ("match x:\n    case 1: break", "break"),
        ("for x in xs: pass\nelse: break", "break"),
        ("while x: break", None),
        ("for x in xs:\n    if x: continue", None),
        ("def f():\n    return 1", None),
        ("class A:\n    def f(self): return 1", None),
        ("async def f():\n    async for x in xs: break\n    return 1", None),
        ("f(lambda: 1)", None),
    ],
)
def test_what_leaves_the_code_around_it(code: str, keyword: str | None) -> None:
    assert leaving(ast.parse(code).body) == keyword
