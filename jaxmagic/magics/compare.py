"""``%%jaxcompare``, called: from a cell with labels to a comparison that is shown."""

from __future__ import annotations

import argparse
import ast
from typing import NamedTuple

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ..capture.functions import is_folded
from ..capture.jax_version import require_jax
from ..capture.rounds import Entry, take_comparison
from ..capture.runner import Runner
from ..capture.sampler import Plan
from ..model.comparison import Comparison
from . import options
from .finish import finish, load_earlier
from .repeat import Statements, called_without_arguments, make_repeatable
from .source import parse


class Labelled(NamedTuple):
    """An expression under its label.

    Attributes:
        label: its name.
        body: the expression, as a statement.
        code: its source.
    """

    label: str
    body: Statements
    code: str


def run_compare(shell: InteractiveShell, parser: argparse.ArgumentParser, line: str, cell: str) -> Comparison | None:
    """Measure the candidates of `cell` side by side.

    Raises:
        UsageError: a wrong option, or a cell without two candidates.
        SyntaxError: at the user's line.
    """
    __tracebackhide__ = True
    words, rest = options.split(line, parser)
    arguments = options.parse(words, parser)
    if not options.only_comment(rest):
        raise UsageError(f"%%jaxcompare takes options only; found {rest.strip()[:60]!r}. Put the code below it.")
    tree = parse(shell, "jaxcompare", cell, is_line=False)
    setup, candidates = split_cell(tree, cell)
    labels = [each.label for each in candidates]
    baseline = arguments.baseline or labels[0]
    if baseline not in labels:
        raise UsageError(f"there is no candidate {baseline!r} to be the baseline, only {', '.join(labels)}.")
    earlier = load_earlier(arguments, Comparison)
    require_jax()
    before = parse(shell, "jaxcompare", arguments.each, is_line=True).body if arguments.each else []
    functions = [called_without_arguments(candidate.body, shell.user_ns) for candidate in candidates]
    bodies, each = make_repeatable(
        [candidate.body for candidate in candidates],
        setup=setup,
        each=before,
        namespace=shell.user_ns,
        filename=tree.filename,
    )
    entries = {
        candidate.label: Entry(
            runner=Runner(body, each=each),
            code=candidate.code,
            folded=function is not None and is_folded(function, (), {}),
        )
        for candidate, body, function in zip(candidates, bodies, functions, strict=True)
    }
    budget_ns = len(entries) * 10**9 if arguments.budget is None else arguments.budget
    record = take_comparison(
        entries,
        Plan(rtol=arguments.rtol, budget_ns=budget_ns, samples=arguments.r),
        baseline=baseline,
        check=arguments.check,
        strict=arguments.strict,
        code=cell.strip(),
    )
    return finish(shell, arguments, record, shell.user_ns, earlier)


def split_cell(tree: ast.Module, source: str) -> tuple[Statements, list[Labelled]]:
    """The setup, and the labelled expressions below it.

    A label with an expression is an annotation to Python: ``numpy: f(x)``.

    Raises:
        UsageError: fewer than two candidates, two of the same label, or something else behind the first one.
    """
    first = next((index for index, each in enumerate(tree.body) if _label(each)), len(tree.body))
    candidates: list[Labelled] = []
    for node in tree.body[first:]:
        label = _label(node)
        if label is None or not isinstance(node, ast.AnnAssign):
            raise UsageError(
                f"line {node.lineno} is no candidate: behind the first label there are only lines such as "
                "label: expression. Put what has to run before above them."
            )
        if label in [each.label for each in candidates]:
            raise UsageError(f"there are two candidates {label!r}. Give each a label of its own.")
        code = ast.get_source_segment(source, node.annotation) or ast.unparse(node.annotation)
        body: Statements = [ast.copy_location(ast.Expr(node.annotation), node.annotation)]
        candidates.append(Labelled(label, body, code))
    if len(candidates) < 2:
        raise UsageError(
            f"%%jaxcompare takes at least two candidates; found {len(candidates)}. Write each on a line of its own: "
            "label: expression"
        )
    return tree.body[:first], candidates


def _label(node: ast.stmt) -> str | None:
    if isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Name):
        return node.target.id
    return None
