"""Moves the making of a jitted function out of the function or loop that re-creates it, where that is mechanical."""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from ....records.cell_names import text_of
from .loops.loop_facts import reads
from .rewritten import then
from .syntax import TRANSFORMATIONS, first_line, is_jit, last_name, parameters, stored, tree_of, untransformed

#: A function with more lines is not shown again where it is moved out.
_MOST_LINES = 30

#: A function or loop with more lines is not repeated; only its changes are shown.
_MOST_REPEATED = 10

#: Names of modules that the code of JAX's users reads values from.
_MODULES = frozenset({"jax", "jnp", "np", "numpy", "lax", "nn", "jnn", "math", "random"})

#: Further functions that return a function of the one that they are given, and compile nothing themselves.
_COMPILE_NOTHING = (*TRANSFORMATIONS, "custom_jvp", "custom_vjp", "custom_vmap", "named_call", "wraps")

Making = ast.Call | ast.FunctionDef
Around = ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.While


class Made(NamedTuple):
    """The place where a jitted function is re-created.

    Attributes:
        file: the file.
        line: the line of the call of ``jax.jit``, or of the decorated function.
        captured: the variables of the function around it, or of the loop, that it reads, and those that change.
        maker: what makes it, such as ``"eqx.filter_jit"``; ``None`` if it is ``jax.jit``, or not a name.
        made: what is jitted if it is made right there of another function, such as ``"jax.grad(loss)"``; else empty.
        method: the method that is jitted, such as ``"self.step"``, also as a partial or by a lambda; else empty.
        passable: whether these could be arguments: it neither calls them nor asks them for attributes.
        code: code that makes it once; ``None`` where that is not mechanical.
    """

    file: str
    line: int
    captured: tuple[str, ...]
    maker: str | None
    made: str
    method: str
    passable: bool
    code: str | None


def find_making(
    function: str, place: tuple[str, int], ran: Sequence[tuple[str, int]], changing: Set[str] = frozenset()
) -> Made | None:
    """Find where a function is jitted inside another function or a loop; ``None`` if there is not exactly one place.

    If it is jitted nowhere by a function that is known to jit, another function may do so: one that is given the
    function, and whose result is called.

    Args:
        function: the name of the jitted function.
        place: file and line of its definition.
        ran: lines that are known to have run. Their files are searched, and they decide between several places.
        changing: global variables that change between calls.
    """
    found = [each for each in makings_of(function, place, ran) if any(isinstance(node, Around) for node in each[1])]
    if len(found) > 1:
        found = [each for each in found if any(_has(each, *line) for line in ran)]
    if len(found) != 1:
        return None
    file, path, making = found[0]
    around = [each for each in path if isinstance(each, Around)]
    functions = [each for each in around if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    outer: Around = functions[0] if functions else around[0]
    inside = _defined_beside(making, around)
    read = _read_by(making) if inside is None else _read_by(making) - {inside.name} | reads(inside)
    captured = sorted(read & (_local(around) | changing))
    passable = _are_passable(making, captured) and (inside is None or _are_passable(inside, captured))
    fixed = inside is not None or captured or any(isinstance(each, ast.ClassDef) for each in path)
    taken = _names_outside({file, *(each for each, _ in ran)}) if functions else set[str]()
    code = None if fixed or _reads_values(making, tree_of(file)) else _code(file, outer, path, making, taken)
    return Made(file, making.lineno, tuple(captured), _maker(making), _made(making), _method(making), passable, code)


def makings_alone(function: str, place: tuple[str, int], ran: Sequence[tuple[str, int]]) -> list[Made]:
    """Return where a function is jitted outside of functions and loops; the arguments are those of `find_making`."""
    return [
        Made(file, making.lineno, (), _maker(making), _made(making), _method(making), passable=True, code=None)
        for file, path, making in makings_of(function, place, ran)
        if not any(isinstance(node, Around) for node in path)
    ]


def _defined_beside(making: Making, around: Sequence[Around]) -> ast.FunctionDef | None:
    """Return the function that a call of ``jax.jit`` gets by its name, if the code around the call defines it."""
    name = None if isinstance(making, ast.FunctionDef) else last_name(untransformed(making.args[0]))
    nodes = (node for each in around for statement in each.body for node in ast.walk(statement))
    return next((node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name), None)


def makings_of(
    function: str, place: tuple[str, int], ran: Sequence[tuple[str, int]]
) -> list[tuple[str, list[ast.AST], Making]]:
    """Return the files and nodes that jit a function, with the nodes around them."""
    trees = {file: tree_of(file) for file in dict.fromkeys([place[0], *(file for file, _ in ran)])}
    found: list[tuple[str, list[ast.AST], Making]] = []
    for known in (True, False):
        for file, tree in trees.items():
            line = place[1] if file == place[0] else 0
            makings = () if tree is None else _makings(tree, known=known)
            found += [(file, path, making) for path, making in makings if _makes(making, function, line)]
        if found:
            break
    return found


def _has(found: tuple[str, list[ast.AST], Making], file: str, line: int) -> bool:
    """Return whether a line is in the function or loop around the making of a function."""
    around = [each for each in found[1] if isinstance(each, Around)]
    return found[0] == file and around[-1].lineno <= line <= (around[-1].end_lineno or 0)


def _are_passable(making: Making, names: Sequence[str]) -> bool:
    bases = [each.func for each in ast.walk(making) if isinstance(each, ast.Call)]
    bases += [each.value for each in ast.walk(making) if isinstance(each, ast.Attribute)]
    jitted = [] if isinstance(making, ast.FunctionDef) else [untransformed(making.args[0])]
    return not any(isinstance(each, ast.Name) and each.id in names for each in (*bases, *jitted))


def _makings(tree: ast.AST, *, known: bool = True) -> Iterator[tuple[list[ast.AST], Making]]:
    """Yield each call of ``jax.jit`` and each function decorated with it, with the nodes around it.

    Args:
        tree: the syntax tree.
        known: whether the maker is ``jit`` of JAX or a library by its name, or any other function.
    """
    called = {
        each.func.id for each in ast.walk(tree) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    }
    pending: list[tuple[ast.AST, list[ast.AST]]] = [(tree, [])]
    while pending:
        node, path = pending.pop()
        if isinstance(node, ast.FunctionDef):
            if any(is_jit(each) if known else _may_jit(each) for each in node.decorator_list):
                yield path, node
        elif isinstance(node, ast.Call) and node.args:
            may_jit = is_jit(node.func) if known else _may_jit(node.func) and _is_called(node, path[-1], called)
            if may_jit:
                yield path, node
        own = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else ()
        pending += [(each, [*path, node]) for each in ast.iter_child_nodes(node) if each not in own]


def _may_jit(maker: ast.expr) -> bool:
    """Return whether a function, perhaps with options, may jit what it is given; Python's own functions do not."""
    if isinstance(maker, ast.Call):
        return not maker.args and _may_jit(maker.func)
    name = last_name(maker)
    return name is not None and name not in _COMPILE_NOTHING and not hasattr(builtins, name)


def _is_called(made: ast.Call, parent: ast.AST, called: set[str]) -> bool:
    """Return whether what a call returns is called itself, directly or by the name that it is assigned to."""
    if isinstance(parent, ast.Assign):
        return any(isinstance(each, ast.Name) and each.id in called for each in parent.targets)
    return isinstance(parent, ast.Call) and parent.func is made


def _maker(making: Making) -> str | None:
    """Return the name of what makes a function; ``None`` for ``jax.jit``, and for what has no name."""
    makers = [making.func] if isinstance(making, ast.Call) else making.decorator_list
    maker = next((each for each in makers if is_jit(each)), makers[0])
    while isinstance(maker, ast.Call):
        maker = maker.args[0] if maker.args and last_name(maker.func) == "partial" else maker.func
    name = ast.unparse(maker)
    return name if name != "jax.jit" and all(map(str.isidentifier, name.split("."))) else None


def _made(making: Making) -> str:
    """Return what is given to ``jax.jit``, if it is a call or a method; empty for a name, and around a lambda."""
    given = making.args[0] if isinstance(making, ast.Call) else making
    is_written = any(isinstance(each, ast.Lambda | ast.FunctionDef) for each in ast.walk(given))
    return "" if is_written or isinstance(given, ast.Name) else ast.unparse(given)


def _method(making: Making) -> str:
    """Return the method of a variable that is jitted, without what transforms it; empty if there is none."""
    jitted = None if isinstance(making, ast.FunctionDef) else untransformed(making.args[0])
    if isinstance(jitted, ast.Lambda) and isinstance(jitted.body, ast.Call):
        jitted = jitted.body.func
    return ast.unparse(jitted) if isinstance(jitted, ast.Attribute) and isinstance(jitted.value, ast.Name) else ""


def _makes(making: Making, function: str, line: int) -> bool:
    if isinstance(making, ast.FunctionDef):
        return making.name == function and _span(making)[0] <= line <= making.lineno
    jitted = untransformed(making.args[0])
    if isinstance(jitted, ast.Lambda):
        return function == "<lambda>" and jitted.lineno == line
    return last_name(jitted) == function


def _read_by(making: Making) -> set[str]:
    """Return the names that the making of the function, or the function itself, reads from outside."""
    return reads(making)


def _local(around: Sequence[Around]) -> set[str]:
    """Return the names that belong to functions and loops."""
    found = stored(child for each in around for child in ast.iter_child_nodes(each))
    for each in around:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found |= parameters(each)
    return found


def _reads_values(making: Making, tree: ast.Module | None) -> bool:
    """Return whether it reads variables of the module, which may have another value when it is called again.

    Modules, and functions that it calls, do not count.
    """
    modules = set(_MODULES) | stored(each for each in ast.walk(tree or making) if isinstance(each, ast.Import))
    called = {id(each.func) for each in ast.walk(making) if isinstance(each, ast.Call)}
    if isinstance(making, ast.Call):
        called |= {id(each) for each in ast.walk(making.func)}
    jitted = None if isinstance(making, ast.FunctionDef) else untransformed(making.args[0])
    not_read = {id(each) for node in getattr(making, "decorator_list", ()) for each in ast.walk(node)}
    types = [each.annotation for each in ast.walk(making) if isinstance(each, (ast.arg, ast.AnnAssign))]
    types += [each.returns for each in ast.walk(making) if isinstance(each, ast.FunctionDef)]
    not_read |= {id(each) for node in types if node is not None for each in ast.walk(node)}
    free = _read_by(making)
    return any(
        isinstance(node, ast.Name)
        and node.id in free
        and not hasattr(builtins, node.id)
        and node.id not in modules
        and id(node) not in called
        and id(node) not in not_read
        and node is not jitted
        and not _is_partial_or_jit(node)
        for node in ast.walk(making)
    )


def _is_partial_or_jit(node: ast.Name) -> bool:
    return node.id in ("partial", "jit", "functools", "eqx", "nnx")


def _names_outside(files: Set[str]) -> set[str]:
    """Return the names that files assign outside of functions and classes: a definition would replace them."""
    found: set[str] = set()
    for statement in (each for file in files for each in (tree_of(file) or ast.Module([], [])).body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(statement.name)
        else:
            found |= stored([statement])
    return found


def _code(file: str, outer: Around, path: list[ast.AST], making: Making, taken: Set[str]) -> str | None:
    lines = text_of(file)
    begin, end = _span(outer)
    body = lines[begin - 1 : end]
    if isinstance(making, ast.FunctionDef):
        first, last = _span(making)
        definition = textwrap.dedent("\n".join(lines[first - 1 : last]))
        unfit = making.name in taken or _is_only_statement(path[-1], making)
        return None if unfit else _joined(definition, body, (first, last), "", outer)
    parent = path[-1]
    named = isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name)
    if named and isinstance(parent, ast.Assign):
        name = ast.unparse(parent.targets[0])
        assignments = [each for each in ast.walk(outer) if isinstance(each, ast.Name) and each.id == name]
        is_only_one = sum(not isinstance(each.ctx, ast.Load) for each in assignments) == 1
        if name in taken or not is_only_one or _is_only_statement(path[-2], parent):
            return None
        return _joined(ast.unparse(parent), body, _span(parent), "", outer)
    if making.end_lineno != making.lineno:
        return None
    name = f"jitted_{outer.name}" if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)) else "jitted"
    if name in taken:
        return None
    raw = body[making.lineno - begin].encode()
    text = (raw[: making.col_offset] + name.encode() + raw[making.end_col_offset :]).decode()
    return _joined(f"{name} = {ast.unparse(making)}", body, (making.lineno, making.lineno), text, outer)


def _span(node: ast.stmt) -> tuple[int, int]:
    return first_line(node), node.end_lineno or node.lineno


def _is_only_statement(parent: ast.AST, statement: ast.stmt) -> bool:
    return getattr(parent, "body", None) == [statement]


def _joined(definition: str, body: list[str], span: tuple[int, int], instead: str, outer: Around) -> str | None:
    """Return the definition and what is left of the function or loop, or of a long one what changes in it.

    Args:
        definition: what is moved out.
        body: the lines of the function or loop.
        span: its first and last line that change.
        instead: the line in their place; empty if there is none.
        outer: the function or loop.
    """
    begin, (first, last) = _span(outer)[0], span
    if definition.count("\n") >= _MOST_LINES:
        return None
    if len(body) <= _MOST_REPEATED:
        rest = [*body[: first - begin], *([instead] if instead else []), *body[last - begin + 1 :]]
        gap = "\n\n\n" if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)) else "\n"
        return f"{definition}{gap}{textwrap.dedent(chr(10).join(rest))}".rstrip()
    function = outer.name if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)) else ""
    return f"{definition}\n\n{then(first, last, instead.strip(), function)}"
