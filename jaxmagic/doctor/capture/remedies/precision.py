"""Runs the code with another precision of matrix products, without 64-bit types, or with converted arrays."""

from __future__ import annotations

import ast
from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ....records.note import Note, note
from ....runtime.around import is_exactly
from ....runtime.copies import unguarded
from ....runtime.private_api import static_arguments
from ....runtime.tracing import is_array
from ...analysis.faster_products import OPTIONS
from ...record.finding import RuleFinding
from .function_copies import FunctionCopies
from .remedy import Change, NotTried, calls_in_advice, names_given
from .transfer import MOST_BYTES, seen_variables
from .tried_code import TriedCode
from .user_functions import is_users_function, jitted_functions, seen_by

_OPTION = "jax_default_matmul_precision"


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose the setting that the finding's code makes, for all that the code compiles."""
    for call in calls_in_advice(finding, "default_matmul_precision"):
        return _of_products(_constants(call)[0])
    for call in calls_in_advice(finding, "update"):
        option, value = (*_constants(call), None)[:2]
        if option == _OPTION:
            return _of_products(value)
        if option == "jax_enable_x64" and value is False:
            return Change({}, partial(with_64_bits, False), notes=(_about("x64", "off"),))
    if finding.found.kind == "doctor.cast":
        return _converted(finding, code)
    if finding.found.kind == "doctor.double_line":
        return _narrowed(finding, code)
    raise NotTried(note("doctor.not_mechanical", rule=finding.rule))


def _of_products(precision: Any) -> Change:
    import jax

    return Change(
        {},
        partial(jax.default_matmul_precision, precision),
        notes=(_about("matmul", precision),),
        products=next((type_ for type_, name in OPTIONS.items() if name == precision), ""),
    )


def _converted(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose the array as it is after the assignment that the finding recommends."""
    names = names_given(finding)
    array: Any = seen_variables(code.read()).get(names[0]) if names else None
    if not is_array(array):
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    if array.nbytes > MOST_BYTES:
        raise NotTried(note("doctor.not_tried_size", size_bytes=array.nbytes))
    converted = unguarded(array.astype, finding.found.facts["to"])
    return Change({id(array): converted}, notes=(note("doctor.converted", name=names[0]),))


def _narrowed(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose the function with NumPy's arrays that it sees, as far as they are float64, in float32."""
    import jax

    for jitted in jitted_functions(code.read()):
        function: Any = getattr(jitted, "__wrapped__", None)
        if not is_users_function(function) or function.__name__ != finding.found.facts["function"]:
            continue
        seen = seen_by(function).items()
        wide = {name: value for name, value in seen if is_exactly(value, np.ndarray) and value.dtype == np.float64}
        changed = FunctionCopies({id(each): each.astype(np.float32) for each in wide.values()}).of(function)
        if changed is not function:
            again = jax.jit(changed, **static_arguments(jitted))
            return Change({id(jitted): again}, notes=(note("doctor.narrowed", names=", ".join(wide)),))
    raise NotTried(note("doctor.not_mechanical", rule=finding.rule))


def _constants(call: ast.Call) -> list[Any]:
    """Return the positional arguments of a call, as far as they are written out."""
    values = [each.value for each in call.args if isinstance(each, ast.Constant)]
    return values if values and len(values) == len(call.args) else [None]


def _about(what: str, value: object) -> Note:
    return note("doctor.precision_set", what=what, value=str(value))


def with_64_bits(enabled: bool) -> AbstractContextManager[object]:
    """Return a context in which JAX has types with 64 bits, or none; it leaves the setting of the session alone."""
    import jax

    # In older versions of JAX it is in jax.experimental only, and in newer ones no longer there.
    where: Any = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
    context: AbstractContextManager[object] = where.enable_x64(enabled)
    return context
