"""Show a report only once, even if ``-o`` makes the record the value that its cell displays.

With ``-o`` a magic still shows its report, in the user's style, because the record may be assigned or silenced with
``;``. If the cell displays the record as well, IPython's display hook stores it as ``Out[n]`` and shows nothing more.

This applies only to the value of the magic itself. A record that the user displays, with ``r`` or ``display(r)``, is
shown again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from . import options
from .magic_calls import Parsers, imported, magic_call

#: The record whose report has been shown, and which IPython's display hook gets next.
_shown: object | None = None


def shown_already(record: Any) -> Any:
    """Remember that the display hook gets `record` next and need not show it; return the record."""
    global _shown
    _shown = record
    return record


def forget_shown(*_: object) -> None:
    """Forget the record; called when a cell has run, since with a final ``;`` the display hook never gets it."""
    shown_already(None)


def is_displayed(interactivity: str, *, last: bool, assigned: bool) -> bool:
    """Return whether a cell displays the value of one of its statements.

    Args:
        interactivity: the shell's ``ast_node_interactivity``.
        last: whether it is the last statement of the cell.
        assigned: whether it is an assignment rather than an expression.

    >>> is_displayed("last_expr", last=True, assigned=False), is_displayed("last_expr", last=True, assigned=True)
    (True, False)
    """
    if assigned:
        return last and interactivity == "last_expr_or_assign"
    return interactivity == "all" or (last and interactivity != "none")


class OnceRewriter(ast.NodeTransformer):
    """Passes the value of a *called* magic through :func:`shown_already` if the cell displays it.

    Args:
        parsers: the magics and their parsers.
        interactivity: which expressions of a cell are displayed, as in ``ast_node_interactivity``.
    """

    def __init__(self, parsers: Parsers, interactivity: Callable[[], str]) -> None:
        self._parsers = parsers
        self._interactivity = interactivity

    def visit(self, node: ast.AST) -> ast.AST:
        """Rewrite a whole cell; called by IPython."""
        if not isinstance(node, ast.Module):
            return node
        for index, statement in enumerate(node.body, 1):
            if isinstance(statement, (ast.Expr, ast.Assign)) and self._shows_and_returns(statement.value):
                last, assigned = index == len(node.body), isinstance(statement, ast.Assign)
                if is_displayed(self._interactivity(), last=last, assigned=assigned):
                    call = ast.Call(imported(__name__, "shown_already"), [statement.value], [])
                    statement.value = ast.copy_location(call, statement.value)
        return node

    def _shows_and_returns(self, value: ast.expr) -> bool:
        """Return whether `value` calls one of jaxmagic's magics with ``-o`` and without ``-q``."""
        methods = "run_line_magic", "run_cell_magic"
        call = next(filter(None, (magic_call(value, method, self._parsers) for method in methods)), None)
        if call is None or not isinstance(call.text, ast.Constant):
            return False
        try:
            given = vars(options.read(str(call.text.value), self._parsers[call.magic])[0])
        except (UsageError, ValueError):
            return False  # the magic itself reports the error
        return bool(given.get("o") and not given.get("q"))  # a magic may have neither


_METHOD = "compute_format_data"


class DisplayOnce:
    """Lets a shell's display hook store a record that was already shown, without showing it again.

    In a terminal, ``Out[n]:`` has been printed by then, so a short text follows.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._hook = shell.displayhook
        self._before = vars(self._hook).get(_METHOD)
        self._format: Callable[[Any], tuple[dict[str, Any], dict[str, Any]]] = getattr(self._hook, _METHOD)
        self._ours = self._format_once

    def attach(self) -> None:
        """Replace the method with which the hook turns a value into text and HTML."""
        setattr(self._hook, _METHOD, self._ours)

    def detach(self) -> None:
        """Restore the method, unless other code has replaced it since."""
        if vars(self._hook).get(_METHOD) is self._ours:
            delattr(self._hook, _METHOD)
            if self._before is not None:
                setattr(self._hook, _METHOD, self._before)

    def _format_once(self, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        if result is None or result is not _shown:
            return self._format(result)
        forget_shown()
        in_notebook = getattr(self._shell, "kernel", None) is not None
        return ({} if in_notebook else {"text/plain": f"<{type(result).__name__}, shown above>"}), {}
