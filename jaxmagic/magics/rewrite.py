"""Rewrite a cell so that a magic is a ``with`` block in it, instead of running the code itself.

``%time`` runs its statement as a separate program. Its limitations follow from that: no source in tracebacks, no
``await``, lost assignments in functions. Here IPython runs the cell itself, and the magic is a ``with`` block in it.
There are three steps:

1. :func:`~jaxmagic.magics.text_transforms.cell_to_marker`, on the text: ``%%jaxtime`` becomes a one-line marker, so
   that every line of the cell keeps its number.
2. :func:`~jaxmagic.magics.text_transforms.line_in_sight`, on the text: line magics remain the call that IPython makes
   of them, ``get_ipython().run_line_magic('jaxtime', …)``, which works even without step 3. But IPython searches the
   text for ``await``, so one is written in front of ``%jaxtime await f()``.
3. :class:`BlockRewriter`, on the syntax tree: a marker with the code after it, or such a call, becomes a block.

A marker is a call of ``run_cell_magic`` with ``...`` for the cell; it applies to the code after it. Without step 3
(inside ``%%prun``), the marker runs and raises an error, so that the code does not silently go unmeasured.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import count

from IPython.core.error import InputRejected, UsageError

from ..subjects import magics
from . import options
from .block_syntax import (
    attribute_of,
    block_names,
    call_with,
    deletion,
    every_run,
    keep_dropped,
    move_to_string,
    not_first,
    opening,
    raising_here,
    refusal,
)
from .bound import bind_in_functions
from .magic_calls import LineCall, Marker, Parsers, line_call, magic_call, read_marker
from .once import is_displayed
from .parsed_source import ends_in_semicolon, is_path, leaving

_numbers = count(1)


class BlockRewriter(ast.NodeTransformer):
    """Turns jaxmagic's magics in a cell's syntax tree into ``with`` blocks, wherever they are.

    Args:
        parsers: the magics and their parsers.
        transform: IPython's transformation of text, for a magic or a command inside a line.
        interactivity: which expressions of a cell are displayed, as in ``ast_node_interactivity``.
        called: magics that stay calls, and their parsers.
    """

    def __init__(
        self,
        parsers: Parsers,
        transform: Callable[[str], str],
        interactivity: Callable[[], str],
        called: Parsers | None = None,
    ) -> None:
        self._parsers = parsers
        self._called = called or {}
        self._transform = transform
        self._interactivity = interactivity

    def visit(self, node: ast.AST) -> ast.AST:
        """Rewrite a whole cell; called by IPython, which unregisters this on any exception but ``InputRejected``."""
        try:
            if isinstance(node, ast.Module):
                if misplaced := self._misplaced(node):
                    node.body = [ast.copy_location(not_first(misplaced), node.body[0])]
                    return node
                bind_in_functions(node, {**self._parsers, **self._called})
                node.body = self._statements(node.body, outermost=True)
            return node  # IPython gives new nodes without a location that of their statement
        except Exception as error:
            if isinstance(error, RecursionError) and not self._is_for_us(node):
                return node
            raise InputRejected(
                f"jaxmagic could not rewrite its magic in this cell ({type(error).__name__}: {error}). "
                "The cell was not run. To run it without jaxmagic, use %unload_ext jaxmagic."
            ) from error

    def _misplaced(self, tree: ast.AST) -> str | None:
        """Return the magic whose ``%%magic`` is below the first line, where IPython takes it for a line magic."""
        names = {f"%{name}": parser for name, parser in {**self._parsers, **self._called}.items()}
        calls = (magic_call(each, "run_line_magic", names) for each in ast.walk(tree) if isinstance(each, ast.Call))
        return next((call.magic[1:] for call in calls if call is not None), None)

    def _is_for_us(self, tree: ast.AST) -> bool:
        """Return whether a cell has any of jaxmagic's magics; if not, it runs even if nested too deep to rewrite."""
        methods = "run_line_magic", "run_cell_magic"
        return any(
            isinstance(node, ast.Call) and any(magic_call(node, method, self._parsers) for method in methods)
            for node in ast.walk(tree)
        )

    def _statements(self, body: Sequence[ast.stmt], outermost: bool = False) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        index = 0
        while index < len(body):
            node = body[index]
            index += 1
            if marker := read_marker(node, self._parsers):
                measured = self._measured(body, index, node)
                index += len(measured)
                displayable = outermost and self._is_displayable(index == len(body))
                out += self._from_marker(node, marker, self._statements(measured), displayable)
            elif call := line_call(node, self._parsers):
                out += self._from_call(node, call, outermost and self._is_displayable(index == len(body)))
            else:
                out.append(self._inside(node))
        return out

    def _is_displayable(self, is_last: bool) -> bool:
        """Return whether the cell may display the value of an outermost statement."""
        return is_last or self._interactivity() == "all"

    def _inside(self, node: ast.stmt) -> ast.stmt:
        """Rewrite the bodies of a compound statement; expressions cannot contain a magic."""
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(node, field, None)
            if isinstance(inner, list):
                setattr(node, field, self._statements(inner))
        for field in ("handlers", "cases"):
            for inner in getattr(node, field, ()):
                inner.body = self._statements(inner.body)
        if isinstance(node, ast.ClassDef):
            node.body += [ast.copy_location(deletion(name), node) for name in block_names(node.body)]
        return node

    @staticmethod
    def _measured(body: Sequence[ast.stmt], index: int, marker: ast.stmt) -> Sequence[ast.stmt]:
        """Return the code that a marker applies to: the rest of its line, or else the rest of the cell."""
        end = index
        while end < len(body) and body[end].lineno == marker.lineno:
            end += 1
        return body[index:end] if end > index else body[index:]

    def _from_marker(self, node: ast.stmt, marker: Marker, body: list[ast.stmt], displayable: bool) -> list[ast.stmt]:
        future = [each for each in body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
        body = [each for each in body if each not in future]
        if getattr(options.read(marker.text, self._parsers[marker.magic])[0], "before", False) and body:
            return [*future, node]  # the magic itself is called, and reports that it runs no code
        if not body:  # only comments: the magic itself is called, and reports that there is nothing to run
            marker.node.args[2] = ast.copy_location(ast.Constant("\n"), marker.node.args[2])
            return [*future, node]
        return [*future, *self.block(node, marker.magic, marker.text, body, [], displayable)]

    def _from_call(self, node: ast.stmt, call: LineCall, displayable: bool) -> list[ast.stmt]:
        try:
            arguments, statement = options.read(call.text, self._parsers[call.magic])
            runs = not (arguments.help or getattr(arguments, "before", False) or is_path(statement))
            body = self._parse(statement) if runs else []
        except (UsageError, SyntaxError, ValueError):
            return [node]  # the magic itself is called, and reports the error
        if not body:
            return [node]
        given = call.text[: len(call.text) - len(statement)]
        move_to_string(body, call.constant, len(given.encode()))
        silent = ends_in_semicolon(statement)
        return self.block(
            node, call.magic, given, self._statements(body), list(call.targets), displayable, silent=silent
        )

    def _parse(self, statement: str) -> list[ast.stmt]:
        try:
            return ast.parse(statement).body
        except SyntaxError:
            return ast.parse(self._transform(statement)).body  # !command, %magic

    def block(
        self,
        node: ast.stmt,
        magic: str,
        text: str,
        body: list[ast.stmt],
        targets: list[ast.expr],
        displayable: bool,
        *,
        silent: bool = False,
    ) -> list[ast.stmt]:
        """Return ``with open_block(…) as block: body``, and after it the statements that take its value."""
        several = magics()[magic].magic.several
        if several and (keyword := leaving(body)):
            return [ast.copy_location(refusal(magic, keyword), node)]
        name = f"__jaxmagic_{next(_numbers)}__"  # a dunder name does not become a member of an enumeration
        arguments, _ = options.read(text, self._parsers[magic])
        place = (_first_line(body[0]), body[0].col_offset, body[-1].end_lineno, body[-1].end_col_offset)
        shown = displayable and not silent and is_displayed(self._interactivity(), last=True, assigned=bool(targets))
        kept = self._keep_values(name, body, displayable)
        if several:
            body = [every_run(name, body)]
        opened = ast.withitem(opening(name, magic, text.strip(), place, shown), ast.Name(name, ast.Store()))
        measured: ast.stmt = ast.With([opened], body)
        expects = getattr(arguments, "expect_no_compile", False) or getattr(arguments, "max_time", None) is not None
        out: list[ast.stmt] = [raising_here(measured) if expects else measured]
        if arguments.v:
            out.append(ast.Assign([ast.Name(arguments.v, ast.Store())], attribute_of(name, "record")))
        popped = [call_with(ast.Attribute(attribute_of(name, "kept"), "pop", ast.Load()), 0) for _ in range(kept)]
        out += [ast.Expr(each) for each in popped]
        taken = call_with(attribute_of(name, "take"), silent)
        out.append(ast.Assign(targets, taken) if targets else ast.Expr(taken))
        return [ast.copy_location(each, node) for each in out]

    def _keep_values(self, name: str, body: list[ast.stmt], displayable: bool) -> int:
        """Give the block the value of its last statement; return how many earlier values are displayed later."""
        interactivity, kept = self._interactivity(), 0
        for index, each in enumerate(body[:-1]):
            if displayable and interactivity == "all" and isinstance(each, ast.Expr):
                append = ast.Attribute(attribute_of(name, "kept"), "append", ast.Load())
                body[index] = ast.copy_location(ast.Expr(ast.Call(append, [each.value], [])), each)
                kept += 1
            else:
                body[index] = keep_dropped(name, each)
        end = body[-1]
        if isinstance(end, ast.Expr):
            value = ast.Attribute(ast.Name(name, ast.Load()), "value", ast.Store())
            body[-1] = ast.copy_location(ast.Assign([value], end.value), end)
        elif isinstance(end, ast.Assign):
            shown = displayable and interactivity == "last_expr_or_assign"
            unpacked = any(isinstance(each, (ast.Tuple, ast.List)) for each in end.targets)
            attribute = "value" if shown else "unpacked" if unpacked else "reached"
            end.targets.append(ast.Attribute(ast.Name(name, ast.Load()), attribute, ast.Store()))
        else:
            body[-1] = keep_dropped(name, end)
        return kept


def _first_line(statement: ast.stmt) -> int:
    """Return where a statement begins: ``lineno`` is the line of ``def``, below the decorators."""
    return min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
