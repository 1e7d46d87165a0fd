"""The calls that stand for a magic in a cell are distinguished from all others."""

from __future__ import annotations

import ast

import pytest

from jaxmagic.magics.declare import declared
from jaxmagic.magics.magic_calls import Parsers, line_call, marker, read_marker

PARSERS: Parsers = {"jaxtime": declared("jaxtime").parser}


def statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


@pytest.mark.parametrize("text", ["", "-q -v t", "= 'quoted' \\ \n"])
def test_a_marker_is_read_as_it_was_written(text: str) -> None:
    assert read_marker(statement(marker("jaxtime", text)), PARSERS)[:2] == ("jaxtime", text)


@pytest.mark.parametrize(
    "text",
    [
        "get_ipython().run_cell_magic('time', '', ...)",
        "get_ipython().run_cell_magic('jaxtime', '', 'a cell')",
        "x = get_ipython().run_cell_magic('jaxtime', '', ...)",
        "get_ipython().run_line_magic('jaxtime', '')",
        "run_cell_magic('jaxtime', '', ...)",
        "pass",
    ],
)
def test_anything_else_is_no_marker(text: str) -> None:
    assert read_marker(statement(text), PARSERS) is None


def test_a_line_magic_is_found_with_its_targets() -> None:
    found = line_call(statement("a, b = get_ipython().run_line_magic('jaxtime', 'f(x)')"), PARSERS)
    assert found is not None
    assert (found.magic, found.text, len(found.targets)) == ("jaxtime", "f(x)", 1)


@pytest.mark.parametrize(
    "text",
    [
        "get_ipython().run_line_magic('time', 'f(x)')",
        "get_ipython().run_line_magic('jaxtime', text)",
        "print(get_ipython().run_line_magic('jaxtime', 'f(x)'))",
        "shell.run_line_magic('jaxtime', 'f(x)')",
        "get_ipython().run_line_magic('jaxtime')",
    ],
)
def test_anything_else_is_no_line_magic(text: str) -> None:
    assert line_call(statement(text), PARSERS) is None
