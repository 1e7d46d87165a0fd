"""Explains functions, devices and keys that stand in the wrong place, or are missing, in a call of JAX."""

from __future__ import annotations

import ast
import re

from ......records.note import note
from .....record.failure import Failure
from ...expression import Expression, expression_of, spelled
from ...expression import call as make_call
from ..explained import Explained
from ..operands import fact, shortened
from .loop_order import order_of


def explain_called_apart(failure: Failure) -> Explained:
    """Explain ``jax.grad(f, x)``, which has to be ``jax.grad(f)(x)``."""
    failing = expression_of(failure)
    node, parent = (None, None) if failing is None else (failing.node, failing.parent)
    called = "" if failing is None else shortened(failing.called or "")
    found = note("doctor.error_called_apart", called=called)
    if failing is None or not isinstance(node, ast.Call):
        return Explained(found, note("doctor.write_called_apart", code=""))
    made = ast.Call(func=node.func, args=node.args[:1], keywords=[])
    whole = ast.Call(func=made, args=node.args[1:], keywords=[])
    code = None
    if isinstance(parent, ast.Call) and parent.func is node:
        outer = Expression(failing.statement, parent, None)
        given = [ast.unparse(each) for each in parent.args]
        if not parent.keywords and given == [ast.unparse(each) for each in whole.args]:
            code = outer.with_node(whole)
    else:
        code = failing.with_node(whole)
    return Explained(found, note("doctor.write_called_apart", code=ast.unparse(whole)), code)


def explain_order(failure: Failure) -> Explained:
    """Explain ``lax.fori_loop(body, 0, 3, x)``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    called = "" if failing is None else shortened(failing.called or "")
    found = note("doctor.error_order", called=called)
    if failing is None or not isinstance(node, ast.Call):
        return Explained(found, note("doctor.write_order", called=called))
    functions = [int(each) for each in fact(failure, "functions").split(",")]
    name = called.rpartition(".")[2]
    order = order_of(name, node, functions, failure.operands, fact(failure, "returned").split(","))
    if order is None:
        return Explained(found, note("doctor.write_order", called=called, meaning=True))
    node.args = [node.args[place] for place in order]
    return Explained(found, note("doctor.write_order", called=called), failing.with_node(node))


def explain_time(failure: Failure) -> Explained | None:
    """Explain a function that uses the time as the state, because ``odeint`` passes the state first."""
    function, first, second = (fact(failure, each) for each in ("ode", "first", "second"))
    if not function:
        return None
    return Explained(
        note("doctor.error_time", function=function, time=second),
        note("doctor.write_state_first", function=function, first=first, second=second),
    )


def explain_device(failure: Failure) -> Explained:
    """Explain a text or a number in place of a device."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    node = None if failing is None or failure.library is not None else failing.node
    given, place = fact(failure, "given"), int(fact(failure, "place"))
    found = note("doctor.error_device", given=given, text=fact(failure, "type") == "str")
    match = re.fullmatch(r"(cpu|gpu|cuda|rocm|tpu)(?::(\d+))?", given)
    if match is not None:
        device = f'{jax}.devices("{"gpu" if match[1] == "cuda" else match[1]}")[{match[2] or 0}]'
    else:
        device = f"{jax}.devices()[{given}]" if given.isdecimal() else f"{jax}.devices()[0]"
    code = None
    if failing is not None and isinstance(node, ast.Call) and (match is not None or given.isdecimal()):
        new = ast.parse(device, mode="eval").body
        if place > 0:
            node.args[place] = new
        for each in node.keywords if place < 0 else ():
            each.value = new if each.arg in ("device", "device_or_sharding") else each.value
        code = failing.with_node(node)
    return Explained(found, note("doctor.write_device", device=device, jax=jax), code)


def explain_no_key(failure: Failure) -> Explained:
    """Explain a seed in place of a key, a call without a key, and a key that is passed as another argument."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    node = None if failing is None or failure.library is not None else failing.node
    called = "" if failing is None else shortened(failing.called or "")
    seed = bool(fact(failure, "seed"))
    code = None
    if fact(failure, "held"):
        if failing is not None and isinstance(node, ast.Call):
            code = failing.with_node(_key_first(node, fact(failure, "held"), fact(failure, "second")))
        return Explained(note("doctor.error_key_order", called=called), note("doctor.write_key_order"), code)
    if failing is not None and isinstance(node, ast.Call) and fact(failure, "certain"):
        keyword = next((each for each in node.keywords if each.arg == "key"), None)
        if not seed:
            node.args.insert(0, make_call(f"{jax}.random.key", ast.Constant(value=0)))
        elif keyword is not None:
            keyword.value = make_call(f"{jax}.random.key", keyword.value)
        else:
            node.args[0] = make_call(f"{jax}.random.key", node.args[0])
        code = failing.with_node(node)
    found = note("doctor.error_seed", called=called, value=fact(failure, "value"), seed=seed)
    return Explained(found, note("doctor.write_key", jax=jax), code)


def _key_first(node: ast.Call, held: str, second: str) -> ast.Call:
    """Move the key of a call to where it belongs, and what stands there to the next parameter.

    Args:
        node: the call.
        held: the place or the keyword of the key.
        second: the parameter that follows on ``key``.
    """
    args, named = list(node.args), {each.arg: each for each in node.keywords}
    first = named.get("key")
    if held.isdecimal():
        key = args.pop(int(held))
        if first is not None:  # such as normal(key, key=(3,))
            first.arg = second
        return ast.Call(node.func, [key, *args], node.keywords)
    key = named[held].value
    if not args and first is not None:
        first.value, named[held].value = key, first.value
        return node
    if held == second and len(args) == 1:
        named[held].value = args[0]
        return ast.Call(node.func, [key], node.keywords)
    return ast.Call(node.func, [key, *args], [each for each in node.keywords if each.arg != held])
