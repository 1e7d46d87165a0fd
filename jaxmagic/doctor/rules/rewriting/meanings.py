"""Tells what the names in a function stand for: modules, and functions of libraries, by their dotted paths."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ...record.evidence import LibraryNames
from . import syntax

#: Dotted paths by name; an empty one for what is known to be nothing of a library.
Paths = Mapping[str, str]

#: The modules that people mean by these names, where nothing else is known.
USUAL = {name: name for name in ("jax", "math", "numpy", "random", "scipy", "time")}
USUAL |= {"jnp": "jax.numpy", "np": "numpy", "onp": "numpy"}


def paths_in(node: ast.AST, file: str, known: Sequence[LibraryNames] = ()) -> dict[str, str]:
    """Return the dotted paths that names stand for in a function or a loop.

    What is bound there comes first, then the objects that the names were bound to when the code ran, and then the
    imports in the file.

    Args:
        node: the function or the loop.
        file: its file or cell.
        known: the objects behind names.
    """
    return imports_in(syntax.tree_of(file) or node) | _objects(node, file, known) | _bound(node)


def _objects(node: ast.AST, file: str, known: Sequence[LibraryNames]) -> dict[str, str]:
    """Return the paths of objects: those that this function saw, or else any function of the file."""
    there = [each for each in known if each.function is not None and each.function.file == file]
    found = {name: path for each in there for name, path in each.paths}
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return found
    first = syntax.first_line(node)
    own = [each.paths for each in there if each.function is not None and each.function.line == first]
    return found | {name: path for paths in own for name, path in paths}


def _bound(node: ast.AST) -> dict[str, str]:
    """Return the imports in a function, and no path for its parameters and what else it assigns."""
    own = imports_in(node)
    inner = [each for each in ast.walk(node) if isinstance(each, syntax.Function)]
    names = syntax.stored([node]).union(*map(syntax.parameters, inner))
    return {name: own.get(name, "") for name in names}


def path_at(node: ast.expr, paths: Paths) -> str:
    """Return the dotted path of a name or an attribute: its text if nothing is known of it.

    A dot before the text marks what is known to be nothing of a library.

    >>> path_at(ast.parse("xp.linalg.norm", mode="eval").body, {"xp": "numpy"})
    'numpy.linalg.norm'
    >>> path_at(ast.parse("max", mode="eval").body, {"max": ""})
    '.max'
    """
    root, _, rest = ast.unparse(node).partition(".")
    path = paths[root] or f".{root}" if root in paths else USUAL.get(root, root)
    return f"{path}.{rest}" if rest else path


def imports_in(tree: ast.AST) -> dict[str, str]:
    """Return what each imported name stands for.

    >>> imports_in(ast.parse("from jax import random, numpy as np"))["np"]
    'jax.numpy'
    """
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(each.asname or each.name.split(".")[0]): _imported(each) for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return found


def _imported(alias: ast.alias) -> str:
    return alias.name if alias.asname else alias.name.split(".")[0]


def is_bound(node: ast.expr, paths: Paths) -> bool:
    """Return whether the first name of an expression is known to be bound to something."""
    return ast.unparse(node).partition(".")[0] in paths
