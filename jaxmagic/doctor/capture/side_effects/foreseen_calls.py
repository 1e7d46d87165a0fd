"""Foresees from the source which calls change what no variable shows: the process, open files, queues, databases.

C code keeps these, so that a comparison of before and after does not see them.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ....memory_use.capture.imported import dict_of
from ....runtime.around import is_a
from .foreseen_files import is_one_of

#: Functions that do something else the next time, or change what later code sees, by module.
_FUNCTIONS = {
    "os": (
        *("chdir", "fchdir", "putenv", "unsetenv", "nice", "kill", "killpg"),
        *("write", "pwrite", "writev", "sendfile", "read", "readv", "lseek", "ftruncate", "dup2", "close"),
    ),
    "ctypes": ("memmove", "memset"),
    "signal": ("raise_signal",),
}

#: Python's function that runs what only its text says.
_RUNS_TEXT = "exec"

#: Methods that do so, by module and class.
_METHODS = {
    ("_queue", "SimpleQueue"): ("put", "put_nowait", "get", "get_nowait"),
    ("multiprocessing.queues", "Queue"): ("put", "put_nowait", "get", "get_nowait"),
    ("multiprocessing.queues", "SimpleQueue"): ("put", "get"),
    ("multiprocessing.connection", "Connection"): ("send", "send_bytes", "recv", "recv_bytes"),
    ("socket", "socket"): ("send", "sendall", "sendto", "sendmsg", "recv", "recv_into", "recvfrom"),
    ("mmap", "mmap"): ("write", "write_byte", "move", "resize", "read", "readline", "read_byte", "seek"),
    ("sqlite3", "Connection"): ("execute", "executemany", "executescript", "commit", "rollback"),
    ("sqlite3", "Cursor"): ("execute", "executemany", "executescript", "fetchone", "fetchmany", "fetchall"),
}

#: Statements of SQL that only read.
_READING = "select", "explain", "values"

#: The numbers of the files to which Python prints.
_PRINTING = (1, 2)

#: Returns the Python expression that leads to a name or an attribute, and its value: ``None`` if it is unknown.
_ValueOf = Callable[[ast.expr], tuple[str, Any]]


def changing_calls(nodes: Iterable[ast.AST], body: ast.AST, value_of: _ValueOf) -> Iterator[str]:
    """Yield the functions and methods that are called and change what no variable shows, as the code writes them.

    Attributes of the module ``builtins`` that are read and assigned count as well: all code sees them.

    Args:
        nodes: the nodes of the code that are always evaluated.
        body: the code.
        value_of: returns the values of names and attributes.
    """
    imported = dict(_imported(body))
    read = {
        each.attr for each in ast.walk(body) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)
    }

    def known(node: ast.expr) -> Any:
        value = value_of(node)[1]
        if value is not None:
            return value
        if isinstance(node, ast.Attribute):
            module = _module(imported.get(node.value.id, "")) if isinstance(node.value, ast.Name) else None
            return None if module is None else dict_of(module).get(node.attr)
        path, _, name = imported.get(node.id, "").rpartition(".") if isinstance(node, ast.Name) else ("", "", "")
        module = _module(path or name)
        return module if module is None or not path else dict_of(module).get(name)

    counted = {id(each.target) for each in ast.walk(body) if isinstance(each, ast.AugAssign)}
    for node in nodes:
        match node:
            case ast.Call() if _changes(node, known):
                yield ast.unparse(node.func)
            case ast.Attribute(value=owner, attr=name, ctx=ast.Store()) if id(node) in counted or name in read:
                if known(owner) is sys.modules["builtins"]:
                    yield ast.unparse(node)


def _imported(body: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that some code imports itself, with their dotted paths."""
    for node in ast.walk(body):
        if isinstance(node, ast.Import):
            yield from ((each.asname or each.name, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)


def _module(name: str) -> Any:
    return sys.modules.get(name) if name in ("builtins", *_FUNCTIONS) else None


def _changes(call: ast.Call, known: Callable[[ast.expr], Any]) -> bool:
    function = known(call.func)
    if isinstance(call.func, ast.Name) and call.func.id == _RUNS_TEXT:
        return function is None or function is getattr(builtins, _RUNS_TEXT)
    first = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    if is_one_of(function, _FUNCTIONS):
        return not (first in _PRINTING and is_one_of(function, {"os": ("write",)}))
    if not isinstance(call.func, ast.Attribute):
        return False
    method, owner = call.func.attr, known(call.func.value)
    if owner is None or not any(method in names and _is_of(owner, kind) for kind, names in _METHODS.items()):
        return False
    return not (isinstance(first, str) and first.lstrip().lower().startswith(_READING))


def _is_of(value: Any, kind: tuple[str, str]) -> bool:
    module, name = kind
    found = dict_of(sys.modules[module]).get(name) if module in sys.modules else None
    return isinstance(found, type) and is_a(value, found)
