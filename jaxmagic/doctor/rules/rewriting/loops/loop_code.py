"""Rewrites loops of Python as loops of JAX, where that is mechanical."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from ..syntax import Loop, last_name, loaded, stored
from .computed_numbers import lose_digits
from .kept_lists import is_used_as_array
from .loop_facts import Appended, Counter, appended, assigns, carried, counter_of, is_range, makes_array, reads
from .scans.carried_types import stay_after_one, widened_by
from .scans.scanned_items import NamedItems, items_of, stacked, taken

#: The names that the code to paste assigns. There is no code if the function has variables with these names.
_OURS = {"body", "carry", "item"}


class _Parts(NamedTuple):
    """A loop that can be rewritten.

    Attributes:
        loop: the loop.
        carry: what is carried from iteration to iteration.
        collected: what each iteration appends to lists.
        counter: how the body uses the counter of ``range``; ``None`` if the loop is over something else.
        begun: the lists that have elements before the loop.
        widened: whether what is carried begins with numbers that a round makes arrays of, and another one keeps.
    """

    loop: ast.For
    carry: list[str]
    collected: list[Appended]
    counter: Counter | None
    begun: tuple[str, ...]
    widened: bool


def loop_code(
    loop: Loop, function: ast.AST | None, *, arrays: bool = False, enclosing: Sequence[Loop] = ()
) -> str | None:
    """Return a loop of JAX that does the same; ``None`` where that is not mechanical.

    Args:
        loop: the loop.
        function: the function around it.
        arrays: whether it is known that the loop takes its items from arrays, and not from lists.
        enclosing: the loops around it.
    """
    parts = _parts(loop, function, enclosing)
    if parts is None:
        return None
    counter = parts.counter
    if parts.widened and (counter is None or counter.indexed):
        return None
    if counter is None:
        return _scan(parts, items_of(parts.loop.iter, arrays=arrays))
    if counter.indexed:
        return _over_arrays(parts, counter, arrays=arrays)
    if not counter.traceable or (counter.indexes and not arrays):
        return None
    if parts.collected:
        return _scan(parts, counter=counter.name)
    return _fori_loop(parts, counter.name or "_")


def _parts(loop: Loop, function: ast.AST | None, enclosing: Sequence[Loop]) -> _Parts | None:
    if not isinstance(loop, ast.For) or function is None or loop.orelse or not all(map(_is_plain, loop.body)):
        return None
    carry, targets, collected = carried(loop), assigns([loop.target]), appended(loop)
    if not carry or collected is None or (collected and enclosing) or lose_digits(loop, carry, function):
        return None
    ours = _OURS | {f"{each.name}{end}" for each in collected for end in ("_item", "_rest")}
    if ours & (loaded([function]) | stored([function])):
        return None
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]
    after = loaded(node for node in statements if node.lineno > (loop.end_lineno or 0))
    if enclosing:  # what is above the loop runs after it as well
        inside = {id(node) for node in ast.walk(loop)}
        after |= loaded(
            each for each in ast.walk(enclosing[0]) if isinstance(each, ast.Name) and id(each) not in inside
        )
    if ((assigns(loop.body) | targets) - set(carry)) & after:
        return None
    if not all(is_used_as_array(each, loop, function) for each in collected):
        return None
    begins = {each.name: _begin(each.name, loop, statements) for each in collected}
    counter = counter_of(loop)
    if None in begins.values() or (is_range(loop.iter) and counter is None) or not _is_of_arrays(loop):
        return None
    begun = tuple(name for name, elements in begins.items() if elements)
    widened = widened_by(loop, carry, function)
    if widened and not (collected == [] and stay_after_one(loop, widened)):
        return None
    return _Parts(loop, carry, collected, counter, begun, bool(widened))


def _begin(name: str, loop: ast.For, statements: Sequence[ast.stmt]) -> list[ast.expr] | None:
    """Return the elements of a list before a loop, if one statement makes it and nothing else touches it."""
    before = [each for each in statements if each.lineno < loop.lineno and name in reads(each) | assigns([each])]
    match before:
        case [ast.Assign(targets=[ast.Name()], value=ast.List(elts=elements))]:
            return None if any(isinstance(each, ast.Starred | ast.Constant) for each in elements) else elements
    return None


def _is_plain(statement: ast.stmt) -> bool:
    """Return whether a statement only assigns names, defines a function, or appends to a list."""
    stops = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Nonlocal, ast.Global)
    if any(isinstance(each, stops) for each in ast.walk(statement)):
        return False
    match statement:
        case ast.AugAssign(target=target):
            return isinstance(target, ast.Name)
        case ast.Assign(targets=targets):
            return all(map(_is_names, targets))
        case ast.For(body=body, orelse=[], target=target):  # JAX unrolls it within the body
            return _is_names(target) and all(map(_is_plain, body))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="append"), args=[_], keywords=[])):
            return True
        case ast.FunctionDef():
            return True
    return False


def _is_names(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(_is_names, target.elts)))


def _is_of_arrays(loop: ast.For) -> bool:
    """Return whether a loop counts, or is over variables of which its body only computes with the elements."""
    source = loop.iter
    if is_range(source):
        return True
    if isinstance(source, ast.Call):
        zipped = last_name(source.func) == "zip" and isinstance(source.func, ast.Name)
        if not makes_array(source) and not zipped:
            return False
        if zipped and (source.keywords or not all(isinstance(each, ast.Name) for each in source.args)):
            return False
    elif not isinstance(source, ast.Name):
        return False
    targets = assigns([loop.target])
    for statement in loop.body:
        for node in ast.walk(statement):
            match node:
                case ast.Call(func=ast.Name(id=name)) | ast.Attribute(value=ast.Name(id=name)) if name in targets:
                    return False
                case ast.Subscript(slice=index) if reads(index) & targets:  # keys of a dictionary
                    return False
                case ast.IfExp(test=test) if reads(test) & targets:
                    return False
                case ast.JoinedStr() if reads(node) & targets:
                    return False
    return _is_names(loop.target)


def _over_arrays(parts: _Parts, counter: Counter, *, arrays: bool) -> str | None:
    """Scan over arrays themselves where the loop uses its counter only to index them."""
    names = {each: f"{each.replace('.', '_')}_{counter.name}" for each in counter.indexed}
    used = loaded(parts.loop.body) | stored(parts.loop.body)
    if used & set(names.values()):
        return None
    sources = [taken(parts.loop, each, counter.name, arrays=arrays) for each in names]
    sources = sources if arrays else [*map(stacked, sources)]
    target: ast.expr = ast.parse(_together(list(names.values()))[0], mode="eval").body
    replaced = NamedItems(counter.name, names)
    body = [replaced.visit(ast.parse(ast.unparse(each)).body[0]) for each in parts.loop.body]
    collected = [Appended(each.name, each.place, body[each.place].value.args[0]) for each in parts.collected]
    loop = ast.For(target=target, iter=parts.loop.iter, body=body, orelse=[])
    return _scan(parts._replace(loop=loop, collected=collected), _together(sources)[0])


def _counted(loop: ast.For, counter: str) -> tuple[str, str]:
    """Return the first number of a range, and the number after a counter."""
    assert isinstance(loop.iter, ast.Call)
    numbers = loop.iter.args
    step = numbers[2] if len(numbers) > 2 else ast.Constant(1)
    following = ast.BinOp(ast.Name(counter, ast.Load()), ast.Add(), step)
    return ast.unparse(numbers[0]) if len(numbers) > 1 else "0", ast.unparse(following)


def _times(loop: ast.For) -> str:
    assert isinstance(loop.iter, ast.Call)
    return ast.unparse(loop.iter.args[0]) if len(loop.iter.args) == 1 else f"len({ast.unparse(loop.iter)})"


def _fori_loop(parts: _Parts, counter: str) -> str | None:
    loop, carry = parts.loop, parts.carry
    assert isinstance(loop.iter, ast.Call)
    bounds = [ast.unparse(each) for each in loop.iter.args]
    if len(bounds) == 1:
        bounds.insert(0, "0")
    if len(bounds) > 2:
        if counter != "_":
            return None
        bounds = ["0", f"len({ast.unparse(loop.iter)})"]
    (names, unpack) = _together(carry)
    statement = loop.body[0]
    first = ""
    if parts.widened:
        if not all(each.isdecimal() for each in bounds) or int(bounds[0]) >= int(bounds[1]):
            return None
        first = f"{unpack} = body({bounds[0]}, {names})"
        bounds[0] = str(int(bounds[0]) + 1)
    if not first and len(loop.body) == 1 and len(carry) == 1 and isinstance(statement, ast.Assign):
        step = f"lambda {counter}, {names}: {ast.unparse(statement.value)}"
        if isinstance(statement.targets[0], ast.Name):
            return f"{names} = jax.lax.fori_loop({', '.join(bounds)}, {step}, {names})"
    head = [f"def body({counter}, carry):", f"    {unpack} = carry"]
    if len(carry) == 1:
        head = [f"def body({counter}, {names}):"]
    call = f"{unpack} = jax.lax.fori_loop({', '.join(bounds)}, body, {names})"
    calls = [first, call] if first else [call]
    return "\n".join([*head, *_indented(loop.body), f"    return {unpack}", "", *calls])


def _scan(parts: _Parts, items: str = "", counter: str = "") -> str:
    """Write a scan over some items, or else one that counts.

    It counts as Python does, with a weakly typed number: one of ``jnp.arange`` would make int32 of an int8.
    """
    loop, collected, counts = parts.loop, parts.collected, [counter] if counter else []
    (names, unpack) = _together([*counts, *parts.carry])
    first = "carry" if "," in names else names
    item = "_" if not items else loop.target.id if isinstance(loop.target, ast.Name) else "item"
    head = [f"def body({first}, {item}):"]
    if first == "carry":
        head.append(f"    {unpack} = carry")
    if items and not isinstance(loop.target, ast.Name):
        head.append(f"    {ast.unparse(loop.target)} = item")
    body, returned = _with_outputs(loop.body, collected)
    begin, following = _counted(loop, counter) if counts else ("", "")
    begun, carried_on, ended = (
        _together([*([each] if counts else []), *parts.carry])[0] for each in (begin, following, "_")
    )
    outputs = [f"{each.name}_rest" if each.name in parts.begun else each.name for each in collected]
    results = _together(outputs)[0] if outputs else "_"
    over = items or f"length={_times(loop)}"
    call = f"{ended}, {results} = jax.lax.scan(body, {begun}, {over})"
    joined = [f"{name} = jnp.concatenate([jnp.stack({name}), {name}_rest])" for name in parts.begun]
    return "\n".join([*head, *_indented(body), f"    return {carried_on}, {returned}", "", call, *joined])


def _with_outputs(statements: Sequence[ast.stmt], collected: Sequence[Appended]) -> tuple[list[ast.stmt], str]:
    """Return a body without the lists, and what it returns for them."""
    body: list[ast.stmt] = []
    returned: list[str] = []
    appends = {each.place: each for each in collected}
    for place, statement in enumerate(statements):
        append = appends.get(place)
        if append is None:
            body.append(statement)
            continue
        if reads(append.value) & assigns(statements[place + 1 :]):
            name = f"{append.name}_item"
            body += ast.parse(f"{name} = {ast.unparse(append.value)}").body
            returned.append(name)
        else:
            returned.append(ast.unparse(append.value))
    return body, _together(returned)[0] if returned else "None"


def _indented(statements: Sequence[ast.stmt]) -> list[str]:
    return [f"    {line}" for each in statements for line in ast.unparse(each).splitlines()]


def _together(names: list[str]) -> tuple[str, str]:
    return (names[0], names[0]) if len(names) == 1 else (f"({', '.join(names)})", ", ".join(names))
