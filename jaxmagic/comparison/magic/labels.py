"""Splits a cell into its setup and its candidates."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping
from typing import NamedTuple

from IPython.core.error import UsageError

from ...magics.repeatable import Statements
from ...records.names import in_sentence
from ..capture.derivatives import Mode
from .keyword_labels import hint
from .label_lines import IN_QUOTES, put_in_quotes, relabel


class Labelled(NamedTuple):
    """An expression under its label.

    Attributes:
        label: its label.
        expression: the expression to time.
        code: its source.
        mode: whether to time the expression itself or a derivative of the function that it calls.
        like: the label of the candidate whose output it should have; ``None`` for the baseline.
    """

    label: str
    expression: ast.expr
    code: str
    mode: Mode = "forward"
    like: str | None = None

    @property
    def body(self) -> Statements:
        """The expression as a statement."""
        return [ast.copy_location(ast.Expr(self.expression), self.expression)]


def split_cell(
    tree: ast.Module, source: str, labels: Mapping[int, str], least: int
) -> tuple[Statements, list[Labelled]]:
    """Split a cell into the setup and the candidates below it.

    To Python, a label with an expression is an annotation: ``numpy: f(x)``. Below the first label, the source of an
    expression without a label is its label. Without any label, the expressions at the end of the cell are the
    candidates.

    Args:
        tree: the cell.
        source: its source.
        labels: the labels that are not Python names, by the number of their line.
        least: the least number of candidates.

    Raises:
        UsageError: there are fewer candidates, two with the same label or below one label, or something else after
            the first one.
    """
    first = _first_candidate(tree.body)
    candidates: list[Labelled] = []
    previous: ast.stmt | None = None
    for node in tree.body[first:]:
        candidate = _candidate(node, source, labels)
        if previous is not None and _shares_line(previous, node):
            label, both = candidates[-1].label, f"{candidates[-1].code}, {candidate.code}"
            raise UsageError(
                f"%%jaxcompare: expected one expression after the label {in_sentence(label)}, got a second one, "
                f"{candidate.code[:60]!r}. Write {label}: ({both[:60]}) to time both, or write the second one on its "
                "own line."
            )
        previous = node
        if candidate.label in [each.label for each in candidates]:
            raise UsageError(
                f"%%jaxcompare: expected different labels, got {candidate.label!r} twice. Rename one of the two."
            )
        candidates.append(candidate)
    if len(candidates) < least:
        for node in tree.body:
            _refuse_assignment(node)
        expected = "at least two candidates" if least > 1 else "at least one candidate"
        alone = " %jaxtimeit f(x) measures one statement." if candidates else ""
        above = [each for each in tree.body[first - 1 : first] if candidates and _is_expression(each)]
        setup = "".join(f" {_first_line(each, source)!r} is setup, as it is above the first label." for each in above)
        raise UsageError(
            f"%%jaxcompare: expected {expected}, got {len(candidates)}.{setup} "
            f"Write each on its own line: label: expression.{alone}{_first_hint(tree.body[:first], source)}"
        )
    return tree.body[:first], candidates


def _first_hint(setup: Statements, source: str) -> str:
    """Say of one of the lines above the candidates that it may be a label, if there is such a line."""
    return next(filter(None, (hint(each, source) for each in setup)), "")


def _first_candidate(body: Statements) -> int:
    """Return the index of the first candidate: the first label, or the first of the expressions at the end."""
    labelled = next((index for index, each in enumerate(body) if _is_labelled(each)), None)
    if labelled is not None:
        return labelled
    first = len(body)
    while first and _is_expression(body[first - 1]):
        first -= 1
    return first


def _candidate(node: ast.stmt, source: str, labels: Mapping[int, str]) -> Labelled:
    _refuse_assignment(node)
    if _is_labelled(node):
        assert isinstance(node, ast.AnnAssign)
        code = ast.get_source_segment(source, node.annotation) or ast.unparse(node.annotation)
        return Labelled(labels.get(node.lineno) or ast.unparse(node.target), node.annotation, code)
    if not _is_expression(node):
        raise UsageError(
            "%%jaxcompare: expected label: expression on every line below the first label, got "
            f"{_first_line(node, source)!r}.{hint(node, source) or _instead(node, source)}"
        )
    assert isinstance(node, ast.Expr)
    code = ast.get_source_segment(source, node.value) or ast.unparse(node.value)
    return Labelled(" ".join(code.split()), node.value, code)


def _instead(node: ast.stmt, source: str) -> str:
    """Say what to write instead of a statement below the first label, such as ``jit = f(x)``."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _calls(node.value):
        code = ast.get_source_segment(source, node.value) or ast.unparse(node.value)
        label = node.targets[0].id
        return f" If {label!r} is a label, write {label}: {code[:60]}. Move other code above the first label."
    return " Move other code above the first label."


def _calls(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(node))


def _is_labelled(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and node.value is None


def _shares_line(previous: ast.stmt, node: ast.stmt) -> bool:
    """Return whether a statement without a label follows a labelled one on its line, as in ``jit: f(x); g(x)``."""
    return _is_labelled(previous) and not _is_labelled(node) and previous.end_lineno == node.lineno


#: Functions whose calls show something, and of which nobody compares the time.
_SHOWING = frozenset({"print", "display", "get_ipython"})


def _is_expression(node: ast.stmt) -> bool:
    """Return whether a statement may be a candidate without a label; neither ``print(x)`` nor ``!ls`` is meant so."""
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        return False
    called = [each.func for each in ast.walk(node.value) if isinstance(each, ast.Call)]
    return not any(isinstance(each, ast.Name) and each.id in _SHOWING for each in called)


def _refuse_assignment(node: ast.stmt) -> None:
    """Refuse ``jit: y = f(x)``, which is an assignment with an annotation."""
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        raise _followed_by_assignment(node.target.id, ast.unparse(node.value))


def _first_line(node: ast.stmt, source: str) -> str:
    code = ast.get_source_segment(source, node) or ast.unparse(node)
    return code.partition("\n")[0][:60]


def _followed_by_assignment(label: str, expression: str) -> UsageError:
    written = label if label.isidentifier() or relabel(f"{label}: 0").labels else put_in_quotes(label)
    return UsageError(
        f"%%jaxcompare: expected an expression after the label {in_sentence(label)}, got an assignment. Write only "
        f"the expression: {written}: {expression[:60]}"
    )


_EMPTY, _ALONE = re.compile(r"""(""|'')\s*:"""), re.compile(r"(?P<label>[^\s:#][^:#]*?)\s*:\s*(#.*)?$")


def labels_of(cell: str) -> list[str]:
    """Return the labels in a cell, without those of expressions without one; none if the cell is no Python."""
    named = relabel(cell)
    try:
        body = ast.parse(named.source).body
    except (SyntaxError, ValueError):
        return []
    found = [each for each in body if isinstance(each, ast.AnnAssign) and each.value is None]
    return [named.labels.get(each.lineno) or ast.unparse(each.target) for each in found]


def as_python(cell: str) -> str:
    """Return a cell with names of Python in the place of its labels.

    Raises:
        UsageError: a line has a label but is no candidate.
    """
    source = relabel(cell).source
    try:
        ast.parse(source)
    except SyntaxError as error:
        explain_label(error)
    return source


def _explain_missing_colon(error: SyntaxError, text: str) -> None:
    """Say where the colon may be missing in a line such as ``jit f = g(x)`` or ``jit f(x)``.

    Raises:
        UsageError: words are followed by an expression that calls a function.
    """
    code = text.partition("#")[0].rstrip()
    for gap in re.finditer(r"\s*=\s*|\s+", code):
        label, rest = code[: gap.start()], code[gap.end() :]
        if not all(each.isidentifier() and not keyword.iskeyword(each) for each in label.split()) or not label:
            return
        try:
            calls = _calls(ast.parse(rest, mode="eval").body)
        except (SyntaxError, ValueError):
            continue
        if calls:
            raise UsageError(
                f"%%jaxcompare: expected label: expression, got {code[:60]!r} ({error.msg}). "
                f"If {label!r} is a label, write {label}: {rest[:60]}"
            ) from None


def explain_label(error: SyntaxError) -> None:
    """Say what is wrong with a line that has a label but is no candidate.

    Raises:
        UsageError: the line of `error` begins with a label that is empty or has to be in quotes, or goes on with an
            assignment or with nothing.
    """
    text = error.text or ""
    if _EMPTY.match(text):
        raise UsageError(
            '%%jaxcompare: expected text in the quotes of a label, got none. Write "jit": f(x)'
        ) from None
    alone = _ALONE.match(text)
    if alone is not None and alone["label"].split()[0] not in keyword.kwlist:
        raise UsageError(
            f"%%jaxcompare: expected an expression after the label {in_sentence(alone['label'])}, got "
            f"nothing. Write {alone['label']}: f(x)"
        ) from None
    found = None if "was never closed" in error.msg else _label_and_statement(text)
    if found is None:
        _explain_missing_colon(error, text)
        return
    label, statement = found
    if isinstance(statement, ast.Assign):
        raise _followed_by_assignment(label, ast.unparse(statement.value)) from None
    raise UsageError(
        f"%%jaxcompare: {error.msg}. If {label!r} is a label, put it in quotes: "
        f"{put_in_quotes(label)}: {ast.unparse(statement)[:60]}"
    ) from None


def _label_and_statement(text: str) -> tuple[str, ast.Assign | ast.Expr] | None:
    """Split a line at the first colon behind which it is an expression or an assignment, if there is such a colon."""
    if text[:1].isspace() or IN_QUOTES.match(text):
        return None
    for colon in re.finditer(":", text.partition("#")[0]):
        label = text[: colon.start()].strip()
        try:
            (statement,) = ast.parse(text[colon.end() :].strip()).body
        except (SyntaxError, ValueError):
            continue
        if isinstance(statement, ast.Assign | ast.Expr):
            return None if not label or label.isidentifier() else (label, statement)
    return None
