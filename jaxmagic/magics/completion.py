"""Complete what stands behind a magic: its options, and files, choices and labels for their values.

IPython asks for the completions of a line, in a terminal and through Jupyter's kernel alike. From IPython 8.6 on it
passes the whole cell as well, in which the labels of ``--baseline`` are; before that, a matcher gets the line alone.
"""

from __future__ import annotations

import argparse
import glob
import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from . import options
from .declare import declared
from .magic_calls import Parsers

_MAGIC = re.compile(r"(?:^|.*[\s=])%{1,2}(?P<magic>\w+)\s+(?P<options>.*)$", re.S)
_MODULE = "jaxmagic."
_IMPORT = re.compile(r"(?:.*[\n;])?\s*from\s+jaxmagic\s+import\s+\(?(\s*\w+(\s+as\s+\w+)?\s*,)*\s*$", re.S)
_PUBLIC_NAME = re.compile(r"(?:^|.*[^\w.])jaxmagic\.[^\W_]?\w*$", re.S)


def completions(before: str, token: str, cell: str, parsers: Parsers) -> list[str]:
    """Return what can stand in the place of a token; nothing if the token is code.

    A value of which nothing is known, such as a time, is completed by itself. Otherwise IPython would offer variables
    and files.

    Args:
        before: the line up to the cursor.
        token: the end of the line that is completed.
        cell: the whole cell, as far as it is known.
        parsers: the magics, and their parsers.
    """
    found = _MAGIC.match(before)
    if found is None or found["magic"] not in parsers or not before.endswith(token):
        return []
    parser = parsers[found["magic"]]
    given = found["options"].removesuffix(token)
    try:
        words, code = options.split(given, parser)
    except UsageError:
        return []
    if code or "--" in given.split():
        return []
    action = _open_option(words, parser)
    if action is not None:
        known = _values(action, token, declared(found["magic"]), cell)
        if action.metavar != "CODE" and action.nargs != "?" and not any(each.startswith(token) for each in known):
            return [token]
    elif token.startswith("-"):
        known = sorted(parser._option_string_actions, key=lambda name: (not name.startswith("--"), name))
    else:
        known = []
    return [each for each in known if each.startswith(token)]


def public_names(before: str, token: str, module: Any) -> list[str]:
    """Return the public names that complete ``jaxmagic.``: the functions first, then the classes.

    Args:
        before: the line up to the cursor.
        token: the end of the line that is completed.
        module: what the user's session calls ``jaxmagic``.
    """
    ours = getattr(module, "__name__", None) == "jaxmagic" and hasattr(module, "_PUBLIC")
    if not ours or not _PUBLIC_NAME.match(before) or not token.startswith(_MODULE):
        return []
    return [each for each in (f"{_MODULE}{name}" for name in _in_order(module.__all__)) if each.startswith(token)]


def imported_names(before: str, token: str) -> list[str]:
    """Return the public names that complete ``from jaxmagic import``, where IPython would offer modules as well."""
    if not _IMPORT.match(before.removesuffix(token)):
        return []
    public = import_module(_MODULE.rstrip(".")).__all__
    return [each for each in _in_order([*public, "testing"]) if each.startswith(token)]


def _in_order(names: Sequence[str]) -> list[str]:
    return sorted(names, key=lambda name: (not name[0].islower(), "_ipython_" in name, name))


def _open_option(words: Sequence[str], parser: argparse.ArgumentParser) -> argparse.Action | None:
    """Return the option whose value is still to be written, if the words end in one, or in a list and a comma."""
    if not words:
        return None
    option, _, value = words[-1].partition("=")
    if not option.startswith("-"):
        option, value = words[-2] if len(words) > 1 else "", words[-1]
    action = parser._option_string_actions.get(option)
    if action is None or action.nargs == 0:
        return None
    return action if not value or (action.metavar == "MODES" and value.endswith(",")) else None


def _values(action: argparse.Action, token: str, magic: Any, cell: str) -> list[str]:
    if action.metavar == "CHECK":
        return list(options.CHECKS)
    if action.metavar == "MODES":
        return list(options.MODES)
    if action.metavar in ("FILE", "DIR"):
        return _files(token, folders_only=action.metavar == "DIR")
    labels_of = getattr(magic, "labels_of", None)
    if action.metavar == "LABEL" and labels_of is not None:
        labels = labels_of(cell.partition("\n")[2])
        return [each if re.fullmatch(r"[^\s'\"]+", each) else f'"{each}"' for each in labels if '"' not in each]
    return []


def _files(token: str, *, folders_only: bool) -> list[str]:
    home = os.path.expanduser(token)
    paths = sorted(glob.glob(f"{glob.escape(home)}*"))
    marked = [f"{each}{os.sep}" if os.path.isdir(each) else each for each in paths]
    return [token + each[len(home) :] for each in marked if each.endswith(os.sep) or not folders_only]


class Completion:
    """Adds completions to a shell, and removes them.

    Args:
        shell: the shell.
        parsers: the magics, and their parsers.
    """

    def __init__(self, shell: InteractiveShell, parsers: Parsers) -> None:
        self._shell = shell
        self._parsers = parsers
        self._matcher = _matcher_of(self._complete)

    def attach(self) -> None:
        """Let IPython ask for completions."""
        if self._matcher is not None:
            self._shell.Completer.custom_matchers.append(self._matcher)
        else:
            self._shell.Completer.magic_arg_matchers.append(self._line_matches)

    def detach(self) -> None:
        """Complete no longer."""
        completer = self._shell.Completer
        for matchers in (completer.custom_matchers, getattr(completer, "magic_arg_matchers", [])):
            matchers[:] = [each for each in matchers if each not in (self._matcher, self._line_matches)]

    def _complete(self, before: str, token: str, cell: str) -> list[str]:
        try:
            found = public_names(before, token, self._shell.user_ns.get("jaxmagic")) or imported_names(before, token)
            return found or completions(before, token, cell, self._parsers)
        except Exception:
            return []  # a completion never disturbs what is being typed

    def _line_matches(self, line: str) -> list[str]:
        """Complete a line; before IPython 8.6, nothing else is asked if this finds something, Jedi included."""
        completer = self._shell.Completer
        before = completer.text_until_cursor
        return self._complete(before, completer.splitter.split_line(before), line)


def _matcher_of(complete: Callable[[str, str, str], list[str]]) -> Any:
    """Return a matcher for IPython's completer; ``None`` before IPython 8.6, which has none with a context."""
    try:
        from IPython.core.completer import SimpleCompletion, context_matcher
    except ImportError:
        return None

    @context_matcher(identifier="jaxmagic")
    def jaxmagic_matcher(context: Any) -> dict[str, Any]:
        token = context.token
        found = complete(context.text_until_cursor, token, context.full_text)
        if found and token.startswith(_MODULE):  # JupyterLab keeps the order only behind the dot, and sorts elsewhere
            token, found = token.removeprefix(_MODULE), [each.removeprefix(_MODULE) for each in found]
        completed = [SimpleCompletion(text=each, type="jaxmagic") for each in found]
        return {"completions": completed, "suppress": bool(found), "ordered": True, "matched_fragment": token}

    return jaxmagic_matcher
