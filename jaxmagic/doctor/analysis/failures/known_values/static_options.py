"""Writes the option of ``jit`` that makes an argument static, beside those that it has already."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from .....records.names import one_or_tuple
from ....record.failure import Failure
from ..expression import spelled, statements, with_imports


def static_option(name: str, position: int | None, options: tuple[str, ...] | None) -> str:
    """Return the option that makes an argument static; JAX infers numbers from names, and names from numbers.

    It infers nothing if both options are given: an argument then has to be in each of them.

    >>> static_option("n", 1, ()), static_option("n", 1, ("static_argnums",))
    ('static_argnames="n"', '1 in static_argnums')

    Args:
        name: the parameter; empty if it has no name.
        position: its position; ``None`` if it has none.
        options: which options for static arguments ``jit`` gets; ``None`` if only unknown ones.
    """
    named = f'"{name}" in static_argnames' if name else ""
    numbered = "" if position is None else f"{position} in static_argnums"
    if options is None and named and numbered:
        return f"{named} and {numbered}, as far as it has these options,"
    if options is None or len(options) == 2:
        return " and ".join(filter(None, (named, numbered)))
    if "static_argnames" in options and named:
        return named
    if "static_argnums" in options and numbered:
        return numbered
    return f'static_argnames="{name}"' if name else f"static_argnums={position}"


def options_for(failure: Failure, names: Sequence[str]) -> str:
    """Return the option that makes arguments of a jitted function static, with those that are; empty if unknown."""
    call = failure.call
    if call is None:
        return f"static_argnames={one_or_tuple(names)}"
    if (call.options is None and call.static) or len(call.options or ()) == 2:
        return ""
    static = [*call.static, *(each for each in names if each not in call.static)]
    if "static_argnums" not in (call.options or ()):
        return f"static_argnames={one_or_tuple(static)}"
    positions = {"self": 0} | {each.name: each.position for each in call.arguments}
    found = [positions.get(each) for each in static]
    if None in found:
        return ""
    return f"static_argnums={found[0] if len(found) == 1 else tuple(found)}"


def jit_with_static(failure: Failure, jit: str, option: str) -> str | None:
    """Return code that jits a function with an argument made static; ``None`` if it is unknown how.

    Args:
        failure: what is known.
        jit: a decorator, an assignment as ``g = jax.jit(f)``, or a call as ``jax.jit(f)(x)``; empty if unknown.
        option: the option, as ``static_option`` returns it.
    """
    body = statements(jit.removeprefix("@"))
    jits = [each for part in body for each in ast.walk(part) if isinstance(each, ast.Call) and _jits(each)]
    at = "@" if jit.startswith("@") else ""
    if at and not jits and option.startswith("static_"):
        return with_imports(failure, f"@{spelled(failure, 'functools')}.partial({jit[1:]}, {option})", "functools")
    given = {each.arg: each.value for each in jits[0].keywords} if len(jits) == 1 else {}
    new = _keyword(option, given)
    if len(jits) != 1 or None in given or new is None:
        return None
    jits[0].keywords = [*(each for each in jits[0].keywords if each.arg != new[0]), ast.keyword(*new)]
    text = ast.unparse(ast.fix_missing_locations(body[0]))
    return f"{at}{text.replace(f'{new[0]}={ast.unparse(new[1])}', f'{new[0]}={_quoted(new[1])}')}"


def _keyword(option: str, given: Mapping[str | None, ast.expr]) -> tuple[str, ast.expr] | None:
    """Return the option as a keyword with its value: with what it has beside, if that is written out."""
    beside = re.fullmatch(r"(\S+) in (static_arg\w+)", option)
    if beside is None:
        name, _, text = option.partition("=")
        return (name, ast.parse(text, mode="eval").body) if text and name.startswith("static_") else None
    try:
        known = ast.literal_eval(given.get(beside[2]) or ast.Tuple([], ast.Load()))
    except (ValueError, TypeError):
        return None
    values = [*known] if isinstance(known, tuple | list) else [known]
    return beside[2], ast.parse(repr((*values, ast.literal_eval(beside[1]))), mode="eval").body


def _quoted(value: ast.expr) -> str:
    """Write a value with double quotes."""
    return ast.unparse(value).replace("'", '"')


def _jits(node: ast.Call) -> bool:
    """Return whether a call is one of ``jit``, or of a partial of it."""
    called = [node.func, *(node.args[:1] if ast.unparse(node.func).rpartition(".")[2] == "partial" else [])]
    return any(ast.unparse(each).rpartition(".")[2] == "jit" for each in called)
