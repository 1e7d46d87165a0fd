"""Reads what a loop of Python carries from iteration to iteration, what it collects, and what it indexes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Literal, NamedTuple

from ..syntax import Loop, last_name, parameters

#: Operators with which a counter that is traced gives what a number of Python would, but for its type.
_EXACT = ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.FloorDiv

#: Functions of JAX that take a traced counter.
_TAKE_COUNTERS = frozenset({"cos", "exp", "fold_in", "log", "maximum", "minimum", "sin", "sqrt", "tanh", "where"})


class Appended(NamedTuple):
    """A value that each iteration appends to a list.

    Attributes:
        name: the list.
        place: the number of the statement in the body.
        value: the value.
    """

    name: str
    place: int
    value: ast.expr


def trip_count(loop: Loop) -> int | None:
    """Return how often a loop runs, if its syntax tells.

    >>> trip_count(ast.parse("for i in range(2, 10): x = f(x)").body[0])
    8
    """
    source = iterated(loop)
    if isinstance(source, (ast.Tuple, ast.List)) and not any(isinstance(each, ast.Starred) for each in source.elts):
        return len(source.elts)
    if source is None or not is_range(source) or not isinstance(source, ast.Call):
        return None
    try:
        return len(range(*(ast.literal_eval(each) for each in source.args)))
    except (ValueError, TypeError):
        return None


def iterated(loop: Loop) -> ast.expr | None:
    """Return what a loop iterates over; ``None`` for ``while``."""
    if isinstance(loop, ast.While):
        return None
    return loop.iter if isinstance(loop, ast.For) else loop.generators[0].iter


def is_range(node: ast.expr | None) -> bool:
    """Return whether an expression is a call of ``range``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def makes_array(node: ast.expr) -> bool:
    """Return whether an expression is a call that returns an array, such as ``jnp.linspace(0, 1, 9)``, or keys."""
    if not isinstance(node, ast.Call):
        return False
    root = ast.unparse(node.func).split(".")[0]
    return root == "jnp" or (root in ("jax", "random", "jr") and last_name(node.func) == "split")


def is_sequential(loop: Loop) -> bool:
    """Return whether a loop of JAX could replace a loop: it counts, or each round needs the result of the one before.

    A loop that does the same to each of some arrays, such as the leaves of a pytree or rows, is neither.
    """
    if is_range(iterated(loop)) or isinstance(loop, ast.While):
        return True
    return isinstance(loop, ast.For) and bool(carried(loop))


def reads(node: ast.AST) -> set[str]:
    """Return the names that some code reads from outside, at once or in a function that it defines.

    >>> sorted(reads(ast.parse("f = lambda y: jnp.sin(y) * i")))
    ['i', 'jnp']
    """
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return {name}
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return {name} | reads(value)
        case ast.Lambda():
            return _all_reads([node.body]) - parameters(node) | reads(node.args)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            inner = _all_reads(node.body) - parameters(node) - assigns(node.body)
            return inner | reads(node.args) | _all_reads(node.decorator_list)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return _all_reads(ast.iter_child_nodes(node)) - assigns([each.target for each in node.generators])
        case ast.For(orelse=[]):
            return reads(node.iter) | _read_before(node)
    return _all_reads(ast.iter_child_nodes(node))


def _all_reads(nodes: Iterable[ast.AST]) -> set[str]:
    return {name for each in nodes for name in reads(each)}


def assigns(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that some code assigns, but not those of functions inside it."""
    return set(_assigned(nodes))


def _assigned(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the assigned names in the order of the source."""
    found: list[str] = []
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.append(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.append(name)
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                pass
            case _:
                found += _assigned(ast.iter_child_nodes(node))
    return found


def carried(loop: ast.For) -> list[str]:
    r"""Return the names that each round reads before it assigns them, in the order of assignment.

    >>> carried(ast.parse("for w in ws:\n    h = x @ w\n    x = tanh(h)").body[0])
    ['x']
    """
    before = _read_before(loop)
    return [name for name in dict.fromkeys(_assigned(loop.body)) if name in before]


def _read_before(loop: ast.For) -> set[str]:
    """Return the names that a round reads before it assigns them."""
    assigned = assigns([loop.target])
    before: set[str] = set()
    for statement in loop.body:
        before |= reads(statement) - assigned
        assigned |= assigns([statement])
    return before


def appended(loop: Loop) -> list[Appended] | None:
    """Return what each iteration appends to lists; ``None`` if that is not one value for each list, or it is read.

    >>> [each.name for each in appended(ast.parse("for x in xs: out.append(x)").body[0])]
    ['out']
    """
    if not isinstance(loop, ast.For):
        return []
    found = [
        Appended(name, place, node.value.args[0])
        for place, node in enumerate(loop.body)
        if (name := _appends(node)) is not None and isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ]
    everywhere = [node for statement in loop.body for node in ast.walk(statement) if _appends(node) is not None]
    names = {each.name for each in found}
    uses = [node for statement in loop.body for node in ast.walk(statement) if isinstance(node, ast.Name)]
    if not len(everywhere) == len(found) == len(names) or sum(node.id in names for node in uses) != len(found):
        return None
    return found


def lists_appended(loop: Loop) -> list[str]:
    """Return the lists to which a loop appends."""
    names = (_appends(node) for each in getattr(loop, "body", ()) for node in ast.walk(each))
    return list(dict.fromkeys(name for name in names if name is not None))


def each_appends(loop: Loop) -> list[str]:
    r"""Return the lists to which each iteration of a loop appends one value.

    >>> each_appends(ast.parse("for x in xs:\n    ys.append(x)\n    if x > 0: zs.append(x)").body[0])
    ['ys']
    """
    direct = [_appends(each) for each in getattr(loop, "body", ())]
    everywhere = [_appends(node) for each in getattr(loop, "body", ()) for node in ast.walk(each)]
    return [each for each in lists_appended(loop) if direct.count(each) == everywhere.count(each) == 1]


def _appends(node: ast.AST) -> str | None:
    """Return the list to which a statement appends one value."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[_])):
            return name
    return None


class Counter(NamedTuple):
    """How the body of a loop uses the counter of ``range``.

    Attributes:
        name: the counter; empty if the body does not use it.
        indexed: what it does nothing but index, in the order of appearance; empty if it is used otherwise as well.
        uses: how often.
        traceable: whether each use works with a counter that is traced, if what it indexes is an array.
        indexes: whether it indexes anything that is not updated with ``.at``.
    """

    name: str
    indexed: tuple[str, ...]
    uses: int
    traceable: bool
    indexes: bool


def counter_of(loop: ast.For) -> Counter | None:
    """Return how the counter of a loop over ``range`` is used; ``None`` if it has none, or several."""
    if not isinstance(loop.target, ast.Name) or not is_range(loop.iter):
        return None
    name = loop.target.id
    parents = {
        id(child): node for each in loop.body for node in ast.walk(each) for child in ast.iter_child_nodes(node)
    }
    uses = [node for each in loop.body for node in ast.walk(each) if isinstance(node, ast.Name) and node.id == name]
    if any(not isinstance(each.ctx, ast.Load) for each in uses):
        return None if any(isinstance(each.ctx, ast.Load) for each in uses) else Counter("", (), 0, True, False)
    changed = assigns(loop.body)
    plain = [_indexed_by(each, parents, changed) for each in uses]
    carry = set(carried(loop))
    ways = [_use(each, parents, carry) for each in uses]
    return Counter(
        name if uses else "",
        tuple(dict.fromkeys(each for each in plain if each)) if all(plain) else (),
        len(uses),
        None not in ways,
        "index" in ways,
    )


def _indexed_by(use: ast.Name, parents: dict[int, ast.AST], changed: set[str]) -> str | None:
    """Return the array or list of which a counter is the whole index, if the loop does not change it."""
    match parents.get(id(use)):
        case ast.Subscript(value=ast.Name() | ast.Attribute() as value, slice=index, ctx=ast.Load()) if index is use:
            text = ast.unparse(value)
            is_path = all(map(str.isidentifier, text.split(".")))
            return text if is_path and not reads(value) & changed and last_name(value) != "at" else None
    return None


def _use(use: ast.Name, parents: dict[int, ast.AST], carry: set[str]) -> Literal["index", "value"] | None:
    """Return how a counter is used; ``None`` if that needs a number of Python, as far as the syntax tells."""
    node: ast.AST = use
    parent = parents.get(id(node))
    while isinstance(parent, ast.UnaryOp | ast.BinOp):
        divides = isinstance(parent.op, ast.Div) and isinstance(parent, ast.BinOp) and parent.right is node
        if not isinstance(parent.op, (*_EXACT, ast.USub)) and not divides:
            return None
        node, parent = parent, parents.get(id(parent))
    match parent:
        case ast.Subscript(value=value, slice=index) if index is node:
            return "value" if isinstance(value, ast.Attribute) and value.attr == "at" else "index"
        case ast.Call(func=function, args=arguments) if node in arguments:
            owner = function.value if isinstance(function, ast.Attribute) else None
            of_jax = owner is not None and ast.unparse(owner).split(".")[0] in ("jax", "jnp", "lax", "random")
            return "value" if of_jax and last_name(function) in _TAKE_COUNTERS else None
        case ast.Assign() | ast.AugAssign():
            return "value" if reads(parent) & carry else None
        case ast.Tuple() if isinstance(parents.get(id(parent)), ast.Assign):
            return "value" if reads(node) & carry else None
        case ast.Lambda() | ast.Return():
            return "value" if node is not use else None
    return None
