"""Explains names that JAX's modules do not have: those of other libraries, of older versions, and misspelled ones."""

from __future__ import annotations

import ast

from ......records.note import Note, note
from .....record.failure import Failure
from ...expression import Expression, expression_of, spelled, with_imports
from ..explained import Explained, Rule
from ..operands import fact
from .renamed import RENAMED

#: Modules that the user's code may have a name for, the longest names first.
_SPELLED = "jax.numpy", "jax.lax", "jax"

#: Functions of ``jax.random`` that take no key.
_WITHOUT_KEY = "key", "PRNGKey", "wrap_key_data", "key_data"

#: What each function of the former ``jax.ops`` is as a method of ``x.at[i]``.
_UPDATES = {
    "index_update": "set",
    "index_add": "add",
    "index_mul": "multiply",
    "index_min": "min",
    "index_max": "max",
}


def explain_missing(failure: Failure) -> Explained:
    """Explain a name that a module of JAX does not have."""
    module, name = fact(failure, "module"), fact(failure, "name")
    found = note("doctor.error_missing_name", module=module, name=name)
    if failure.library is not None:
        return Explained(found, note("doctor.write_library_version"))
    path, subject = fact(failure, "replacement"), fact(failure, "subject")
    if path:
        key = path.startswith("jax.random.") and path.rpartition(".")[2] not in _WITHOUT_KEY
        takes = "" if key or _fits(failure) else fact(failure, "parameters")
        remedy = note(
            "doctor.write_name",
            replacement=_spelled(failure, path),
            key=key,
            takes=takes,
            jax=spelled(failure, "jax"),
        )
        return Explained(found, remedy, None if key or takes else _with_name(failure, path))
    if subject:
        return Explained(found, _advice(failure, subject), _update(failure) if subject == "indexed update" else None)
    if fact(failure, "numpy"):
        remedy = note("doctor.write_numpy_name", np=spelled(failure, "numpy"), name=name)
        return Explained(found, remedy)
    similar = [_spelled(failure, f"{module}.{each}") for each in fact(failure, "similar").split(", ")]
    return Explained(found, note("doctor.write_similar_names", names=", ".join(similar)))


def explain_missing_module(failure: Failure) -> Explained:
    """Explain a module that JAX has no more."""
    module = fact(failure, "module")
    found = note("doctor.error_missing_module", module=module)
    if failure.library is not None:
        return Explained(found, note("doctor.write_library_version"))
    return Explained(found, _advice(failure, fact(failure, "subject")))


def _fits(failure: Failure) -> bool:
    """Return whether a call passes all that a function of another module needs, and not more; true if unknown."""
    failing = expression_of(failure)
    call = None if failing is None else failing.parent
    if failing is None or not isinstance(call, ast.Call) or call.func is not failing.node:
        return True
    given, named = len(call.args), [RENAMED.get(each.arg or "", each.arg) for each in call.keywords]
    if not fact(failure, "most") or None in named or any(isinstance(each, ast.Starred) for each in call.args):
        return True
    required = [each for each in fact(failure, "required").split(", ") if each]
    return given <= int(fact(failure, "most")) and all(each in named for each in required[given:])


def _advice(failure: Failure, subject: str) -> Note:
    jax, jnp = spelled(failure, "jax"), spelled(failure, "jax.numpy")
    return note("doctor.write_for_subject", subject=subject, jax=jax, jnp=jnp)


def _spelled(failure: Failure, path: str) -> str:
    """Return a full name as the user's code writes it: ``jnp.concatenate`` for ``jax.numpy.concatenate``."""
    names = dict(failure.names)
    module = next((each for each in _SPELLED if path.startswith(f"{each}.") and each in names), None)
    module = module or next(each for each in _SPELLED if path.startswith(f"{each}."))
    return spelled(failure, module) + path.removeprefix(module)


def _with_name(failure: Failure, path: str) -> str | None:
    """Return the failing statement with another name, and with the keywords of JAX."""
    failing = expression_of(failure)
    if failing is None:
        return None
    if isinstance(failing.statement, ast.ImportFrom):
        return _imported(failing.statement, fact(failure, "name"), path)
    if not isinstance(failing.node, ast.Attribute) or failing.node.attr != fact(failure, "name"):
        return None
    new, call = ast.parse(_spelled(failure, path), mode="eval").body, failing.parent
    if isinstance(call, ast.Call) and call.func is failing.node:
        parameters = fact(failure, "parameters").split(", ")
        for each in call.keywords:
            each.arg = RENAMED.get(each.arg or "", each.arg)
        if any(each.arg not in parameters for each in call.keywords):
            return None
    code = failing.with_node(new)
    module = next(each for each in _SPELLED if path.startswith(f"{each}."))
    known = any(path.startswith(f"{each}.") for each, _ in failure.names)
    return code if code is None or known else with_imports(failure, code, module)


def _imported(statement: ast.ImportFrom, name: str, path: str) -> str:
    """Return imports with the new name under the old one, so that the rest of the code can stay."""
    module, _, new = path.rpartition(".")
    old = next(each for each in statement.names if each.name == name)
    statement.names.remove(old)
    alias = ast.alias(name=new, asname=None if new == (old.asname or name) else old.asname or name)
    lines = [ast.unparse(statement)] if statement.names else []
    return "\n".join([*lines, ast.unparse(ast.ImportFrom(module=module, names=[alias], level=0))])


def _update(failure: Failure) -> str | None:
    """Return ``x.at[i].set(y)`` for ``jax.ops.index_update(x, i, y)``."""
    failing, name = expression_of(failure), fact(failure, "name")
    call = None if failing is None else failing.parent
    if failing is None or not isinstance(call, ast.Call) or call.func is not failing.node:
        return None
    if len(call.args) != 3 or call.keywords or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    array, index, value = call.args
    if isinstance(index, ast.Subscript) and ast.unparse(index.value).endswith("ops.index"):
        index = index.slice
    at = ast.Subscript(ast.Attribute(array, "at", ast.Load()), index, ast.Load())
    new = ast.Call(ast.Attribute(at, _UPDATES[name], ast.Load()), [value], [])
    return Expression(failing.statement, call, None).with_node(new)


#: The messages that are explained here, which are Python's, or JAX's for a name that it has removed.
# fmt: off
RULES = (
    Rule("AttributeError", "missing name", explain_missing,
        r"module '(?P<module>jax(?:\.\w+)*)' has no attribute '(?P<name>\w+)'$"),
    Rule("AttributeError", "missing name", explain_missing,
        r"(?P<module>jax(?:\.\w+)*)\.(?P<name>\w+) (?:was removed in|is deprecated)\b"),
    Rule("ImportError", "missing name", explain_missing,
        r"cannot import name '(?P<name>\w+)' from '(?P<module>jax(?:\.\w+)*)'"),
    Rule("ModuleNotFoundError", "missing module", explain_missing_module,
        r"No module named '(?P<module>jax(?:\.\w+)+)'"),
)
# fmt: on
