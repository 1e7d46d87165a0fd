"""The three steps that put a magic into its cell."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.error import InputRejected

from jaxmagic.magics.rewrite import BlockRewriter, cell_to_marker, ends_in_semicolon, line_to_marker
from jaxmagic.magics.timing import JaxMagics

PARSERS = {"jaxtime": JaxMagics.jaxtime.parser}


def cell(text: str) -> str:
    return "".join(cell_to_marker(text.splitlines(keepends=True), PARSERS))


def test_a_cell_keeps_its_height() -> None:
    text = "%%jaxtime -q\n\na = 1\n"
    assert cell(text) == "get_ipython().run_cell_magic('jaxtime', '-q', ...)\n\na = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1\n",
        "%%time\n1\n",
        "%%jaxtime?\n",
        "%%jaxtimes\n1\n",
        "%%jaxtime\n\n",
        "%%jaxtime f(x)\n1\n",
        "%%jaxtime --no\n1\n",
    ],
)
def test_what_is_not_ours_or_is_wrong_is_left_to_ipython(text: str) -> None:
    assert cell(text) == text


def test_a_cell_magic_below_ours_is_one_too() -> None:
    assert "run_cell_magic('capture', 'out'" in cell("%%jaxtime\n%%capture out\nprint(1)\n")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=4))
def test_no_cell_is_changed_that_is_not_ours(lines: list[str]) -> None:
    lines = [line.replace("%%jaxtime", "") + "\n" for line in lines]
    assert cell_to_marker(list(lines), PARSERS) == lines


def line(text: str) -> str:
    return "".join(line_to_marker(text.splitlines(keepends=True), PARSERS))


def test_a_line_with_await_becomes_text_again() -> None:
    text = "if 1:\n    a, b = get_ipython().run_line_magic('jaxtime', '-q await g()')\n"
    assert line(text) == ("if 1:\n    get_ipython().run_cell_magic('jaxtime', '= -q', ...); a, b = await g()\n")


@pytest.mark.parametrize("character", ["\x0c", "\x1c", "\x85", "\u2028"])
def test_what_only_some_take_for_the_end_of_a_line_is_text(character: str) -> None:
    first = f"text = 'a{character}b'\n"
    lines = [first, "z = get_ipython().run_line_magic('jaxtime', 'await g()')\n"]
    assert line_to_marker(lines, PARSERS)[0] == first
    assert line_to_marker(lines, PARSERS)[1].endswith("; z = await g()\n")


def test_a_line_without_await_stays_ipythons_call() -> None:
    text = "get_ipython().run_line_magic('jaxtime', 'awaited(x)')\n"
    assert line(text) == text


def test_a_broken_statement_stands_alone() -> None:
    assert line("get_ipython().run_line_magic('jaxtime', '-q f(')\n") == "f(\n"


def rewrite(source: str) -> str:
    rewriter = BlockRewriter(PARSERS, lambda text: text, lambda: "last_expr")
    tree = ast.fix_missing_locations(rewriter.visit(ast.parse(source)))  # as IPython does
    compile(tree, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # every node has its place
    return ast.unparse(tree)


def test_a_call_becomes_a_block_wherever_a_statement_can_stand() -> None:
    for around in (
        "{}",
        "if a:\n    pass\nelse:\n    {}",
        "for i in b:\n    {}",
        "while a:\n    {}",
        "try:\n    {}\nexcept E:\n    {}\nfinally:\n    {}",
        "with a:\n    {}",
        "def g():\n    {}",
        "async def g():\n    {}",
        "class C:\n    {}",
        "match a:\n    case 1:\n        {}",
    ):
        source = around.replace("{}", "get_ipython().run_line_magic('jaxtime', 'f(x)')")
        assert "run_line_magic" not in rewrite(source)
        assert "open_block" in rewrite(source)


def test_the_users_nodes_keep_their_places() -> None:
    source = "a = 1\nget_ipython().run_line_magic('jaxtime', '-q f(y)')\n"
    tree = BlockRewriter(PARSERS, lambda text: text, lambda: "last_expr").visit(ast.parse(source))
    (name,) = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "y"]
    assert source.splitlines()[name.lineno - 1][name.col_offset : name.end_col_offset] == "y"


def test_a_wrong_option_is_left_for_the_magic() -> None:
    source = "get_ipython().run_line_magic('jaxtime', '--bogus f(x)')"
    assert rewrite(source) == source


def test_a_failure_of_ours_rejects_the_cell_and_keeps_the_transformer() -> None:
    def fail() -> Any:
        raise RuntimeError("broken")

    rewriter = BlockRewriter(PARSERS, lambda text: text, fail)
    with pytest.raises(InputRejected, match="was not run"):
        rewriter.visit(ast.parse("get_ipython().run_line_magic('jaxtime', 'f(x)')"))


@pytest.mark.parametrize(
    ("code", "ends"),
    [("f(x);", True), ("f(x); # c", True), ("f(x) # ;", False), ("';'", False), ("1 # c ; d;", False), ("f(", False)],
)
def test_a_semicolon_is_found_by_token(code: str, ends: bool) -> None:
    assert ends_in_semicolon(code) is ends
