"""Says what to write if a part of an option, or an option behind the code, was read as code."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Container
from itertools import takewhile

from IPython.core.error import UsageError

#: Options whose values are separated by commas, by the names that their helps give to the values.
_LISTS = frozenset({"NAME=VALUES", "MODES", "RULES"})

#: Those of a magic with no code on its line.
_WITHOUT_CODE = frozenset({"NAME=VALUES", "MODES"})

#: One of several values.
_ITEM = re.compile(r"-?[\w.][\w.*+/]*")

#: What looks like the value of an option that has none.
_SWITCHED = re.compile(r"\s+(yes|no|on|off|true|false|0|1)\s+(?=\S)", re.IGNORECASE)

#: Short options at the end of a line.
_FLAGS_LAST = re.compile(r"(?:\s-[A-Za-z]+)+\s*$")


#: The names that other tools give to options for how often code runs, and for what is left out.
_REPEATS = frozenset({"-r", "-n", "--repeat", "--repeats", "--repetitions", "--number", "--runs", "--loops"})
_LEAVES_OUT = frozenset({"--ignore", "--skip", "--exclude", "--disable", "--without"})


def meant_by(name: str, known: Container[str]) -> str:
    """Return what to write for what other tools have an option for, if it is one of those; "" if it is not.

    >>> meant_by("--repeat", ["-r"]), meant_by("-n", []), meant_by("--all", [])
    ('-r R for exactly R samples', '%jaxtimeit, which runs the code many times', '')
    """
    if name in _REPEATS:
        return "-r R for exactly R samples" if "-r" in known else "%jaxtimeit, which runs the code many times"
    if name in _LEAVES_OUT and "--only" in known:
        return "--only RULES, or jaxmagic.testing.assert_healthy(f, x, ignore=[...]), which leaves rules out"
    return ""


def is_code(text: str) -> bool:
    """Return whether a text is Python.

    >>> is_code("await f(x)"), is_code("yes f(x)")
    (True, False)
    """
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        compile(text, "", "exec", flags)
    except (SyntaxError, ValueError):
        return False
    return True


def refuse_split_list(name: str, action: argparse.Action, value: str, behind: str) -> None:
    """Raise a `UsageError` if spaces split a list of values, as in ``--sweep n=64, 128`` or ``--sweep n=64 128``.

    Args:
        name: the option.
        action: what the parser knows of it.
        value: its value, as typed.
        behind: the rest of the line.
    """
    if action.metavar not in _LISTS or not (more := behind.split()) or more[0][0] == "-":
        return
    joined = value
    while joined.endswith(",") and more:
        joined += more.pop(0)
    if joined == value and action.metavar in _WITHOUT_CODE and is_code(value.partition("=")[2] or value):
        joined = ",".join([value, *takewhile(_ITEM.fullmatch, more)])
    if joined == value:
        return
    quotes = ", or put the value in quotes" if value.endswith(",") else ""
    raise UsageError(
        f"{name}: expected a value without spaces, got {value} {behind.split()[0]}. Write {name} {joined}{quotes}."
    )


def refuse_switch_value(name: str, action: argparse.Action, behind: str) -> None:
    """Raise a `UsageError` if an option that takes no value has one, as in ``--map yes f(x)``."""
    value = _SWITCHED.match(behind)
    if value and is_code(behind[value.end() :]) and not is_code(behind.strip()):
        raise UsageError(f"{name}: expected no value, got {value[1]!r}. Write {' or '.join(action.option_strings)}")


def note_late_flags(error: BaseException | None, code: str | None, parser: argparse.ArgumentParser) -> None:
    """Add to a `NameError` what to write, if the name is that of an option behind the code, as in ``f(x) -q``."""
    late = _FLAGS_LAST.search(code or "")
    if code is None or late is None or not isinstance(error, NameError) or "\n" in code.strip():
        return
    flags, known = late[0].split(), parser._option_string_actions
    if f"-{error.name}" in flags and all(f"-{letter}" in known for flag in flags for letter in flag[1:]):
        told = f"If -{error.name} is an option: options come before the code. "
        told += f"Write {' '.join(flags)} {code[: late.start()].strip()}"
        if told not in getattr(error, "__notes__", ()):
            error.add_note(told)
