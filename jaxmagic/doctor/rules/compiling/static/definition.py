"""Finds where the user's code defines a function that compiles again."""

from __future__ import annotations

import ast

from ....record.evidence import Evidence
from ...rewriting.syntax import file_of, first_line, tree_of
from ..recompilations import Group


def definition_of(group: Group, evidence: Evidence) -> tuple[ast.FunctionDef, ast.Module] | None:
    """Return the definition of a function and the file or cell around it; ``None`` if it is not known."""
    place = file_of(group.location, evidence)
    tree = None if place is None else tree_of(place[0])
    if place is None or tree is None:
        return None
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == group.own_name]
    function = next((each for each in functions if first_line(each) <= place[1] <= each.lineno), None)
    return None if function is None else (function, tree)
