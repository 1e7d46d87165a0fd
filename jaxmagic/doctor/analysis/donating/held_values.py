"""Tells from which variables the value of an expression may come, and what else then holds it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from ..written_paths import called_name, root_of

#: Functions and methods whose result may be, or may hold, what they are given.
PASSES_ON = frozenset({"asarray", "device_put", "copy", "dict", "list", "tuple", "replace"})

#: Likewise, of Python.
_ITERATES = frozenset({"enumerate", "filter", "iter", "max", "min", "next", "reversed", "set", "sorted", "zip"})

#: Functions that keep nothing of their arguments.
KEEPS_NOTHING = frozenset({"print", "float", "int", "bool", "len", "str", "repr", "isinstance", "type"})

#: Methods of arrays that return something new, and attributes that tell about one.
REDUCES = frozenset(
    {"sum", "mean", "max", "min", "std", "var", "prod", "any", "all", "argmax", "argmin", "item", "tolist"}
)
ABOUT = frozenset({"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "sharding"})

#: Modules of functions that keep nothing; the result may be what they are given.
_MODULES = frozenset({"jax", "jnp", "lax", "np", "numpy"})

#: Methods that put their arguments into an object.
_PUTS = frozenset({"add", "append", "appendleft", "extend", "insert", "put", "setdefault", "update"})

#: What holds values without a name: for good, or at most until the code has ended.
FOR_GOOD, MEANWHILE = "<for good>", "<meanwhile>"


class HeldValues:
    """Reads expressions.

    Attributes:
        puts: what the expressions read since this was last cleared put where: a name, and the names of the values.
    """

    def __init__(self, functions: Collection[str], arrays: Collection[str] = ()) -> None:
        """Read code with functions that keep nothing and return something new, and variables that hold arrays."""
        self.puts: list[tuple[str, set[str]]] = []
        self._functions = {*functions, *KEEPS_NOTHING}
        self._arrays = {*arrays}
        self._own: dict[str, set[str]] = {}

    def of(self, node: ast.expr | None) -> set[str]:
        """Return the names that hold what an expression may stand for, or may have in it."""
        match node:
            case None | ast.Constant():
                return set()
            case ast.Name(id=name):
                return self._own.get(name, {name})
            case ast.Attribute(value=whole, attr=name):
                held = self.of(whole)
                return set() if name in ABOUT else held
            case ast.Subscript(value=whole, slice=index):
                self.of(index)
                held = self.of(whole)
                return held - self._arrays if _drops_an_axis(index) else held
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                return self.any_of(read_at_once(node))
            case ast.Compare() | ast.UnaryOp() | ast.JoinedStr() | ast.FormattedValue() | ast.Slice():
                self.any_of(ast.iter_child_nodes(node))
                return set()
            case ast.BinOp():
                held = self.any_of([node.left, node.right])
                return held if self.may_join([node.left, node.right], node.op, held) else set()
            case ast.NamedExpr(target=target, value=value):
                self.puts.append((target.id, held := self.of(value)))
                return held
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                self.puts.append((MEANWHILE, held := self.of(node.value)))
                return held
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._comprehension(node)
        return self.any_of(ast.iter_child_nodes(node))

    def any_of(self, nodes: Iterable[ast.AST]) -> set[str]:
        """Return the names for several expressions."""
        return {name for each in nodes if isinstance(each, ast.expr) for name in self.of(each)}

    def may_join(self, operands: list[ast.expr], operator: ast.operator, held: Collection[str]) -> bool:
        """Return whether an operation may put containers together: arrays and numbers give something new."""
        if any(isinstance(each, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.ListComp) for each in operands):
            return True
        if any(isinstance(each, ast.Constant) for each in operands):
            return False
        return isinstance(operator, ast.Add | ast.BitOr) and not self._arrays.issuperset(held)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> set[str]:
        outer = dict(self._own)
        for each in node.generators:
            held = self.of(each.iter)
            self._own |= {one.id: held for one in ast.walk(each.target) if isinstance(one, ast.Name)}
            self.any_of(each.ifs)
        held = self.any_of([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self._own = outer
        return held

    def _call(self, node: ast.Call) -> set[str]:
        """Return the names from which the result of a call may come, and note where it puts its arguments."""
        name, called = called_name(node) or "", node.func
        given = self.any_of([*node.args, *(each.value for each in node.keywords)])
        owner = self.of(called.value) if isinstance(called, ast.Attribute) else set()
        method = called.attr if isinstance(called, ast.Attribute) else ""
        outer = called_name(called) if isinstance(called, ast.Call) else name
        if name in self._functions or _sets_elements(called):
            return set()
        if root_of(outer or "") in _MODULES:  # also jax.grad(loss)(params)
            if any(map(_may_put, node.args)):
                self.puts.append((FOR_GOOD, given))
            return set() if method in REDUCES else given
        if method in PASSES_ON or method == "block_until_ready":
            return given or (owner - self._arrays if method == "copy" else owner)
        if method in REDUCES:
            return set()
        if method in _PUTS:
            self.puts += [(each, given) for each in owner]
            return owner | given
        if name in PASSES_ON or name in _ITERATES:
            return given
        self.puts.append((MEANWHILE, given))
        return owner


def read_at_once(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a definition reads at once: decorators, bases and default values."""
    if isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        yield from (*node.args.defaults, *filter(None, node.args.kw_defaults))
        yield from getattr(node, "decorator_list", ())


def _drops_an_axis(index: ast.expr) -> bool:
    """Return whether an index selects one element of an axis: JAX then returns another array."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(each, ast.Constant) and type(each.value) is int for each in parts)


def _sets_elements(called: ast.expr) -> bool:
    """Return whether a call is that of ``x.at[i].set``, or of another method of this kind."""
    match called:
        case ast.Attribute(value=ast.Subscript(value=ast.Attribute(attr="at"))):
            return True
    return False


def _may_put(argument: ast.expr) -> bool:
    """Return whether an argument is a function that may keep what it is called with."""
    return any(isinstance(each, ast.Attribute) and each.attr in _PUTS for each in ast.walk(argument))
