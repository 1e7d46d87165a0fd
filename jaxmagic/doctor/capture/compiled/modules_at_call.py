"""Tells through which library of modules an operation or a jitted function is called, and names its modules there."""

from __future__ import annotations

from types import FrameType, ModuleType
from typing import NamedTuple

from ....records.call_stack import Frame, is_users
from ....runtime.around import attribute, is_a, variables_of
from ...record.library_use import ModuleLibrary
from ..failures.libraries.module_use import library_of
from ..inputs import library_in

#: How the names of the libraries' own modules of Python begin.
_HOMES: dict[str, ModuleLibrary] = {"equinox.": "equinox", "flax.nnx.": "nnx"}


class ModulesAtCall(NamedTuple):
    """The library through which a program is called.

    Attributes:
        library: the library.
        names: what the user's innermost line may call its modules: variables, and attributes of other objects.
    """

    library: ModuleLibrary
    names: tuple[str, ...]


def modules_at_call(frame: FrameType | None) -> ModulesAtCall | None:
    """Return the library that the user's innermost line calls, or of whose modules it is a method.

    ``None`` if there is none, and while a module is made. Unlike inputs, these are also modules that the code makes.

    Args:
        frame: the innermost frame of a stack, in which a program begins to run.
    """
    library: ModuleLibrary | None = None
    while frame is not None and frame.f_code.co_name != "__init__":
        code = frame.f_code
        if is_users(Frame(function=code.co_name, file=code.co_filename, line=0)):
            if library is None and "self" in code.co_varnames[: code.co_argcount]:
                library = library_of(variables_of(frame).get("self"))
            return None if library is None else ModulesAtCall(library, tuple(_names(frame, library)))
        home = str(frame.f_globals.get("__name__"))
        library = next((each for begin, each in _HOMES.items() if home.startswith(begin)), library)
        frame = frame.f_back
    return None


def _names(frame: FrameType, library: ModuleLibrary) -> list[str]:
    code, variables = frame.f_code, {**frame.f_globals, **variables_of(frame)}
    names = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars, *code.co_names))
    held = {name: variables[name] for name in names if name in variables}
    known = {name: library_in(value) for name, value in held.items()}
    inside = {
        f"{name}.{each}": library_in(attribute(value, each))
        for name, value in held.items()
        for each in (() if known[name] is not None or is_a(value, ModuleType) else code.co_names)
    }
    return [path for path, found in (known | inside).items() if found == library]
