"""Remove jaxmagic's own calls from the tracebacks of errors in the user's code and of mistakes of usage."""

from __future__ import annotations

import difflib
import dis
import functools
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeVar

from .errors import JaxMagicError

_P = ParamSpec("_P")
_R = TypeVar("_R")

_OURS = f"{Path(__file__).parent}{os.sep}"

#: The files of the handler of Ctrl-C, and of functions that stand in for those of Python and JAX in observed code.
_HANDLERS = (
    f"{_OURS}interrupts.py",
    os.path.join(_OURS, "doctor", "capture", "side_effects", "written_files.py"),
    os.path.join(_OURS, "timing", "capture", "waits.py"),
    os.path.join(_OURS, "runtime", "executed_programs.py"),
)

#: The rooms whose arguments never come from the user.
_REMOTE = tuple(os.path.join(_OURS, room, "") for room in ("drawing", "xla"))

#: The name of functions that do nothing but call the user's: an error that ends there comes from a function in C.
_CALL = "call_of_the_user"

#: This file, where a call fails that does not fit the signature.
_WRAPPER = f"{_OURS}tracebacks.py"


def of_the_user(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Run `function`, and drop this package's calls from the traceback of errors that the user's code raises in it.

    So do a function in C that the user gave, which has no call of its own in a traceback, the package's own exception
    types, arguments that are refused or do not fit the signature, and what the system says of a file: these messages
    say what to write. Any other error raised in the package's code keeps its traceback, since it may be a bug of
    jaxmagic's. Python also shows the errors that led to one, which are treated in the same way.

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
            if isinstance(error, TypeError) and (told := _misfit(function, error, args, kwargs)):
                error.args = (told,)
            _drop_ours(error)  # a variable with the error here would keep this frame, and so the arguments, alive
            raise

    return shown


def _drop_ours(error: BaseException) -> None:
    for each in _with_causes(error):
        each.__traceback__ = without_ours(each)


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, and those that led to it; what the package's own exceptions explain is no bug of jaxmagic's."""
    known: dict[int, BaseException] = {}
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop()
        if each is not None and id(each) not in known:
            known[id(each)] = each
            left += each.__cause__, each.__context__
            if isinstance(each, JaxMagicError) and each.__cause__ is not None:
                each.__cause__.__dict__[_REFUSED] = True
            yield each


def _misfit(
    function: Callable[..., object], error: TypeError, args: tuple[object, ...], kwargs: dict[str, object]
) -> str | None:
    """Return what to write if the call itself failed, because its arguments do not fit the signature."""
    if error.__traceback__ is None or error.__traceback__.tb_next is not None:
        return None
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        taken = [each for each in signature.parameters.values() if each.name != "self"]
        names = [each.name for each in taken if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        shown = [str(each.replace(annotation=each.empty)) for each in taken]
        if not names:  # the defaults would do nothing
            shown = [f"{each.name}=..." for each in taken]
        expected = f"the arguments ({', '.join(names)})" if names else f"no {'positional ' * bool(taken)}argument"
        count = len(args) + len(kwargs) + len(taken) - len(signature.parameters)
        wrong = next((name for name in kwargs if name not in signature.parameters), None)
        if wrong is None:
            misfit = f"expected {expected}, got {count or 'none'}"
        else:
            misfit = f"expected {'a keyword that it takes' if taken else expected}, got {wrong}="
        close = [] if wrong is None else difflib.get_close_matches(wrong, signature.parameters, 1)
        write = f"{close[0]} instead" if close else f"{function.__name__}({', '.join(shown)})"
        return f"{function.__name__}(): {misfit}. Write {write}"
    return None


def without_ours(error: BaseException) -> TracebackType | None:
    """Return the traceback of an error without the calls that :func:`of_the_user` drops."""
    calls = calls_in(error.__traceback__)
    if calls and _is_ours(calls[-1]) and not _is_for_the_user(error, calls[-1]):
        return calls[0]
    rest = None
    for call in reversed(calls):
        if not _is_ours(call):
            call.tb_next = rest
            rest = call
    return rest


def drop_handler(error: BaseException) -> None:
    """Drop the calls of jaxmagic that the user's code makes unseen: the handler of Ctrl-C, and what observes it.

    An interrupt is no bug, so none of ours is left but the first call, which has caught it.
    """
    interrupt = isinstance(error, KeyboardInterrupt)
    rest = None
    for call in reversed(calls := calls_in(error.__traceback__)):
        if call is calls[0] or not (_is_ours(call) if interrupt else call.tb_frame.f_code.co_filename in _HANDLERS):
            call.tb_next = rest
            rest = call


def calls_in(traceback: TracebackType | None) -> list[TracebackType]:
    """Return the calls of a traceback, the innermost last."""
    calls = []
    while traceback is not None:
        calls.append(traceback)
        traceback = traceback.tb_next
    return calls


def _is_for_the_user(error: BaseException, call: TracebackType) -> bool:
    """Return whether an error that ends in a call of ours is no bug: an interrupt, or a message about usage."""
    if _is_refusal(error, call) or is_of_call(error):
        error.__dict__[_REFUSED] = True
    return isinstance(error, JaxMagicError | KeyboardInterrupt) or _REFUSED in error.__dict__


def is_of_call(error: BaseException) -> bool:
    """Return whether the call of the user's function failed itself, and nothing inside it, as far as Python tells."""
    calls = calls_in(error.__traceback__)
    return bool(calls) and calls[-1].tb_frame.f_code.co_name == _CALL and _is_ours(calls[-1])


#: The attribute of an error that is known to be no bug of ours, for a function of ours that has called another.
_REFUSED = "_jaxmagic_refused"


def _is_ours(call: TracebackType) -> bool:
    return call.tb_frame.f_code.co_filename.startswith(_OURS)


def _is_refusal(error: BaseException, call: TracebackType) -> bool:
    """Return whether an error says what was given wrongly: a ``raise`` of ours, the call itself, or a file.

    It does not in a room that knows nothing of the user, or where a record checks its own fields.
    """
    code = call.tb_frame.f_code
    if isinstance(error, OSError) or (isinstance(error, TypeError) and code.co_filename == _WRAPPER):
        return True
    return (
        isinstance(error, TypeError | ValueError | LookupError | FrozenInstanceError)
        and code.co_name != "__post_init__"
        and not code.co_filename.startswith(_REMOTE)
        and dis.opname[code.co_code[call.tb_lasti]] == "RAISE_VARARGS"
    )
