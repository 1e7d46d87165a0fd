"""Finds the syntax around a line of the user's code, and the names that it reads and assigns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ....records.call_stack import Frame
from ....records.cell_names import text_of
from ...analysis.parsed_code import parsed
from ...record.evidence import Evidence

#: A line of a cell that is no Python: a magic, a command of the shell, or a question.
_NOT_PYTHON = re.compile(r"^(\s*)(%|!|\?)")

#: Statements whose bodies run later, or elsewhere.
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

#: Imports of the modules that code to paste refers to.
_IMPORTS = {"jax": "jax", "jnp": "jax.numpy as jnp", "np": "numpy as np"}

#: Loops of Python.
Loop = ast.For | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def tree_of(file: str) -> ast.Module | None:
    """Return the syntax tree of a file or cell; ``None`` if it cannot be read. Magics count as ``pass``."""
    text = text_of(file)
    return _parsed(tuple(text)) if text else None


@lru_cache(maxsize=128)  # nobody changes the tree
def _parsed(text: tuple[str, ...]) -> ast.Module | None:
    try:
        return ast.parse("\n".join(_NOT_PYTHON.sub(r"\1pass  #", line) for line in text))
    except (SyntaxError, ValueError):
        return None


def tree_of_code(code: str | None) -> ast.Module:
    """Return the syntax tree of the code, of which only the name of the function is known if it is a call."""
    return parsed(f"{code}()" if code is not None and code.isidentifier() else code)


def file_of(location: str | None, evidence: Evidence) -> tuple[str, int] | None:
    """Return the file, as Python names it, and the line of a location such as ``"cell 3:2"``; ``None`` if unknown."""
    name, _, number = (location or "").rpartition(":")
    if not name or not number.isdigit():
        return None
    if text_of(name):
        return name, int(number)
    found = next((frame.file for frame in _frames(evidence) if frame.cell == name), None)
    return None if found is None else (found, int(number))


def lines_run(evidence: Evidence) -> Iterator[Frame]:
    """Yield the user's lines that were seen to run: those that called programs, and those in samples of the host."""
    yield from (each.called_at for each in evidence.programs or () if each.called_at is not None)
    yield from (each.line for each in evidence.host or () if each.line is not None)


def tree_run(file: str, evidence: Evidence) -> ast.Module:
    """Return the statements of a file or cell, of others of which lines ran, and of the examined code."""
    trees = [tree_of(each) for each in dict.fromkeys([file, *(line.file for line in lines_run(evidence))])]
    return ast.Module(
        [each for tree in (*trees, tree_of_code(evidence.code)) if tree is not None for each in tree.body], []
    )


def _frames(evidence: Evidence) -> Iterator[Frame]:
    yield from lines_run(evidence)
    yield from (each.line for each in evidence.waits or () if each.line is not None)
    for program in evidence.programs or ():
        yield from (each.line for each in program.equations or () if each.line is not None)


def source_of_location(location: str | None, evidence: Evidence) -> str | None:
    """Return the text of the line at a location, without its indentation; ``None`` if it cannot be read."""
    place = file_of(location, evidence)
    lines = [] if place is None else text_of(place[0])
    return lines[place[1] - 1].strip() or None if place is not None and 0 < place[1] <= len(lines) else None


def around(tree: ast.AST, line: int) -> list[ast.AST]:
    """Return the nodes that contain a line, outermost first."""
    found: list[tuple[int, int, ast.AST]] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop(0)
        first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if first is not None:  # modules, operators and arguments have no line
            begin = min([first, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            if not begin <= line <= (last or first):
                continue
            found.append((first, -(last or 0), node))
        pending += ast.iter_child_nodes(node)
    return [node for *_, node in sorted(found, key=lambda each: each[:2])]


def loops_around(tree: ast.AST, line: int, function: str = "") -> list[Loop]:
    """Return the loops whose bodies run a line in the same function, outermost first.

    Args:
        tree: the syntax tree.
        line: the line.
        function: the name of the function that runs it. A line may have a lambda in it that another function makes.
    """
    found: list[Loop] = []
    for node in around(tree, line):
        if isinstance(node, ast.Lambda):
            found = found if function not in ("", "<lambda>") else []
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _in_body(node.body, line):
            found.clear()
        elif (isinstance(node, (ast.For, ast.While)) and _in_body(node.body, line)) or isinstance(
            node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            found.append(node)
    return found


def _in_body(body: Iterable[ast.stmt], line: int) -> bool:
    return any(each.lineno <= line <= (each.end_lineno or each.lineno) for each in body)


def function_around(tree: ast.AST, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the innermost ``def`` whose body contains a line; ``None`` outside of one."""
    found = [
        node
        for node in around(tree, line)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _in_body(node.body, line)
    ]
    return found[-1] if found else None


def first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, with the decorators if it defines a function."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def loaded(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that some nodes read."""
    names = (each for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Load)}


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that some nodes assign, also as functions, classes and imports."""
    found: set[str] = set()
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                found.add(each.id)
            elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(each.name)
            elif isinstance(each, ast.alias):
                found.add((each.asname or each.name).partition(".")[0])
    return found


def parameters(function: Function) -> set[str]:
    """Return the names of the parameters of a function."""
    given = function.args
    every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    return {each.arg for each in every if each is not None}


def have_own_lines(statements: Iterable[ast.stmt], file: str) -> bool:
    """Return whether nothing else is in the lines of some statements, as another one or the ``if`` around them."""
    every = sorted(statements, key=lambda each: (each.lineno, each.col_offset))
    first, last = every[0], every[-1]
    lines = [text_of(file)[number - 1].encode() for number in (first.lineno, last.end_lineno or last.lineno)]
    before, after = lines[0][: first.col_offset], lines[1][last.end_col_offset :]
    return not before.strip() and after.strip()[:1] in (b"", b"#")


def free_names(function: Function) -> set[str]:
    """Return the names that the body of a function reads from outside."""
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    inner = {
        name for each in body for node in ast.walk(each) if isinstance(node, Function) for name in parameters(node)
    }
    return loaded(body) - stored(body) - parameters(function) - inner


#: Functions that return a transformed function of the same name.
TRANSFORMATIONS = (
    *("partial", "grad", "value_and_grad", "vmap", "jacfwd", "jacrev", "hessian", "checkpoint", "remat"),
    *("filter_grad", "filter_value_and_grad", "filter_vmap", "filter_checkpoint"),
)


def untransformed(function: ast.expr) -> ast.expr:
    """Return a function without the transformations and partials around it.

    >>> ast.unparse(untransformed(ast.parse("jax.vmap(jax.grad(loss), (None, 0))", mode="eval").body))
    'loss'
    """
    while isinstance(function, ast.Call) and last_name(function.func) in TRANSFORMATIONS and function.args:
        function = function.args[0]
    return function


def is_jit(node: ast.expr) -> bool:
    """Return whether an expression is ``jit`` of JAX or of a library, perhaps with options."""
    if isinstance(node, ast.Call):
        partial = last_name(node.func) == "partial" and bool(node.args) and is_jit(node.args[0])
        return partial or (not node.args and is_jit(node.func))
    return last_name(node) in ("jit", "filter_jit", "pjit")


def nodes_outside_jit(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes inside a node that run outside of jit, as far as syntax tells.

    >>> tree = ast.parse("step = jax.jit(jax.grad(loss)); slope = jax.grad(loss)")
    >>> [ast.unparse(each) for each in nodes_outside_jit(tree) if isinstance(each, ast.Call)]
    ['jax.jit(jax.grad(loss))', 'jax.grad(loss)']
    """
    for each in ast.iter_child_nodes(node):
        yield each
        jitted = isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(is_jit, each.decorator_list))
        if not jitted and not (isinstance(each, ast.Call) and is_jit(each.func)):
            yield from nodes_outside_jit(each)


def last_name(node: ast.expr) -> str | None:
    """Return ``c`` for ``a.b.c``; ``None`` for anything but names and attributes."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def with_imports(code: str, tree: ast.Module | None) -> str:
    """Return code with imports of the modules that it names and the user's code does not.

    >>> with_imports("np.ones(3)", ast.parse("from numpy import zeros")).splitlines()
    ['import numpy as np', '', 'np.ones(3)']
    >>> with_imports("np.ones(3)", ast.parse("y = np.zeros(3)"))
    'np.ones(3)'
    """
    names = loaded([ast.parse(code)])
    known = set() if tree is None else loaded([tree]) | stored([tree])
    missing = [f"import {module}" for name, module in _IMPORTS.items() if name in names - known]
    return "\n".join([*missing, "", code]) if missing else code
