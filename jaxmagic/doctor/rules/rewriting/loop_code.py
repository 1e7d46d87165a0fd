"""Rewrites loops of Python as loops of JAX, where that is mechanical."""

from __future__ import annotations

import ast

from .syntax import Loop, loaded, stored

#: The names that the code to paste assigns. There is no code if the function has variables with these names.
_OURS = {"body", "carry", "item"}


def trip_count(loop: Loop) -> int | None:
    """Return how often a loop runs, if its syntax tells.

    >>> trip_count(ast.parse("for i in range(2, 10): x = f(x)").body[0])
    8
    """
    source = _iterated(loop)
    if isinstance(source, (ast.Tuple, ast.List)) and not any(isinstance(each, ast.Starred) for each in source.elts):
        return len(source.elts)
    if source is None or not is_range(source) or not isinstance(source, ast.Call):
        return None
    try:
        return len(range(*(ast.literal_eval(each) for each in source.args)))
    except (ValueError, TypeError):
        return None


def _iterated(loop: Loop) -> ast.expr | None:
    if isinstance(loop, ast.While):
        return None
    return loop.iter if isinstance(loop, ast.For) else loop.generators[0].iter


def is_range(node: ast.expr | None) -> bool:
    """Return whether an expression is a call of ``range``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def is_sequential(loop: Loop) -> bool:
    """Return whether a loop of JAX could replace a loop: it counts, or each round needs the result of the one before.

    A loop that does the same to each of some arrays, such as the leaves of a pytree, is neither.
    """
    if is_range(_iterated(loop)) or isinstance(loop, ast.While):
        return True
    return isinstance(loop, ast.For) and bool(carried(loop))


def carried(loop: ast.For) -> list[str]:
    r"""Return the names that each round reads before it assigns them, in the order of assignment.

    >>> carried(ast.parse("for w in ws:\n    h = x @ w\n    x = tanh(h)").body[0])
    ['x']
    """
    assigned = stored([loop.target])
    before: set[str] = set()
    for statement in loop.body:
        value = getattr(statement, "value", None)
        before |= loaded([statement if value is None else value]) - assigned
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            before |= {statement.target.id} - assigned
        assigned |= stored([statement])
    names = [
        node.id
        for statement in loop.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    return [name for name in dict.fromkeys(names) if name in before]


def loop_code(loop: Loop, function: ast.AST | None) -> str | None:
    """Return a loop of JAX that does the same; ``None`` where that is not mechanical.

    Args:
        loop: the loop.
        function: the function around it.
    """
    if not isinstance(loop, ast.For) or function is None or loop.orelse or not all(map(_is_plain, loop.body)):
        return None
    carry, targets = carried(loop), stored([loop.target])
    after = loaded(
        node
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node.lineno > (loop.end_lineno or 0) and node is not function
    )
    local = (stored(loop.body) | targets) - set(carry)
    if not carry or local & after or _OURS & (loaded([function]) | stored([function])):
        return None
    if is_range(loop.iter):
        return None if targets & loaded(loop.body) else _fori_loop(loop, carry)
    return _scan(loop, carry) if _is_of_arrays(loop) else None


def _is_plain(statement: ast.stmt) -> bool:
    """Return whether a statement only assigns names."""
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name)
    if not isinstance(statement, ast.Assign):
        return False
    stops = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
    return all(map(_is_names, statement.targets)) and not any(isinstance(each, stops) for each in ast.walk(statement))


def _is_names(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(_is_names, target.elts)))


def _is_of_arrays(loop: ast.For) -> bool:
    """Return whether a loop is over variables, and its elements are neither called nor asked for attributes."""
    source = loop.iter
    zipped = isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "zip"
    if zipped and isinstance(source, ast.Call):
        if source.keywords or not all(isinstance(each, ast.Name) for each in source.args):
            return False
    elif not isinstance(source, ast.Name):
        return False
    targets = stored([loop.target])
    for statement in loop.body:
        for node in ast.walk(statement):
            base = (
                node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Attribute) else None
            )
            if isinstance(base, ast.Name) and base.id in targets:
                return False
    return _is_names(loop.target)


def _fori_loop(loop: ast.For, carry: list[str]) -> str:
    assert isinstance(loop.iter, ast.Call)
    bounds = [ast.unparse(each) for each in loop.iter.args]
    if len(bounds) == 1:
        bounds.insert(0, "0")
    if len(bounds) > 2:
        bounds = ["0", f"len({ast.unparse(loop.iter)})"]
    (names, unpack) = _together(carry)
    statement = loop.body[0]
    if len(loop.body) == 1 and len(carry) == 1 and isinstance(statement, ast.Assign):
        step = f"lambda _, {names}: {ast.unparse(statement.value)}"
        if isinstance(statement.targets[0], ast.Name):
            return f"{names} = jax.lax.fori_loop({', '.join(bounds)}, {step}, {names})"
    body = [f"    {line}" for each in loop.body for line in ast.unparse(each).splitlines()]
    head = ["def body(_, carry):", f"    {unpack} = carry"] if len(carry) > 1 else [f"def body(_, {names}):"]
    call = f"{unpack} = jax.lax.fori_loop({', '.join(bounds)}, body, {names})"
    return "\n".join([*head, *body, f"    return {unpack}", "", call])


def _scan(loop: ast.For, carry: list[str]) -> str:
    (names, unpack) = _together(carry)
    first = "carry" if len(carry) > 1 else names
    item = loop.target.id if isinstance(loop.target, ast.Name) else "item"
    head = [f"def body({first}, {item}):"]
    if len(carry) > 1:
        head.append(f"    {unpack} = carry")
    if not isinstance(loop.target, ast.Name):
        head.append(f"    {ast.unparse(loop.target)} = item")
    body = [f"    {line}" for each in loop.body for line in ast.unparse(each).splitlines()]
    stacked = f"jax.tree.map(lambda *each: jnp.stack(each), *{ast.unparse(loop.iter)})"
    return "\n".join(
        [*head, *body, f"    return {names}, None", "", f"{names}, _ = jax.lax.scan(body, {names}, {stacked})"]
    )


def _together(carry: list[str]) -> tuple[str, str]:
    return (carry[0], carry[0]) if len(carry) == 1 else (f"({', '.join(carry)})", ", ".join(carry))
