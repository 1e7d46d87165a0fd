"""Explains NaN or infinity whose first operation is known, at whatever line."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import NamedTuple

from .....records.note import Note, note
from ....record.failure import Failure
from ....record.finding import RuleFinding
from ....record.not_finite import Made, NotFinite, Role
from ..expression import spelled
from ..origin import evidence_of
from .domains import DOMAINS, STRICT_DOMAINS, Operand, Place, mended
from .double_where import SIMPLE, double_where, double_where_of_norm, is_norm
from .operations import WITH_BODIES, Written, applies, matrix_in, place_in, role_of, text_of, written
from .stable_logs import stable, underflowed

#: Infinity as it is written.
_INFINITY = re.compile(r"\binf\b|\binfty\b")


class _Remedy(NamedTuple):
    """What to write, with code if it is more than an expression."""

    note: Note
    code: str | None = None


def explain_first(failure: Failure, first: NotFinite, made: Made) -> RuleFinding:
    """Explain the operation that made the first NaN or infinity."""
    remedy = _remedy(failure, first, made)
    return RuleFinding(
        rule="error",
        found=_found(failure, made),
        line=failure.line if made.line is None else made.line.location,
        source=(failure.source if made.line is None else made.source) or None,
        evidence=(*_evidence(failure, first, made), *evidence_of(_without_location(failure))),
        remedy=remedy.note,
        code=remedy.code,
    )


def explain_argument(failure: Failure, argument: str) -> RuleFinding:
    """Explain NaN or infinity that was in an argument of a jitted function already."""
    returned = dict(failure.said).get("returned", "")
    return RuleFinding(
        rule="error",
        found=note("doctor.error_not_finite_argument", argument=argument, returned=returned),
        line=failure.line,
        source=failure.source,
        evidence=(
            note("doctor.error_first_in", operation=failure.detail or ""),
            *evidence_of(_without_location(failure)),
        ),
        remedy=note("doctor.write_finite_argument", argument=argument),
    )


def _without_location(failure: Failure) -> Failure:
    """Leave out what would say the line of the operation once more."""
    said = tuple(each for each in failure.said if each[0] != "location")
    return replace(failure, said=said, library=None)


def _found(failure: Failure, made: Made) -> Note:
    returned, role, code = dict(failure.said).get("returned", ""), role_of(failure, made), text_of(made)
    if role == "derivative":
        return note("doctor.error_derivative", code=code, returned=returned)
    if role == "either":
        return note("doctor.error_or_derivative", operation=made.operation, code=code, returned=returned)
    inside = made.operation in WITH_BODIES
    code = "" if inside or applies(failure, made) else code
    return note("doctor.error_not_finite", operation=made.operation, inside=inside, code=code, returned=returned)


def _evidence(failure: Failure, first: NotFinite, made: Made) -> list[Note]:
    """Return notes on the loop, on what made NaN of numbers, and on the line that was running."""
    notes = []
    location = failure.line or ""
    if first.loop:
        index = "" if first.number is None else str(first.number)
        length = first.length or 0
        notes.append(
            note(
                "doctor.error_in_loop",
                loop=first.loop,
                location=location,
                step=first.step,
                index=index,
                length=length,
            )
        )
    if first.reason:
        notes.append(note("doctor.error_reason", operation=made.operation, reason=first.reason))
    infinity = first.infinity
    if infinity is not None and infinity.line is not None:
        notes.append(
            note(
                "doctor.error_infinity",
                operation=infinity.operation,
                location=infinity.line.location,
                code=text_of(infinity),
                role=role_of(failure, infinity, infinite=True),
            )
        )
    if not first.loop and made.line is not None and made.line.location != location:
        code = failure.source or ""
        notes.append(note("doctor.error_computed_for", location=location, code=code, again=first.recomputed))
    return notes


def _remedy(failure: Failure, first: NotFinite, made: Made) -> _Remedy:
    infinite = dict(failure.said).get("returned") == "inf"
    jnp = spelled(failure, "jax.numpy")
    sure = first.infinity is not None or "infinity" not in first.reason
    for target in (first.infinity, made):
        remedy = None if target is None else _in_domain(failure, target, sure, target is first.infinity)
        if remedy is not None:
            return remedy
    of_value, found = role_of(failure, made) == "value", written(made)
    matrix = matrix_in(failure, found.node) if of_value and found is not None else None
    if matrix is not None:
        return _Remedy(note("doctor.write_matrix", function=matrix[0], needs=matrix[1], jnp=jnp))
    domain = DOMAINS.get(made.operation, "") if of_value else ""
    if domain or infinite:
        return _Remedy(note("doctor.write_in_domain", domain=domain, jnp=jnp, infinite=infinite))
    constant = "" if first.infinity is None else text_of(first.infinity)
    if _INFINITY.search(constant):
        return _Remedy(note("doctor.write_finite_number", code=constant, jnp=jnp))
    code = text_of(made)
    return _Remedy(note("doctor.write_operands", code=code, jnp=jnp))


def _in_domain(failure: Failure, made: Made, sure: bool, infinite: bool) -> _Remedy | None:
    """Return how to keep the operand of an expression in the domain of its value, or of its derivative."""
    found, role = written(made), role_of(failure, made, infinite)
    if found is not None and is_norm(failure, found.node) and role != "value":
        code = double_where_of_norm(failure, found, made.names)
        operation = ast.unparse(found.node)
        return None if code is None else _Remedy(note("doctor.write_double_where", code=operation, sure=sure), code)
    chosen = None if found is None else _culprit(failure, found, made, role, sure)
    if chosen is None:
        return None
    culprit, (owner, field, number, needs) = chosen
    operation = ast.unparse(culprit.node)
    gradient = role == "derivative"
    if not culprit.is_chosen and underflowed(failure, culprit.node) is not None:
        return _Remedy(write_stable(failure, culprit.node, sure))
    if gradient and not culprit.is_chosen:
        code = double_where(failure, *_culprit_again(failure, made, culprit), made.names)
        if code is not None:
            return _Remedy(note("doctor.write_double_where", code=operation, sure=sure), code)
    name, root = needs.operations[0], _root_before(failure, made, culprit) if gradient else None
    example = mended(failure, culprit.node, (owner, field, number, _strict(needs) if gradient else needs))
    if example is None:
        return None
    return _Remedy(
        note(
            "doctor.write_before",
            code=operation,
            domain=(STRICT_DOMAINS if gradient and name in STRICT_DOMAINS else DOMAINS)[name],
            example=example[0],
            steep="" if gradient else needs.steep,
            gradient=gradient,
            sure=sure,
            root=root.text if root is not None else "",
            name=root.name if root is not None else "",
        ),
        None if root is None else f"{root.code}\n{ast.unparse(culprit.statement)}",
    )


def write_stable(failure: Failure, node: ast.AST, sure: bool = True) -> Note:
    """Return how to compute a logarithm of what has underflowed."""
    jax, jnp = spelled(failure, "jax"), spelled(failure, "jax.numpy")
    return note(
        "doctor.write_stable_log", code=ast.unparse(node), stable=stable(failure, node), jax=jax, jnp=jnp, sure=sure
    )


class _Root(NamedTuple):
    """A variable that is a square root, and how to keep zero out of this root."""

    name: str
    text: str
    code: str


def _root_before(failure: Failure, made: Made, culprit: Written) -> _Root | None:
    """Return the operand, if it is a variable that the same function computed as a root, which fails next."""
    place = place_in(failure, culprit.node)
    if place is None or not isinstance(culprit.statement, SIMPLE):
        return None
    owner, field, number, _ = place
    operand = getattr(owner, field) if number is None else getattr(owner, field)[number]
    text = dict(made.computed_of).get(operand.id) if isinstance(operand, ast.Name) else None
    if text is None:
        return None
    statement = ast.parse(f"{operand.id} = {text}").body[0]
    assert isinstance(statement, ast.Assign)
    found = Written(statement, statement.value)
    if is_norm(failure, found.node):
        code = double_where_of_norm(failure, found, made.names)
    else:
        at = place_in(failure, found.node)
        code = None if at is None else double_where(failure, found, at, made.names)
    return None if code is None else _Root(operand.id, text, code)


def _culprit(failure: Failure, found: Written, made: Made, role: Role, sure: bool) -> tuple[Written, Place] | None:
    """Return the expression whose value or derivative may be infinite: the given one; if it is not, the only one.

    Others are looked at if the infinity is missing: those inside of the given one, and then those beside it.
    """
    place = place_in(failure, found.node)
    if place is not None and (made.operation in place[3].operations if role == "value" else _has_pole(place[3])):
        return found, place
    for around in (found.node, found.statement) if role == "derivative" and not sure else ():
        places = [(each, place_in(failure, each)) for each in ast.walk(around)]
        others = [(Written(found.statement, each), at) for each, at in places if at is not None and _has_pole(at[3])]
        if others:
            return others[0] if len(others) == 1 else None
    return None


def _culprit_again(failure: Failure, made: Made, culprit: Written) -> tuple[Written, Place]:
    """Return the same in a tree of its own, which may be changed."""
    number = list(ast.walk(culprit.statement)).index(culprit.node)
    again = written(replace(made, node=number))
    place = None if again is None else place_in(failure, again.node)
    assert again is not None
    assert place is not None
    return again, place


def _has_pole(needs: Operand) -> bool:
    """Return whether the derivative is infinite somewhere: not that of a power with an exponent of at least one."""
    return bool(needs.steep) or "pow" not in needs.operations or "x > 0" in needs.test


def _strict(needs: Operand) -> Operand:
    return needs._replace(test=needs.test.replace(">=", ">").replace("<=", "<"))
