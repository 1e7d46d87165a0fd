"""Writes a loop that fills arrays as one call: with ``jax.vmap`` if its rounds are independent, or a loop of JAX."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence, Set
from typing import NamedTuple

from ......records.call_stack import Frame
from .....analysis.written_paths import root_of
from .....record.evidence import Evidence, Input
from ....host.functions.functions_run import functions_run
from ....host.functions.inputs_inside import inputs_inside
from ....host.syntax import Function, Loop, function_around, loops_around, own_nodes, tree_of
from ...changing_values import bound_by_loops
from ...jit.array_variables import arrays_in
from ...jit.jittable import computes_only, has_sizes
from ...jit.obstacles import obstacles
from ...meanings import Paths, paths_in
from ...numbers.texts import texts_in
from ...rewritten import INSTEAD
from ...syntax import last_name, loaded, parameters, stored, tree_run
from ..loop_facts import assigns, carried, makes_array
from ..scanned_loop import numbered
from ..while_loop import compute_only, functions_of, is_plain
from .filled_arrays import Fill, Filling, at_zero, filling

#: Names in the code that is written.
_OWN = "begin", "body", "carry", "end", "row", "rows"

#: Expressions that have variables of their own.
_BINDING = ast.comprehension | ast.Lambda | ast.NamedExpr

#: What jit takes, of what the code reads.
_TAKEN = "jax array", "numpy array", "number"

#: Containers of arrays that it takes as well.
_CONTAINERS = "dict", "list", "tuple"

#: Element types that are the same after arithmetic with a number of 32 bits.
_WIDE = "f32", "f64", "i32", "s32", "i64", "s64", "c64", "c128"


class Filled(NamedTuple):
    """A loop that fills arrays, and does nothing but compute.

    Attributes:
        filling: the loop, and what it fills.
        code: code to paste; ``None`` if it cannot be written.
    """

    filling: Filling
    code: str | None


class _Place(NamedTuple):
    """What is known around a loop.

    Attributes:
        line: a line of the loop.
        scope: the function around it, or else the cell or file.
        tree: the cell or file.
        paths: what the names there stand for.
        inputs: what the code reads, by its names there.
        evidence: the observations of the runs.
    """

    line: Frame
    scope: Function | ast.Module
    tree: ast.Module
    paths: Paths
    inputs: dict[str, Input]
    evidence: Evidence


def filled(line: Frame, evidence: Evidence) -> Filled | None:
    """Return the loop around a line if it fills arrays; ``None`` if it does not, or more than JAX can compute.

    Args:
        line: a line of the loop.
        evidence: the objects behind names.
    """
    found, tree = filling(loops_around(line)), tree_of(line)
    if found is None or tree is None:
        return None
    scope = function_around(line) or tree
    place = _Place(
        line, scope, tree, paths_in(scope, line.file, evidence.names), inputs_inside(line, evidence), evidence
    )
    round_ = _as_function(found, [])
    known = {**place.paths, **dict.fromkeys(stored(found.body), "")}
    if not computes_only(round_, known) or not compute_only(round_, line.file, evidence):
        return None
    if obstacles([(found.loop, line.file)], evidence.names):
        return None
    if scope is tree and _read_elsewhere(found, place):
        return None
    return Filled(found, _code(found, place))


def _as_function(found: Filling, given: Sequence[str]) -> ast.FunctionDef:
    made = ast.parse(f"def f({', '.join([*found.names, *given])}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = [*found.body, *ast.parse(", ".join(found.names)).body]
    made.body[-1] = ast.Return(ast.parse(", ".join(found.names), mode="eval").body)
    return made


def _read_elsewhere(found: Filling, place: _Place) -> bool:
    """Return whether a function that the loop runs reads a global variable which the loop fills."""
    functions = functions_run(_as_function(found, []), place.line.file, place.evidence)[1:]
    return any({*found.names} & (loaded([each]) - parameters(each) - stored(each.body)) for each, _ in functions)


def _code(found: Filling, place: _Place) -> str | None:
    fills = [id(each.statement) for each in found.fills]
    others = [each for each in found.body if id(each) not in fills]
    if not all(map(is_plain, others)) or any(isinstance(each, _BINDING) for each in ast.walk(found.loop)):
        return None
    given = _given(found, place)
    if given is None or not _can_be_traced(found, given, place):
        return None
    function = place.scope.name if isinstance(place.scope, Function) else ""
    name = numbered(
        f"{'rows' if found.independent else 'loop'}_of_{function or found.names[0]}", found.loop, place.scope
    )
    names = loaded([place.tree]) | stored([place.tree])
    if name in names or {*_OWN} & (loaded(found.body) | stored(found.body) | {*given}):
        return None
    return _mapped(found, given, name, others) if found.independent else _in_turn(found, given, name)


def _given(found: Filling, place: _Place) -> list[str] | None:
    """Return the variables that a round reads besides what it fills; ``None`` if the code cannot have them."""
    body, line, evidence = found.body, place.line, place.evidence
    changed = stored(body) | {found.counter}
    inside = {id(each) for each in ast.walk(found.loop)}
    beside = [each for each in own_nodes(place.scope) if isinstance(each, ast.Name) and id(each) not in inside]
    own = {id(each) for loop in _loops_that_assign(place.scope, changed, found.loop) for each in ast.walk(loop)}
    if {each.id for each in beside if id(each) not in own} & (changed - {*found.names}):
        return None
    called = [each.func for node in body for each in ast.walk(node) if isinstance(each, ast.Call)]
    local = parameters(place.scope) | stored(place.scope.body) if isinstance(place.scope, Function) else set[str]()
    names = {each.id for each in called if isinstance(each, ast.Name)}
    if names & (local | changed) or names & {each.function for each in evidence.static if each.names}:
        return None
    functions = functions_of(place.tree, line.file, place.paths, evidence) - local
    owners = {each.id for call in called for each in [_root(call)] if isinstance(each, ast.Name)} - local
    modules = owners - {root_of(path) for path in place.inputs} - stored([place.scope])  # as no data has this name
    owners &= functions | modules | {name for name, path in place.paths.items() if path}
    read = {each for each in loaded(body) if not hasattr(builtins, each)}
    given = sorted(read - changed - names - owners - functions)
    if (read - changed - {*given}) & bound_by_loops(line.file, line.line):
        return None
    return given


def _loops_that_assign(scope: ast.AST, names: Set[str], inner: Loop) -> list[Loop]:
    """Return the loops beside a loop that begin by assigning some of the names: they do not read it from there."""
    loops = [each for each in ast.walk(scope) if isinstance(each, ast.For) and inner not in ast.walk(each)]
    return [each for each in loops if assigns([each.target]) & names]


def _root(node: ast.expr) -> ast.expr:
    return _root(node.value) if isinstance(node, ast.Attribute) else node


def _can_be_traced(found: Filling, given: Sequence[str], place: _Place) -> bool:
    """Return whether a round computes the same if all that it reads is traced, as far as is known."""
    round_ = _as_function(found, [*given, found.counter])
    if has_sizes(round_, {*given, found.counter, *stored(found.body)}):
        return False
    texts = texts_in(place.scope, tree_run(place.line.file, place.evidence))
    known = [each for path, each in place.inputs.items() if root_of(path) in given]
    containers = [each for each in known if each.kind == "other" and each.type in _CONTAINERS]
    if texts & {*given} or any(each.kind not in _TAKEN for each in known if each not in containers):
        return False
    arrays = _arrays(place) | {*found.names}
    if any(last_name(each) == "at" or not _is_attribute(each, {*given}) for each in _attributes(round_, {*given})):
        return False
    if any(not _indexes_array(each, arrays, {*given, found.counter}) for each in ast.walk(round_)):
        return False
    counted = _uses(round_, found.counter)
    if any(each is not None and each not in arrays for each in counted):
        return False
    if None in counted and not {*given} <= _wide(place):
        return False
    return found.independent or {*carried(found.loop)} == {*found.names}


def _attributes(function: ast.AST, names: Set[str]) -> list[ast.Attribute]:
    nodes = (each for each in ast.walk(function) if isinstance(each, ast.Attribute))
    return [each for each in nodes if isinstance(each.value, ast.Name) and each.value.id in names]


def _is_attribute(node: ast.Attribute, names: Set[str]) -> bool:
    """Return whether an attribute is one that arrays have under jit as well."""
    return node.attr in (
        "T",
        "dtype",
        "ndim",
        "shape",
        "size",
        "sum",
        "mean",
        "max",
        "min",
        "dot",
        "astype",
        "reshape",
    )


def _indexes_array(node: ast.AST, arrays: Set[str], traced: Set[str]) -> bool:
    """Return whether a node indexes an array, unless what indexes is known: a list takes no traced number."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=index) if loaded([index]) & traced:
            return name in arrays
    return True


def _arrays(place: _Place) -> set[str]:
    """Return the variables that are known to be arrays, of JAX or NumPy."""
    made = [each for each in own_nodes(place.scope) if isinstance(each, ast.Assign)]
    assigned = {name for each in made for name in assigns([each])}
    every = {name for name in assigned if all(makes_array(each.value) for each in made if name in assigns([each]))}
    other = assigns(ast.iter_child_nodes(place.scope)) - assigned
    kinds = {name for name, each in place.inputs.items() if each.kind in ("jax array", "numpy array")}
    found = every | (kinds - assigned)
    if isinstance(place.scope, Function):
        found |= arrays_in(place.scope, place.line.file, place.evidence, place.paths) - other
    return found


def _uses(function: ast.AST, counter: str) -> list[str | None]:
    """Return for each use of a counter what it indexes; ``None`` for one as a value."""
    indexed: dict[int, str] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript):
            owner = (
                node.value.value if isinstance(node.value, ast.Attribute) and node.value.attr == "at" else node.value
            )
            name = owner.id if isinstance(owner, ast.Name) else ""
            indexed |= {id(each): name for each in ast.walk(node.slice)}
    uses = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == counter]
    return [indexed.get(id(each)) for each in uses]


def _wide(place: _Place) -> set[str]:
    """Return the variables whose element types a counter of 32 bits does not change as a number of Python would."""
    return {
        name
        for name, each in place.inputs.items()
        if each.kind == "number" or each.type.partition("[")[0] in _WIDE or each.type.startswith("key")
    }


def _mapped(found: Filling, given: Sequence[str], name: str, others: Sequence[ast.stmt]) -> str:
    """Write a call that computes all rows with ``jax.vmap``."""
    counter, fills = found.counter, found.fills
    axes = [each.axis(counter) or 0 for each in fills]
    values = [f"jnp.broadcast_to({ast.unparse(each.value)}, {at_zero(each, counter)}.shape)" for each in fills]
    results = "rows" if len(fills) == 1 else ", ".join(f"rows_of_{each.name}" for each in fills)
    out = f", out_axes={axes[0] if len(axes) == 1 else tuple(axes)}" if any(axes) else ""
    written = [
        f"{_element(each)}.{each.method}({result})" for each, result in zip(fills, results.split(", "), strict=True)
    ]
    arguments = ", ".join([*found.names, counter, *given])
    passed = ", ".join([*found.names, found.indices, *given])
    return "\n".join([
        "@jax.jit",
        f"def {name}({arguments}):",
        f"    def row({counter}):",
        *(f"        {line}" for each in others for line in ast.unparse(each).splitlines()),
        f"        return {', '.join(values)}",
        f"    {results} = jax.vmap(row{out})({counter})",
        f"    return {', '.join(written)}",
        INSTEAD,
        f"{', '.join(found.names)} = {name}({passed})",
    ])  # fmt: skip


def _element(fill: Fill) -> str:
    return ast.unparse(ast.Subscript(ast.parse(f"{fill.name}.at", mode="eval").body, fill.where, ast.Load()))


def _in_turn(found: Filling, given: Sequence[str], name: str) -> str | None:
    """Write a call of ``jax.lax.fori_loop``; ``None`` for a loop in other steps than one."""
    over = found.loop.iter
    assert isinstance(over, ast.Call)
    bounds = ["0", f"len({ast.unparse(found.items[1])})"] if found.items else list(map(ast.unparse, over.args))
    bounds = ["0", *bounds] if len(bounds) == 1 else bounds
    if len(bounds) > 2:
        return None
    state = ", ".join(found.names)
    carry = state if len(found.names) == 1 else f"({state})"
    inner = "carry" if len(found.names) > 1 else state
    unpacked = [f"        {state} = carry"] if len(found.names) > 1 else []
    return "\n".join([
        "@jax.jit",
        f"def {name}({', '.join([*found.names, 'begin', 'end', *given])}):",
        f"    def body({found.counter}, {inner}):",
        *unpacked,
        *(f"        {line}" for each in found.body for line in ast.unparse(each).splitlines()),
        f"        return {state}",
        f"    return jax.lax.fori_loop(begin, end, body, {carry})",
        INSTEAD,
        f"{state} = {name}({', '.join([*found.names, *bounds, *given])})",
    ])  # fmt: skip
