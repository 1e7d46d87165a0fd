"""Finds calls of ``jax.vmap(f)`` or ``jax.grad(f)`` outside of jit, where ``f`` is jitted."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator

from .....records.call_stack import Frame
from .....records.cell_names import cells_with
from .....records.note import note
from ....record.evidence import Evidence
from ....record.finding import RuleFinding
from ....record.library_use import ModuleLibrary
from ....record.program import Program
from ...rewriting.jit.arguments import arguments_of, counted_in, given_by, static_option
from ...rewriting.jit.jittable import decides_by
from ...rewriting.jit.results import narrowed
from ...rewriting.numbers.narrow import computed, traced
from ...rewriting.numbers.passed_numbers import numbers_in
from ...rewriting.syntax import is_jit, last_name, nodes_outside_jit, tree_of, tree_run
from ...rule import source_at
from ..host_time import HostTime, best_run, jitted_calls, matters, names_of_program
from ..syntax import Function, around, assigned, function_around, loop_around

#: Fewer calls per run are no finding, unless they take :data:`LARGE_SHARE` of it.
MANY = 10

#: A few calls are a finding if they take at least this share of a run. Code with fewer than :data:`FEW` may run only
#: once, and then jit would take longer to compile than it saves.
LARGE_SHARE = 0.1
FEW = 3

#: Functions of JAX that return a transformed function. Those of flax.nnx have the same names.
TRANSFORMS = "vmap", "grad", "value_and_grad", "jacfwd", "jacrev", "hessian"

#: The most other lines that are named.
_MOST_LINES = 3

#: The name of all functions without one.
_LAMBDA = "<lambda>"

#: What the names of equinox's begin with.
FILTER = "filter_"


def transformed_calls(rule: str, evidence: Evidence, time: HostTime) -> Iterator[RuleFinding]:
    """Find transformed calls of jitted functions that keep the device waiting."""
    for call in jitted_calls(evidence, time.use):
        programs = [each for each in evidence.programs or () if call.name in names_of_program(each)]
        cost_ns = call.exposed_ns * time.exposed_scale
        if not matters(cost_ns, evidence):
            continue
        if not any(each.transformed for each in programs) or any(each.function for each in programs):
            continue  # some of the calls may be those of the function itself
        backward = not all(each.transformed for each in programs)
        calls = call.count // 2 if backward else call.count
        if call.count < MANY and (calls < FEW or cost_ns < LARGE_SHARE * best_run(evidence).wall_ns):
            continue
        lines = _lines(programs, evidence)
        line = lines[0] if lines else None
        transform, code = _advice(lines[0], call.name, evidence) if len(lines) == 1 else ("", None)
        others = ", ".join(each.location for each in lines[1 : 1 + _MOST_LINES])
        yield RuleFinding(
            rule=rule,
            found=note(
                "doctor.transformed_calls",
                function=call.name,
                count=call.count,
                transform=transform.rpartition(".")[2],
                backward=int(backward),
            ),
            line=None if line is None else line.location,
            source=source_at(line),
            evidence=(note("doctor.transformed_calls_also", lines=others),) if others else (),
            cost_ns=cost_ns,
            basis="at least",  # transforming in Python counts only in part
            remedy=note(
                "doctor.transformed_calls_remedy",
                function="f" if call.name == _LAMBDA else call.name,
                transform=transform,
            ),
            code=code,
            applies_to=call.name,
        )


def _lines(programs: list[Program], evidence: Evidence) -> list[Frame]:
    """Return the lines that call the transformed function, those first where the host is most."""
    samples = Counter[Frame | None]()
    for share in evidence.host or ():
        samples[share.line] += share.samples
    lines = dict.fromkeys(each.called_at for each in programs if each.transformed and each.called_at is not None)
    return sorted(lines, key=lambda each: -samples[each])


def _advice(line: Frame, function: str, evidence: Evidence) -> tuple[str, str | None]:
    """Return how the line transforms the function, such as ``"jax.vmap"``, and code that jits the outcome once."""
    nodes = around(line)
    statement = nodes[-1] if nodes else ast.Module([], [])
    calls = [each for each in ast.walk(statement) if isinstance(each, ast.Call)]
    names = _names_of(function, line.file, evidence)
    made_here = [each for each in calls if isinstance(each.func, ast.Call)]
    inline = [each for each in made_here if any(_transforms(each.func, name) for name in names)]
    if len(inline) == 1:
        made = inline[0].func
        assert isinstance(made, ast.Call)
        transform = ast.unparse(made.func)
        if not _can_be_before(line, made):
            return transform, None
        return transform, _code(None, made, line, evidence)
    named = {each.func.id for each in calls if isinstance(each.func, ast.Name)}
    for target, made in made_of(function, line.file, evidence):
        if target in named:
            return ast.unparse(made.func), _code(target, made, line, evidence)
    return "", None


def _code(target: str | None, made: ast.Call, line: Frame, evidence: Evidence) -> str | None:
    found = jitted(target, made, line.file, evidence)
    return None if found is None else found[0]


def made_of(function: str, file: str, evidence: Evidence) -> list[tuple[str | None, ast.Call]]:
    """Return expressions such as ``jax.vmap(f)`` outside of jit in the user's code, and the name each is assigned to.

    Of ``jax.vmap(jax.grad(f))``, this is the whole: jitted further inside, ``f`` would be transformed in each call.
    Other cells count if those that ran transform the function nowhere.
    """
    tree, names = tree_run(file, evidence), _names_of(function, file, evidence)
    return _made_in(tree, names) or _made_in(with_transforms_beside(tree, file), names)


def _made_in(tree: ast.Module, functions: Collection[str]) -> list[tuple[str | None, ast.Call]]:
    nodes = list(ast.walk(tree))
    targets = {
        id(each.value): each.targets[0].id
        for each in nodes
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    outside = [each for each in nodes_outside_jit(tree) if isinstance(each, ast.Call)]
    names, found = set(functions), list[ast.Call]()
    while True:
        transforming = [each for each in outside if any(_transforms(each, name) for name in names)]
        if len(transforming) == len(found):
            break
        found = transforming
        names |= {targets[id(each)] for each in found if id(each) in targets}
    given = [_given_to(each) for each in found]
    inner = set(map(id, given))
    passed_on = {each.id for each in given if isinstance(each, ast.Name)}
    called = {each.func.id for each in calls if isinstance(each.func, ast.Name)}
    whole = [(targets.get(id(each)), each) for each in found if id(each) not in inner]
    used = [(target, each) for target, each in whole if target not in passed_on or target in called]
    return list({(target, ast.unparse(each)): (target, each) for target, each in used}.values())


def jitted(target: str | None, made: ast.Call, file: str, evidence: Evidence) -> tuple[str, str] | None:
    """Return code that jits a transformed function with the static arguments that the function needs.

    If the function gets modules, these are transformed and jitted by the same library.

    Returns:
        The code and its jit, such as ``"jax.jit"``; ``None`` if jit does not take what the function gets, or if it
        would compute something else of Python numbers.
    """
    tree = tree_run(file, evidence)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    own = [each for each in calls if ast.unparse(each.func) in (target, ast.unparse(made))]
    name = _transformed(made)
    defined = [each for each in ast.walk(tree) if isinstance(each, Function) and each.name == name]
    declared = {each for found in evidence.static if found.function == name for each in found.names}
    scope = _calling(own, name, tree)
    given = [each for call in own for each in given_by(call, defined[-1] if defined else None)]
    arguments = arguments_of(given, evidence, assigned(scope), counted_in(scope))
    if arguments is None:
        return None
    library = arguments.library or _library_of(made)
    jit = "jax.jit" if library is None else _jit_beside(made.func, library)
    static = {*arguments.static, *declared}
    parameters = {parameter for parameter, _ in given} - static - arguments.modules
    if jit is None or any(decides_by(each, parameters) for each in defined):
        return None
    around = numbers_in(scope, file, evidence)
    numbers = [(parameter, computed(value, around)) for parameter, value in given if parameter in parameters]
    traced_numbers = {parameter: traced(number) for parameter, number in numbers if number is not None}
    if any(narrowed(each, traced_numbers, file, evidence) for each in defined):
        return None
    options = "" if library == "equinox" else static_option(sorted(static))
    return f"{target or call_name(made)} = {jit}({ast.unparse(made)}{options})", jit


def _calling(calls: list[ast.Call], function: str, tree: ast.Module) -> ast.AST:
    """Return the only other function that makes some calls; the tree if there is none, or the calls are outside."""
    made = {id(each) for each in calls}
    others = [each for each in ast.walk(tree) if isinstance(each, Function) and each.name != function]
    calling = [each for each in others if made & {id(node) for node in ast.walk(each)}]
    inside = {id(node) for each in calling for node in ast.walk(each)}
    return calling[0] if len(calling) == 1 and made <= inside else tree


def _jit_beside(transform: ast.expr, library: ModuleLibrary) -> str | None:
    """Return the jit of a library that also transforms, such as ``eqx.filter_jit`` beside ``eqx.filter_grad``."""
    name = ast.unparse(transform)
    module, _, own = name.rpartition(".")
    if library == "equinox":
        return f"{module}.{FILTER}jit" if module and own.startswith(FILTER) else None
    return f"{module}.jit" if module == "nnx" or module.endswith(".nnx") else None


def _library_of(made: ast.Call) -> ModuleLibrary | None:
    """Return the library of a transformation: code that makes its own modules has none among its inputs."""
    libraries: tuple[ModuleLibrary, ...] = ("nnx", "equinox")
    return next((each for each in libraries if _jit_beside(made.func, each) is not None), None)


def _transformed(made: ast.Call) -> str:
    """Return the name of the function that ``jax.vmap(jax.grad(f))`` or the like transforms."""
    given = _given_to(made)
    return _transformed(given) if isinstance(given, ast.Call) else ast.unparse(given)


def call_name(made: ast.Call) -> str:
    """Return a name for a transformed function, such as ``"loss_grad"`` for ``jax.grad(loss)``."""
    given, transform = _given_to(made), (last_name(made.func) or "").removeprefix(FILTER)
    function = call_name(given) if isinstance(given, ast.Call) else ast.unparse(given).strip("_")
    return f"{function}_{transform}"


def _transforms(call: ast.expr, function: str) -> bool:
    """Return whether an expression is ``jax.vmap(f, ...)`` or ``jax.vmap(jax.grad(f))`` or the like of a function."""
    if not isinstance(call, ast.Call) or not call.args:
        return False
    if not is_transform(call.func):
        return False
    given = _given_to(call)
    return _transforms(given, function) or _is(given, function)


def _given_to(call: ast.Call) -> ast.expr:
    """Return what a transformation gets, without a jit around it: the function in ``jax.vmap(jax.jit(f))``."""
    given = call.args[0]
    while isinstance(given, ast.Call) and given.args and is_jit(given.func):
        given = given.args[0]
    return given


def _is(given: ast.expr, function: str) -> bool:
    return (isinstance(given, ast.Name) and given.id == function) or (
        isinstance(given, ast.Lambda) and function == _LAMBDA
    )


def _names_of(function: str, file: str, evidence: Evidence) -> set[str]:
    """Return a function's name, and the variables of any cell that hold it jitted, as in ``fast = jax.jit(f)``."""
    trees = (tree_run(file, evidence), *map(tree_of, cells_with(file)))
    names = {function}
    for node in (node for tree in trees if tree is not None for node in ast.walk(tree)):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=jit, args=[given, *_])):
                if is_jit(jit) and _is(given, function):
                    names.add(name)
    return names


def is_transform(function: ast.expr) -> bool:
    """Return whether a function is ``jax.vmap`` or the like, of JAX or of a library, by its name."""
    return (last_name(function) or "").removeprefix(FILTER) in TRANSFORMS


def with_transforms_beside(tree: ast.Module, file: str) -> ast.Module:
    """Return a tree with what other cells assign that ``jax.grad(f)`` and the like return.

    Such a cell need not have run again with the examined code.
    """
    trees = (tree_of(each) for each in cells_with(file))
    statements = [each for other in trees if other is not None for each in other.body if isinstance(each, ast.Assign)]
    made = [each for each in statements if isinstance(each.value, ast.Call) and is_transform(each.value.func)]
    return ast.Module([*made, *tree.body], [])


def _can_be_before(line: Frame, made: ast.Call) -> bool:
    """Return whether an expression has the same value before the loop around a line, or before its function."""
    scope = loop_around(line) or function_around(line)
    if scope is None:
        return False
    changing = assigned(scope)
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        changing |= {each.arg for each in ast.walk(scope.args) if isinstance(each, ast.arg)}
        changing |= {each.name for each in ast.walk(scope) if isinstance(each, ast.FunctionDef) and each is not scope}
    return not changing & {each.id for each in ast.walk(made) if isinstance(each, ast.Name)}
