"""Parses the leading options of a magic, and leaves the code after them verbatim.

IPython's own ``%time`` splits the line into words and joins them again, so that ``f'{n}  {n}'`` loses a space. Here
only the leading options are parsed, and the rest is the statement as it was typed. Only options that the parser knows
count: ``-x[0, 0]`` is a statement. ``--`` ends the options.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import re
from collections.abc import Mapping

from IPython.core.error import UsageError

from ...subjects import magics
from .misread import is_code, meant_by, refuse_split_list, refuse_switch_value
from .values import CHECKS, MODES

_LONG = re.compile(r"(--[A-Za-z][\w-]*)(=.*)?$", re.S)
_LATE = re.compile(r"\s(--[A-Za-z][\w-]*)(?=[\s=]|$)")
_LATE_SHORT = re.compile(r"\s(-[A-Za-z]+)(?=\s|$)")
_TWO_WORDS = re.compile(r"\s*([^\s'\"]+\s+\S+)")
_VALUE = re.compile(r"""\s*("[^"]*"|'[^']*'|\S+)""")
_QUOTED = re.compile(r"""("[^"]*"|'[^']*')(?=\s|$)""")
_WORD = re.compile(r"""\s*("[^"]*"|'[^']*'|[^\s'"]+)(?=\s|$)""")

#: What looks like the name of a file.
_FILE = re.compile(r"(?!-)[\w./~-]*[A-Za-z_]\w*\.[A-Za-z]\w*")

#: Other names for a tolerance of outputs; ``--rtol`` says when to stop.
_TOLERANCES = ("--atol", "--tol", "--tolerance")

#: Suffixes of heap profile files, as pprof and JAX's documentation use them.
_PPROF_ENDINGS = (".pb.gz", ".pprof", ".prof")


def split(text: str, parser: argparse.ArgumentParser) -> tuple[list[str], str]:
    """Split `text` into its leading options, as words, and the unchanged rest.

    Raises:
        UsageError: a word looks like a long option, but there is no such option; or an option follows the code.
    """
    known: dict[str, argparse.Action] = parser._option_string_actions
    words: list[str] = []
    at = 0
    while True:
        start = at + len(text[at:]) - len(text[at:].lstrip())
        word = text[start:].split(maxsplit=1)[0] if text[start:] else ""
        if word == "--":
            return words, text[start + 2 :].lstrip()
        if word == "-h" and not only_comment(split(text[start + 2 :], parser)[1]):
            end = None  # -h + 1
        elif word.startswith("--"):
            end = _long_option(text, start, word, known, words)
        elif re.match(r"-[A-Za-z]", word):
            end = _short_options(text, start, word, known, words)
        else:
            end = None
        if end is None:
            _refuse_late(text[start:], known)
            _refuse_late_short(text[start:], parser)
            return words, text[start:]
        at = end


def _refuse_late(code: str, known: Mapping[str, argparse.Action]) -> None:
    """Raise a `UsageError` if a long option follows the code, where Python may read a difference."""
    for found in _LATE.finditer(code):
        before = code[: found.start()]
        if found[1] in known and before.strip() and is_code(before) and not is_code(f"{before} )"):  # a comment
            raise UsageError(
                f"{found[1]}: options come before the code. Write {code[found.start() :].strip()} {before.strip()}. "
                "If it is code, write -- before all of it."
            )


def _refuse_late_short(code: str, parser: argparse.ArgumentParser) -> None:
    """Raise a `UsageError` if `code` is not Python, but would be without the options at its end.

    ``f(x) -q`` is a difference; ``f(x) -r 5`` is neither that nor anything else.
    """
    for found in _LATE_SHORT.finditer(code):
        before, late = code[: found.start()], code[found.start() :].strip()
        if not before.strip() or not is_code(before) or is_code(f"{before} )") or is_code(code):  # a comment
            continue
        words, rest = split(late, parser)
        if words and not rest:
            raise UsageError(f"{found[1]}: options come before the code. Write {late} {before.strip()}")


def refuse_below(code: str, magic: str, parser: argparse.ArgumentParser) -> None:
    """Raise a `UsageError` if a line below a magic, whose code is not Python, ends in options of the magic."""
    for line in code.splitlines():
        for found in _LATE.finditer(f" {line}"):
            late = line[found.start() :].strip()
            if found[1] in parser._option_string_actions and not is_code(late):
                raise UsageError(f"{found[1]}: options come on the first line. Write %%{magic} {late}")


def asks_for_help(text: str, parser: argparse.ArgumentParser) -> bool:
    """Return whether the options in a text include ``-h`` or ``--help``; ``-h + 1`` is code."""
    try:
        words, _ = split(text, parser)
    except UsageError:
        return False
    return "-h" in words or "--help" in words


def read(text: str, parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, str]:
    """Return the values of the leading options of `text`, and the unchanged rest.

    Raises:
        UsageError: there is no such option, or a value is missing or invalid.
    """
    words, rest = split(text, parser)
    return parse(words, parser), rest


def parse(words: list[str], parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the values of the options in `words`.

    Raises:
        UsageError: a value is missing or invalid.
    """
    try:
        return _parse(parser, *words)
    except UsageError as error:
        raise UsageError(_in_our_words(str(error), parser)) from None


#: The value that an option without one lacks, by the name that its help gives it, and an example.
_EXPECTED = {
    "DIR": ("a folder", "runs"),
    "FILE": ("a file", "run.json"),
    "TIME": ("a time with a unit", "50ms"),
    "SIZE": ("a size with a unit", "16GiB"),
    "SHARE": ("a fraction", "1%"),
    "CODE": ("code in quotes", "'y = x + 1'"),
    "CHECK": (f"{', '.join(CHECKS)}, or a tolerance RTOL or RTOL,ATOL", "1e-3"),
    "LABEL": ("the label of a candidate", "jit"),
    "NAME=VALUES": ("a variable with its values", "n=64,256"),
    "WORK": ("items=N, bytes=N or flops", "flops"),
    "MODES": (" or ".join((", ".join(MODES[:-1]), MODES[-1])), "forward,grad"),
    "RULES": ("rules, separated by commas", "recompile,donation"),
    "NAME": ("a name", "t"),
}


#: What argparse says of the value of an option that takes none, before that value.
_NO_VALUE = "ignored explicit argument "


def _in_our_words(message: str, parser: argparse.ArgumentParser) -> str:
    """Reword a message of argparse: the option, what it expects, what it got, and what to write."""
    found = re.fullmatch(r"argument (\S+): (.*)", message, re.S)
    if found is None:
        return message
    option, what = found[1], found[2]
    if what.startswith(_NO_VALUE):
        names = option.split("/")
        return f"{names[0]}: expected no value, got {what.removeprefix(_NO_VALUE)}. Write {' or '.join(names)}"
    action = parser._option_string_actions.get(option.partition("/")[0])
    if action is not None and what == "expected one argument":
        expected, example = _EXPECTED.get(str(action.metavar), ("a positive integer", "3"))
        return f"{option}: expected {expected}, got nothing. Write for example {option} {example}"
    return f"{option}: {what}"


@functools.lru_cache(maxsize=32)
def _parse(parser: argparse.ArgumentParser, *words: str) -> argparse.Namespace:
    # The same options are parsed when a cell is rewritten, and again when it runs.
    return parser.parse_args(words)


def _long_option(text: str, start: int, word: str, known: dict[str, argparse.Action], words: list[str]) -> int | None:
    found = _LONG.match(word)
    if found is None:
        return None  # --(x), --x[0]: two minus signs
    name, value = found[1], found[2]
    if name not in known:
        if name in _TOLERANCES and "--check" in known:
            raise UsageError(f"there is no option {name}. Write --check RTOL or --check RTOL,ATOL.")
        here = f"{name} here" if _magics_with(name) else name
        raise UsageError(f"there is no option {here}. {_instead(name, known)} If it is code, write -- before it.")
    if value is not None and (quoted := _QUOTED.match(text, start + len(name) + 1)):
        words.append(f"{name}={_unquoted(quoted[1])}")
        return quoted.end()
    end = start + len(word)
    if value is not None:
        refuse_split_list(name, known[name], value.removeprefix("="), text[end:])
    if known[name].nargs == 0 or value is not None:
        if value is None:
            refuse_switch_value(name, known[name], text[end:])
        words.append(word)
        return end
    given = (_file if known[name].nargs == "?" else _value)(text, end, known[name])
    if given is None and known[name].nargs == "?":
        _refuse_other_file(name, text, end)
    if given:
        refuse_split_list(name, known[name], given[1], text[given.end() :])
    values = [_unquoted(given[1])] if given else []
    words += [f"{name}={values[0]}"] if values and values[0].startswith("-") else [name, *values]
    return given.end() if given else end


def _refuse_other_file(name: str, text: str, end: int) -> None:
    """Raise a `UsageError` if a file with another ending stands before code that is Python without it."""
    word = _WORD.match(text, end)
    if word is None or not _FILE.fullmatch(_unquoted(word[1])):
        return
    rest = text[word.end() :].strip()
    if rest and is_code(rest) and not is_code(text[end:].strip()):
        ends = " or ".join((", ".join(_PPROF_ENDINGS[:-1]), _PPROF_ENDINGS[-1]))
        raise UsageError(
            f"{name}: expected a file that ends in {ends}, got {word[1]!r}. Write for example {name}=heap.pb.gz"
        )


def _instead(name: str, known: Mapping[str, argparse.Action]) -> str:
    """Say which option may have been meant by one that does not exist."""
    if name == "--save" and "-v" in known:
        return "Write -v t, and then jaxmagic.save(t, 'run.json'), or t.figure().savefig('run.svg') for a picture."
    if name[1:] in known:
        return f"Write {name[1:]}, with one dash."
    if name == "--read":
        return "Write jaxmagic.read_profile('x.xplane.pb'), which reads a recording."
    others = (
        [f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} it."] if (names := _magics_with(name)) else []
    )
    if meant := meant_by(name, known):
        others.insert(0, f"Write {meant}.")
    if others:
        return " ".join(others)
    # Without the dashes, which all names have in common.
    close = difflib.get_close_matches(name[2:], [each[2:] for each in known if each.startswith("--")], 1)
    if not close:
        return f"Options: {', '.join(sorted(known))}."
    does = re.split(r"[.:;](?: |$)", str(known[f"--{close[0]}"].help).replace("%%", "%"))[0]
    return f"Did you mean --{close[0]}? ({does}.)"


def _magics_with(name: str) -> list[str]:
    """Return the magics that have an option."""
    from ..declare import declared  # which reads options

    known = ((each, entry.magic.kinds) for each, entry in magics().items())
    return [
        f"{'%' if 'line' in kinds else '%%'}{magic}"
        for magic, kinds in known
        if name in declared(magic).parser._option_string_actions
    ]


def _short_options(
    text: str, start: int, word: str, known: dict[str, argparse.Action], words: list[str]
) -> int | None:
    """Read ``-q``, ``-qo``, ``-v NAME``, or ``-vN`` for a name of one letter; anything else is code."""
    flags: list[str] = []
    for position, letter in enumerate(word[1:], 1):
        action = known.get(f"-{letter}")
        if action is None or (letter == "h" and word != "-h"):
            if f"-{word}" in known and not is_code(text[start:]):
                raise UsageError(f"there is no option {word}. Write -{word}, with two dashes.")
            return None
        if action.nargs == 0:
            flags.append(f"-{letter}")
            continue
        end = start + len(word)
        if rest := word[position + 1 :]:
            if action.metavar == "NAME" and len(rest) > 1:
                if is_code(text[start:]):
                    return None  # -velocity
                raise UsageError(f"there is no option {word}. To name the record, write -{letter} {rest}")
            if not _fits(action, rest) and is_code(text[start:]):
                return None  # -n0 + 1
            words += [*flags, f"-{letter}", rest]
            return end
        given = _value(text, end, action)
        words += [*flags, f"-{letter}", *([_unquoted(given[1])] if given else [])]
        return given.end() if given else end
    words += flags
    return start + len(word)


def _value(text: str, at: int, action: argparse.Action) -> re.Match[str] | None:
    """Match the value of an option: one word, or two if the option takes them only together, as in ``50 ms``."""
    one, two = _VALUE.match(text, at), _TWO_WORDS.match(text, at)
    return two if one and two and not _fits(action, one[1]) and _fits(action, two[1]) else one


def _file(text: str, at: int, action: argparse.Action) -> re.Match[str] | None:
    """Match the optional value of an option: a word that is a file name by its suffix, and so not code."""
    word = _WORD.match(text, at)
    return word if word and _unquoted(word[1]).endswith(_PPROF_ENDINGS) else None


def _fits(action: argparse.Action, value: str) -> bool:
    try:
        action.type(value) if callable(action.type) else value
    except (argparse.ArgumentTypeError, ValueError):
        return False
    return True


def _unquoted(value: str) -> str:
    return value[1:-1] if value[0] in "'\"" else value


def only_comment(text: str) -> bool:
    """Return whether `text` has no code."""
    return not text.strip() or text.lstrip().startswith("#")
