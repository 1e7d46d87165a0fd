"""Explains layers of flax.nnx and Equinox that get no random numbers, and modules whose state cannot be changed."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failure import Failure
from ...expression import Expression, expression_of, spelled
from ...expression import call as make_call
from ..explained import SHAPE, Explained, Rule
from ..operands import fact, shapes_in, shortened, written

#: What lists and dictionaries with modules inside have to be in a module of flax.nnx.
_CONTAINERS = {"list": "List", "dict": "Dict"}


def explain_layer_key(failure: Failure) -> Explained:
    """Explain a layer that is made without random numbers, or with a key in place of them."""
    failing, library = expression_of(failure), fact(failure, "library")
    node = None if failing is None else failing.node
    called = "" if failing is None else failing.called or ""
    option = "rngs" if library == "nnx" else "key"
    module = called.rpartition(".")[0] if library == "nnx" and "." in called else "nnx"
    made = f"{module}.Rngs(0)" if library == "nnx" else f"{spelled(failure, 'jax')}.random.key(0)"
    made = option if option in failure.parameters else made
    place, given = int(fact(failure, "place") or -1), bool(fact(failure, "given"))
    found = note("doctor.error_layer_key", layer=shortened(called), option=option, given=given, positional=place >= 0)
    code = None
    if failing is not None and isinstance(node, ast.Call):
        keyword = next((each for each in node.keywords if each.arg == option), None)
        if place >= 0:
            keyword = ast.keyword(arg=option, value=node.args.pop(place))
            node.keywords.append(keyword)
        elif keyword is not None:
            keyword.value = make_call(f"{module}.Rngs", keyword.value)
            made = ast.unparse(keyword.value)
        else:
            keyword = ast.keyword(arg=option, value=ast.parse(made, mode="eval").body)
            node.keywords.append(keyword)
        made = ast.unparse(keyword.value)
        code = failing.with_node(node)
    return Explained(found, note("doctor.write_layer_key", option=option, made=made), code)


def explain_apply_order(failure: Failure) -> Explained:
    """Explain ``model.apply(x, variables)``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    code = None
    if failing is not None and isinstance(node, ast.Call):
        node.args[:2] = node.args[1::-1]
        code = failing.with_node(node)
    return Explained(note("doctor.error_apply_order"), note("doctor.write_apply_order"), code)


def explain_module_leaves(failure: Failure) -> Explained:
    """Explain ``optax.apply_updates(model, updates)`` with a module of Equinox."""
    failing, location = expression_of(failure), fact(failure, "location")
    called, mended = fact(failure, "called"), fact(failure, "mended")
    found = note(
        "doctor.error_module_leaves",
        called=called,
        location="" if location == failure.line else location,
        module=shortened(fact(failure, "module")),
        leaf=fact(failure, "leaf"),
        type=fact(failure, "type"),
    )
    calls = [] if failing is None else [each for each in ast.walk(failing.statement) if isinstance(each, ast.Call)]
    call = next((each for each in calls if ast.unparse(each) == fact(failure, "call")), None)
    code = None
    if failing is not None and call is not None:
        code = Expression(failing.statement, call, None).with_node(ast.parse(mended, mode="eval").body)
    remedy = note(
        "doctor.write_module_leaves",
        mended=mended,
        arrays=fact(failure, "arrays"),
        combined=fact(failure, "combined"),
    )
    return Explained(found, remedy, code)


def explain_trace_level(failure: Failure) -> Explained:
    """Explain a variable of flax.nnx that is changed or passed on in a traced function, and is no argument of it."""
    passed = bool(fact(failure, "passed"))
    found = note("doctor.error_trace_level", variable=fact(failure, "variable"), passed=passed)
    return Explained(found, note("doctor.write_trace_level"))


def explain_container(failure: Failure) -> Explained:
    """Explain a list of modules in a module of flax.nnx."""
    failing, kind = expression_of(failure), fact(failure, "container")
    name = f"nnx.{_CONTAINERS[kind]}"
    statement = None if failing is None else failing.statement
    code = None
    if isinstance(statement, ast.Assign):
        statement.value = make_call(name, statement.value)
        code = ast.unparse(statement)
    found = note("doctor.error_container", attribute=fact(failure, "attribute"), container=kind)
    return Explained(found, note("doctor.write_container", name=name), code)


def explain_frozen(failure: Failure) -> Explained:
    """Explain an assignment to a field of a module of Equinox, a state of Flax, or a ``FrozenDict``."""
    failing, library = expression_of(failure), fact(failure, "library")
    statement = None if failing is None else failing.statement
    if library == "undeclared":
        field = fact(failure, "field")
        return Explained(note("doctor.error_undeclared", field=field), note("doctor.write_declared", field=field))
    found = note("doctor.error_frozen", library=library, target="")
    name, code = "x", None
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=field)], value=value):
            new = ast.unparse(value)
            code = f"{name} = {name}.replace({field}={new})"
            if library == "equinox":
                code = f"{name} = {fact(failure, 'module')}.tree_at(lambda tree: tree.{field}, {name}, {new})"
            found = note("doctor.error_frozen", library=library, target=f"{name}.{field}")
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)], value=value):
            code = f"{name} = {name}.copy({{{ast.unparse(key)}: {ast.unparse(value)}}})"
            found = note("doctor.error_frozen", library=library, target=f"{name}[{ast.unparse(key)}]")
    inside = bool(failure.stack) and failure.stack[-1].function != "<module>"
    if inside and name not in failure.parameters:
        code = None
    returned = name if inside and code is not None else ""
    return Explained(found, note("doctor.write_new_object", library=library, returned=returned), code)


def explain_dropout(failure: Failure) -> Explained:
    """Explain a dropout that gets no random numbers."""
    library = "equinox" if fact(failure, "equinox") else "nnx"
    return Explained(note("doctor.error_dropout", library=library), note("doctor.write_dropout", library=library))


def explain_example_rank(failure: Failure) -> Explained:
    """Explain a normalization or a convolution of Equinox that gets a batch, or another array than one example."""
    (given,), shapes = shapes_in(fact(failure, "given")), shapes_in(fact(failure, "takes"))
    rank = len(shapes[0]) if shapes else int(fact(failure, "rank"))
    batch = len(given) > rank and (not shapes or given[len(given) - rank :] == shapes[0])
    failing, jax = expression_of(failure), spelled(failure, "jax")
    node, code = None if failing is None else failing.node, None
    if batch and failing is not None and isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        mapped = node.func
        for _ in range(len(given) - rank):
            mapped = make_call(f"{jax}.vmap", mapped)
        new = ast.Call(mapped, node.args, [])
        code = None if "self" in failure.parameters else failing.with_node(new)  # where the model is to be mapped
    found = note(
        "doctor.error_example_rank",
        layer=fact(failure, "layer"),
        takes=written(shapes[0]) if shapes else "",
        rank=rank,
        given=written(given),
    )
    return Explained(found, note("doctor.write_one_example", batch=batch, jax=jax), code)


#: The messages that are explained here, in the words of Flax and Equinox.
# fmt: off
RULES = (
    Rule("TraceContextError", "trace level", explain_trace_level,
        r"Cannot mutate '?(?P<variable>\w+)'? from (?:a )?different trace level"),
    Rule("TraceContextError|ValueError", "trace level", explain_trace_level,
        r"(?P<passed>Cannot extract|Trying to extract) graph node from different trace level, got (?P<variable>\w+)"),
    Rule("ValueError", "container", explain_container,
        r"Found (?:data|unexpected Arrays) on value of type '?<class '(?P<container>list|dict)'>'? "
        r"(?:assigned to|in) static attribute '(?P<attribute>\w+)' of Pytree type"),
    Rule("ValueError", "frozen", explain_frozen,
        r"(?P<library>FrozenDict) is immutable"),
    Rule("ValueError", "dropout", explain_dropout,
        r"`deterministic` is False, but no `rngs` argument was provided to Dropout"),
    Rule("RuntimeError", "dropout", explain_dropout,
        r"(?P<equinox>Dropout) requires a key when running in non-deterministic mode"),
    Rule("ValueError", "example rank", explain_example_rank,
        rf"`(?P<layer>\w+)\(shape\)\(x\)` must satisfy the invariant `shape == x\.shape`\s*Received "
        rf"`shape=(?P<takes>{SHAPE})`? and `x\.shape=(?P<given>{SHAPE})`"),
    Rule("ValueError", "example rank", explain_example_rank,
        rf"\W*Input to `(?P<layer>\w+)` needs to have rank (?P<rank>\d+)\W+but input has shape (?P<given>{SHAPE})"),
)
# fmt: on
