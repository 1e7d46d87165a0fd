"""Say what to write if a function does not take the arguments that a verb was given for it."""

from __future__ import annotations

import difflib
import dis
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from .. import units
from ..errors import message_of
from ..terminal import printable
from ..tracebacks import is_of_call, of_the_user
from .functions import name_of
from .given import in_seconds

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: How many calls lie between a function of :func:`over_a_block` and the user's code, with that of `of_the_user`.
_CALLER = 2

#: The instruction after a call, with its argument, if nobody uses the value: it is dropped, or a shell displays it.
_UNUSED = ("POP_TOP", 0), ("PRINT_EXPR", 0), ("CALL_INTRINSIC_1", 1)

#: What Python says if a call does not fit the signature of a function.
_KEYWORD = re.compile(r"got an unexpected keyword argument '(\w+)'|^'(\w+)' is an invalid keyword argument")
#: What JAX says of a keyword that a jitted function does not take and that is no array.
_NO_ARRAY = re.compile(r"as an abstract array\..* at path \w+\['(\w+)'\]")
#: What Python says of a function in C that takes no keyword at all.
_NO_KEYWORD = "takes no keyword arguments"
_POSITIONAL = re.compile(
    r"missing \d+ required|takes (from )?\d+ .*positional|expected (at (least|most) )?\d+ argument"
)


def explaining_arguments(
    measure: Callable[[], _R],
    functions: Mapping[str, Callable[..., Any]],
    args: Sequence[Any] | None,
    keywords: Mapping[str, Any],
    words: Callable[[str, object], str],
    advice: str,
) -> _R:
    """Call functions, and say what to write if one of them does not take the arguments.

    Args:
        measure: calls the functions.
        functions: the functions by their labels.
        args: the positional arguments that they are called with; ``None`` if others make them.
        keywords: the keywords that they are called with.
        words: says what to write, given the keyword that a function does not take, and its value.
        advice: what to write if the positional arguments do not fit.

    Raises:
        TypeError: the function's error, in other words.
    """
    __tracebackhide__ = True
    try:
        return measure()
    except TypeError as error:
        told = _told(message_of(error), functions, args, keywords, words, advice, of_call=is_of_call(error))
        if told is None:  # it comes from a call inside the function
            raise
        raise TypeError(printable(told)) from None


def _told(
    message: str,
    functions: Mapping[str, Callable[..., Any]],
    args: Sequence[Any] | None,
    keywords: Mapping[str, Any],
    words: Callable[[str, object], str],
    advice: str,
    *,
    of_call: bool,
) -> str | None:
    refused = _KEYWORD.search(message) or _NO_ARRAY.search(message)
    named = {each for each in refused.groups() if each} if refused is not None else set()
    given = keywords if of_call else {each: keywords[each] for each in named if each in keywords}
    unknown = [label for label, each in functions.items() if not _has_signature(each)] if of_call else []
    for keyword, value in given.items():
        labels = [label for label, each in functions.items() if not _may_take(each, keyword)]
        labels += unknown if keyword in named or _NO_KEYWORD in message else []
        if labels:
            return f"{labels[0]}: expected a keyword that it takes, got {keyword}. {words(keyword, value)}"
    if args is None or not _POSITIONAL.search(message):
        return None
    for label, function in functions.items():
        problem = message if label in unknown else misfit(function, args, keywords)
        if problem is not None:
            return f"{label}: {problem}. {advice}"
    return None


def _has_signature(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function)
    except (TypeError, ValueError):
        return False
    return True


def _may_take(function: Callable[..., Any], keyword: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return keyword in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def misfit(function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]) -> str | None:
    """Return why a function does not take these arguments; ``None`` if it does or is not known to."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*args, **keywords)
    except TypeError as error:
        names = ", ".join(signature.parameters)
        return f"expected the arguments ({names}), got {len(args) + len(keywords)} ({message_of(error)})"
    return None


#: The most characters of a number that is shown.
_LONGEST = 20

#: Other names for a tolerance of outputs; ``rtol`` is an option that says when to stop.
_TOLERANCES = ("atol", "tol", "tolerance")


def meant_option(keyword: str, value: object, options: Iterable[str]) -> str:
    """Say which option of a verb to write for a keyword with a value, and where the others go."""
    options = list(options)
    if keyword in _TOLERANCES and "check" in options:
        return "Write check=1e-3, or check=(rtol, atol), for the tolerance of outputs."
    near = near_option(keyword, value, options)
    write = f"{near} instead" if near else f"one of the options {', '.join(options)}"
    return f"Write {write}. Keywords that are not options are passed to the functions."


def near_option(keyword: str, value: object, options: Iterable[str]) -> str | None:
    """Return the option with a similar name, with the value that was given; ``None`` if none is near."""
    close = difflib.get_close_matches(keyword, list(options), 1)
    return _with_value(close[0], value) if close else None


def _with_value(option: str, value: object) -> str:
    """Return an option with the value that was given for it, if it is short and may be one of its own."""
    if option.endswith("_s") and (write := in_seconds(option, value)):
        return write
    return f"{option}={value}" if type(value) in (bool, int, float) and len(str(value)) < _LONGEST else option


def options_of(verb: Callable[..., Any]) -> list[str]:
    """Return the options of a verb: its keywords, besides those that it passes on.

    >>> def benchmark(fn, *args, budget_s=1.0, **kwargs): ...
    >>> options_of(benchmark)
    ['budget_s']
    """
    return [name for name, each in inspect.signature(verb).parameters.items() if each.kind is each.KEYWORD_ONLY]


def measured_by(verb: Callable[..., Any], measure: Callable[[], _R], fn: Any, args: Any, kwargs: Any) -> _R:
    """Call one function for a verb, and say what to write if it does not take the arguments."""
    __tracebackhide__ = True
    advice = f"Write the arguments after the function: {verb.__name__}(f, x)."
    return explaining_arguments(
        measure, {name_of(fn): fn}, args, kwargs, partial(meant_option, options=options_of(verb)), advice
    )


def require_taken(
    verb: Callable[..., Any],
    functions: Mapping[str, Callable[..., Any]],
    args: Sequence[Any] | None,
    keywords: Mapping[str, Any],
    write: str,
) -> None:
    """Say what to write if the arguments of a verb that has failed do not fit the functions that it was given.

    Args:
        verb: the verb, with options of its own.
        functions: the functions by the names of the parameters that take them.
        args: the positional arguments that they are called with; ``None`` if others make them.
        keywords: the keywords that they are called with.
        write: the arguments of the verb in an example.

    Raises:
        TypeError: a function does not take the arguments.
    """
    advice = f"Write the arguments after the functions: {verb.__name__}({write})."
    for label, function in functions.items():
        for keyword, value in keywords.items():
            if not _may_take(function, keyword):
                told = f"expected a keyword that it takes, got {keyword}"
                raise TypeError(
                    printable(f"{label}: {told}. {meant_option(keyword, value, options_of(verb))}")
                ) from None
        problem = None if args is None else misfit(function, args, keywords)
        if problem is not None:
            raise TypeError(printable(f"{label}: {problem}. {advice}")) from None


def over_a_block(
    expected: str, write: str, check: Callable[..., object] = lambda **_: None
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Say what to write if a verb that watches a block is called with a function, as the others are, or has no block.

    Args:
        expected: what the verb takes.
        write: what to write instead.
        check: raises an error for a value that the verb does not take, before the block is entered.
    """

    def decorate(verb: Callable[_P, _R]) -> Callable[_P, _R]:
        @of_the_user
        @wraps(verb)
        def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            __tracebackhide__ = True
            got = _not_taken(verb, *args, **kwargs)
            if got is not None:
                refused = f"{verb.__name__}(): expected {expected}, got {got}."
                raise TypeError(f"{refused} It watches a block. Write {write}.")
            check(*args, **kwargs)
            if _is_statement(sys._getframe(_CALLER)):
                alone = f"{verb.__name__}(): expected a block, got none, so that nothing would be watched."
                raise TypeError(f"{alone} Write {write}.")
            return verb(*args, **kwargs)

        return called

    return decorate


def no_attribute(module: str, name: str, meant: str | None, frame: FrameType) -> Exception:
    """Return the error for a name that a module does not have, which ``from`` would replace by one of its own.

    Args:
        module: the name of the module.
        name: the name.
        meant: the name that was probably meant, perhaps in a module below.
        frame: the frame that asks for the attribute.
    """
    code, at = frame.f_code.co_code, frame.f_lasti
    if at < 0 or dis.opname[code[at]] != "IMPORT_FROM":
        suggestion = f". Did you mean: {meant!r}?" if meant else ""
        message = f"module {module!r} has no attribute {name!r}{suggestion}"
        return AttributeError(message, name=name, obj=None)  # from obj, Python would add a suggestion of its own
    below, _, last = f"{module}.{meant}".rpartition(".")
    write = f". Write from {below} import {last}" if meant else ""
    return ImportError(f"cannot import name {name!r} from {module!r}{write}", name=module)


def _is_statement(frame: FrameType) -> bool:
    """Return whether the call that a frame is in is a statement by itself, whose value nobody uses."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if not 0 <= at < len(code):
        return False
    at += 2
    while at < len(code) and dis.opname[code[at]] == "CACHE":
        at += 2
    return at < len(code) and (dis.opname[code[at]], code[at + 1]) in _UNUSED


def _not_taken(verb: Callable[..., object], *args: object, **kwargs: object) -> str | None:
    """Return what a verb that watches a block was given, if it does not take that or if it is a function."""
    try:
        inspect.signature(verb).bind(*args, **kwargs)
    except TypeError as error:
        if keyword := _KEYWORD.search(message_of(error)):
            return f"{keyword[1] or keyword[2]}="
        count = len(args) + len(kwargs)
        return units.count(count, "argument") if count else "no argument"
    return "a function" if any(map(callable, (*args, *kwargs.values()))) else None
