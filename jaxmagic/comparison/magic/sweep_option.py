"""Reads ``--sweep NAME=VALUES``: the variables of a sweep, with values from the user's session."""

from __future__ import annotations

import argparse
import ast
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ...magics.options import variable as variable_name
from ...magics.options.session_globals import readers
from ...records.names import truncated
from ..analysis.sweep_variables import variable
from ..record.curve import Variable

#: So many letters of an option are quoted.
_MOST_QUOTED = 60

#: More points than this are probably a mistake, such as ``range(10**9)``.
MOST_POINTS = 10_000


class Varied(NamedTuple):
    """A variable, with its values as Python objects."""

    variable: Variable
    values: tuple[Any, ...]


def read_sweep(shell: InteractiveShell, texts: Sequence[str]) -> list[Varied]:
    """Read the variables of all ``--sweep`` options.

    Args:
        shell: the shell in whose session the values are evaluated.
        texts: the options, such as ``n=2**6,2**8``, ``n=range(1, 9)`` or ``dtype=jnp.float32,jnp.bfloat16``.

    Raises:
        UsageError: an option is not ``NAME=VALUES``, has no value or a repeated one, or a name is repeated.
        Exception: evaluating the values raised.
    """
    varied: list[Varied] = []
    for text in texts:
        new = _read(shell, text)
        if new.variable.name in [each.variable.name for each in varied]:
            raise UsageError(
                f"--sweep: expected each variable once, got {new.variable.name} twice. Give all of its values in "
                "one option."
            )
        varied.append(new)
    count = math.prod(len(each.values) for each in varied)
    if count > MOST_POINTS:
        raise UsageError(f"--sweep: expected at most {MOST_POINTS} points, got {count}. Leave out some values.")
    return varied


def require_used(varied: Sequence[Varied], trees: Sequence[ast.AST], namespace: Mapping[str, Any]) -> None:
    """Check that the code reads every variable and assigns none: otherwise the sweep is a mistake.

    Raises:
        UsageError: a variable is not read, is assigned, or a function that the code names reads it from the session.
    """
    for name, function in readers(trees, namespace, [each.variable.name for each in varied]):
        raise UsageError(
            f"--sweep: {function}() reads {name} from the session, where a sweep does not change it. Write {name} "
            f"as an argument of {function}()."
        )
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    labels = {id(node.target) for node in nodes if isinstance(node, ast.AnnAssign)}
    assigned = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in labels
    }
    for each in varied:
        if each.variable.name in assigned:
            raise UsageError(
                f"--sweep: expected a variable that the cell does not assign, got {each.variable.name}, whose values "
                "that would overwrite. Use another name in the cell."
            )
        if each.variable.name not in names:
            raise UsageError(
                f"--sweep: expected a variable that the cell uses, got {each.variable.name}. Use it above the first "
                "label, or in the candidates."
            )


def _read(shell: InteractiveShell, text: str) -> Varied:
    name, equals, values_text = text.partition("=")
    text = truncated(text, _MOST_QUOTED)
    name = name.strip()
    if not equals or not values_text.strip():
        raise UsageError(
            f"--sweep: expected a variable with its values, got {text!r}. Write for example --sweep n=64,256"
        )
    try:
        name = variable_name(name)
        tree = ast.parse(values_text.strip(), mode="eval")
    except (SyntaxError, ValueError, argparse.ArgumentTypeError):
        numbers = re.fullmatch(r"\s*(-?\d{1,19}):(-?\d{1,19})(?::(-?\d{1,19}))?\s*", values_text)
        if numbers is not None and name.isidentifier():
            values = ", ".join(each for each in numbers.groups() if each is not None)
            got = truncated(values_text.strip(), _MOST_QUOTED)
            raise UsageError(
                f"--sweep {text}: expected Python, got {got!r}. Write --sweep '{name}=range({values})'"
            ) from None
        raise UsageError(
            f"--sweep: expected a variable with Python values, got {text!r}. Write for example --sweep n=64,256, in "
            "quotes if there are spaces."
        ) from None
    if any(isinstance(node, ast.BitXor) for node in ast.walk(tree)):
        raise UsageError(
            f"--sweep {text}: expected Python, got ^, which is exclusive or. Write ** for a power, as in 2**4."
        )
    try:
        given = eval(compile(tree, "<--sweep>", "eval"), shell.user_ns)
    except NameError as error:
        raise UsageError(
            f"--sweep {text}: expected Python values, but {error}. Write for example --sweep n=64,256"
        ) from None
    if isinstance(given, str | bytes | type) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        given = (given,)
    given = tuple(itertools.islice(given, MOST_POINTS + 1))
    try:
        return Varied(variable(name, given, "--sweep {}=64,256"), tuple(given))
    except ValueError as error:
        raise UsageError(f"--sweep {error}") from None
