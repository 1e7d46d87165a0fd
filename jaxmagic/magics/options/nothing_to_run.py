"""Says why a line magic has nothing to run: often an option has taken the code as its value."""

from __future__ import annotations

import argparse

from IPython.core.error import UsageError

from .leading import split

#: What an option takes whose value may be code by mistake, and an example, by the name that its help gives the value.
_TAKEN = {"FILE": ("file", "run.json"), "DIR": ("folder", "runs"), "CODE": ("code", "'y = x + 1'")}


def nothing_to_run(magic: str, line: str, parser: argparse.ArgumentParser) -> UsageError:
    """Return the error for a line magic without a statement.

    Args:
        magic: the name of the magic.
        line: what follows it.
        parser: its options.
    """
    words, _ = split(line, parser)
    option, value = words[-2:] if len(words) > 1 else ("", "")
    action = parser._option_string_actions.get(option)
    taken = None if action is None or action.nargs == 0 else _TAKEN.get(str(action.metavar))
    if taken is not None:
        kind, example = taken
        return UsageError(
            f"%{magic} has nothing to run: {option} took {value} as its {kind}. "
            f"Write the statement after it: %{magic} {option} {example} f(x)."
        )
    return UsageError(
        f"%{magic} has nothing to run. Write the statement after it: %{magic} f(x), "
        f"or put %%{magic} on top of a cell."
    )
