"""Adds the imports to code to paste that the user's own file or session does not have under the usual names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from . import syntax

#: The modules that code to paste uses, by the names that it has for them.
_MODULES = {"functools": "functools", "jax": "jax", "jnp": "jax.numpy", "np": "numpy"}


def with_imports(
    findings: Sequence[RuleFinding], evidence: Evidence, session: Collection[str]
) -> tuple[RuleFinding, ...]:
    """Return findings whose code has all modules where they were found.

    Args:
        findings: the findings.
        evidence: tells the files of their lines.
        session: the variables of the session, which cells and the examined code have.
    """
    return tuple(
        each if each.code is None else replace(each, code=imported(each.code, _known(each, evidence, session)))
        for each in findings
    )


def imported(code: str, known: Collection[str]) -> str:
    r"""Return code, which may be a part of a loop, with the imports that it needs where only some names are known.

    >>> imported("y = jnp.sin(x)", {"xp", "x"})
    'import jax.numpy as jnp\ny = jnp.sin(x)'
    >>> imported("y = jnp.sin(x)", {"jnp", "x"})
    'y = jnp.sin(x)'
    """
    used = [name for name in _MODULES if name not in known and re.search(rf"(?<![\w.]){name}\.", code)]
    missing = [name for name in used if re.search(rf"^\s*import .*\b{name}$", code, re.MULTILINE) is None]
    return "\n".join([*map(_statement, missing), code])


def _statement(name: str) -> str:
    module = _MODULES[name]
    return f"import {module}" if module == name else f"import {module} as {name}"


def _known(finding: RuleFinding, evidence: Evidence, session: Collection[str]) -> Collection[str]:
    """Return the names that the file of a finding has; those of the session for a cell, and if it is unknown."""
    place = syntax.file_of(finding.line, evidence)
    named = (finding.line or "").rpartition(":")[0]
    tree = syntax.tree_of(place[0]) if place is not None and place[0] == named else None
    return session if tree is None else syntax.stored(tree.body)
