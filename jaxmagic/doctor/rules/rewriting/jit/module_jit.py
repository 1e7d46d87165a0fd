"""Tells which library's jit takes the modules that a function gets, and how the user's code writes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from .....records.call_stack import Frame, is_users
from ....record.evidence import Evidence, LibraryNames
from ....record.library_use import ModuleLibrary
from ...host.functions.functions_run import functions_seen
from ...host.syntax import Function, around
from ..meanings import path_at, paths_in
from ..syntax import last_name, loaded, tree_of_code

#: The module of each library, the name that it usually has, and how it is imported under that.
_MODULES: dict[ModuleLibrary, tuple[str, str, str]] = {
    "equinox": ("equinox", "eqx", "import equinox as eqx"),
    "nnx": ("flax.nnx", "nnx", "from flax import nnx"),
}

#: Functions of each library that get modules.
_ON_MODULES: dict[ModuleLibrary, frozenset[str]] = {
    "equinox": frozenset({
        "apply_updates", "combine", "filter", "filter_closure_convert", "filter_grad", "filter_hessian",
        "filter_jacfwd", "filter_jacrev", "filter_jvp", "filter_value_and_grad", "filter_vjp", "filter_vmap",
        "partition", "tree_at",
    }),
    "nnx": frozenset({"grad", "merge", "scan", "split", "state", "update", "value_and_grad", "vmap"}),
}  # fmt: skip


def libraries_used(functions: Iterable[tuple[Function, str]], names: Sequence[LibraryNames]) -> set[ModuleLibrary]:
    """Return the libraries whose functions on modules some functions call."""
    found: set[ModuleLibrary] = set()
    for function, file in functions:
        paths = paths_in(function, file, names)
        for each in ast.walk(function):
            if isinstance(each, ast.Call):
                path = path_at(each.func, paths)
                found |= {
                    library
                    for library, (module, *_) in _MODULES.items()
                    if path.startswith(f"{module}.") and path.rpartition(".")[2] in _ON_MODULES[library]
                }
    return found


def methods_run(frames: Iterable[Frame], *, of_modules: bool) -> list[tuple[Function, str]]:
    """Return the methods of the user's modules, or of other classes, that were seen to run.

    Those that made the objects are left out.
    """
    found = {id(each): (each, frame.file) for frame in set(frames) for each in _methods(frame, of_modules=of_modules)}
    return list(found.values())


def _methods(frame: Frame, *, of_modules: bool) -> Iterator[Function]:
    for outer, node in pairwise(around(frame) if is_users(frame) else []):
        if not (isinstance(outer, ast.ClassDef) and isinstance(node, Function)) or node.name == "__init__":
            continue
        if ("Module" in map(last_name, outer.bases)) == of_modules:
            yield node


def jit_of(library: ModuleLibrary, function: Function, file: str, names: Sequence[LibraryNames]) -> tuple[str, str]:
    """Return the library's jit as code in the file of a function writes it, and the import that it needs, if any."""
    return _written(library, [*paths_in(function, file, names).items(), *_of_code(names)])


def jit_in_code(library: ModuleLibrary, evidence: Evidence) -> str:
    """Return the library's jit as the examined code writes it."""
    return _written(library, _of_code(evidence.names))[0]


def jit_of_modules(evidence: Evidence) -> str:
    """Return the jit that takes the modules that the code calls or reads: that of their library, or else JAX's.

    What only jitted functions read does not count: they are called as before.
    """
    functions = [each for each, _ in functions_seen(evidence)]
    names = loaded([tree_of_code(evidence.code), *functions])
    read = {
        each.library
        for each in evidence.inputs
        if each.library is not None and (not functions or re.split(r"\W", each.path)[0] in names)
    }
    libraries = libraries_called(evidence) or read
    return jit_in_code(libraries.pop(), evidence) if len(libraries) == 1 else "jax.jit"


def libraries_called(evidence: Evidence) -> set[ModuleLibrary]:
    """Return the libraries through whose modules the code calls operations outside of jit."""
    return {each.library for each in evidence.programs or () if each.eager and each.library is not None}


def _of_code(names: Sequence[LibraryNames]) -> list[tuple[str, str]]:
    return [(name, path) for each in names if each.function is None for name, path in each.paths]


def _written(library: ModuleLibrary, names: Sequence[tuple[str, str]]) -> tuple[str, str]:
    module, usual, needed = _MODULES[library]
    jit = "filter_jit" if library == "equinox" else "jit"
    for name, path in names:
        if path == module:
            return f"{name}.{jit}", ""
    for name, path in names:
        if path and module.startswith(f"{path}."):
            return f"{name}{module.removeprefix(path)}.{jit}", ""
    return f"{usual}.{jit}", needed
