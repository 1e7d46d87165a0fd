"""Finds arguments that functions of the user's replace by results of a jitted function, wherever they call it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from ...analysis.donating.rebinding import ReplacedArguments, held_elsewhere, only_read, replaced_arguments
from ...analysis.written_paths import root_of
from .syntax import is_jit, loaded, parameters, stored

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Site(NamedTuple):
    """A call whose arguments are replaced.

    Attributes:
        function: the innermost function that it is in; ``None`` at the top level.
        call: the call, with its arguments that nothing uses afterwards.
        given: those of them that are, or are in, parameters of this function that its callers no longer use, either.
    """

    function: _Function | None
    call: ReplacedArguments
    given: frozenset[str] = frozenset()


def replacing_sites(
    tree: ast.Module, name: str, jitted: Collection[str], observed: tuple[_Function, int] | None = None
) -> list[Site]:
    r"""Return all calls of a jitted function; none if one of them may leave its arguments to other code.

    An argument counts as replaced if the statement with the call assigns it, nothing else in the function keeps it,
    and it is one of these: a variable that the function itself gave a new value; an attribute to which the code
    assigns only new values, and which nobody reads for longer; or a parameter, if all calls of the function are at
    the top level and replace what they pass for it.

    Args:
        tree: all code that is known.
        name: the function's name, such as ``"step"`` or ``"self.step"``.
        jitted: the names of functions that keep nothing of their arguments.
        observed: a function, and the line of a call in it at which it is known what holds the arguments. Then it does
            not matter what the function, and what makes its object, did with them before.

    >>> def positions(code):
    ...     return [each.call.positions for each in replacing_sites(ast.parse(code), "f", {"f"})]
    >>> positions("def train():\n    p = init()\n    for x in data: p = f(p, x)\n    return p")
    [{0: 'p'}]
    >>> positions("def train(p):\n    for x in data: p = f(p, x)\n    return p\nq = train(p)")
    [{}]
    """
    found = [site for function in _functions(tree) for site in _sites_in(function, tree, name, jitted, observed)]
    found += [Site(None, each) for each in _at_top(tree, name, jitted)]
    return found if len(found) == _uses(tree, name) else []


def _functions(tree: ast.Module) -> Iterator[_Function]:
    return (each for each in ast.walk(tree) if isinstance(each, _Function))


def _uses(tree: ast.Module, name: str) -> int:
    """Return how often a function is named, also as an attribute of a module, but for where it is jitted."""
    owner, _, last = name.rpartition(".")
    jits = (each for each in ast.walk(tree) if isinstance(each, ast.Call) and is_jit(each.func))
    made = {id(given) for each in jits for given in each.args}
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for each in ast.walk(tree)
        if isinstance(each, ast.Import | ast.ImportFrom)
        for alias in each.names
    }
    found = [each for each in ast.walk(tree) if _is_load(each, last) and id(each) not in made]
    return sum(
        bool(owner) or root_of(ast.unparse(each.value)) in modules if isinstance(each, ast.Attribute) else not owner
        for each in found
    )


def _is_load(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=own, ctx=ast.Load()) | ast.Attribute(attr=own, ctx=ast.Load()):
            return own == name
    return False


def _at_top(tree: ast.Module, name: str, jitted: Collection[str]) -> list[ReplacedArguments]:
    body = [each for each in tree.body if not isinstance(each, _Function | ast.ClassDef)]
    read_inside = _read_inside(tree)
    found = replaced_arguments(ast.unparse(ast.Module(body, [])), {*jitted, name})
    return [_only(each, lambda path: root_of(path) not in read_inside) for each in found if each.function == name]


def _read_inside(node: ast.AST) -> set[str]:
    """Return the names that functions inside some code read, or assign, outside of themselves."""
    found: set[str] = set()
    for each in ast.walk(node):
        if each is node or not isinstance(each, _Function | ast.Lambda):
            continue
        body = [each.body] if isinstance(each, ast.Lambda) else each.body
        outer = {name for one in ast.walk(each) if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}
        found |= (loaded(body) - stored(body) - parameters(each)) | outer
    return found


def _sites_in(
    function: _Function,
    tree: ast.Module,
    name: str,
    jitted: Collection[str],
    observed: tuple[_Function, int] | None,
) -> Iterator[Site]:
    """Yield the calls that a function makes itself."""
    if not any(_is_load(each, name.rpartition(".")[2]) for each in ast.walk(function)):
        return
    reader = _Attributes(next(iter(_positional(function)), "") if _is_method(function, tree) else "")
    names = {reader.named(each) for each in (*jitted, name)}
    is_observed = observed is not None and function is observed[0]
    first = observed[1] if observed is not None and is_observed else 0
    rest = [each for each in function.body if (each.end_lineno or each.lineno) >= first]
    body = [reader.visit(ast.parse(ast.unparse(each)).body[0]) for each in rest]
    inside = _shared_inside(function)
    given, own = parameters(function), stored(function.body)
    for each in replaced_arguments(ast.unparse(ast.Module([*body, ast.Pass()], [])), names):
        if each.function != reader.named(name):
            continue

        def is_free(path: str) -> bool:
            root = root_of(path)
            if root in inside or (reader.prefix and root.startswith(reader.prefix) and reader.owner in inside):
                return False
            if reader.prefix and root.startswith(reader.prefix):
                attribute = root.removeprefix(reader.prefix)
                return _is_own(attribute, tree, {*jitted, name}, since_made=is_observed)
            return _is_given_up(function, root, tree, jitted) if root in given else root in own

        free = _only(each, is_free)
        paths = [*free.positions.values(), *free.keywords.values()]
        passed_on = frozenset(path for path in paths if root_of(path) in given)
        yield Site(
            function,
            ReplacedArguments(
                name,
                reader.written(free.text),
                {place: reader.written(path) for place, path in free.positions.items()},
                {keyword: reader.written(path) for keyword, path in free.keywords.items()},
            ),
            passed_on,
        )


def replaced_after_copy(
    tree: ast.Module, name: str, jitted: Collection[str], function: _Function, line: int
) -> ReplacedArguments | None:
    r"""Return the only call of a jitted function, with what nothing else holds once it is copied before the loop.

    >>> tree = ast.parse("def train(p):\n    for x in data:\n        p = f(p, x)\n    return p\nq = train(start)")
    >>> replaced_after_copy(tree, "f", {"f"}, tree.body[0], 3).positions
    {0: 'p'}
    """
    loops = [number for number, each in enumerate(function.body) if isinstance(each, ast.For | ast.While)]
    around = [at for at in loops if function.body[at].lineno <= line <= (function.body[at].end_lineno or line)]
    if not around or _uses(tree, name) != 1:
        return None
    reader = _Attributes(next(iter(_positional(function)), "") if _is_method(function, tree) else "")
    body = [reader.visit(ast.parse(ast.unparse(each)).body[0]) for each in function.body[around[0] :]]
    names = {reader.named(each) for each in (*jitted, name)}
    free = (parameters(function) | stored(function.body)) - _shared_inside(function) - {reader.owner}
    for each in replaced_arguments(ast.unparse(ast.Module([*body, ast.Pass()], [])), names):
        if each.function == reader.named(name):
            return _only(each, lambda path: path in free)._replace(text=reader.written(each.text))
    return None


def _shared_inside(function: _Function) -> set[str]:
    """Return the names that functions inside another one read from it, and those that it shares with outer code."""
    outer = (each for each in ast.walk(function) if isinstance(each, ast.Global | ast.Nonlocal))
    return _read_inside(function) | {each for declared in outer for each in declared.names}


class _Attributes(ast.NodeTransformer):
    """Replaces ``self.p`` by a variable of its own, and ``return p`` by nothing: that ends the function.

    Attributes:
        owner: the object; empty outside of methods.
        prefix: what the names of these variables begin with; empty outside of methods.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.prefix = f"{owner}__" if owner else ""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replace an attribute of the object."""
        if self.owner and isinstance(node.value, ast.Name) and node.value.id == self.owner:
            return ast.Name(f"{self.prefix}{node.attr}", node.ctx)
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Leave out the variables that are returned."""
        if isinstance(node.value, ast.Name):
            return ast.Pass()
        if isinstance(node.value, ast.Tuple):
            rest = [each for each in node.value.elts if not isinstance(each, ast.Name)]
            return self.generic_visit(ast.Return(ast.Tuple(rest, ast.Load())))
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Keep what a definition reads at once: the names in a body have a meaning of their own."""
        held = ast.Assign([ast.Name(node.name, ast.Store())], ast.Tuple(_read_at_once(node), ast.Load()))
        return ast.copy_location(held, node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Do the same for a lambda function."""
        return ast.Tuple(_read_at_once(node), ast.Load())

    def named(self, text: str) -> str:
        """Return the variable for ``self.step``; anything else as it is."""
        owner, _, rest = text.partition(".")
        return f"{self.prefix}{rest}" if rest and owner == self.owner else text

    def written(self, text: str) -> str:
        """Return some code with the attributes again."""
        return text.replace(self.prefix, f"{self.owner}.") if self.prefix else text


def _read_at_once(node: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
    """Return the default values and decorators of a function."""
    defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]
    return [*defaults, *getattr(node, "decorator_list", ())]


def _positional(function: _Function) -> list[str]:
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]


def _is_method(function: _Function, tree: ast.Module) -> bool:
    return any(function in each.body for each in ast.walk(tree) if isinstance(each, ast.ClassDef))


def _only(call: ReplacedArguments, is_free: Callable[[str], bool]) -> ReplacedArguments:
    return call._replace(
        positions={place: path for place, path in call.positions.items() if is_free(path)},
        keywords={name: path for name, path in call.keywords.items() if is_free(path)},
    )


def _is_own(attribute: str, tree: ast.Module, jitted: Collection[str], *, since_made: bool) -> bool:
    """Return whether all code assigns only new values to an attribute, and keeps none that it reads from there.

    Args:
        attribute: the attribute.
        tree: all code.
        jitted: the names of functions that keep nothing.
        since_made: whether what ``__init__`` reads does not count.
    """
    nodes = [each for each in ast.walk(tree) if isinstance(each, ast.Attribute) and each.attr == attribute]
    read = only_read(tree, jitted)
    if since_made:
        making = (each for each in _functions(tree) if each.name == "__init__")
        read |= {id(node) for each in making for node in ast.walk(each)}
    if any(isinstance(each.ctx, ast.Load) and id(each) not in read for each in nodes):
        return False
    fields = (each.target for each in ast.walk(tree) if isinstance(each, ast.AnnAssign))
    if any(isinstance(each, ast.Name) and each.id == attribute for each in fields):
        return False  # what makes an object of the class gives it
    held = held_elsewhere(tree)
    stores = [each for each in nodes if not isinstance(each.ctx, ast.Load)]
    return bool(stores) and not any(id(each) in held for each in stores)


def _is_given_up(function: _Function, parameter: str, tree: ast.Module, jitted: Collection[str]) -> bool:
    """Return whether all calls of a function replace what they pass for a parameter."""
    sites = _at_top(tree, function.name, jitted)
    names = _positional(function)
    return (
        not _is_method(function, tree)
        and 0 < len(sites) == _uses(tree, function.name)
        and all(
            parameter in {*(names[place] for place in each.positions if place < len(names)), *each.keywords}
            for each in sites
        )
    )
