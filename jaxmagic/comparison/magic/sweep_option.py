"""``--sweep NAME=VALUES``: the variables of a sweep, with values out of the user's session."""

from __future__ import annotations

import argparse
import ast
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ...magics.options import variable as variable_name
from ..analysis.sweep_variables import variable
from ..record.curve import Variable

#: More points than these are a mistake, such as ``range(10**9)``.
MOST_POINTS = 10_000


class Varied(NamedTuple):
    """A variable, and its values as the code sees them."""

    variable: Variable
    values: tuple[Any, ...]


def read_sweep(shell: InteractiveShell, texts: Sequence[str]) -> list[Varied]:
    """The variables of all ``--sweep`` options.

    Args:
        shell: in whose session the values are evaluated.
        texts: such as ``n=2**6,2**8``, ``n=range(1, 9)`` or ``dtype=jnp.float32,jnp.bfloat16``.

    Raises:
        UsageError: one is not ``NAME=VALUES``, has no value or one twice, or there are two of one name.
        Exception: whatever evaluating the values raises.
    """
    found: list[Varied] = []
    for text in texts:
        each = _read(shell, text)
        if each.variable.name in [other.variable.name for other in found]:
            raise UsageError(f"--sweep: {each.variable.name} is there twice. Give all of its values at once.")
        found.append(each)
    count = 1
    for each in found:
        count *= len(each.values)
    if count > MOST_POINTS:
        raise UsageError(f"--sweep: {count} points, of at most {MOST_POINTS}. Leave some values out.")
    return found


def require_used(found: Sequence[Varied], trees: Iterable[ast.AST]) -> None:
    """See that every variable is read in the code, and not replaced: a sweep over nothing is a slip of the pen.

    Raises:
        UsageError: one is not.
    """
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    labels = {id(node.target) for node in nodes if isinstance(node, ast.AnnAssign)}
    assigned = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in labels
    }
    for each in found:
        if each.variable.name in assigned:
            raise UsageError(
                f"--sweep: the cell assigns {each.variable.name}, so that its values would be lost. "
                "Use another name there."
            )
        if each.variable.name not in names:
            raise UsageError(
                f"--sweep: {each.variable.name} is nowhere in the cell. Use it in the lines above the first label, "
                "or in the candidates."
            )


def _read(shell: InteractiveShell, text: str) -> Varied:
    name, equals, values_text = text.partition("=")
    name = name.strip()
    if not equals or not values_text.strip():
        raise UsageError(f"--sweep {text}: expected a variable with its values. Write for example --sweep n=64,256")
    try:
        name = variable_name(name)
        tree = ast.parse(values_text.strip(), mode="eval")
    except (SyntaxError, ValueError, argparse.ArgumentTypeError):
        raise UsageError(
            f"--sweep {text}: this is no variable with values of Python. Write for example --sweep n=64,256; "
            "in quotes if there are spaces."
        ) from None
    if any(isinstance(node, ast.BitXor) for node in ast.walk(tree)):
        raise UsageError(f"--sweep {text}: ^ is exclusive or in Python; a power is **, as in 2**4.")
    given = eval(compile(tree, "<--sweep>", "eval"), shell.user_ns)
    if isinstance(given, str | bytes | type) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        given = (given,)
    given = tuple(itertools.islice(given, MOST_POINTS + 1))
    try:
        return Varied(variable(name, given), tuple(given))
    except ValueError as error:
        raise UsageError(f"--sweep {text}: {error}.") from None
