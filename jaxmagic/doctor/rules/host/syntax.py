"""Reads the syntax around a line of the user's code: its loop, its function, and the place that calls a program."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....records.call_stack import Frame, is_users
from ....records.cell_names import cells_with, known_as
from ...record.evidence import Evidence
from ...record.program import Program
from ..rewriting import syntax

Loop = ast.For | ast.While
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Function = ast.FunctionDef | ast.AsyncFunctionDef


def tree_of(line: Frame) -> ast.Module | None:
    """Return the syntax tree of the file or cell of a line; ``None`` if it cannot be read."""
    return syntax.tree_of(line.file)


def around(line: Frame) -> list[ast.AST]:
    """Return the nodes around a line, the outermost first, and its own statement last."""
    tree = tree_of(line)
    found: list[ast.AST] = []
    inner: ast.AST | None = tree
    while inner is not None:
        found.append(inner)
        inner = next(
            (each for each in _statements(inner) if each.lineno <= line.line <= (each.end_lineno or 0)), None
        )
    return found


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt):
            yield each
        elif isinstance(each, (ast.ExceptHandler, ast.match_case)):
            yield from _statements(each)


def loop_around(line: Frame) -> Loop | None:
    """Return the innermost loop whose body has the line, in the same function."""
    return next(iter(loops_around(line)[::-1]), None)


def loops_around(line: Frame) -> list[Loop]:
    """Return the loops whose bodies have the line, in the same function, outermost first.

    A magic counts as ``pass``: loops around it are not of the code that it examines.
    """
    found: list[Loop] = []
    for each in around(line):
        if isinstance(each, Function | ast.Pass):
            found = []
        elif isinstance(each, Loop) and (each.body[0].lineno <= line.line or isinstance(each, ast.While)):
            found.append(each)
    return found


def comprehension_around(line: Frame) -> Comprehension | None:
    """Return the innermost comprehension of a statement that has the line; ``None`` if there is none."""
    nodes = (each for node in around(line)[-1:] for each in ast.walk(node))
    loops = (each for each in nodes if isinstance(each, Comprehension))
    found = [each for each in loops if each.lineno <= line.line <= (each.end_lineno or 0)]
    return min(found, key=lambda each: (each.end_lineno or 0) - each.lineno, default=None)


def is_comprehended(line: Frame, name: str) -> bool:
    """Return whether the statement of a line calls a function of this name in a comprehension."""
    statement = around(line)[-1:]
    loops = (each for node in statement for each in ast.walk(node) if isinstance(each, Comprehension))
    return any(calls_of(name, loop, line) for loop in loops)


def calls_of(name: str, node: ast.AST, line: Frame) -> list[ast.Call]:
    """Return the calls of a jitted function inside a node.

    The function may have another name where it is called: that of its jitted form, as in
    ``step = jax.jit(jax.grad(loss))``, in the file of the line, or in another cell. For a lambda, :func:`called_as`
    tells the name.
    """
    names = {name, *(each for file in cells_with(line.file) for each in _names_of_jitted(name, syntax.tree_of(file)))}
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return [each for each in calls if syntax.last_name(each.func) in names]


def _names_of_jitted(name: str, tree: ast.Module | None) -> Iterator[str]:
    """Yield the variables and attributes to which the jitted form of a function is assigned."""
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Assign(targets=targets, value=ast.Call(func=jit, args=[jitted, *_])) if syntax.is_jit(jit):
                if syntax.last_name(syntax.untransformed(jitted)) == name:
                    yield from filter(None, map(syntax.last_name, targets))


def function_around(line: Frame) -> Function | None:
    """Return the innermost function that has the line."""
    return next((each for each in reversed(around(line)) if isinstance(each, Function)), None)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions inside it."""
    for each in ast.iter_child_nodes(function):
        if not isinstance(each, Function | ast.Lambda | ast.ClassDef):
            yield each
            yield from own_nodes(each)


def assigned(node: ast.AST) -> set[str]:
    """Return the names that a piece of code assigns."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}


def values_of(name: str, scope: ast.AST) -> Iterator[ast.expr | None]:
    """Yield what a scope assigns to a variable; ``None`` for anything but ``x = value``."""
    plain: set[int] = set()
    for node in own_nodes(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=target) as to], value=value) if target == name:
                plain.add(id(to))
                yield value
    others = (each for each in ast.walk(scope) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load))
    yield from (None for each in others if each.id == name and id(each) not in plain)


def site_of(name: str, programs: Sequence[Program], evidence: Evidence) -> Frame | None:
    """Return the only line of the user's that calls a jitted function; ``None`` if it is unknown.

    Beside a line in a loop, those outside of loops do not count.

    Args:
        name: the name of the function.
        programs: its programs.
        evidence: the line is known from where they were traced, or else from the functions in which the host was
            sampled or which ran them first.
    """
    written = called_as(name, programs, evidence)
    sites = {_traced_at(each, evidence) for each in programs}
    if len(sites) == 1 and (site := sites.pop()) is not None:
        near = {site, *_calls_near(site, written)}
    else:
        lines = [each.line for each in evidence.host or ()] + [each.called_at for each in programs]
        near = {site for each in lines if each is not None for site in _calls_near(each, written)}
    near = {each for each in near if loop_around(each) or is_comprehended(each, written)} or near
    return near.pop() if len(near) == 1 else None


def written_as(name: str, line: Frame) -> str:
    """Return how a line writes a jitted function that it calls, such as ``"self.step"``; its name if unknown."""
    calls = [each for node in around(line)[-1:] for each in calls_of(name, node, line)]
    functions = {ast.unparse(each.func) for each in calls if not isinstance(each.func, ast.Call)}
    return functions.pop() if len(functions) == 1 else name


def called_as(name: str, programs: Sequence[Program], evidence: Evidence) -> str:
    """Return the variable or attribute by which a jitted function is called; its own name if that is unknown.

    It is the only one that the calling function, or else the code, has for it. Of several functions with one name, as
    lambdas have, it is unknown which one is called. A module of a library that is jitted as a whole has the name of
    its class, and the line that calls it another one.

    Args:
        name: the name of the function.
        programs: its programs, which tell where it is defined.
        evidence: the jitted functions that the code names.
    """
    places = {each.location or each.transformed_at for each in programs} - {None}
    if not places:
        return _module_called(programs) or name
    if len(places) != 1:
        return name
    callers = [each.caller.jitted for each in programs if each.caller is not None]
    for jitted in (*callers, evidence.jitted):
        names = {each.name.rpartition(".")[2] for each in jitted if each.location in places}
        if names:
            return name if name in names or len(names) > 1 else names.pop()
    names = set(_names_of_lambda(places.pop())) if name == "<lambda>" else set()
    return names.pop() if len(names) == 1 else name


def _module_called(programs: Sequence[Program]) -> str:
    """Return the variable or attribute of the only module that the lines of programs call; empty if it is unknown."""
    found = {called for each in programs for called in _modules_called(each) or ("",)}
    return found.pop() if len(found) == 1 else ""


def _modules_called(program: Program) -> list[str]:
    line = program.called_at
    statement = [] if line is None else around(line)[-1:]
    names = {each.rpartition(".")[2] for each in program.modules}
    return [name for name in names for node in statement if line is not None and calls_of(name, node, line)]


def _names_of_lambda(location: str | None) -> Iterator[str]:
    """Yield the variables and attributes to which the lambda at a location is assigned, jitted."""
    place, _, number = (location or "").rpartition(":")
    files = [each for each in (place, *linecache.cache) if place in (each, known_as(each))]
    trees = [tree for each in dict.fromkeys(files) if (tree := syntax.tree_of(each)) is not None]
    for node in ast.walk(ast.Module([each for tree in trees for each in tree.body], [])):
        match node:
            case ast.Assign(targets=targets, value=ast.Call(func=jit, args=[jitted, *_])) if syntax.is_jit(jit):
                function = syntax.untransformed(jitted)
                if isinstance(function, ast.Lambda) and str(function.lineno) == number:
                    yield from filter(None, map(syntax.last_name, targets))


def _traced_at(program: Program, evidence: Evidence) -> Frame | None:
    """Return the user's line for which a program was traced; ``None`` if that was not in the first run."""
    if program.module is None or program.function not in {each.function for each in evidence.first.compilations}:
        return None
    sites = set()
    for each in program.module.instructions.values():
        names = [frame.function.rpartition("<locals>.")[2] for frame in each.stack]
        if program.function in names and not each.traced_for:
            at = names.index(program.function)
            if program.function == "<lambda>":  # others may be around the call, such as that of a test
                at = len(names) - 1 - names[::-1].index(program.function)
            outer = [frame for frame in each.stack[:at] if is_users(frame)]
            sites.add(outer[-1] if outer else None)
    return sites.pop() if len(sites) == 1 else None


def _calls_near(line: Frame, name: str) -> Iterator[Frame]:
    """Yield the lines that call a function of this name, in the function that has the line."""
    nodes = around(line)
    if nodes:
        scope = function_around(line) or nodes[0]
        own = set(own_nodes(scope))
        yield from (replace(line, line=each.lineno) for each in calls_of(name, scope, line) if each in own)


def arguments_at(site: Frame, function: str, parameters: Sequence[str]) -> dict[str, ast.expr]:
    """Return what the only call of a function on a line passes, by parameter; empty if that is not written out."""
    nodes = around(site)
    calls = calls_of(function, nodes[-1], site) if nodes else []
    beside = calls_of(function, function_around(site) or nodes[0], site) if nodes else []  # a line may have several
    if len(calls) != 1 or any(each.lineno == site.line for each in beside if each is not calls[0]):
        return {}
    return arguments_of(calls[0], parameters)


def arguments_of(call: ast.Call, parameters: Sequence[str]) -> dict[str, ast.expr]:
    """Return what a call passes, by parameter; empty if that is not written out."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return {}
    given = dict(zip(parameters, call.args, strict=False))
    return given | {each.arg: each.value for each in call.keywords if each.arg is not None}
