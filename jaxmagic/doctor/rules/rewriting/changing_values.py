"""Finds what a function reads that may be different in its next call, and that jit reads only while it traces."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ....records.cell_names import cells_with
from ...analysis.written_paths import variable_of
from ...record.evidence import Evidence
from ..host.functions.functions_run import definition, functions_run
from ..host.syntax import Function, Loop, assigned, function_around, own_nodes
from . import syntax
from .jit.obstacles import obstacles
from .loops.loop_facts import assigns

#: What an array is whose methods change nothing.
_ARRAY = "jax array"

#: Methods that fill a new object.
_BEGIN = "__init__", "__post_init__", "setup"

#: Names of NumPy, and of its random numbers, whose functions change arguments.
_NUMPY = "np", "numpy", "random", "rng"


class Kept(NamedTuple):
    """What jit would read once, while it traces.

    Attributes:
        names: the variables, and the functions whose results change.
        random: whether some of them draw random numbers.
    """

    names: tuple[str, ...] = ()
    random: bool = False


def changing_read(functions: Sequence[tuple[Function, str]], evidence: Evidence) -> set[str]:
    """Return the variables from outside that functions read, and that the code assigns or changes, or NumPy arrays.

    Of NumPy arrays, jit would keep the values, and nnx.jit does not take changes of objects that are no arguments.
    """
    kept = {each.path for each in evidence.inputs if each.kind == "numpy array" or each.library == "nnx"}
    changing = assigned(syntax.tree_of_code(evidence.code)) | _changed(evidence)
    return (changing | {re.split(r"\W", each)[0] for each in kept}) & _read_by(functions)


def values_kept(functions: Sequence[tuple[Function, str]], evidence: Evidence) -> Kept:
    """Return what jit would keep of what functions read: variables that change while the code runs, and calls."""
    stored = [
        each.id
        for each in ast.walk(syntax.tree_of_code(evidence.code))
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    ]
    loops = (each for each in ast.walk(syntax.tree_of_code(evidence.code)) if isinstance(each, Loop))
    again = {each for each in stored if stored.count(each) > 1} | {name for each in loops for name in assigned(each)}
    called = [each for each in obstacles(functions, evidence.names) if each.kind in ("random", "once")]
    read = (again | _changed(evidence)) & _read_by(functions) - changed_only(functions)
    names = *sorted(read), *dict.fromkeys(each.text for each in called)
    return Kept(names, any(each.kind == "random" for each in called))


def changed_only(functions: Sequence[tuple[Function, str]]) -> set[str]:
    """Return the variables of which functions only call methods for their effect, as a list that counts traces."""
    effects = Counter(name for each, _ in functions for name in _owners(each))
    names = Counter(node.id for each, _ in functions for node in ast.walk(each) if isinstance(node, ast.Name))
    return {name for name, count in effects.items() if count == names[name]}


def _owners(function: Function) -> Iterator[str]:
    for node in ast.walk(function):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
                yield name


def bound_by_loops(file: str, line: int) -> set[str]:
    """Return the names that loops around a line bind in each round, and those that loops of all cells bind.

    A jitted function in front of these loops would keep what the first round binds to them. A loop of another cell
    may call the function that has the line.
    """
    tree = syntax.tree_of(file)
    around = [] if tree is None else syntax.around(tree, line)
    trees = (tree, *map(syntax.tree_of, cells_with(file)))
    outside = (node for each in trees if each is not None for node in own_nodes(each))
    return assigns(each for each in (*around, *outside) if isinstance(each, Loop))


def kept_from_outside(function: Function, file: str, evidence: Evidence) -> list[str]:
    """Return what a function, or those of the user's that it calls, read from outside and jit keeps: what can change.

    These are arrays, attributes of objects, and numbers, texts and containers that visible code assigns again or
    changes. A name in capital letters is one of a constant.
    """
    functions = functions_run(function, file, evidence)
    lines = {(file, syntax.first_line(each)): each for each, file in functions}
    known = [(each, each.function) for each in evidence.names if each.function is not None]
    seen = [(each, lines[at.file, at.line]) for each, at in known if (at.file, at.line) in lines]
    again = _assigned_again(file) if any(each.values for each, _ in seen) else set()
    found = {name for each, _ in seen for name in each.arrays}
    found |= {name for each, _ in seen for name in again.intersection(each.values) if not name.isupper()}
    return sorted(found.union(*(_attributes_of(each.objects, node) for each, node in seen)))


def kept_by_called(code: str, evidence: Evidence) -> list[str]:
    """Return what the user's functions that some code calls read from outside and jit keeps: what can change.

    What the code passes itself counts as well if they read it, too: they would go on with the first value.
    """
    words = {*re.findall(r"[^\W\d]\w*", code)}
    found = set[str]()
    for each in evidence.names:
        function = (
            definition(each.function) if each.function is not None and each.function.function in words else None
        )
        if function is not None:
            found |= {*kept_from_outside(*function, evidence)}
            found |= {name for name in (*each.arrays, *each.values) if name in words and not name.isupper()}
    return sorted(found)


def _attributes_of(objects: Collection[str], function: Function) -> set[str]:
    """Return the attributes of objects that a function reads, but for methods that it calls."""
    called = {id(each.func) for each in ast.walk(function) if isinstance(each, ast.Call)}
    own = syntax.parameters(function) | syntax.stored(function.body)
    return {
        ast.unparse(each)
        for each in ast.walk(function)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and isinstance(each.ctx, ast.Load)
        if each.value.id in {*objects} - own and id(each) not in called
        if not each.value.id.isupper() and not each.attr.isupper()
    }


def _assigned_again(file: str) -> set[str]:
    """Return the variables that the code of all cells, or of a file, assigns more than once or changes in place."""
    trees = [tree for each in cells_with(file) if (tree := syntax.tree_of(each)) is not None]
    outside = [node for tree in trees for node in own_nodes(tree)]
    stored = Counter(node.id for node in outside if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    in_loops = assigns(each for each in outside if isinstance(each, Loop))
    again = {name for name, count in stored.items() if count > 1} | in_loops
    return again.union(*(_changed_in(each, set()) for each in trees))


def _changed(evidence: Evidence) -> set[str]:
    """Return the variables that the code, or a function that it runs, changes in place."""
    known = {each.path for each in evidence.inputs if each.kind == _ARRAY}
    known |= {name for each in evidence.names for name, path in each.paths if path}
    trees = (syntax.tree_of_code(evidence.code), *_running(evidence))
    return {name for each in trees for name in _changed_in(each, known)}


def _read_by(functions: Sequence[tuple[Function, str]]) -> set[str]:
    nested = {id(inner) for each, _ in functions for inner in ast.walk(each) if inner is not each}
    return set[str]().union(*(syntax.free_names(each) for each, _ in functions if id(each) not in nested))


def _running(evidence: Evidence) -> Iterator[ast.AST]:
    """Yield the functions that were seen to run, or that the code names or leads to, but for constructors."""
    named = (each.function for each in evidence.names if each.function is not None)
    sampled = (definition(each) for each in (*(each.function for each in evidence.functions), *named))
    around = (function_around(each) for each in syntax.lines_run(evidence))
    found = [*(each[0] for each in sampled if each is not None), *(each for each in around if each is not None)]
    yield from {id(each): each for each in found if each.name not in _BEGIN}.values()


def _changed_in(tree: ast.AST, constant: set[str]) -> Iterator[str]:
    """Yield the variables of which a piece of code changes elements or attributes, and the globals that it assigns.

    A method whose result is dropped changes its object, and a function of NumPy's its arguments.

    Args:
        tree: the code.
        constant: variables that no method changes: arrays of JAX, modules and functions of libraries.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                yield from filter(None, [variable_of(node)])
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner), args=args)):
                of_numpy = ast.unparse(owner).partition(".")[0] in _NUMPY
                changed = args if of_numpy else [owner]
                yield from (name for each in changed if (name := variable_of(each)) and name not in constant)
