"""Jits what ``jax.vmap``, ``jax.grad`` and the like return, and returns the same for the same function again."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .....records.note import note
from .....runtime.around import attributes, is_exactly, of_type
from ....record.finding import RuleFinding
from ....rules.host.jitting.transformed_calls import FILTER, TRANSFORMS
from ..function_copies import module_with
from ..not_jitted import declared_static
from ..recompile import identity
from ..remedy import Change, NotTried
from ..transfer import seen_variables
from ..tried_code import TriedCode
from .jitted_function import Jitted

#: The module that transforms and jits functions, by library.
_MODULES = {"": "jax", "equinox": "equinox", "nnx": "flax.nnx"}

#: The name of what ``nnx.grad(f)`` and ``nnx.value_and_grad(f)`` return, whatever ``f`` is called.
_NAMELESS = "grad_wrapper"


def is_outermost(finding: RuleFinding) -> bool:
    """Return whether a remedy is to jit what ``jax.vmap`` or the like returns."""
    remedy = finding.remedy
    return remedy is not None and (
        remedy.kind == "doctor.transformed_calls_remedy" or remedy.facts.get("way") == "outermost"
    )


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose that transformations of the function of a finding return jitted functions."""
    if not finding.applies_to:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    static = declared_static(finding)
    library = str(finding.remedy.facts.get("library", "")) if finding.remedy is not None else ""
    memo = _Memo(finding.applies_to, static, library)
    module = import_module(_MODULES[library])
    names = [f"{FILTER}{each}" if library == "equinox" else each for each in TRANSFORMS]
    made = {each: memo.of(getattr(module, each)) for each in names if hasattr(module, each)}
    replacements = {id(getattr(module, name)): each for name, each in made.items()}
    before = [Jitted(each, static, library) for each in _made_before(finding, code)]
    replacements |= {id(each.function): each.call for each in before}
    about = note("doctor.jitted_transformed", name=finding.applies_to)
    return Change(
        {id(module): module_with(module, **made), **replacements},
        used=lambda: memo.hits > 0 or any(each.called for each in before),
        notes=(about,),
    )


def _made_before(finding: RuleFinding, code: TriedCode) -> list[Any]:
    """Return the transformed function that the code of the remedy assigns, if it exists already."""
    name = (finding.code or "").partition(" = ")[0]
    value = seen_variables(code.read()).get(name)
    return [value] if _name_of(value) in (finding.applies_to, _NAMELESS) else []


def _name_of(value: Any) -> str | None:
    """Return the name that a transformed function has from the one that it transforms."""
    if is_exactly(value, types.FunctionType):
        return str(value.__name__)
    is_equinox = str(of_type("__module__", type(value))).startswith("equinox.")
    return (attributes(value) or {}).get("__name__") if is_equinox else None


class _Memo:
    """A cache of transformed and jitted functions, by transformation, function and options.

    Args:
        name: the name of the function.
        static: its static arguments, as far as they are known.
        library: the library whose transformations and jit are used; empty for JAX.

    Attributes:
        hits: how often a function was there already.
    """

    def __init__(self, name: str, static: tuple[str, ...] | None, library: str) -> None:
        self.hits = 0
        self._name = name
        self._static = static
        self._library = library
        self._made: dict[Any, Any] = {}

    def of(self, transform: Callable[..., Any]) -> Callable[..., Any]:
        """Stand in for a transformation."""

        @functools.wraps(transform)
        def transformed(fun: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(fun, "__name__", None) != self._name:
                return transform(fun, *args, **kwargs)
            options = identity(args), tuple((name, identity(each)) for name, each in sorted(kwargs.items()))
            key = (id(transform), identity(fun), options)
            self.hits += key in self._made
            if key not in self._made:
                jitted = Jitted(transform(fun, *args, **kwargs), self._static, self._library)
                self._made[key] = fun, jitted.call  # keeps what the key has the id of
            return self._made[key][1]

        return transformed
