"""Puts NumPy arrays on the device once, before the code runs."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ....records.note import note
from ....runtime.around import is_exactly
from ....runtime.copies import unguarded
from ...analysis.written_paths import root_of
from ...record.finding import RuleFinding
from .remedy import Change, NotTried, calls_in_advice, names_given
from .tried_code import TriedCode
from .user_functions import is_users_function, seen_by

#: Inputs with more bytes than this are not copied to the device unasked.
MOST_BYTES = 2**30

#: Remedies that change more of the code than where its arrays are.
_BY_HAND = "doctor.transfer_parts", "doctor.transfer_beside", "doctor.converted_once", "doctor.converted_before"


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose copies on the device in place of the inputs that are NumPy arrays, or have some inside."""
    import jax

    if finding.remedy is not None and finding.remedy.kind in _BY_HAND:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    advised = [each.args[0] for each in calls_in_advice(finding, "device_put") if each.args]
    names = names_given(finding) or [root_of(ast.unparse(each)) for each in advised]
    seen = seen_variables(code.read())
    chosen = {name: value for name, value in seen.items() if (not names or name in names) and _has_arrays(value)}
    if not chosen:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    size = sum(each.nbytes for value in chosen.values() for each in jax.tree.leaves(value) if is_on_host(each))
    if size > MOST_BYTES:
        raise NotTried(note("doctor.not_tried_size", size_bytes=size))
    replacements = {id(value): jax.tree.map(_put, value) for value in chosen.values()}
    return Change(replacements, notes=(note("doctor.put", names=", ".join(chosen)),))


def seen_variables(read: dict[str, Any]) -> dict[str, Any]:
    """Return the variables that the code and the user's functions see, by name."""
    seen: dict[str, Any] = {}
    queue = [read]
    for variables in queue:  # grows meanwhile
        for name, value in variables.items():
            if name not in seen:
                seen[name] = value
                if is_users_function(value):
                    queue.append(seen_by(value))
    return seen


def is_on_host(value: Any) -> bool:
    """Return whether a value is an array of NumPy that JAX takes."""
    return is_exactly(value, np.ndarray) and value.dtype.kind in "biufcV" and not value.dtype.names


def _has_arrays(value: Any) -> bool:
    import jax

    return any(map(is_on_host, jax.tree.leaves(value)))


def _put(value: Any) -> Any:
    import jax

    return unguarded(jax.device_put, value) if is_on_host(value) else value
