"""Reads which arrays a loop fills with ``K = K.at[i].set(row)``, and whether its rounds need one another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....host.syntax import Loop
from ...syntax import loaded
from ..loop_facts import assigns, carried, is_range, reads

#: Methods of ``K.at[i]`` that change what is there, so that the order of different elements does not matter.
_CHANGING = frozenset({"add", "divide", "max", "min", "mul", "multiply", "power", "set", "subtract"})


class Fill(NamedTuple):
    """A statement such as ``K = K.at[i].set(row)``.

    Attributes:
        name: the array.
        where: what ``.at`` gets.
        method: how it changes the array.
        value: the value.
        statement: the whole statement.
    """

    name: str
    where: ast.expr
    method: str
    value: ast.expr
    statement: ast.stmt

    def axis(self, counter: str) -> int | None:
        """Return the axis that the counter moves along; ``None`` if rounds might write the same elements.

        It is one index of several, from which only the whole of other axes is taken, or one element of each.
        """
        parts = self.where.elts if isinstance(self.where, ast.Tuple) else [self.where]
        places = [place for place, each in enumerate(parts) if counter in loaded([each])]
        if len(places) != 1 or not _moves(parts[places[0]], counter):
            return None
        before, behind = parts[: places[0]], parts[places[0] + 1 :]
        if all(map(_is_whole, before)) and all(_is_whole(each) or _is_ellipsis(each) for each in behind):
            return len(before)
        others = [*before, *behind]
        return (
            0
            if all(isinstance(each, ast.Name | ast.Constant) and not _is_ellipsis(each) for each in others)
            else None
        )


class Filling(NamedTuple):
    """A loop that fills arrays.

    Attributes:
        loop: the loop.
        counter: the variable that counts its rounds.
        items: the variable of the items, and what they come from, if the loop goes over both; else empty.
        fills: the statements that fill arrays.
        independent: whether no round needs what an earlier one has computed.
    """

    loop: ast.For
    counter: str
    items: tuple[ast.expr, ast.expr] | tuple[()]
    fills: tuple[Fill, ...]
    independent: bool

    @property
    def names(self) -> list[str]:
        """The arrays."""
        return [each.name for each in self.fills]

    @property
    def indices(self) -> str:
        """The numbers that the counter takes, as an expression of JAX."""
        if self.items:
            return f"jnp.arange(len({ast.unparse(self.items[1])}))"
        assert isinstance(self.loop.iter, ast.Call)
        return f"jnp.arange({', '.join(map(ast.unparse, self.loop.iter.args))})"

    @property
    def body(self) -> list[ast.stmt]:
        """What a round does once the counter is known."""
        first = [ast.Assign([self.items[0]], _item(self.items[1], self.counter))] if self.items else []
        return [*map(ast.fix_missing_locations, first), *self.loop.body]


def filling(loops: Sequence[Loop]) -> Filling | None:
    r"""Return the innermost of some loops if it fills arrays; ``None`` if it does not.

    >>> found = filling([ast.parse("for i in range(9):\n    K = K.at[i].set(f(x[i]))").body[0]])
    >>> found.names, found.counter, found.independent
    (['K'], 'i', True)
    >>> filling([ast.parse("for i in range(9):\n    x = x.at[i + 1].set(f(x[i]))").body[0]]).independent
    False
    """
    loop = loops[-1] if loops else None
    if not isinstance(loop, ast.For) or loop.orelse:
        return None
    match loop:
        case ast.For(target=ast.Name(id=counter), iter=ast.Call(keywords=[]) as over) if is_range(over):
            items: tuple[ast.expr, ast.expr] | tuple[()] = ()
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=counter), ast.Name() as item]),
            iter=ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name() as over], keywords=[]),
        ):
            items = (item, over)
        case _:
            return None
    fills = tuple(_fills(loop, counter))
    names = {each.name for each in fills}
    if not fills or len(names) < len(fills) or counter in assigns(loop.body):
        return None
    read = [each for node in loop.body for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in names]
    again = sum(isinstance(each.ctx, ast.Load) for each in read) > len(fills) or len(read) > 2 * len(fills)
    needs = again or {*carried(loop)} != names or any(each.axis(counter) is None for each in fills)
    return Filling(loop, counter, items, fills, not needs)


def _fills(loop: ast.For, counter: str) -> Iterator[Fill]:
    """Yield the statements of a loop that fill an array where its counter tells."""
    for statement in loop.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(
                    func=ast.Attribute(
                        value=ast.Subscript(value=ast.Attribute(value=ast.Name(id=owner), attr="at"), slice=index),
                        attr=method,
                    ),
                    args=[value],
                    keywords=[],
                ),
            ) if owner == name and method in _CHANGING and counter in reads(index):
                yield Fill(name, index, method, value, statement)


def _item(over: ast.expr, counter: str) -> ast.expr:
    return ast.Subscript(over, ast.Name(counter, ast.Load()), ast.Load())


def _moves(node: ast.expr, counter: str) -> bool:
    """Return whether an index is another one in each round: the counter, with something added or subtracted."""
    uses = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == counter]
    inner = [each for each in ast.walk(node) if isinstance(each, ast.expr)]
    plain = all(isinstance(each, ast.Name | ast.Constant | ast.BinOp | ast.UnaryOp) for each in inner)
    adds = all(isinstance(each.op, ast.Add | ast.Sub) for each in inner if isinstance(each, ast.BinOp))
    return len(uses) == 1 and plain and adds


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is node.upper is node.step is None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def at_zero(fill: Fill, counter: str) -> str:
    """Return one of the parts of an array that rounds fill, whose shape is that of each of them.

    >>> found = filling([ast.parse("for i in range(9): K = K.at[:, i].set(y)").body[0]])
    >>> at_zero(found.fills[0], "i")
    'K[:, 0]'
    """
    parts = fill.where.elts if isinstance(fill.where, ast.Tuple) else [fill.where]
    zero = ast.Constant(0)
    index = [zero if counter in loaded([each]) else each for each in parts]
    whole = index[0] if len(index) == 1 else ast.Tuple(index, ast.Load())
    return ast.unparse(ast.Subscript(ast.Name(fill.name, ast.Load()), whole, ast.Load()))
