"""Finds the function whose transformed calls run operations one by one, as those of ``jax.grad(loss)``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.note import Note, note
from ....record.evidence import Evidence
from ...rewriting.called_function import transformed_around, transformed_run
from ...rewriting.jit.module_jit import jit_of_modules
from ...rewriting.loops.jitted_round import JittedRound, jitted_round
from ...rewriting.syntax import around, last_name, lines_run, loops_around, nodes_outside_jit, tree_of, tree_run
from ..jitting.transformed_calls import jitted, made_of
from ..syntax import Function, function_around
from .functions_run import defined
from .inside_function import SourceRange, is_mostly_called_at, is_within
from .spared import Part


class TransformedFunction(NamedTuple):
    """A function that ``jax.vmap`` or the like gets.

    Attributes:
        part: the function, and the lines that call what is made of it.
        made: the expressions that transform it, and the name that each is assigned to.
    """

    part: Part
    made: Sequence[tuple[str | None, ast.Call]]


def transforms(evidence: Evidence) -> bool:
    """Return whether operations were called by ``jax.vmap(f)`` or the like, outside of jit."""
    return any(each.eager and each.transformed for each in evidence.programs or ())


def transformed_function(line: Frame | None, evidence: Evidence) -> TransformedFunction | None:
    """Return the only function that leads to the operations, or to their line, under ``jax.vmap`` or the like.

    ``None`` if there is no such function, or if each call defines it again, so that it cannot be jitted once.
    """
    function = None if line is None else function_around(line)
    leading = [] if line is None or function is None else transformed_around(function, line.file, evidence)
    leading = leading or transformed_run(evidence)
    files = dict.fromkeys(each.file for each in (*([] if line is None else [line]), *lines_run(evidence)))
    found = {id(node): (node, file) for name in leading for at in files for node, file in defined(name, at, evidence)}
    if len(found) != 1:
        return None
    ((function, file),) = found.values()
    made = made_of(function.name, file, evidence)
    part = Part(function, file, tuple(_calls(made, [file, *files])))
    return TransformedFunction(part, made) if _is_made_once(part) else None


def is_mostly_transformed(part: Part, evidence: Evidence) -> bool:
    """Return whether the calls of a function are mostly the transformed ones, by samples, or else by its name.

    Where code calls the function itself as well, too few samples do not tell.
    """
    by_samples = is_mostly_called_at(part.called_at, part.function, part.file, evidence)
    if by_samples is not None:
        return by_samples
    nodes = nodes_outside_jit(tree_run(part.file, evidence))
    return not any(isinstance(each, ast.Call) and last_name(each.func) == part.function.name for each in nodes)


def _calls(made: Sequence[tuple[str | None, ast.Call]], files: Sequence[str]) -> list[SourceRange]:
    """Return the lines that call what is made."""
    texts = {text for target, expression in made for text in (target, ast.unparse(expression)) if text}
    return [
        SourceRange(file, node.lineno, node.end_lineno or node.lineno)
        for file in dict.fromkeys(files)
        for node in ast.walk(tree_of(file) or ast.Module([], []))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in texts
    ]


def _is_made_once(part: Part) -> bool:
    """Return whether a function exists before a loop that calls it: on the top level, or in the loop's function."""
    tree, first = tree_of(part.file) or ast.Module([], []), part.function.lineno
    outer = [each for each in around(tree, first) if isinstance(each, Function) and each is not part.function]
    calls = [each.first for each in part.called_at if each.file == part.file]
    return not outer or any(loop.lineno > first for each in calls for loop in loops_around(tree, each))


def jit_outermost(transformed: TransformedFunction | None, evidence: Evidence) -> tuple[Note, str | None]:
    """Jit what ``jax.vmap`` returns: the function inside would be transformed anew in each call, though jitted."""
    made = [] if transformed is None else transformed.made
    found = jitted(*made[0], transformed.part.file, evidence) if transformed is not None and len(made) == 1 else None
    code, jit = found or (None, "jax.jit" if made else jit_of_modules(evidence))
    library = "equinox" if jit.endswith("filter_jit") else "" if jit == "jax.jit" else "nnx"
    name = "" if transformed is None else transformed.part.function.name
    return note("doctor.not_jitted_remedy", way="outermost", function=name, jit=jit, library=library), code


def round_around(transformed: TransformedFunction | None, evidence: Evidence) -> JittedRound | None:
    """Write the round of the loop that calls what ``jax.grad`` or the like returns as a jitted function.

    ``None`` if it does nothing else, as jitting what is called is simpler.
    """
    if transformed is None:
        return None
    samples = Counter[Frame]()
    for each in evidence.host or ():
        for frame in (each.line, *each.stack):
            if frame is not None and is_within(frame, transformed.part.called_at):
                samples[frame] += each.samples
    made = {target for target, _ in transformed.made if target is not None}
    found = (jitted_round(frame, evidence, made) for frame, _ in samples.most_common(1))
    return next((each for each in found if each is not None and each.statements > 1), None)
