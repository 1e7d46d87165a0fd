"""Rewrites what a round of a loop indexes by numbers of Python, so that these numbers may be traced."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Mapping, Sequence

from ...host.host_time import names_of_program
from ...host.syntax import Loop
from ..numbers.narrow import Number
from ..syntax import loaded
from .loop_facts import assigns, makes_array
from .round_parts import Part, Place, programs_at

#: How JAX calls the operation of a slice with bounds that are numbers.
_SLICING = frozenset({"dynamic_slice", "slice"})

#: What takes a slice that begins anywhere.
DYNAMIC_SLICE = "jax.lax.dynamic_slice_in_dim"

#: A comment above code with slices that begin anywhere.
WHOLE = "# dynamic_slice_in_dim shifts a slice that would reach beyond the end"


class TracedIndices(ast.NodeTransformer):
    """Puts a parameter in place of ``xs[i]``, and ``jax.lax.dynamic_slice_in_dim`` in place of ``x[i:i + n]``.

    A traced ``i`` can neither index a list, as ``xs`` may be, nor be the bound of a slice.

    Args:
        place: the loop, and what is known of its variables.
        values: the numbers around the loop, with their values as far as they are known.

    Attributes:
        arguments: what is passed for these parameters.
        slices: how many slices were rewritten.
    """

    def __init__(self, place: Place, values: Mapping[str, Number]) -> None:
        self.arguments: dict[str, str] = {}
        self.slices = 0
        self._place, self._values = place, values
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
                    sliced = ast.parse(DYNAMIC_SLICE).body[0]
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
        if size is None or not moves or loaded([size]) & varying:
            return None
        return size if _begins_inside(bounds.lower, self._place.loop, self._values) else None


def slice_size(lower: ast.expr, upper: ast.expr) -> ast.expr | None:
    """Return how long a slice is, by the syntax of its bounds; ``None`` if that does not tell.

    >>> sizes = [("i", "i + n"), ("i * n", "(i + 1) * n"), ("i", "j"), ("i - n + 1", "i + 1"), ("i - 1", "i + 2")]
    >>> sizes = [slice_size(*(ast.parse(each, mode="eval").body for each in pair)) for pair in sizes]
    >>> [each and ast.unparse(each) for each in sizes]
    ['n', 'n', None, 'n', '3']
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
    terms = _terms(upper)
    terms.subtract(_terms(lower))
    number = terms.pop("", 0)
    texts = [text for text, count in terms.items() for _ in range(abs(count))]
    if len(texts) > 1 or (texts and (number or not +terms)) or (not texts and number <= 0):
        return None
    return ast.parse(f"({texts[0] if texts else number})", mode="eval").body


def _terms(node: ast.expr) -> Counter[str]:
    """Return how often each term is in a sum, as ``{"i": 1, "n": -1, "": 1}`` for ``i - n + 1``."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
            terms, others = _terms(left), _terms(right)
            (terms.update if isinstance(sign, ast.Add) else terms.subtract)(others)
            return terms
        case ast.Constant(value=int() as number):
            return Counter({"": number})
    return Counter({ast.unparse(node): 1})


def _begins_inside(lower: ast.expr, loop: Loop, values: Mapping[str, Number]) -> bool:
    """Return whether a slice begins at the first element or after it: before it, Python counts from the end.

    A bound that subtracts nothing does, as far as loops usually count.
    """
    if not any(isinstance(each, ast.Sub | ast.USub) for each in ast.walk(lower)):
        return True
    match loop:
        case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=ast.Name(id="range"), args=[*bounds])):
            begin = bounds[0] if len(bounds) == 2 else ast.Constant(0)
        case _:
            return False
    terms = _terms(lower)
    if len(bounds) > 2 or terms[counter] != 1:
        return False
    del terms[counter]
    terms.update(_terms(begin))
    number = 0
    for text, count in terms.items():
        known = values.get(text)
        if not text or not count:
            number += count
        elif known is not None and known.whole and len(known.pairs) == 1:
            number += count * known.pairs[0][0]
        else:
            return False
    return number >= 0


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


def has_partial(rewritten: Sequence[ast.stmt], part: Part, place: Place) -> bool:
    """Return whether a slice in some statements had another size in some rounds, as the last one may.

    Args:
        rewritten: the statements of the part that compute, with what replaces the slices, and perhaps others.
        part: the part, as it is.
        place: the loop.
    """
    for statement, new in zip(part.computed, rewritten, strict=False):
        slices = ast.unparse(new).count(DYNAMIC_SLICE)
        programs = programs_at(Part([statement], []), place) if slices else []
        names = Counter(name for each in programs for name in names_of_program(each) & _SLICING)
        if max(names.values(), default=0) > slices:
            return True
    return False
