"""Tells which arguments have to be arrays where a jitted function runs without jit.

A traced function gets an array of JAX in place of a Python number, of which it may use methods and attributes. What
else it does with a number it does without jit, too, and ``int(0.29 * n)`` is another number for an array of 32 bits.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from .....runtime.around import attribute, enclosed, is_a, is_exactly, of_type
from .....runtime.tracing import is_array
from ...remedies.user_functions import is_users_function
from ..calls import MISSING, is_jitted, value_of
from ..statement import Place
from .call_values import Variables
from .number_sources import NO_ARGUMENTS, Given, Sources, computed, either, given_by, parameters_of
from .static_options import definition_of

#: Attributes of an array that are known during tracing.
_SIZES = "shape", "ndim", "size", "dtype"

#: Functions of Python that return the same type whether they get a number or an array.
_SAME = "int", "float", "complex", "bool", "str", "repr", "format", "len", "range", "print", "id"

#: Functions of Python that see a difference between a number and an array.
_TYPES = "isinstance", "type", "hasattr", "getattr", "callable"

#: Functions of Python that compute.
_COMPUTING = "abs", "divmod", "max", "min", "pow", "round", "sum"

#: Methods that put something in a container.
_PUTTING = "append", "extend", "insert", "add", "update", "setdefault"

#: Functions that the user wrote are read through at most this many calls.
_DEEPEST = 3


def used_as_arrays(function: FunctionType, home: ast.FunctionDef, given: Given, place: Place) -> frozenset[str]:
    """Return the arguments that a function, or one that it calls, may use in a way that only arrays allow."""
    return _read(function, home, given, place, _DEEPEST)[0]


def _read(
    function: FunctionType, home: ast.FunctionDef, given: Given, place: Place, depth: int
) -> tuple[frozenset[str], Sources]:
    reader = _Reader(function, home, given, place, depth)
    before: dict[str, Sources] | None = None
    while before != reader.variables:  # a loop may use what is assigned further down
        before = dict(reader.variables)
        for each in home.body:
            reader.read(each)
    return frozenset(reader.needed), reader.returned


class _Reader:
    """Reads the statements of a function. A variable that nothing has been assigned to yet counts as an array."""

    def __init__(self, function: FunctionType, home: ast.FunctionDef, given: Given, place: Place, depth: int) -> None:
        self.names = Variables(enclosed(function), function.__globals__)
        self.variables: dict[str, Sources] = {each.arg: NO_ARGUMENTS for each in parameters_of(home.args)}
        self.variables |= given.sources
        self.given, self.place, self.depth = given, place, depth
        self.own = {name for each in (home.args, *home.body) for name in _bound(each)}
        self.inner: dict[str, ast.arguments] = {}
        self.needed: set[str] = set()
        self.returned: Sources = None

    def need(self, values: Iterable[Sources]) -> None:
        self.needed.update(*(each for each in values if each is not None))

    def read(self, node: ast.AST) -> None:
        """Read a statement."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for each in targets:
                    self.store(each, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.store(target, value)
            case ast.AugAssign(target=target, value=value):
                self.put(target, computed([self.value(target), self.value(value)]))
            case ast.For(target=target, iter=iterated):
                self.put(target, self.value(iterated))
                for inner in (*node.body, *node.orelse):
                    self.read(inner)
            case ast.Return(value=ast.expr() as value):
                self.returned = either([self.returned, self.value(value)])
            case ast.FunctionDef(name=name, args=args, body=body):
                self.inner[name] = args
                self.define(args)
                outer, self.returned = self.returned, self.variables.get(f"{name}()")
                for inner in body:
                    self.read(inner)
                self.variables[f"{name}()"], self.returned = self.returned, outer
            case ast.expr():
                self.value(node)
            case _:
                for child in ast.iter_child_nodes(node):
                    self.read(child)

    def define(self, args: ast.arguments) -> None:
        """Read the parameters of an inner function, which are arrays where JAX calls it."""
        for default in (*args.defaults, *filter(None, args.kw_defaults)):
            self.value(default)

    def store(self, target: ast.expr, value: ast.expr) -> None:
        """Read an assignment."""
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                for each in zip(targets, values, strict=True):
                    self.store(*each)
            case _:
                self.put(target, self.value(value))

    def put(self, target: ast.expr, value: Sources) -> None:
        match target:
            case ast.Name(id=name):
                self.variables[name] = either([self.variables.get(name), value])
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for each in parts:
                    self.put(each, value)
            case ast.Starred(value=inner) | ast.Subscript(value=inner):
                self.put(inner, value)
            case _:
                self.value(target)

    def value(self, node: ast.AST) -> Sources:
        """Read an expression, and return what its value may be."""
        match node:
            case ast.Name(id=name) if name in self.own:
                return self.variables.get(name)
            case ast.Name() | ast.Constant():
                return None if is_array(value_of(node, self.names)) else NO_ARGUMENTS
            case ast.Attribute(value=inner, attr=attr):
                owner = self.value(inner)
                self.need([owner])
                if owner is None:
                    return NO_ARGUMENTS if attr in _SIZES else None
                return None if owner or is_array(self.known(node)) else NO_ARGUMENTS
            case ast.Subscript(value=inner, slice=index):
                owner = self.value(inner)
                self.value(index)
                self.need([None if owner is None else owner & self.given.numbers])
                return owner
            case ast.BinOp(left=left, right=right):
                return computed([self.value(left), self.value(right)])
            case ast.UnaryOp(op=op, operand=operand):
                found = self.value(operand)
                self.need([found] if isinstance(op, ast.Invert) else [])  # ~True is -2, and ~ of an array negates it
                return NO_ARGUMENTS if isinstance(op, ast.Not) else found
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [self.value(each) for each in (left, *others)]
                same = any(isinstance(each, ast.Is | ast.IsNot | ast.In | ast.NotIn) for each in ops)
                return NO_ARGUMENTS if same else computed(sides)
            case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return either([*map(self.value, parts), *([] if parts else [NO_ARGUMENTS])])
            case ast.IfExp(test=test, body=body, orelse=other):
                self.value(test)
                return either([self.value(body), self.value(other)])
            case ast.NamedExpr(target=target, value=inner):
                self.store(target, inner)
                return self.value(inner)
            case ast.Starred(value=inner) | ast.keyword(value=inner):
                return self.value(inner)
            case ast.Lambda(args=args, body=body):
                self.define(args)
                self.value(body)
                return NO_ARGUMENTS
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for loop in node.generators:
                    self.put(loop.target, self.value(loop.iter))
                    for test in loop.ifs:
                        self.value(test)
                return self.value(node.value if isinstance(node, ast.DictComp) else node.elt)
            case ast.Call():
                return self.called(node)
        inside = [self.value(each) for each in ast.iter_child_nodes(node)]
        return either([NO_ARGUMENTS, *inside]) if isinstance(node, ast.Dict) else NO_ARGUMENTS

    def known(self, node: ast.expr) -> Any:
        """Return the value of a name, or of an attribute of one, that is no variable of the function."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        return MISSING if not isinstance(root, ast.Name) or root.id in self.own else value_of(node, self.names)

    def called(self, node: ast.Call) -> Sources:
        """Read a call, and return what its result may be."""
        args = [self.value(each) for each in (*node.args, *node.keywords)]
        target, name = self.known(node.func), ast.unparse(node.func)
        package = _package(target)
        if is_jitted(target) or (package == "jax" and ".tree" not in name and not name.endswith("device_get")):
            return None
        if target is MISSING and isinstance(node.func, ast.Name) and node.func.id not in self.own:
            return self.of_python(node.func.id, node, args)
        if is_users_function(target):
            return self.inside(target, node, args)
        if package in ("numpy", "math"):
            return NO_ARGUMENTS
        if is_exactly(target, FunctionType) and not self.passes_function(node):
            return either(args)
        if target is MISSING and not isinstance(node.func, ast.Name):
            return self.of_method(node.func, args)
        if name in self.inner and (given := given_by(self.inner[name], node, args)) is not None:
            self.variables |= {key: either([self.variables.get(key), each]) for key, each in given.items()}
            return self.variables.get(f"{name}()")
        made = name in self.own - self.inner.keys() and self.value(node.func) is None  # by jax.grad(f), for example
        return None if made else self.unknown(args)

    def unknown(self, args: Sequence[Sources]) -> Sources:
        """Return what an unknown function returns: it may need arrays."""
        self.need(args)
        return NO_ARGUMENTS

    def passes_function(self, node: ast.Call) -> bool:
        """Return whether a call passes a function on, which may get any of the other arguments."""
        given = [*node.args, *(each.value for each in node.keywords)]
        inner = any(isinstance(each, ast.Name) and each.id in self.inner for each in given)
        return inner or any(isinstance(each, ast.Lambda) or is_users_function(self.known(each)) for each in given)

    def of_python(self, name: str, node: ast.Call, args: Sequence[Sources]) -> Sources:
        """Return what a function of Python returns."""
        if name in _SAME:
            return NO_ARGUMENTS
        if name in _TYPES or not hasattr(builtins, name) or self.passes_function(node):
            return self.unknown(args)
        return computed(args) if name in _COMPUTING else either(args)

    def of_method(self, function: ast.expr, args: Sequence[Sources]) -> Sources:
        """Return what a method, or what another call has returned, returns."""
        owner = self.value(function.value) if isinstance(function, ast.Attribute) else self.value(function)
        method = function.attr if isinstance(function, ast.Attribute) else ""
        if owner is None:
            return NO_ARGUMENTS if method in ("item", "tolist") else None
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and method in _PUTTING:
            self.put(function.value, either(args))
            return NO_ARGUMENTS
        self.need([owner, *args])
        return None if owner else NO_ARGUMENTS

    def inside(self, function: FunctionType, node: ast.Call, args: Sequence[Sources]) -> Sources:
        """Return what a function of the user returns, which is read as well."""
        home = definition_of(function, self.place) if self.depth else None
        sources = None if home is None or self.passes_function(node) else given_by(home.args, node, args)
        if home is None or sources is None:
            return self.unknown(args)
        given = Given(sources, self.given.numbers)
        needed, returned = _read(function, home, given, self.place, self.depth - 1)
        self.needed |= needed
        return returned


def _bound(part: ast.AST) -> Iterator[str]:
    """Yield the variables to which a part of a function, or a function inside of it, assigns."""
    for each in ast.walk(part):
        match each:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                yield name


def _package(function: Any) -> str:
    """Return the package of a function; empty if it is unknown."""
    if function is MISSING or is_a(function, ModuleType):
        return ""
    plain = is_exactly(function, FunctionType, BuiltinFunctionType)
    module = function.__module__ if plain else attribute(function, "__module__")
    return str(module if is_exactly(module, str) else of_type("__module__", type(function))).partition(".")[0]
