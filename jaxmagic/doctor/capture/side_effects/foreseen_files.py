"""Foresees from the source which files some code will write, by the objects that its names stand for."""

from __future__ import annotations

import ast
import os
import pathlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ....memory_use.capture.imported import dict_of
from ....runtime.around import is_a, is_exactly, of_type
from ..remedies.user_functions import is_users_function

#: Functions that write the file whose path is their first argument, by module.
_FUNCTIONS = {
    "numpy": ("save", "savez", "savez_compressed", "savetxt"),
    "jax.numpy": ("save", "savez"),
    "scipy.io": ("savemat",),
    "matplotlib.pyplot": ("savefig", "imsave"),
    "equinox": ("tree_serialise_leaves",),
    "flax.training.checkpoints": ("save_checkpoint",),
    "imageio": ("imwrite", "mimwrite", "mimsave"),
    "imageio.v3": ("imwrite",),
    "cv2": ("imwrite",),
}

#: Functions that do so with their second argument.
_SECOND = {
    "safetensors.flax": ("save_file",),
    "safetensors.numpy": ("save_file",),
    "joblib": ("dump",),
    "torch": ("save",),
}

#: Functions that open the file for what their mode says.
_OPENING = {
    "builtins": ("open",),
    "IPython.core.interactiveshell": ("_modified_open",),  # what `open` is in a notebook
    "gzip": ("open",),
    "bz2": ("open",),
    "lzma": ("open",),
    "h5py": ("File",),
    "zipfile": ("ZipFile",),
}

#: Methods of libraries that write the file whose path is their first argument. No other methods have these names.
_METHODS = frozenset({
    "imsave", "savefig", "to_csv", "to_excel", "to_feather", "to_hdf", "to_netcdf", "to_parquet", "to_pickle",
    "to_zarr", "tofile",
})  # fmt: skip

#: Methods of objects of a package that write files, whatever their arguments.
_SAVING = {"orbax": "save", "PIL": "save"}

#: The name of the first argument, if it is passed by name.
_NAMED = ("file",)

#: Returns the Python expression that leads to a name or an attribute, and its value: ``None`` if it is unknown.
_ValueOf = Callable[[ast.expr], tuple[str, Any]]


def written(nodes: Iterable[ast.AST], body: ast.AST, value_of: _ValueOf) -> Iterator[str]:
    """Yield the paths of the files, as the code writes them, or the methods that write.

    Args:
        nodes: the nodes of the code that are always evaluated.
        body: the code.
        value_of: returns the values of names and attributes.
    """
    for node in nodes:
        if isinstance(node, ast.Call):
            path = _path(node, value_of)
            if isinstance(path, str):
                yield path
            elif path is not None and _is_path(path, body, value_of):
                yield str(path.value) if isinstance(path, ast.Constant) else ast.unparse(path)


def _path(call: ast.Call, value_of: _ValueOf) -> ast.expr | str | None:
    """Return the argument of a call that is the path of a file to write, or the text of a method that writes one."""
    named = {each.arg: each.value for each in call.keywords}
    first, second = [*call.args, *(named.get(each) for each in _NAMED if not call.args), None, None][:2]
    text, function = value_of(call.func)
    if function is None and text == "open":
        function = open
    if is_one_of(function, _FUNCTIONS):
        return first
    if is_one_of(function, _SECOND):
        return second
    if is_one_of(function, _OPENING):
        return first if _writes(named.get("mode", second)) else None
    if not isinstance(call.func, ast.Attribute):
        return None
    method, owner = call.func.attr, call.func.value
    if _is_pathlib(owner, value_of):
        opens = method == "open" and _writes(named.get("mode", first))
        return owner if opens or method in ("write_text", "write_bytes") else None
    _, value = value_of(owner)
    package = "" if value is None else str(of_type("__module__", type(value))).partition(".")[0]
    if package and method == _SAVING.get(package):
        return text
    own = is_exactly(function, types.MethodType) and is_users_function(function.__func__)  # whose code is read
    return first if method in _METHODS and not own else None


def is_one_of(function: Any, known: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a function is one of those that some modules have under these names."""
    held = ((dict_of(sys.modules[module]), names) for module, names in known.items() if module in sys.modules)
    return function is not None and any(names_of.get(name) is function for names_of, names in held for name in names)


def _writes(mode: ast.expr | None) -> bool:
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and not {*"wax+"}.isdisjoint(mode.value)


def _is_pathlib(node: ast.expr, value_of: _ValueOf) -> bool:
    """Return whether an expression is a path of ``pathlib``."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) and _is_pathlib(node.left, value_of)
    if isinstance(node, ast.Call):
        return value_of(node.func)[1] is pathlib.Path
    return is_a(value_of(node)[1], pathlib.PurePath)


def _is_path(node: ast.expr, body: ast.AST, value_of: _ValueOf) -> bool:
    """Return whether an expression is the path of a file, and no device or file in memory, as far as can be read."""
    match node:
        case ast.Constant(value=str() as text):
            return not text.startswith("/dev/")
        case ast.JoinedStr():
            return True
        case ast.BinOp(left=left):
            return _is_path(left, body, value_of) or _is_pathlib(node, value_of)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()))):
            return True
        case ast.Call():
            return _is_pathlib(node, value_of) or value_of(node.func)[1] is os.path.join
    value = value_of(node)[1]
    if value is not None:
        return is_a(value, (str, pathlib.PurePath)) and value != os.devnull
    if not isinstance(node, ast.Name):
        return False
    assigned = [each for each in ast.walk(body) if isinstance(each, ast.Assign) and _is_named(each.targets, node.id)]
    return len(assigned) == 1 and _is_path(assigned[0].value, ast.Module([], []), value_of)


def _is_named(targets: list[ast.expr], name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in targets)
