"""Compiles the examined code again, against a copy of the variables that it sees."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ....runtime.functions import name_of
from ...rules.rewriting.syntax import stored
from ..scope import Scope
from ..side_effects.copied_values import contents
from .function_copies import FunctionCopies
from .user_functions import global_names, loaded_globals, users_functions

#: The name of the function that collects the outputs of code which is not a single expression.
_OUTPUTS = "__jaxmagic_outputs__"


@dataclass(frozen=True, slots=True)
class TriedCode:
    """Some code, and the variables that it sees.

    Attributes:
        source: its source; ``None`` if it could not be read.
        variables: the variables by name; they are never written to.
        left_out: the variables that it assigns and that are no outputs.
    """

    source: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()

    @classmethod
    def of_call(cls, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TriedCode:
        """Write the source of a call, in which arguments have the names of parameters as far as possible.

        >>> TriedCode.of_call(pow, (2, 3), {}).source
        'pow(base, exp)'
        """
        function = name_of(fn).rpartition(".")[2]
        function = function if function.isidentifier() else "function"
        try:
            parameters = inspect.signature(fn).parameters.values()
        except (TypeError, ValueError):
            parameters = {}.values()
        named = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        names = named[: len(args)] + [f"argument{number}" for number in range(len(named), len(args))]
        variables = {**dict(zip(names, args, strict=True)), **kwargs}
        while function in variables:
            function += "_"
        passed = [*names, *(f"{name}={name}" for name in kwargs)]
        return cls(f"{function}({', '.join(passed)})", {**variables, function: fn})

    @property
    def tree(self) -> ast.Module | None:
        """A new syntax tree of the code; ``None`` if it is unknown, or has a magic in it."""
        return Scope(self.source).tree

    def read(self) -> dict[str, Any]:
        """Return the variables that the code reads before it assigns them."""
        return Scope(self.source, self.variables).read()

    def reached(self) -> dict[str, Any]:
        """Return these variables, and the attributes of the user's modules that the code names."""
        return Scope(self.source, self.variables).reached()

    def hidden(self) -> tuple[str, str] | None:
        """Return a variable that the code assigns and a function that reads it, which would not see that in a copy.

        ``None`` if there is none: in a copy, assignments are local.
        """
        tree = self.tree
        assigned = stored([] if tree is None else tree.body)
        for each in users_functions(self.read()):
            named = assigned & set(global_names(each.__code__)) & each.__globals__.keys()
            read = named & loaded_globals(each.__code__) if named else named
            if read and each.__globals__ is self.variables:
                return min(read), each.__name__
        return None

    def made(
        self, replacements: Mapping[int, Any], fresh: Callable[[], Mapping[str, Any]] | None = None
    ) -> tuple[Callable[[], Any], Callable[[], None] | None]:
        """Compile the code as a function, whose assignments are local.

        Args:
            replacements: what the code sees instead of some objects, by their ids.
            fresh: makes the values of some variables before each run.

        Returns:
            The function, which returns the outputs, and what it has changed of fresh values; and what to call before
            each run.

        Raises:
            SyntaxError: the code cannot be repeated, or its source is unknown.
        """
        from ....magics.repeatable import Source, compile_setup

        tree = self.tree
        if tree is None or not tree.body:
            raise SyntaxError("the source is unknown")
        namespace = dict(self.variables)
        copies = FunctionCopies(replacements)
        copies.of_globals(self.variables, namespace)
        namespace.update({name: copies.of(value) for name, value in self.read().items()})
        namespace[_OUTPUTS] = partial(_outputs, self.left_out)
        source = Source(_with_outputs(tree.body), "<jaxmagic: a remedy>")
        compiled = compile_setup([source], setup=[], each=None, namespace=namespace)
        (body,) = compiled().bodies
        if fresh is None:
            return body, None

        given: Mapping[str, Any] = {}
        collected = not _is_expression(tree.body)

        def each() -> None:
            nonlocal body, given
            given = {name: copies.of(value) for name, value in fresh().items()}
            namespace.update(given)
            (body,) = compiled().bodies  # a variable that is assigned begins with the value that it has now

        def run() -> dict[str, Any]:
            outputs = body()
            return {**contents(given), **(outputs if collected else {"the value": outputs})}

        return run, each


def _is_expression(body: list[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Expr)


def _with_outputs(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements whose value is the code's value, or else the variables that it assigns."""
    if _is_expression(body):
        return body
    *others, last = body
    if isinstance(last, ast.Expr):
        value = ast.Assign([ast.Name("__jaxmagic_last__", ast.Store())], last.value)
        last = ast.copy_location(value, last)
    collect = ast.parse(f"{_OUTPUTS}(locals())").body
    return [*others, last, *collect]


def _outputs(left_out: frozenset[str], variables: dict[str, Any]) -> dict[str, Any]:
    """Return the variables that can be compared: no functions, and nothing with a donated array inside.

    A pytree that can be called, such as a module of Equinox, stands for its leaves: two runs of the code may make
    classes and functions of their own for it, which would never be equal.
    """
    import jax

    found: dict[str, Any] = {}
    for name in variables.keys() - left_out:
        value = variables[name]
        leaves, _ = jax.tree_util.tree_flatten_with_path(value)
        if any(isinstance(leaf, jax.Array) and leaf.is_deleted() for _, leaf in leaves):
            continue
        if not callable(value):
            found[name] = value
        elif not jax.tree_util.all_leaves([value]):
            found |= {f"{name}{jax.tree_util.keystr(path)}": leaf for path, leaf in leaves}
    return found
