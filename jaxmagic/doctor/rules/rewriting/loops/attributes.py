"""Makes variables of the attributes in a loop: jit takes the arrays in them, but not the objects around these."""

from __future__ import annotations

import ast
import builtins
import copy
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from ....analysis.written_paths import is_within
from ....record.evidence import Input
from ...host.syntax import Function, Loop
from ..methods.own_class import is_tool
from ..numbers.python_numbers import is_number
from ..syntax import stored
from .round_parts import Place

#: The type of what ``jax.jit`` returns.
JITTED = "PjitFunction"

#: What an attribute is that can be a variable of a jitted function.
_DATA = "jax array", "numpy array", "number", "module of arrays", "other"


def with_variables(place: Place, taken: Collection[str]) -> Place:
    """Return a loop in which variables stand for attributes such as ``self.w`` and ``config.rate``.

    Only objects of which the loop uses nothing but such attributes count, or calls jitted functions in them: a method
    may read and change others.

    Args:
        place: the loop.
        taken: names that the variables cannot have.
    """
    names = dict[str, str]()
    for attribute in sorted(_usable(place)):
        name = _name(attribute, {*taken, *names.values(), *dir(builtins)})
        if name is None:
            return place
        names[attribute] = name
    if not names:
        return place
    scope, loop = _copied(place)
    loop = _Variables(names).visit(loop)
    kinds = {each.path: each.kind for each in place.evidence.inputs}
    numbers = {name for attribute, name in names.items() if kinds.get(attribute) == "number"}
    if not all(is_number(value, place.numbers | numbers) for value in _assigned_to(numbers, loop)):
        return place  # jit would make arrays of them
    inputs = tuple(replace(each, path=_renamed(each.path, names)) for each in place.evidence.inputs)
    return place._replace(
        loop=loop,
        scope=scope,
        numbers=place.numbers | numbers,
        evidence=replace(place.evidence, inputs=inputs),
        attributes={name: attribute for attribute, name in names.items()},
        static=frozenset(name for attribute, name in names.items() if attribute not in kinds),
    )


def with_attributes(code: str, names: Mapping[str, str]) -> str:
    """Return code with the attributes in place of their variables.

    >>> with_attributes("w, n = step(w, x)", {"w": "self.w"})
    'self.w, n = step(self.w, x)'
    """
    return ast.unparse(_Attributes(names).visit(ast.parse(code))) if names else code


def _usable(place: Place) -> set[str]:
    """Return the attributes for which variables can stand."""
    inputs: dict[str, Input] = {each.path: each for each in place.evidence.inputs}
    found = defaultdict[str, list[ast.Attribute]](list)
    for node in ast.walk(place.loop):
        if isinstance(node, ast.Attribute):
            each = inputs.get(ast.unparse(node))
            if each is not None and (each.kind in _DATA or (each.type == JITTED and place.own is None)):
                found[each.path].append(node)
            elif place.own is not None and is_tool(place.own, ast.unparse(node)):
                found[ast.unparse(node)].append(node)
    within = {id(name) for nodes in found.values() for node in nodes for name in ast.walk(node)}
    other = {each.id for each in ast.walk(place.loop) if isinstance(each, ast.Name) and id(each) not in within}
    jitted = {path for path in found if path in inputs and inputs[path].type == JITTED}
    other |= {_root(path) for path in jitted if not _is_read(found[path])}
    usable = {path: nodes for path, nodes in found.items() if path not in jitted}
    usable = {path: nodes for path, nodes in usable.items() if _is_of_object(_root(path), inputs)}
    other -= {place.own.owner} if place.own is not None else set()  # what its method may use is known
    usable = {path: nodes for path, nodes in usable.items() if _root(path) not in other | {*place.modules}}
    for path, nodes in usable.items():
        same = [each for each in usable if _last(each) == _last(path)]
        if len(same) > 1 and not _is_read(nodes):
            return set()  # two names may be those of one object
    return {*usable}


def _is_read(nodes: Iterable[ast.Attribute]) -> bool:
    return all(isinstance(each.ctx, ast.Load) for each in nodes)


def _is_of_object(root: str, inputs: Mapping[str, Input]) -> bool:
    return root.isidentifier() and root in inputs and inputs[root].kind == "object" and inputs[root].library is None


def _root(path: str) -> str:
    return path.partition(".")[0]


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _name(attribute: str, taken: Collection[str]) -> str | None:
    """Return a name for what an attribute holds: the attribute's own, or with the names before it."""
    names = _last(attribute), attribute.replace(".", "_")
    return next((each for each in names if each not in taken), None)


def _copied(place: Place) -> tuple[ast.AST, Loop]:
    """Copy a loop, with the function around it; a cell or file stays."""
    if not isinstance(place.scope, Function):
        return place.scope, copy.deepcopy(place.loop)
    at = [*ast.walk(place.scope)].index(place.loop)
    scope = copy.deepcopy(place.scope)
    loop = [*ast.walk(scope)][at]
    assert isinstance(loop, Loop)
    return scope, loop


def _assigned_to(names: Collection[str], loop: ast.AST) -> Iterator[ast.expr | None]:
    """Yield what is assigned to some variables; ``None`` where it is not written out."""
    for node in ast.walk(loop):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), value=value) if name in names:
                yield value
            case ast.Assign(targets=targets, value=value) if stored(targets) & {*names}:
                yield value if all(isinstance(each, ast.Name) for each in targets) else None
            case ast.For(target=target) | ast.NamedExpr(target=target) if stored([target]) & {*names}:
                yield None


def _renamed(path: str, names: Mapping[str, str]) -> str:
    """Return the path of something with the variable that stands for the attribute it is in."""
    for attribute, name in names.items():
        if is_within(path, attribute):
            return name + path[len(attribute) :]
    return path


class _Variables(ast.NodeTransformer):
    """Puts variables in place of attributes."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replace an attribute for which there is a variable."""
        name = self._names.get(ast.unparse(node))
        return self.generic_visit(node) if name is None else ast.copy_location(ast.Name(name, node.ctx), node)


class _Attributes(ast.NodeTransformer):
    """Puts attributes in place of variables."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replace a variable that stands for an attribute."""
        owner, _, last = self._names.get(node.id, "").rpartition(".")
        return ast.Attribute(ast.Name(owner, ast.Load()), last, node.ctx) if owner else node
