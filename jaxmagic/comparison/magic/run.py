"""Runs ``%%jaxcompare``: measures the labelled expressions of its cell, and shows the comparison or sweep."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ...benchmarking.capture.plan import Plan, default_budget_ns
from ...benchmarking.verbs.earlier import Earlier, about_saved
from ...interrupts import interruptible
from ...magics import options
from ...magics.deliver import finish, finish_early, load_earlier
from ...magics.options.session_globals import refuse_unread
from ...magics.parsed_source import at_its_lines, parse
from ...progress.bar import shown_progress
from ...records.names import offered, truncated
from ...runtime.jax_version import require_jax
from ...session.verbs import take_and_keep
from ..capture.contestants import Entry
from ..capture.rounds import take_comparison
from ..capture.sweep import take_sweep
from ..record.comparison import Comparison
from ..record.sweep import Sweep
from .candidate_calls import with_modes
from .earlier_labels import require_in_both
from .entries_from_cell import compile_candidates
from .keyword_labels import require_names
from .label_lines import relabel
from .labels import explain_label, split_cell
from .sweep_option import read_sweep, require_used


def run_compare(
    shell: InteractiveShell, parser: argparse.ArgumentParser, line: str, cell: str
) -> Comparison | Sweep | None:
    """Measure the candidates of `cell` side by side.

    Raises:
        UsageError: an option is wrong, or the cell has fewer than two candidates.
        SyntaxError: at the user's line.
    """
    arguments, rest = options.read(line, parser)
    if re.match(r"-\w\b", rest):
        known = ", ".join(sorted(parser._option_string_actions))
        raise UsageError(f"%%jaxcompare: there is no option {rest[:2]}. Write one of {known}.")
    if not options.only_comment(rest):
        raise UsageError(
            f"%%jaxcompare: expected only options, got {rest.strip()[:60]!r}. Put the code on the lines below, and "
            "quote values with spaces."
        )
    given_labels: dict[int, str] = {}

    def as_python(source: str) -> str:
        named = relabel(source)
        given_labels.update(named.labels)
        return named.source

    try:
        tree = parse(shell, "jaxcompare", cell, is_line=False, as_python=as_python)
    except SyntaxError as error:
        options.refuse_below(cell, "jaxcompare", parser)
        explain_label(error)
        raise
    alone = len(arguments.modes) == 1 and not arguments.sweep
    setup, given = split_cell(tree, cell, given_labels, least=2 if alone else 1)
    baseline = arguments.baseline or given[0].label
    candidates = with_modes(given, arguments.modes, baseline)
    labels = [each.label for each in candidates]
    if baseline not in labels:
        raise UsageError(
            f"--baseline: expected one of the labels {offered(labels)}, got {truncated(baseline, 30)!r}."
        )
    varied = read_sweep(shell, arguments.sweep)
    require_used(varied, [tree], shell.user_ns)
    require_names(setup, cell, [*shell.user_ns, *(each.variable.name for each in varied)])
    refuse_unread(setup, [tree], shell.user_ns, "%%jaxcompare")
    earlier = load_earlier(shell, arguments, Sweep if varied else Comparison, Earlier)
    if earlier is not None:
        require_in_both(earlier.record, arguments.against, labels, [each.variable for each in varied])
    require_jax()
    make = compile_candidates(
        shell, arguments, at_its_lines(tree), setup, candidates, [each.variable.name for each in varied]
    )
    budget_ns = arguments.budget
    if budget_ns is None:
        points = prod(len(each.values) for each in varied) if varied else None
        budget_ns = default_budget_ns(len(candidates), points)
    plan = Plan(rtol=arguments.rtol, budget_ns=budget_ns, samples=arguments.r)
    how: dict[str, Any] = {
        "baseline": baseline,
        "check": arguments.check,
        "strict": arguments.strict,
        "profiled": arguments.profile,
        "code": cell.strip(),
    }
    record: Comparison | Sweep
    if varied:

        def prepare(at: Sequence[int]) -> Mapping[str, Entry]:
            return make({each.variable.name: each.values[index] for each, index in zip(varied, at, strict=True)})

        variables = [each.variable for each in varied]
        record = take_and_keep(lambda: take_sweep(variables, labels, prepare, plan, shown=shown_progress, **how))
    else:

        def take() -> Comparison:
            with shown_progress() as progress:
                unfinished = partial(finish_early, shell, arguments, shell.user_ns)
                return take_comparison(interruptible(make)({}), plan, progress=progress, unfinished=unfinished, **how)

        record = take_and_keep(take)
    return finish(shell, arguments, record, shell.user_ns, earlier, about_saved)
