"""Remove jaxmagic's own calls from the tracebacks of errors in the user's code, and find the last one shown."""

from __future__ import annotations

import dis
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeVar

from ..errors import JaxMagicError
from .around import attributes

_P = ParamSpec("_P")
_R = TypeVar("_R")

_OURS = f"{Path(__file__).parents[1]}{os.sep}"

#: The files of the handler of Ctrl-C, and of functions that stand in for Python's own while code is observed.
_HANDLERS = f"{_OURS}interrupts.py", os.path.join(_OURS, "doctor", "capture", "side_effects", "written_files.py")


def of_the_user(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Run `function`, and drop this package's calls from the traceback of errors that the user's code raises in it.

    The same applies to the package's own exception types, and to arguments that a verb refuses, since these messages
    say what to write. Any other error raised in the
    package's code keeps its traceback, since it may be a bug of jaxmagic's.

    >>> import traceback
    >>> @of_the_user
    ... def measured(code):
    ...     return code()
    >>> try:
    ...     measured(lambda: 1 / 0)
    ... except ZeroDivisionError as error:
    ...     [each.name for each in traceback.extract_tb(error.__traceback__)][-1]
    '<lambda>'
    """

    @functools.wraps(function)
    def shown(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            error.__traceback__ = without_ours(error)
            raise

    return shown


#: The attribute in which an error about usage keeps the one that was shown before it.
_BEFORE = "shown_before"


def last_shown() -> BaseException | None:
    """Return the last error that Python or IPython has shown, except for errors about usage.

    IPython sets ``sys.last_value``; Python 3.12 and newer set ``sys.last_exc`` to the same.
    """
    error = getattr(sys, "last_value", None) or getattr(sys, "last_exc", None)
    held = attributes(error) or {}
    before: BaseException | None = held.get(_BEFORE, error)
    return before


def keep_last_shown(usage: BaseException, before: BaseException | None = None) -> None:
    """Let an error about usage keep the error shown before it, which IPython forgets for it.

    Args:
        usage: the error about usage.
        before: the error before it; the last one that was shown if left out.
    """
    before = before or last_shown()
    if before is not usage and _BEFORE not in usage.__dict__:
        usage.__dict__[_BEFORE] = before


def without_ours(error: BaseException) -> TracebackType | None:
    """Return the traceback of an error without the calls that :func:`of_the_user` drops."""
    calls = _calls(error)
    if calls and _is_ours(calls[-1]) and not _is_for_the_user(error, calls[-1]):
        return calls[0]
    rest = None
    for call in reversed(calls):
        if not _is_ours(call):
            call.tb_next = rest
            rest = call
    return rest


def drop_handler(error: BaseException) -> None:
    """Drop the calls of jaxmagic from the end of a traceback: its handler of Ctrl-C, and what observes the code."""
    calls = _calls(error)
    while len(calls) > 1 and calls[-1].tb_frame.f_code.co_filename in _HANDLERS:
        calls.pop()
        calls[-1].tb_next = None


def _calls(error: BaseException) -> list[TracebackType]:
    calls, call = [], error.__traceback__
    while call is not None:
        calls.append(call)
        call = call.tb_next
    return calls


def _is_for_the_user(error: BaseException, call: TracebackType) -> bool:
    """Return whether an error that ends in a call of ours is no bug: an interrupt, or a message about usage."""
    return isinstance(error, JaxMagicError | KeyboardInterrupt) or _is_refusal(error, call)


def _is_ours(call: TracebackType) -> bool:
    return call.tb_frame.f_code.co_filename.startswith(_OURS)


#: Where the arguments of verbs are checked.
_CHECKS = (f"{os.sep}verbs", f"{os.sep}runtime{os.sep}given.py", f"{os.sep}session{os.sep}view_of.py")


def _is_refusal(error: BaseException, call: TracebackType) -> bool:
    """Return whether an error was raised by a ``raise`` where the arguments of verbs are checked."""
    code = call.tb_frame.f_code
    path = code.co_filename.removeprefix(_OURS.rstrip(os.sep))
    return (
        isinstance(error, TypeError | ValueError)
        and any(each in path for each in _CHECKS)
        and dis.opname[code.co_code[call.tb_lasti]] == "RAISE_VARARGS"
    )
