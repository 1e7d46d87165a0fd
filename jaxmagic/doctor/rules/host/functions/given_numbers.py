"""Counts the numbers that a line gives to a jitted function: JAX copies each of them to the device in every call."""

from __future__ import annotations

import ast

from .....records.call_stack import Frame
from ....record.evidence import Evidence
from ...rewriting.meanings import Paths, path_at, paths_in
from ...rewriting.numbers.python_numbers import is_number, python_numbers
from ..syntax import around, calls_of, function_around
from .inputs_inside import inputs_inside

#: How the names of NumPy's numbers begin.
_OF_NUMPY = "numpy.float", "numpy.int", "numpy.uint"


def numbers_given(function: str, line: Frame | None, evidence: Evidence) -> int:
    """Return how many arguments are numbers of Python or NumPy, as far as the syntax and the inputs tell.

    Args:
        function: the name of the jitted function.
        line: the line that calls it; ``None`` if it is unknown.
        evidence: what the code reads.
    """
    nodes = () if line is None else around(line)
    if line is None or not nodes:
        return 0
    scope = function_around(line) or nodes[0]
    read = {name for name, each in inputs_inside(line, evidence).items() if each.kind == "number"}
    names, paths = python_numbers(scope) | read, paths_in(scope, line.file, evidence.names)
    counts = [
        sum(_is_given(each, names, paths) for each in (*call.args, *(word.value for word in call.keywords)))
        for call in calls_of(function, nodes[-1], line)
    ]
    return min(counts, default=0)


def _is_given(node: ast.expr, names: set[str], paths: Paths) -> bool:
    if isinstance(node, ast.Call) and path_at(node.func, paths).startswith(_OF_NUMPY):
        return True
    return ast.unparse(node) in names or is_number(node, names)
