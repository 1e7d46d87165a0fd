"""Tells from the syntax whether a line of a loop computes an item that does not need the results of the loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ....records.call_stack import Frame
from ..rewriting.syntax import free_names, last_name, loaded
from .dependencies import derived_from, names_read, targets_of
from .syntax import Comprehension, Function, Loop, around, assigned, loop_around, tree_of

#: Names that stand for modules by convention; their functions have no part in what a loop computes.
_MODULES = frozenset({"np", "numpy", "jax", "jnp", "os", "math", "random", "time"})

#: Functions of Python for numbers and for going over them, methods that collect, and functions that read files.
_OF_NUMBERS = frozenset(("abs", "enumerate", "float", "int", "len", "list", "max", "min", "pow", "range", "round",
                         "sorted", "sum", "tuple", "zip"))  # fmt: skip
_COLLECTING = frozenset({"append", "extend"})
_READING = frozenset({"fromfile", "genfromtxt", "load", "loadtxt", "memmap", "open"})

#: Functions with such names run programs.
_DISPATCHING = ("jnp.", "jax.", "lax.")


def computes_item(line: Frame) -> bool:
    """Return whether a line of a loop assigns an item that a call makes, and that other calls of the loop get.

    The call reads nothing that the loop changes but what it counts with, and no other call of the loop has to do with
    the objects that it reads. So it could be made while the device works on the item before.
    """
    nodes, loop = around(line), loop_around(line)
    statement = nodes[-1] if nodes else None
    if loop is None or not isinstance(statement, ast.Assign) or not _calls(statement.value):
        return False
    reads = names_read(statement.value) - _modules(line) - _counted(loop) - _comprehended(statement.value)
    if reads & _changed(loop):
        return False
    others = [each for part in _parts(loop) if part is not statement for each in _calls(part)]
    if any(reads & (names_read(each) | _owner(each)) for each in others):
        return False
    items = derived_from(loop, targets_of(statement, None))
    return any(items & names_read(argument) for each in others for argument in (*each.args, *each.keywords))


def passes_item(line: Frame, function: str) -> bool:
    """Return whether a line of a loop passes on what a call of a function makes, as in ``step(w, load(i))``.

    The call needs no result of the loop, as :func:`computes_item` has it.
    """
    nodes, loop = around(line), loop_around(line)
    outer = [] if loop is None or not nodes or hasattr(nodes[-1], "body") else _calls(nodes[-1])
    given = [each for call in outer for each in (*call.args, *(keyword.value for keyword in call.keywords))]
    items = [each for each in given if isinstance(each, ast.Call) and last_name(each.func) == function]
    if loop is None or len(items) != 1:
        return False
    reads = names_read(items[0]) - _modules(line) - _counted(loop) - _comprehended(items[0])
    inside = {id(each) for each in ast.walk(items[0])}
    around_it = {id(each) for each in outer if inside & {id(node) for node in ast.walk(each)}}
    others = [each for part in _parts(loop) for each in _calls(part) if id(each) not in inside | around_it]
    return not reads & _changed(loop) and not any(reads & (names_read(each) | _owner(each)) for each in others)


def calls_any(line: Frame, functions: set[str]) -> bool:
    """Return whether the statement of a line calls one of some functions, or a function of JAX."""
    return any(_dispatches(node, functions) for node in around(line)[-1:])


def preparing(line: Frame, functions: set[str]) -> ast.stmt | None:
    """Return the statement of a loop that has a line, and makes what a jitted function gets later in the round.

    It reads no results of these functions, nor what is computed from them, in this round or the one before.
    ``None`` if it is another kind of statement.

    Args:
        line: the line, which may be in a loop or a condition inside the statement.
        functions: the names by which jitted functions are called.
    """
    nodes = around(line)
    inner = max((number for number, each in enumerate(nodes) if isinstance(each, Function)), default=-1)
    loops = [each for each in nodes[inner + 1 :] if isinstance(each, Loop) and _dispatches(each, functions)]
    if not loops:
        return None
    loop = loops[-1]
    statement = next((each for each in loop.body if each in nodes), None)
    if statement is None or _dispatches(statement, functions):
        return None
    parts = [each for each in _parts(loop) if _dispatches(each, functions)]
    others = ast.Module([each for each in _parts(loop) if isinstance(each, ast.stmt) and each not in parts], [])
    results = {name for each in parts for name in targets_of(each, None)}
    if loaded([statement]) & derived_from(others, results, objects=True):
        return None
    owners = [each.func.value for each in _calls(statement) if isinstance(each.func, ast.Attribute)]
    made = derived_from(loop, assigned(statement) | (loaded(owners) - _modules(line)))
    given = [each for part in parts for call in _calls(part) for each in (*call.args, *call.keywords)]
    return statement if any(made & names_read(each) for each in given) else None


def _dispatches(node: ast.AST, functions: set[str]) -> bool:
    calls = [each.func for each in _calls(node)]
    return any(last_name(each) in functions or ast.unparse(each).startswith(_DISPATCHING) for each in calls)


def computes_elements(line: Frame) -> bool:
    """Return whether Python computes an item element by element at a line, in a comprehension or an inner loop.

    That holds Python's lock, unless the statement calls other functions than those that compute with numbers.
    """
    nodes = around(line)
    loops = [each for node in nodes[-1:] for each in ast.walk(node) if isinstance(each, Comprehension)]
    inner = loops or [each for each in nodes if isinstance(each, Loop)][1:]
    return bool(inner) and all(_computes(each, line) for node in nodes[-1:] for each in _calls(node))


def _computes(call: ast.Call, line: Frame) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in _OF_NUMBERS
    return isinstance(function, ast.Attribute) and (
        function.attr in _COLLECTING or (loaded([function]) <= _modules(line) and function.attr not in _READING)
    )


def prefetched_loop(line: Frame) -> tuple[str, str, str] | None:
    """Return the targets of a loop over items that are computed ahead, a generator of them, and what both replace.

    ``None`` unless the items are computed from what a ``for`` loop iterates over.
    """
    loop, statement = loop_around(line), around(line)[-1]
    if not isinstance(loop, ast.For) or statement is not loop.body[0] or not isinstance(statement, ast.Assign):
        return None
    if len(statement.targets) != 1 or not assigned(loop.target) & names_read(statement.value):
        return None
    target, items = ast.unparse(loop.target), ast.unparse(loop.iter)
    item = ast.unparse(statement.targets[0])
    item = f"({item})" if isinstance(statement.targets[0], ast.Tuple) and not item.startswith("(") else item
    generator = f"({target}, {ast.unparse(statement.value)}) for {target} in {items}"
    return f"{target}, {item}", generator, f"for {target} in {items}: {ast.unparse(statement)}"


def shared_with_loader(loop: ast.For, line: Frame) -> list[str]:
    """Return what the items of a loop are made of and its body may change: loaded ahead, they would be others.

    That is what the loop assigns, and objects whose methods it calls, such as a generator of random numbers.

    Args:
        loop: the loop.
        line: a line of it.
    """
    body = [each for part in _parts(loop) for each in ast.walk(part)]
    called = (each.func.value for each in body if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute))
    touched = _changed(loop) | (loaded(called) - _modules(line))
    return sorted(touched & _read_for(loop.iter, tree_of(line)))


def may_leave(loop: ast.For) -> bool:
    """Return whether a loop may end before its items do, so that one loaded ahead would be lost."""
    pending: list[ast.AST] = [*loop.body]
    for each in pending:  # grows meanwhile
        if isinstance(each, ast.Return):
            return True
        if not isinstance(each, Function | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(each)
    return _breaks(loop.body)


def _breaks(statements: Sequence[ast.AST]) -> bool:
    inside = (each for each in statements if not isinstance(each, Loop | Function | ast.ClassDef))
    return any(isinstance(each, ast.Break) or _breaks([*ast.iter_child_nodes(each)]) for each in inside)


def _read_for(items: ast.expr, tree: ast.Module | None) -> set[str]:
    """Return the names that an expression reads, and those of functions of its file that it names."""
    functions = [each for each in ast.walk(tree) if isinstance(each, Function)] if tree is not None else []
    read, pending = set[str](), loaded([items])
    while pending:
        read |= pending
        named = [each for each in functions if each.name in pending]
        pending = {name for each in named for name in free_names(each)} - read
    return read


def _comprehended(node: ast.AST) -> set[str]:
    """Return the variables that only comprehensions inside an expression have, as `v` in ``[v * 2 for v in x]``."""
    loops = [each for each in ast.walk(node) if isinstance(each, Comprehension)]
    return {name for loop in loops for name in _targets(loop)} - _free(node)


def _free(node: ast.AST) -> set[str]:
    """Return the names that an expression reads from outside of its comprehensions."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    inside = {name for each in ast.iter_child_nodes(node) for name in _free(each)}
    if not isinstance(node, Comprehension):
        return inside
    return (inside - _targets(node)) | _free(node.generators[0].iter)


def _targets(loop: Comprehension) -> set[str]:
    return {name for each in loop.generators for name in assigned(each.target)}


def _parts(loop: Loop) -> Iterator[ast.AST]:
    """Yield the simple statements of a loop, and the conditions and iterables of the others."""
    pending: list[ast.AST] = [*loop.body, *([loop.test] if isinstance(loop, ast.While) else [])]
    for each in pending:  # grows meanwhile
        if isinstance(getattr(each, "body", None), list):
            pending += ast.iter_child_nodes(each)
        else:
            yield each


def _calls(node: ast.AST) -> list[ast.Call]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)]


def _owner(call: ast.Call) -> set[str]:
    return {call.func.id} if isinstance(call.func, ast.Name) else set()


def _counted(loop: Loop) -> set[str]:
    """Return the names that a loop counts with: its targets, and what it increases by a number."""
    steps = [each for part in _parts(loop) for each in ast.walk(part) if isinstance(each, ast.AugAssign)]
    counters = {each.target.id for each in steps if _is_step(each) and isinstance(each.target, ast.Name)}
    others = [name for part in _parts(loop) if not _is_step(part) for name in assigned(part)]
    counters -= set(others)
    return counters | (assigned(loop.target) - set(others) if isinstance(loop, ast.For) else set())


def _is_step(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)


def _changed(loop: Loop) -> set[str]:
    """Return the variables that a loop assigns, and those whose attributes or elements it assigns."""
    found: set[str] = set()
    for part in _parts(loop):
        for node in ast.walk(part):
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                found |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return found


def _modules(line: Frame) -> set[str]:
    """Return the names of modules that the file of a line imports, and those that usually are modules."""
    tree = tree_of(line)
    imports = [] if tree is None else [each for each in ast.walk(tree) if isinstance(each, ast.Import)]
    names = {each.asname or each.name.partition(".")[0] for found in imports for each in found.names}
    return names | _MODULES
