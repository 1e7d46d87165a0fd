"""``%jaxmagic``, and ``%jaxmagic last``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import magic_arguments

from ..magics.declare import JaxMagics, declared, help_of, of_all
from ..report.to_text import to_text
from ..session.verbs import last
from ..subjects import magics as all_magics
from ..terminal import print_line


@magic_arguments("jaxmagic")
@of_all
def jaxmagic(magics: JaxMagics, line: str, cell: None = None, local_ns: dict[str, Any] | None = None) -> None:
    """List the magics, each with what it does and an example; or show the whole report of the last measurement.

    ::

        %jaxmagic
        %jaxmagic last
    """
    said = line.partition("#")[0].strip()
    if said == "last":
        style = replace(magics.style, whole=True, rows=sys.maxsize, form="text")
        print(to_text(last(), style, stream=sys.stdout))
        return
    if said:
        raise UsageError(f"%jaxmagic: expected nothing or 'last', got {said[:60]!r}. Write %jaxmagic last.")
    others = {name: entry.magic for name, entry in all_magics().items() if name != "jaxmagic"}
    width = max(map(len, others))
    for name, magic in others.items():
        print_line(f"%{name.ljust(width)}  {_does(name)}", indent=" " * (width + 3))
        if magic.example:
            print_line(f" {' ' * width}  {magic.example}")
    print_line("%jaxtime -h, for example, prints the options of %jaxtime.")


def _does(name: str) -> str:
    """Return the first line of what a magic's help says about it."""
    return next(each for each in help_of(declared(name)).splitlines() if each[:1].isupper())
