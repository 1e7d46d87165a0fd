"""Reads the references of an object with the descriptors of Python's own types, which call no code of the user.

A reader yields the steps from an object, and the objects that they lead to.
"""

from __future__ import annotations

import contextvars
import functools
import gc
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ....records.attribute_names import Step, aliases, field_names, step_to
from ....records.call_stack import Frame as RecordedFrame
from ....records.call_stack import is_users
from ....runtime.around import is_of_function, of_type, variables_of
from ....tracebacks import calls_in
from ..imported import SHELL, dict_of, is_module, is_of_magics, is_users_module
from .collected import INSIDE, of_cache, of_context_variable, of_proxy, unnamed
from .numpy_elements import of_array, of_record

Part = tuple[Step, Any]
Reader = Callable[[Any], Iterable[Part]]


#: Readers of library classes that live as long as their modules, by address. Making one takes longer than using it.
_lasting: dict[int, tuple[type, Reader | None]] = {}


def reader_of(kind: type) -> Reader | None:
    """Return the reader for objects of this type; ``None`` if they cannot hold an array."""
    known = _lasting.get(id(kind))
    if known is None:
        known = kind, _new_reader(kind)
        if _lasts(kind):
            _lasting[id(kind)] = known
    return known[1]


def _lasts(kind: type) -> bool:
    """Return whether a class is found in a library under its own name, so that remembering it keeps nothing alive."""
    held = _names_beside(kind)
    return held is not None and not is_users_module(held) and held.get(of_type("__name__", kind)) is kind


def _new_reader(kind: type) -> Reader | None:
    top = _module_of(kind).partition(".")[0]
    if top in SHELL or issubclass(kind, _NOT_READ):
        return None
    own = [read for base, read in _READERS if issubclass(kind, base)]
    fields = field_names(_members_of(kind)) if issubclass(kind, tuple) else ()
    if fields:
        own[0] = _of_fields(fields)
    if issubclass(kind, _ALONE):
        return own[0]
    attributes = _attributes_of(kind)
    if attributes is not None:
        own.append(attributes)
    elif not own and top in sys.stdlib_module_names:  # an iterator, a view, a cell, a queue
        own.append(unnamed)
    if _is_users_class(kind):
        own.append(lambda node: [(("type", None), kind)])
    return lambda node: (part for read in own for part in read(node))


def _attributes_of(kind: type) -> Reader | None:
    """Return a reader of attributes and slots, even if the class overrides ``__dict__`` or ``__getattr__``.

    It is ``None`` if objects of the class have neither.
    """
    members = _members_of(kind)
    library = not _is_users_class(kind)
    mapping, sequence = any(base is Mapping for base in of_type("__mro__", kind)), "__getitem__" in members
    dictionary = members.pop("__dict__", None)
    slots = [(name, each) for name, each in members.items() if type(each) is types.MemberDescriptorType]
    if dictionary is None and not slots:
        return None

    def read(node: Any) -> Iterator[Part]:
        if type(dictionary) in _DESCRIPTORS:
            held = dictionary.__get__(node)
            for key, value in dict.items(held) if type(held) is dict else ():
                yield ("attribute", key) if type(key) is str else INSIDE, value
        elif dictionary is not None:
            yield from unnamed(node)
        for name, member in slots:
            with suppress(AttributeError):  # not set
                yield ("attribute", name), member.__get__(node)

    def read_library(node: Any) -> Iterator[Part]:
        parts = list(read(node))
        held = {key: value for (step, key), value in parts if step == "attribute"}
        hidden = aliases(held)
        for (step, key), value in parts:
            if step != "attribute":
                yield (step, key), value
            elif key not in hidden:
                yield step_to(key, value, held, mapping=mapping, sequence=sequence), value

    return read_library if library else read


def _members_of(kind: type) -> dict[str, Any]:
    """Return the attributes of a class, including inherited ones."""
    members: dict[str, Any] = {}
    for base in reversed(of_type("__mro__", kind)):
        members.update(of_type("__dict__", base).items())
    return members


def _of_fields(names: tuple[str, ...]) -> Reader:
    """Return a reader of named tuples with these fields."""
    return lambda node: ((("attribute", name), each) for name, each in zip(names, tuple.__iter__(node), strict=False))


def _of_dict(node: Any) -> Iterator[Part]:
    for number, (key, value) in enumerate(dict.items(node)):
        if type(key) is str and key == "__builtins__":  # of the globals of a script
            continue
        yield ("item", key), value
        if id(type(key)) not in PLAIN:
            yield ("nth", number), key


def _of_sequence(base: Any) -> Reader:
    return lambda node: ((("item", n), each) for n, each in enumerate(base.__iter__(node)))


def _of_set(base: Any) -> Reader:
    return lambda node: ((("nth", n), each) for n, each in enumerate(base.__iter__(node)))


#: The step from a function to its globals, where their module is no longer imported.
GLOBALS: Step = ("attribute", "__globals__")


def _of_function(function: types.FunctionType) -> Iterator[Part]:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # an empty cell
            yield ("closure", name), cell.cell_contents
    defaults = function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=False):
        yield ("default", name), value
    for name, value in (function.__kwdefaults__ or {}).items():
        yield ("default", name), value
    yield from _named(function.__dict__)
    held = function.__globals__
    if is_users_module(held) and "get_ipython" not in held and _is_gone(held):
        yield GLOBALS, held


#: What the name of a block in a cell begins with, which refers to what is being measured.
_OURS = "__jaxmagic_"


def _of_module(module: types.ModuleType) -> Iterator[Part]:
    held = dict_of(module)
    if not is_users_module(held):
        return iter(())
    return (part for part in _named(held) if part[0][1] not in LOADED_WITH and not part[0][1].startswith(_OURS))


def _is_gone(held: dict[str, Any]) -> bool:
    """Return whether the module with these names is no longer imported, as that of a script that %run ran."""
    module = sys.modules.get(str(held.get("__name__")))
    return module is None or not is_module(module) or dict_of(module) is not held


def _of_class(kind: type) -> Iterator[Part]:
    if _is_users_class(kind):
        yield from _named(of_type("__dict__", kind))
        for base in of_type("__mro__", kind)[1:]:
            yield ("same", None), base


def _of_exception(error: BaseException) -> Iterator[Part]:
    for name in ("__cause__", "__context__", "args"):
        yield ("attribute", name), BaseException.__dict__[name].__get__(error)
    yield from _of_traceback(BaseException.__dict__["__traceback__"].__get__(error))


def _of_traceback(traceback: types.TracebackType | None) -> Iterator[Part]:
    for each in calls_in(traceback):
        frame = each.tb_frame
        library = _library_of(frame)
        for name, value in () if is_of_magics(frame) else _variables(frame, frame):
            yield ("library", library) if library else ("frame", (frame.f_code.co_name, name)), value


def _library_of(frame: types.FrameType) -> str:
    """Return the name of the library whose code a frame runs; empty if it runs the user's code."""
    if is_users(RecordedFrame(function="", file=frame.f_code.co_filename, line=0)):
        return ""
    name = dict.get(frame.f_globals, "__name__")
    return name.partition(".")[0] if type(name) is str else "a library"


def _of_frame(frame: types.FrameType) -> Iterator[Part]:
    return ((("local", name), value) for name, value in _variables(frame, frame))


def _of_generator(prefix: str) -> Reader:
    def read(node: Any) -> Iterator[Part]:
        frame = getattr(node, f"{prefix}_frame")
        for name, value in _variables(frame, node) if frame is not None else ():
            yield ("local", name), value

    return read


def _variables(frame: types.FrameType, owner: Any) -> Iterable[tuple[str, Any]]:
    """Return the variables of a function's frame; nothing for a module's frame, whose variables are names.

    Nor, before Python 3.13, for a frame that is running: to read it changes what ``locals()`` returned there before.

    Args:
        frame: the frame.
        owner: the generator of the frame if it can resume, or else the frame.
    """
    can_be_read = sys.version_info >= (3, 13) or gc.get_referents(owner)
    return variables_of(frame).items() if is_of_function(frame) and can_be_read else ()


def _named(held: Any) -> Iterator[Part]:
    return ((("attribute", name), value) for name, value in held.items() if type(name) is str)


def _module_of(kind: type) -> str:
    name = of_type("__module__", kind)
    return name if type(name) is str else ""


def _is_users_class(kind: type) -> bool:
    held = _names_beside(kind)
    return _module_of(kind) != "" if held is None else is_users_module(held)


def _names_beside(kind: type) -> dict[str, Any] | None:
    """Return the names in the module of a class; ``None`` if that is not imported."""
    module = sys.modules.get(_module_of(kind))
    return dict_of(module) if module is not None and is_module(module) else None


#: Names in modules that are not searched: a loader can refer to everything, as pytest's does.
LOADED_WITH = frozenset(("__builtins__", "__loader__", "__spec__"))

_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_NOT_READ = (weakref.ref, weakref.ProxyType, weakref.CallableProxyType)

#: Ids of types without references. Not the types themselves, because a metaclass may not allow hashing or comparing.
PLAIN = frozenset(
    map(id, (type(None), bool, int, float, complex, str, bytes, bytearray, range, types.CodeType, type(...)))
)

_READERS: tuple[tuple[type, Reader], ...] = (
    (dict, _of_dict),
    (list, _of_sequence(list)),
    (tuple, _of_sequence(tuple)),
    (deque, _of_sequence(deque)),
    (set, _of_set(set)),
    (frozenset, _of_set(frozenset)),
    (types.FunctionType, _of_function),
    (types.ModuleType, _of_module),
    (type, _of_class),
    (BaseException, _of_exception),
    (types.TracebackType, _of_traceback),
    (types.FrameType, _of_frame),
    (types.GeneratorType, _of_generator("gi")),
    (types.CoroutineType, _of_generator("cr")),
    (types.AsyncGeneratorType, _of_generator("ag")),
    (functools._lru_cache_wrapper, of_cache),
    (np.ndarray, of_array),
    (np.void, of_record),
    (memoryview, lambda view: [(("attribute", "obj"), view.obj)]),
    # To read the attributes of a derived class may run its __init__.
    (threading.local, lambda node: _named(node.__dict__) if type(node) is threading.local else unnamed(node)),
    (contextvars.ContextVar, of_context_variable),
    (types.MappingProxyType, of_proxy),
    (types.BuiltinFunctionType, lambda method: [(("attribute", "__self__"), method.__self__)]),
)

#: Types that are read by their own reader only: the globals of a function may lead to the whole session.
_ALONE = (
    types.FunctionType,
    types.ModuleType,
    type,
    types.TracebackType,
    types.FrameType,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
)
