"""Who holds an array? A search from the names of a session, which runs no code of the user's.

An array is kept alive by what refers to it: a variable, a cell's output, a closure, the frame of the last traceback.
The search goes breadth first from the names, and writes each way down as one would type it. Nothing of the user's is
called, not even ``__eq__`` or a property: what an object holds is read with the descriptors of Python's own types.
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
import sysconfig
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from heapq import heappop, heappush
from typing import Any, NamedTuple

from .clock import Clock, now_ns

#: Elements that are looked at in one container; the namespace itself is no container.
_MOST_ITEMS = 100_000

#: Steps from a name. What lies deeper has no path that a person would read.
_DEEPEST = 60

#: Names of one array, ways that are tried to find them, and holders that are remembered of one object.
_MOST_NAMES = 5
_MOST_TRIES = 300
_MOST_HOLDERS = 8

#: Objects that are looked at between two looks at the clock.
_BETWEEN = 256

#: Characters of a key, and of a whole path.
_LONGEST_KEY = 40
_LONGEST_PATH = 120


class Holders(NamedTuple):
    """Where arrays were found.

    Attributes:
        names: by ``id(array)``, Python as one would type it, shortest first; an array that was not found is left out.
        complete: whether all was looked at. Not where the time was up, or a container was cut or changed meanwhile.
    """

    names: dict[int, list[str]]
    complete: bool


#: How an object leads to another one: ``("attribute", "w")``, ``("item", 0)``, ``("closure", "w")``.
_Step = tuple[str, Any]
_Part = tuple[_Step, Any]
_Reader = Callable[[Any], Iterable[_Part]]


def find_holders(
    arrays: Iterable[Any], namespace: dict[str, Any], *, limit_s: float = 0.5, clock: Clock = now_ns
) -> Holders:
    """Where `arrays` can be found from `namespace`, from the last traceback and from the modules of the user's.

    Args:
        arrays: JAX arrays. Nothing refers to them any more when this has returned.
        namespace: names and values, such as a notebook's.
        limit_s: of the whole search. What was found until then is named.
        clock: another one in a test.

    >>> import jax.numpy as jnp
    >>> w = jnp.ones(3)
    >>> find_holders([w], {"model": {"layers": [w]}}).names[id(w)]
    ["model['layers'][0]"]
    """
    search = _Search(frozenset(map(id, arrays)), limit_s, clock)
    search.run(namespace)
    return Holders(search.names(), search.complete)


class _Search:
    """One search: what was met, how deep, and who holds it."""

    def __init__(self, wanted: frozenset[int], limit_s: float, clock: Clock) -> None:
        self.complete = True
        self._wanted = wanted
        self._clock = clock
        self._end_ns = clock() + round(limit_s * 1e9)
        self._looked_at = 0
        self._over = False
        self._queue: list[Any] = []  # nothing is taken from it: an address stays that of one object
        self._depths: dict[int, int] = {}
        self._holders: dict[int, list[tuple[int, _Step]]] = {}
        self._readers: dict[int, tuple[type, _Reader | None]] = {}

    def run(self, namespace: dict[str, Any]) -> None:
        """Look at all that the namespace leads to, nearest first."""
        self._depths[id(namespace)] = 0
        self._meet(_NOBODY, 0, _roots(namespace), most=sys.maxsize)
        for node in self._queue:  # it grows meanwhile
            if self._over:
                break
            depth = self._depths[id(node)] + 1
            reader = self._reader(type(node))
            if reader is None:
                continue
            if depth > _DEEPEST:
                self.complete = False
                break
            with suppress(Exception):
                self._meet(id(node), depth, reader(node))
        self.complete = self.complete and not self._over
        self._queue.clear()
        self._readers.clear()

    def _reader(self, kind: type) -> _Reader | None:
        known = self._readers.get(id(kind))
        if known is None:  # with the type itself, so that its address stays its own
            known = self._readers[id(kind)] = kind, _reader(kind)
        return known[1]

    def _meet(self, holder: int, depth: int, parts: Iterable[_Part], most: int = _MOST_ITEMS) -> None:
        try:
            for number, (step, part) in enumerate(parts):
                self._looked_at += 1
                if self._looked_at % _BETWEEN == 0 and self._clock() >= self._end_ns:
                    self._over = True
                    return
                if number >= most:
                    self.complete = False
                    return
                if id(type(part)) not in _PLAIN:
                    self._add(holder, depth, step, part)
        except Exception:  # a container that another thread changes
            self.complete = False

    def _add(self, holder: int, depth: int, step: _Step, part: Any) -> None:
        address = id(part)
        if address not in self._depths:
            self._depths[address] = depth
            if address not in self._wanted:
                self._queue.append(part)
        holders = self._holders.setdefault(address, [])
        if len(holders) < _MOST_HOLDERS:
            holders.append((holder, step))

    def names(self) -> dict[int, list[str]]:
        """The names of every array that was found."""
        return {array: self._names_of(array) for array in self._wanted if array in self._holders}

    def _names_of(self, array: int) -> list[str]:
        """Its shortest paths: one for each name that they begin with, before a second one for any."""
        tried = 0
        ways: list[tuple[int, int, tuple[int, ...], tuple[_Step, ...]]] = [(self._depths[array], 0, (array,), ())]
        found: dict[str, str] = {}
        while ways and tried < _MOST_TRIES and len(found) < 2 * _MOST_NAMES:
            _, _, nodes, steps = heappop(ways)
            for holder, step in reversed(self._holders.get(nodes[0], ())):  # of equal ones the last is taken next
                tried += 1
                if holder == _NOBODY:
                    found.setdefault(_text((step, *steps)), step[1])
                elif holder not in nodes:  # not in circles
                    length = len(nodes) + self._depths[holder]
                    heappush(ways, (length, -tried, (holder, *nodes), (step, *steps)))
        return _choose(found)


#: In the place of a holder's address: it is a name.
_NOBODY = 0


def _choose(found: dict[str, str]) -> list[str]:
    """A few of the paths in `found`, whose values are the names that they begin with."""
    paths = sorted(found, key=len)
    first = {found[path]: path for path in reversed(paths)}
    others = [path for path in paths if first[found[path]] != path]
    return sorted([*sorted(first.values(), key=len), *others][:_MOST_NAMES], key=len)


def _text(steps: Iterable[_Step]) -> str:
    """A path as one would type it; what no expression leads to is said in words behind it."""
    outer, text, parentheses = "", "", 0
    for kind, key in steps:
        if kind == "name":
            text = key
        elif kind == "attribute":
            text += f".{key}"
        elif kind == "item":
            text += f"[{_key_text(key)}]"
        elif kind == "nth":
            text = f"list({text})[{key}]"
        elif kind == "type":
            text = f"type({text})"
        elif kind == "frame":
            outer, text = f"{outer}{text}: frame {key[0]}, variable ", key[1]
        elif kind == "inside":
            text += f" ({key})"
        elif kind != "same":
            outer, text, parentheses = f"{outer}{text} ({kind}: ", key, parentheses + 1
    return _cut(outer + text + ")" * parentheses, _LONGEST_PATH)


def _key_text(key: Any) -> str:
    """A key as in Python, where that is short and runs nothing of the user's."""
    if type(key) is tuple and len(key) <= 5:
        inner = ", ".join(map(_key_text, key))
        return _cut(f"({inner},)" if len(key) == 1 else f"({inner})", _LONGEST_KEY)
    if type(key) is int and key.bit_length() > 128:  # Python refuses to write thousands of digits
        return "<int>"
    if type(key) is str:
        return repr(_cut(key, _LONGEST_KEY))
    if key is None or type(key) in (int, bool, float):
        return repr(key)
    return f"<{_of_type('__name__', type(key))}>"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - most // 2 + 1 :]}"


def _roots(namespace: dict[str, Any]) -> Iterator[_Part]:
    """What a search begins with: names, the last traceback, the last cell's result, and modules of the user's."""
    names = {name: value for name, value in dict.items(namespace) if type(name) is str}
    outputs = names.get("Out")
    cells = dict.items(outputs) if type(outputs) is dict else ()
    numbers = {key: id(value) for key, value in cells if type(key) is int}
    for name in sorted(names, key=lambda name: name.startswith("_")):
        value = names[name]
        again = name == "_oh" and value is outputs
        again |= name[:1] == "_" and name[1:].isdecimal() and numbers.get(int(name[1:])) == id(value)
        if not again and name not in _INPUTS | _IMPORTED and not name.startswith("__jaxmagic"):
            yield ("name", name), value
    for last in ("last_exc", "last_value", "last_traceback"):
        yield ("name", "last traceback"), getattr(sys, last, None)
    get_ipython = names.get("get_ipython")
    if type(get_ipython) is types.MethodType:  # the result of a cell whose value was not shown
        shell = get_ipython.__self__
        read = _attributes_of(type(shell))
        for step, value in read(shell) if read is not None else ():
            if step[1] == "last_execution_result":
                yield ("name", "get_ipython().last_execution_result"), value
    for name, module in list(sys.modules.items()):
        if type(name) is str and issubclass(type(module), types.ModuleType):
            held = _dict_of(module)
            if held is not namespace and _is_users_module(held):
                yield ("name", name), module


# What one object refers to. A reader yields the steps and what they lead to, and runs nothing of the user's.


def _reader(kind: type) -> _Reader | None:
    """How to read objects of this type; ``None`` where there is nothing to be found behind them."""
    top = _module_of(kind).partition(".")[0]
    if top in _SHELL or issubclass(kind, _NOT_READ):
        return None
    own = [read for base, read in _READERS if issubclass(kind, base)]
    if issubclass(kind, _ALONE):
        return own[0]
    attributes = _attributes_of(kind)
    if attributes is not None:
        own.append(attributes)
    elif not own and top in ("builtins", "itertools"):  # an iterator, a view, a cell
        own.append(_unnamed)
    if _is_users_class(kind):
        own.append(lambda node: [(("type", None), kind)])
    return lambda node: (part for read in own for part in read(node))


def _attributes_of(kind: type) -> _Reader | None:
    """Reads attributes and slots, around whatever the class has in the place of ``__dict__`` and ``__getattr__``.

    ``None`` where objects of the class have none.
    """
    members: dict[str, Any] = {}
    for base in reversed(_of_type("__mro__", kind)):
        members.update(_of_type("__dict__", base).items())
    dictionary = members.pop("__dict__", None)
    slots = [(name, each) for name, each in members.items() if type(each) is types.MemberDescriptorType]
    if dictionary is None and not slots:
        return None

    def read(node: Any) -> Iterator[_Part]:
        if type(dictionary) in _DESCRIPTORS:
            held = dictionary.__get__(node)
            for key, value in dict.items(held) if type(held) is dict else ():
                # What JAX's own arrays are made of is no other array to the user.
                yield ("same" if key == "_base_array" else "attribute", key) if type(key) is str else _INSIDE, value
        elif dictionary is not None:
            yield from _unnamed(node)
        for name, member in slots:
            with suppress(AttributeError):  # not set
                yield ("attribute", name), member.__get__(node)

    return read


def _of_dict(node: Any) -> Iterator[_Part]:
    for number, (key, value) in enumerate(dict.items(node)):
        yield ("item", key), value
        if id(type(key)) not in _PLAIN:
            yield ("nth", number), key


def _of_sequence(base: Any) -> _Reader:
    return lambda node: ((("item", n), each) for n, each in enumerate(base.__iter__(node)))


def _of_set(base: Any) -> _Reader:
    return lambda node: ((("nth", n), each) for n, each in enumerate(base.__iter__(node)))


def _of_function(function: types.FunctionType) -> Iterator[_Part]:
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


def _of_module(module: types.ModuleType) -> Iterator[_Part]:
    held = _dict_of(module)
    return (part for part in _named(held) if part[0][1] not in _IMPORTED) if _is_users_module(held) else iter(())


def _of_class(kind: type) -> Iterator[_Part]:
    if _is_users_class(kind):
        yield from _named(_of_type("__dict__", kind))
        for base in _of_type("__mro__", kind)[1:]:
            yield ("same", None), base


def _of_exception(error: BaseException) -> Iterator[_Part]:
    for name in ("__cause__", "__context__", "args"):
        yield ("attribute", name), BaseException.__dict__[name].__get__(error)
    yield from _of_traceback(BaseException.__dict__["__traceback__"].__get__(error))


def _of_traceback(traceback: types.TracebackType | None) -> Iterator[_Part]:
    while traceback is not None:
        frame = traceback.tb_frame
        for name, value in _variables(frame, frame):
            yield ("frame", (frame.f_code.co_name, name)), value
        traceback = traceback.tb_next


def _of_frame(frame: types.FrameType) -> Iterator[_Part]:
    return ((("local", name), value) for name, value in _variables(frame, frame))


def _of_generator(prefix: str) -> _Reader:
    def read(node: Any) -> Iterator[_Part]:
        frame = getattr(node, f"{prefix}_frame")
        for name, value in _variables(frame, node) if frame is not None else ():
            yield ("local", name), value

    return read


def _variables(frame: types.FrameType, owner: Any) -> Iterable[tuple[str, Any]]:
    """The variables of a function's frame; those of a module's are its names.

    Before Python 3.13 to read them leaves a copy in the frame, which would keep their values alive. It is emptied
    again, but for one that was there already, which somebody may have got from ``locals()``. Where that cannot be
    told, because the frame is running, nothing is read.

    Args:
        frame: what it is of.
        owner: the generator of a frame that is to go on, or else the frame.
    """
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return []
    if sys.version_info >= (3, 13):
        return list(frame.f_locals.items())
    before = gc.get_referents(owner)
    if not before:
        return []
    held = frame.f_locals
    found = list(held.items())
    if not any(each is held for each in before):
        held.clear()
    return found


def _unnamed(node: Any) -> Iterator[_Part]:
    """What Python's garbage collector would follow, where nothing says how it is called."""
    return ((_INSIDE, each) for each in gc.get_referents(node))


def _of_cache(function: Any) -> Iterator[_Part]:
    """Of :func:`functools.lru_cache`: nothing but the garbage collector sees it."""
    return ((("inside", "cache"), each) for each in gc.get_referents(function))


def _named(held: Any) -> Iterator[_Part]:
    return ((("attribute", name), value) for name, value in held.items() if type(name) is str)


def _of_type(name: str, kind: type) -> Any:
    """An attribute of a class, around its metaclass."""
    return type.__dict__[name].__get__(kind)


def _dict_of(module: types.ModuleType) -> dict[str, Any]:
    held: dict[str, Any] = vars(types.ModuleType)["__dict__"].__get__(module)
    return held


def _module_of(kind: type) -> str:
    name = _of_type("__module__", kind)
    return name if type(name) is str else ""


def _is_users_class(kind: type) -> bool:
    name = _module_of(kind)
    module = sys.modules.get(name)
    if module is None or not issubclass(type(module), types.ModuleType):
        return name != ""
    return _is_users_module(_dict_of(module))


def _is_users_module(held: dict[str, Any]) -> bool:
    """Whether a module with these names is neither installed nor Python's own."""
    name, file = held.get("__name__"), held.get("__file__")
    if type(name) is not str or name.partition(".")[0] in _LIBRARIES:
        return False
    if name == "__main__":
        return True
    if type(file) is not str:
        return held.get("__spec__") is None
    return not file.startswith(_python_paths()) and "site-packages" not in file and "dist-packages" not in file


@functools.cache
def _python_paths() -> tuple[str, ...]:
    return tuple({sysconfig.get_path(each) for each in ("stdlib", "platstdlib")})


#: What lies behind the shell is the whole session; it holds no array but under a name that is looked at.
_SHELL = frozenset(("IPython", "ipykernel", "traitlets", "zmq", "tornado"))
_LIBRARIES = _SHELL | {"jax", "jaxlib", "jaxmagic", "builtins"}
_INPUTS = frozenset(("In", "_ih", "_dh", "_i", "_ii", "_iii"))

#: Behind what a module was loaded with lies whoever loaded it: under pytest, everything.
_IMPORTED = frozenset(("__builtins__", "__loader__", "__spec__"))

_INSIDE: _Step = ("inside", "inside")
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_NOT_READ = (weakref.ref, weakref.ProxyType, weakref.CallableProxyType)

#: By address: a class of the user's may have a metaclass that refuses to be hashed or compared.
_PLAIN = frozenset(
    map(id, (type(None), bool, int, float, complex, str, bytes, bytearray, range, types.CodeType, type(...)))
)

_READERS: tuple[tuple[type, _Reader], ...] = (
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
    (functools._lru_cache_wrapper, _of_cache),
    (types.BuiltinFunctionType, lambda method: [(("attribute", "__self__"), method.__self__)]),
)

#: Of these all is said by their reader. Behind a function's globals lies the whole session.
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
