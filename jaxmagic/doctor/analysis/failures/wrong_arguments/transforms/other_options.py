"""Explains options of another kind than a function of JAX takes, and keys that are unpacked."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failure import Failure
from ...expression import call as make_call
from ...expression import expression_of, spelled
from ..explained import Explained
from ..operands import fact, shortened


def explain_other_option(failure: Failure) -> Explained:
    """Explain ``static_argnums="n"``."""
    failing, option = expression_of(failure), fact(failure, "option")
    node = None if failing is None else failing.node
    other = option.replace("nums", "names") if "nums" in option else option.replace("names", "nums")
    exists = option != "argnums"
    code = None
    if exists and failing is not None and isinstance(node, ast.Call) and other not in [e.arg for e in node.keywords]:
        for each in node.keywords:
            each.arg = other if each.arg == option else each.arg
        code = failing.with_node(node)
    found = note("doctor.error_other_option", option=option)
    return Explained(found, note("doctor.write_other_option", option=option, other=other if exists else ""), code)


def explain_number_dtype(failure: Failure) -> Explained:
    """Explain a number where a dtype is expected, as by ``jax.random.normal(key, shape, 0.5)``."""
    failing, place = expression_of(failure), int(fact(failure, "place"))
    node = None if failing is None else failing.node
    parameters = fact(failure, "parameters").split(", ")
    given: ast.expr | None = None
    if isinstance(node, ast.Call):
        named = (each.value for each in node.keywords if each.arg == "dtype")
        given = node.args[place] if 0 <= place < len(node.args) else next(named, None)
    function = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    sized, code = "", None
    if isinstance(node, ast.Call) and fact(failure, "sizes"):
        sized = ast.unparse(ast.Tuple(elts=node.args[int(fact(failure, "sizes")) :], ctx=ast.Load()))
    elif failing is not None and isinstance(node, ast.Call) and fact(failure, "bounds"):
        *before, shape, low, high = node.args
        whole = shape if isinstance(shape, ast.Tuple) else ast.Tuple(elts=[shape], ctx=ast.Load())
        node.args = [*before, whole if isinstance(shape, ast.Constant) else shape]
        node.keywords = [ast.keyword(arg="minval", value=low), ast.keyword(arg="maxval", value=high)]
        code = failing.with_node(node)
    return Explained(
        note(
            "doctor.error_number_dtype",
            value="" if given is None else shortened(ast.unparse(given)),
            function=shortened(function),
            parameters=", ".join(parameters),
        ),
        note(
            "doctor.write_number_dtype",
            function=function,
            random=parameters[0] == "key",
            bounds="minval" in parameters,
            sizes=shortened(sized),
            jnp=spelled(failure, "jax.numpy"),
        ),
        code,
    )


def explain_starts(failure: Failure) -> Explained:
    """Explain ``lax.dynamic_slice(x, 0, 3)``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    code = None
    if failing is not None and isinstance(node, ast.Call):
        for place in map(int, fact(failure, "places").split(",")):
            node.args[place] = ast.Tuple(elts=[node.args[place]], ctx=ast.Load())
        code = failing.with_node(node)
    called = "" if failing is None else shortened(failing.called or "")
    return Explained(note("doctor.error_starts", called=called), note("doctor.write_starts"), code)


def explain_uneven(failure: Failure) -> Explained:
    """Explain ``jnp.split(x, n)`` of an axis that ``n`` does not divide."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    code = None
    if failing is not None and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node.func.attr = "array_split"
        code = failing.with_node(node)
    return Explained(
        note("doctor.error_uneven"), note("doctor.write_uneven", jnp=spelled(failure, "jax.numpy")), code
    )


def explain_field(failure: Failure) -> Explained:
    """Explain ``jax.debug.print("{x}", x)``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    code = None
    if not fact(failure, "fields"):
        found = note(
            "doctor.error_fields",
            places=int(fact(failure, "places")),
            values=int(fact(failure, "values")),
            missing=fact(failure, "missing"),
            extra=fact(failure, "extra"),
        )
        return Explained(found, note("doctor.write_fields", jax=spelled(failure, "jax")))
    if failing is not None and isinstance(node, ast.Call):
        words, *values = node.args
        names = fact(failure, "fields").split(",")
        node.args = [words]
        node.keywords = [ast.keyword(arg=name, value=value) for name, value in zip(names, values, strict=True)]
        code = failing.with_node(node)
    return Explained(note("doctor.error_field"), note("doctor.write_field"), code)


def explain_named_axes(failure: Failure) -> Explained:
    """Explain ``x.transpose(axes=(1, 0))``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    code = None
    if failing is not None and isinstance(node, ast.Call):
        node.args, node.keywords = [node.keywords[0].value], []
        code = failing.with_node(node)
    called = "" if failing is None else shortened(failing.called or "")
    jnp = spelled(failure, "jax.numpy")
    return Explained(note("doctor.error_named_axes", called=called), note("doctor.write_named_axes", jnp=jnp), code)


def explain_unpacked(failure: Failure) -> Explained:
    """Explain ``a, b, c = jax.random.split(key)`` and ``key, subkey = jax.random.key(0)``."""
    failing, jax, names = expression_of(failure), spelled(failure, "jax"), int(fact(failure, "names"))
    statement = None if failing is None else failing.statement
    single = fact(failure, "maker") == "key"
    code = None
    if isinstance(statement, ast.Assign):
        count = [ast.Constant(value=names)] if names != 2 else []
        call = statement.value
        if single:
            statement.value = make_call(f"{jax}.random.split", call, *count)
        elif isinstance(call, ast.Call):
            call.args = [*call.args[:1], *count]
            call.keywords = [each for each in call.keywords if each.arg != "num"]
        code = ast.unparse(statement)
    keys = int(fact(failure, "count"))
    found = note("doctor.error_unpacked", single=single, names=names, keys=keys)
    return Explained(found, note("doctor.write_unpacked", jax=jax, names=names, single=single), code)
