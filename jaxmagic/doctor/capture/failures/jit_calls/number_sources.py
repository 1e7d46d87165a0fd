"""Tells which arguments of a call may be in a value, and whether it is an array."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

#: The arguments of which a value may be a number, or have one in it; ``None`` for what is surely an array of JAX.
Sources = frozenset[str] | None

#: No argument: what is surely no array has none in it.
NO_ARGUMENTS: frozenset[str] = frozenset()


class Given(NamedTuple):
    """The arguments of a call.

    Attributes:
        sources: by parameter, which arguments of the outermost call may be in it.
        numbers: the arguments of the outermost call that may be numbers themselves, and no containers.
    """

    sources: Mapping[str, Sources]
    numbers: frozenset[str]


def computed(values: Iterable[Sources]) -> Sources:
    """Return what an operation makes of values: an array if one of them is an array."""
    found = [*values]
    return None if None in found else NO_ARGUMENTS.union(*(each for each in found if each is not None))


def either(values: Iterable[Sources]) -> Sources:
    """Return what is one of some values, or has them in it: an array if all are arrays."""
    found = [each for each in values if each is not None]
    return NO_ARGUMENTS.union(*found) if found else None


def given_by(parameters: ast.arguments, node: ast.Call, args: Sequence[Sources]) -> dict[str, Sources] | None:
    """Return the arguments of a call by their parameters; ``None`` if that is not simple."""
    positional = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
    named = zip((each.arg or "**" for each in node.keywords), args[len(node.args) :], strict=True)
    found = {**dict(zip(positional, args[: len(node.args)], strict=False)), **dict(named)}
    starred = any(isinstance(each, ast.Starred) for each in node.args)
    fits = len(node.args) <= len(positional) and found.keys() <= {each.arg for each in parameters_of(parameters)}
    return found if fits and not starred else None


def parameters_of(args: ast.arguments) -> list[ast.arg]:
    """Return all parameters of a function."""
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
