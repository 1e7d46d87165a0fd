"""Finds the outermost function of the user's that calls nearly all operations, if jit can compile it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ....records.call_stack import Frame, is_users
from ...record.evidence import Evidence
from ...record.library_use import ModuleLibrary
from ..host.functions.functions_run import calls_unknown, definition, functions_run, is_jitted, waits_in
from ..host.functions.inside_function import (
    LEAST_SAMPLES,
    MOST_INSIDE,
    frames_below,
    frames_of,
    inside_function,
    is_in,
    least_called,
)
from ..host.jitting.transformed_calls import is_transform, with_transforms_beside
from ..host.syntax import Function, assigned, function_around
from . import syntax
from .changing_values import changing_read
from .jit.arguments import Arguments, arguments_of, counted_in, given_by, untraced
from .jit.array_variables import arrays_in
from .jit.jittable import computes_only, has_sizes, takes_arrays
from .jit.module_jit import libraries_called, libraries_used, methods_run
from .jit.obstacles import obstacles
from .jit.results import changed_results, needs_numbers
from .loops.long_loops import has_long_loop, lists_in
from .meanings import paths_in
from .numbers.texts import returns_text

#: Functions of Python that call no operation of JAX.
_HARMLESS = frozenset({"enumerate", "len", "print", "range", "zip"})

#: Functions and methods that call one operation at most, and how the names of methods that wait begin.
_ONE_OPERATION = frozenset({
    "append", "array", "asarray", "bool", "device_get", "device_put", "float", "fold_in", "int", "item", "key",
    "next", "split", "tolist",
})  # fmt: skip
_WAITS = "block_until"

#: What calls an operation if its operands are arrays.
_OPERATORS = ast.AugAssign, ast.BinOp, ast.Compare, ast.Subscript, ast.UnaryOp

#: Of so many operations, the code may call one itself.
_MANY_PER_OTHER = 20


class CalledFunction(NamedTuple):
    """A function of the user's that jit seems to compile.

    Attributes:
        function: its definition.
        file: the file or cell that defines it.
        arguments: what it gets.
        whole: whether it calls nearly all operations.
    """

    function: Function
    file: str
    arguments: Arguments = Arguments()
    whole: bool = True


def called_function(
    evidence: Evidence, count: int, most_unrolled: int, *, line: Frame | None = None, rounds: int | None = None
) -> CalledFunction | None:
    """Return the function to jit; ``None`` if there is none, or it is unknown.

    It has nearly all operations, as the syntax of the code tells, or else the samples of the host; otherwise, nearly
    all calls of the function around their line came through it. Its arguments seem to be arrays, numbers, or modules
    that a library's jit takes, and there is nothing in it that jit would run only once or cannot compile.

    Args:
        evidence: the observations of the runs.
        count: how many operations are called per run.
        most_unrolled: if there are more of them, a loop inside the function may take jit long to compile.
        line: the line that calls most of them; ``None`` if it is unknown.
        rounds: how many of the operations an expression in a loop of the code has; as often as the function is called
            if left out.
    """
    for found in (*_by_syntax(evidence, count, rounds), *_by_samples(evidence), *_leading_to(line, evidence)):
        compiled = _compiled(found, evidence, many=count > most_unrolled)
        if compiled is not None:
            return compiled
    return None


def _compiled(found: CalledFunction, evidence: Evidence, *, many: bool) -> CalledFunction | None:
    """Return a function, with the library whose jit takes its arguments; ``None`` if jit may not compile it."""
    function, file, arguments, _ = found
    passed = [definition(each) for each in arguments.called]
    if None in passed or returns_text(function) or _gets_nothing_traced(function, arguments):
        return None
    begun = [(function, file), *(each for each in passed if each is not None)]
    functions = list(dict.fromkeys(each for one in begun for each in functions_run(*one, evidence)))
    used = libraries_used(functions, evidence.names) or libraries_called(evidence)
    libraries = used if arguments.library is None else {arguments.library}
    if len(libraries) > 1:
        return None
    library = next(iter(libraries), None)
    many = many or (library is not None and not arguments.modules)  # a loop may go over a loader
    running = list(_running(evidence))
    methods = [] if library is None else methods_run(running, of_modules=True)
    below = frames_below(function, file, evidence.programs or ()) if arguments.pytrees else ()
    traced = methods_run(below, of_modules=False)
    if not all(computes_only(each, paths_in(each, place, evidence.names)) for each, place in traced):
        return None
    methods += traced
    lists = lists_in(evidence.inputs)
    if (
        all(_is_plain(each, place, found, library, evidence) for each, place in functions)
        and not obstacles([*functions, *methods], evidence.names)
        and not changing_read(functions, evidence)
        and not needs_numbers(changed_results(function, file, evidence, arguments.static))
        and not transformed_around(function, file, evidence)
        and not waits_in([*functions, *methods], evidence)
        and not calls_unknown([*functions, *methods], evidence)
        and not (many and any(has_long_loop(each, library, lists) for each, _ in (*functions, *methods)))
    ):
        return found._replace(arguments=arguments._replace(library=library))
    return None


def _gets_nothing_traced(function: Function, arguments: Arguments) -> bool:
    """Return whether all arguments are static: jit would compile for each value, and XLA compute the result then.

    Of those with a default, it is not known whether the calls pass them.
    """
    own = function.args
    required = [each.arg for each in (*own.posonlyargs, *own.args)][: -len(own.defaults) or None]
    required += [each.arg for each, value in zip(own.kwonlyargs, own.kw_defaults, strict=True) if value is None]
    return bool(required) and {*required} <= {*arguments.static}


def _is_plain(
    function: Function, file: str, found: CalledFunction, library: ModuleLibrary | None, evidence: Evidence
) -> bool:
    """Return whether a function computes only, with what the found one gets or passes on."""
    static, parameters = frozenset[str](), syntax.parameters(function)
    if function is found.function:
        static = frozenset(found.arguments.static)
        modules = found.arguments.modules or (parameters if library else set())
        pytrees = found.arguments.pytrees
        if not takes_arrays(function, untraced(evidence.inputs), static | modules | pytrees):
            return False
    elif library or found.arguments.functions:  # which it may get and call
        if "self" in parameters or has_sizes(function, parameters):
            return False
    elif not takes_arrays(function, set()):
        return False
    paths = paths_in(function, file, evidence.names)
    arrays = arrays_in(function, file, evidence, paths)
    return computes_only(function, paths, static, nnx=library == "nnx", arrays=arrays)


def transformed_around(function: Function, file: str, evidence: Evidence) -> list[str]:
    """Return the functions that ``jax.vmap`` or the like gets, and that are a function in a file or lead to it.

    Jitted inside, a function would still be transformed in each call.
    """
    tree = syntax.tree_run(file, evidence)
    return _transformed_in(tree, function, file, evidence) or _transformed_in(
        with_transforms_beside(tree, file), function, file, evidence
    )


def transformed_run(evidence: Evidence) -> list[str]:
    """Return the functions that ``jax.grad`` or the like gets, and that were running when operations were called.

    Unlike by names, they are found by the stacks of operations, also around a model's method. They are on the top
    level of their files, as one that is made in each call cannot be jitted once.
    """
    frames = {frame for each in evidence.programs or () if each.eager for frame in frames_of(each) if is_users(frame)}
    found = {id(node): (node, file) for frame in frames for node, file in _at(frame)}.values()
    return sorted({node.name for node, file in found if node.name in _transforms_in(file, evidence)})


def _transforms_in(file: str, evidence: Evidence) -> set[str]:
    tree = syntax.tree_run(file, evidence)
    return _given_to_transforms(tree) or _given_to_transforms(with_transforms_beside(tree, file))


def _given_to_transforms(tree: ast.Module) -> set[str]:
    """Return the functions that are transformed outside of jit, and therefore anew in each call."""
    nodes = syntax.nodes_outside_jit(tree)
    calls = [each for each in nodes if isinstance(each, ast.Call) and is_transform(each.func)]
    return {each.args[0].id for each in calls if each.args and isinstance(each.args[0], ast.Name)}


def _transformed_in(tree: ast.Module, function: Function, file: str, evidence: Evidence) -> list[str]:
    given = _given_to_transforms(tree)
    defined = [each for each in ast.walk(tree) if isinstance(each, Function) and each.name in given]
    leading = [each.name for each in defined if (function, file) in functions_run(each, file, evidence)]
    return list(dict.fromkeys(leading))


def _by_syntax(evidence: Evidence, count: int, rounds: int | None) -> Iterator[CalledFunction]:
    """Yield the only function of the user's that the code calls, if the code computes little besides."""
    tree = syntax.tree_of_code(evidence.code)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    names = dict.fromkeys(each.func.id for each in calls if isinstance(each.func, ast.Name))
    defined = [(name, each) for name in names for each in _defined(name, evidence)]
    if len(defined) == 1:
        ((name, (function, file)),) = defined
        own = [each for each in calls if isinstance(each.func, ast.Name) and each.func.id == name]
        arguments = arguments_of(_given(own, function), evidence, assigned(tree), counted_in(tree))
        rounds = least_called(function, file, evidence) if rounds is None else rounds
        if arguments is not None and _calls_nearly_all(tree, own, count, rounds) and all(map(_is_written_out, own)):
            yield CalledFunction(function, file, arguments)


def _given(calls: list[ast.Call], function: Function) -> list[tuple[str, ast.expr]]:
    """Return the parameters and what calls pass for them; without arguments, inputs have the names of parameters."""
    if not any(each.args or each.keywords for each in calls):
        return [(name, ast.Name(name, ast.Load())) for name in sorted(syntax.parameters(function))]
    return [each for call in calls for each in given_by(call, function)]


def _by_samples(evidence: Evidence) -> Iterator[CalledFunction]:
    """Yield the functions that were running whenever an operation may have been called, the outermost first."""
    samples: dict[Frame, int] = {}
    for each in evidence.functions:
        samples[each.function] = samples.get(each.function, 0) + each.samples
    found = [each for frame in sorted(samples, key=lambda frame: -samples[frame]) for each in _at(frame)]
    inside = {id(node): {id(each) for each, _ in functions_run(node, file, evidence)} for node, file in found}
    for node, file in sorted(found, key=lambda each: -len(inside[id(each[0])])):
        share = inside_function(node, file, evidence)
        if share is not None and share.share >= MOST_INSIDE:
            yield CalledFunction(node, file)


def _leading_to(line: Frame | None, evidence: Evidence) -> Iterator[CalledFunction]:
    """Yield the functions through which nearly all calls of a line's function came, by samples, outermost first.

    They lead to it by the names in them, so that what they call can be read, and did not call jaxmagic.
    """
    function = None if line is None else function_around(line)
    if line is None or function is None:
        return
    stacks = Counter[tuple[Frame, ...]]()
    for each in evidence.host or ():
        if any(is_in(frame, function, line.file) for frame in each.stack):
            stacks[each.stack] += each.samples
    least = max(MOST_INSIDE * stacks.total(), LEAST_SAMPLES)
    ran = {(each.function.file, each.function.line) for each in evidence.functions}
    ((most, _),) = stacks.most_common(1) or [((), 0)]
    for node, file in (found for frame in reversed(most) for found in _at(frame)):
        if node is function or (file, syntax.first_line(node)) not in ran:
            continue
        through = (count for stack, count in stacks.items() if any(is_in(at, node, file) for at in stack))
        if sum(through) >= least and (function, line.file) in functions_run(node, file, evidence):
            yield CalledFunction(node, file, whole=False)


def _defined(name: str, evidence: Evidence) -> Iterator[tuple[Function, str]]:
    """Yield the functions of a name that were seen to run."""
    frames = {each for each in _running(evidence) if each.function == name and is_users(each)}
    yield from {id(found[0]): found for frame in frames for found in _at(frame)}.values()


def _running(evidence: Evidence) -> Iterator[Frame]:
    yield from (each.function for each in evidence.functions)
    yield from (frame for each in evidence.programs or () if each.eager for frame in frames_of(each))


def _at(frame: Frame) -> Iterator[tuple[Function, str]]:
    """Yield the function of a line, if it is on the top level of its file, takes arguments and is not jitted."""
    tree = syntax.tree_of(frame.file)
    for node in tree.body if tree is not None else ():
        if not isinstance(node, Function) or node.name != frame.function or is_jitted(node):
            continue
        if syntax.first_line(node) <= frame.line <= (node.end_lineno or 0) and syntax.parameters(node):
            yield node, frame.file


def _calls_nearly_all(tree: ast.Module, own: list[ast.Call], count: int, rounds: int | None) -> bool:
    """Return whether some calls have nearly all operations: the code computes little else."""
    skipped = {id(each) for each in own}
    loops = [each for each in ast.walk(tree) if isinstance(each, syntax.Loop)]
    repeated = {id(node) for loop in loops for node in ast.walk(loop)}
    others = [each for each in ast.walk(tree) if id(each) not in skipped and _may_call_operation(each)]
    inside = [each for each in others if id(each) in repeated]
    if inside and (rounds is None or not all(map(_calls_one, inside))):
        return False
    return (len(others) - len(inside) + len(inside) * (rounds or 0)) * _MANY_PER_OTHER <= count


def _may_call_operation(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return not (isinstance(node.func, ast.Name) and node.func.id in _HARMLESS)
    return isinstance(node, _OPERATORS)


def _calls_one(node: ast.AST) -> bool:
    """Return whether what may call operations calls no more than one."""
    if not isinstance(node, ast.Call):
        return True
    name = syntax.last_name(node.func) or ""
    return name in _ONE_OPERATION or name.startswith(_WAITS) or ast.unparse(node.func).startswith(("np.", "numpy."))


def _is_written_out(call: ast.Call) -> bool:
    return all(each.arg is not None for each in call.keywords)
