"""The syntax tree transformation that rewrites a magic in its cell."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from IPython.core.error import InputRejected

from jaxmagic.magics.declare import declared
from jaxmagic.magics.parsed_source import ends_in_semicolon
from jaxmagic.magics.rewrite import BlockRewriter

PARSERS = {"jaxtime": declared("jaxtime").parser}


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


def test_cells_without_our_magics_are_left_alone_however_deep(session: Any) -> None:
    branches = "".join(f"elif n == {number}:\n    pass\n" for number in range(600))
    session.run(f"n = 700\nif n == -1:\n    pass\n{branches}")
