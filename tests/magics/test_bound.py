"""The variable of ``-v`` is bound in the function that calls the magic."""

from __future__ import annotations

import ast
from argparse import ArgumentParser

import pytest

from jaxmagic import subjects
from jaxmagic.magics.bound import bind_in_functions
from jaxmagic.subjects import Magic, MagicEntry

CALL = "get_ipython().run_line_magic('look', '-v t f(x)')"


@pytest.mark.parametrize("block", [False, True])
def test_a_magic_of_any_subject_binds_its_variable_unless_its_block_does(
    monkeypatch: pytest.MonkeyPatch, block: bool
) -> None:
    monkeypatch.setitem(subjects._MAGICS, "look", MagicEntry(Magic("look", block=block), "toy"))
    parser = ArgumentParser()
    parser.add_argument("-v")
    parser.add_argument("-o", action="store_true")
    tree = ast.parse(f"def g():\n    {CALL}\n    return t")
    bind_in_functions(tree, {"look": parser})
    statement = CALL if block else CALL.replace("'-v", "'-o -v").join(("t = ", ""))
    assert ast.unparse(tree) == f"def g():\n    {statement}\n    return t"


def test_a_magic_without_such_an_option_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(subjects._MAGICS, "look", MagicEntry(Magic("look"), "toy"))
    source = "def g():\n    get_ipython().run_line_magic('look', 'x')"
    tree = ast.parse(source)
    bind_in_functions(tree, {"look": ArgumentParser()})
    assert ast.unparse(tree) == source
