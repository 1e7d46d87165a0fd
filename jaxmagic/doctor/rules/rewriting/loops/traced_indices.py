"""Rewrites what a round of a loop indexes by numbers of Python, so that these numbers may be traced."""

from __future__ import annotations

import ast
import copy
from collections import Counter

from ...host.host_time import names_of_program
from ..syntax import loaded
from .loop_facts import assigns, makes_array
from .round_parts import Part, Place, programs_at

#: How JAX calls the operation of a slice with bounds that are numbers.
_SLICING = frozenset({"dynamic_slice", "slice"})

#: A comment above code with slices that begin anywhere.
WHOLE = "# dynamic_slice_in_dim shifts a slice that would reach beyond the end"


class TracedIndices(ast.NodeTransformer):
    """Puts a parameter in place of ``xs[i]``, and ``jax.lax.dynamic_slice_in_dim`` in place of ``x[i:i + n]``.

    A traced ``i`` can neither index a list, as ``xs`` may be, nor be the bound of a slice.

    Args:
        place: the loop, and what is known of its variables.

    Attributes:
        arguments: what is passed for these parameters.
        slices: how many slices were rewritten.
    """

    def __init__(self, place: Place) -> None:
        self.arguments: dict[str, str] = {}
        self.slices = 0
        self._place = place
        self._changed = assigns(place.loop.body)

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> ast.AST:
        """Leave a comprehension as it is: its variables are numbers of Python under jit as well."""
        return node

    visit_GeneratorExp = visit_ListComp

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Replace an index or a slice, if it has to be a number of Python."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index), ctx=ast.Load()):
                if index in self._place.numbers and name not in self._changed and not is_array(name, self._place):
                    parameter = f"{name}_{index}"
                    self.arguments[parameter] = ast.unparse(node)
                    return ast.Name(parameter, ast.Load())
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice(step=None) as bounds, ctx=ast.Load()):
                size = self._size(bounds)
                if size is not None and bounds.lower is not None and is_array(name, self._place, of_jax=True):
                    self.slices += 1
                    sliced = ast.parse("jax.lax.dynamic_slice_in_dim").body[0]
                    assert isinstance(sliced, ast.Expr)
                    given = [node.value, copy.deepcopy(bounds.lower), copy.deepcopy(size)]
                    return ast.copy_location(ast.Call(sliced.value, given, []), node)
        return self.generic_visit(node)

    def _size(self, bounds: ast.Slice) -> ast.expr | None:
        """Return how long a slice is in each round; ``None`` if it varies, or the slice does not."""
        varying = assigns([self._place.loop])
        if bounds.lower is None or bounds.upper is None:
            return None
        begins = loaded([bounds.lower])
        size = slice_size(bounds.lower, bounds.upper)
        moves = begins & varying and begins & varying <= self._place.numbers
        return size if size is not None and moves and not loaded([size]) & varying else None


def slice_size(lower: ast.expr, upper: ast.expr) -> ast.expr | None:
    """Return how long a slice is, by the syntax of its bounds; ``None`` if that does not tell.

    >>> sizes = [("i", "i + n"), ("i * n", "(i + 1) * n"), ("i", "j")]
    >>> sizes = [slice_size(*(ast.parse(each, mode="eval").body for each in pair)) for pair in sizes]
    >>> [each and ast.unparse(each) for each in sizes]
    ['n', 'n', None]
    """
    match lower, upper:
        case _, ast.BinOp(op=ast.Add(), left=left, right=size) if _same(left, lower):
            return size
        case _, ast.BinOp(op=ast.Add(), left=size, right=right) if _same(right, lower):
            return size
        case (
            ast.BinOp(op=ast.Mult(), left=one, right=other),
            ast.BinOp(op=ast.Mult(), left=following, right=again),
        ):
            if _follows(following, one) and _same(other, again):
                return other
            if _follows(again, other) and _same(one, following):
                return one
    return None


def _follows(node: ast.expr, number: ast.expr) -> bool:
    """Return whether an expression is that number and one."""
    match node:
        case ast.BinOp(op=ast.Add(), left=left, right=ast.Constant(value=1)):
            return _same(left, number)
        case ast.BinOp(op=ast.Add(), left=ast.Constant(value=1), right=right):
            return _same(right, number)
    return False


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)


def is_array(name: str, place: Place, *, of_jax: bool = False) -> bool:
    """Return whether a variable is known to be an array, by the inputs of the code or by what is assigned to it."""
    made = [each.value for each in ast.walk(place.scope) if isinstance(each, ast.Assign) and name in assigns([each])]
    if made:
        return all(map(makes_array, made))
    kinds = ("jax array",) if of_jax else ("jax array", "numpy array")
    return any(each.path == name and each.kind in kinds for each in place.evidence.inputs)


def has_partial(slices: int, part: Part, place: Place) -> bool:
    """Return whether some of the slices in some statements had another size than the others, as the last one may."""
    programs = Counter(name for each in programs_at(part, place) for name in names_of_program(each) & _SLICING)
    return max(programs.values(), default=0) > slices
