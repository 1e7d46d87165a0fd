"""Makes candidates that can be measured from labelled expressions."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ...benchmarking.capture.runner import Runner
from ...magics.parsed_source import Tree, parse_option
from ...magics.repeatable import Source, Statements, called_without_arguments, compile_setup
from ...runtime.functions import is_folded, only_name
from ..capture.contestants import Entry
from ..capture.count_flops import count_operations
from ..capture.derivatives import Differentiated
from ..record.candidate import Work, WorkKind
from .candidate_calls import called, differentiated, is_one_call
from .labels import Labelled

#: Makes the candidates for given values of the variables of a sweep. It runs the setup each time.
Make = Callable[[Mapping[str, Any]], Mapping[str, Entry]]


def compile_candidates(
    shell: InteractiveShell,
    arguments: argparse.Namespace,
    tree: Tree,
    setup: Statements,
    candidates: Sequence[Labelled],
    variables: Sequence[str],
) -> Make:
    """Compile the cell into a function that makes the candidates.

    Args:
        shell: the shell in whose session they run.
        arguments: the arguments of the magic.
        tree: the cell.
        setup: the lines above the first label.
        candidates: the labelled expressions.
        variables: names of variables whose values the setup and the candidates receive.
    """
    modes = {f"__jaxmagic_{number}__": each.mode for number, each in enumerate(candidates) if each.mode != "forward"}
    named = iter(modes)
    timed = [each if each.mode == "forward" else differentiated(each, next(named)) for each in candidates]
    per, amount = arguments.per or (None, "")
    counted = per is not None and per != "flops"
    work = parse_option(shell, "jaxcompare", f"--per {per}=", amount) if counted else None
    functions = [called_without_arguments(each.body, shell.user_ns) for each in candidates]
    bodies = [*(each.body for each in timed), *map(called, timed)]
    compiled = compile_setup(
        [*(Source(each, tree.filename) for each in bodies), *([work] if work else [])],
        setup=[Source(setup, tree.filename)],
        each=parse_option(shell, "jaxcompare", "--each", arguments.each),
        namespace=shell.user_ns,
        parameters=[*variables, *modes],
        magic="%%jaxcompare",
    )

    def make(values: Mapping[str, Any]) -> Mapping[str, Entry]:
        made = compiled(**values, **{name: Differentiated(mode) for name, mode in modes.items()})
        count = len(candidates)
        bodies, calls, answers = made.bodies[:count], made.bodies[count : 2 * count], made.bodies[2 * count :]
        works = _works(per, bodies if per == "flops" else answers, count)
        return {
            candidate.label: Entry(
                runner=Runner(body, each=made.each, named=only_name(candidate.code)),
                code=candidate.code,
                folded=function is not None and is_folded(function, (), {}),
                like=candidate.like,
                work=work,
                call=call if is_one_call(measured) else None,
            )
            for candidate, measured, body, function, work, call in zip(
                candidates, timed, bodies, functions, works, calls, strict=True
            )
        }

    return make


def _works(
    per: WorkKind | None, answers: Sequence[Callable[[], Any]], count: int
) -> Sequence[Callable[[], Work] | None]:
    """Return a function for each candidate that computes the work of a call."""
    if per is None:
        return [None] * count
    if per == "flops":
        return [partial(count_operations, answer) for answer in answers]
    try:
        amount = answers[0]()
    except NameError as error:
        raise UsageError(
            f"--per {per}=: expected a number, but {error}. Write for example --per {per}=1000"
        ) from None
    except Exception as error:
        error.add_note(f"This was the number after --per {per}=.")
        raise
    try:
        work = Work(kind=per, amount=float(amount))
    except (TypeError, ValueError, OverflowError):
        raise UsageError(
            f"--per {per}=: expected a positive number, got {amount!r:.60}; for example --per {per}=1000"
        ) from None
    return [lambda: work] * count
