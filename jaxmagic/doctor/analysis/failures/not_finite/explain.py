"""Explains NaN or infinity under ``jax_debug_nans`` and ``jax_debug_infs``."""

from __future__ import annotations

import ast

from .....records.note import note
from ....record.failure import Failure
from ....record.finding import RuleFinding
from ....record.not_finite import Made, NotFinite
from ..expression import expression_of, spelled
from ..origin import error_finding
from .domains import DOMAINS, in_domain, is_written
from .first import explain_argument, explain_first, write_stable
from .operations import ALGEBRA, MATRICES, WITH_BODIES, role_of
from .stable_logs import underflowed

#: A longer call is not shown.
_LONGEST = 200

#: Functions of JAX that subtract the largest element.
_SHIFTED = "softmax", "log_softmax"


def explain_not_finite(failure: Failure) -> RuleFinding:
    """Explain ``FloatingPointError`` of JAX's debugging flags."""
    first = failure.not_finite
    if first is not None and first.argument:
        return explain_argument(failure, first.argument)
    if first is not None and first.made is not None and not _is_of_line(failure, first, first.made):
        return explain_first(failure, first, first.made)
    said, jnp = dict(failure.said), spelled(failure, "jax.numpy")
    module, _, function = said.get("called", "").rpartition(".")
    matrix = MATRICES.get(function, "") if module in ALGEBRA else ""
    operation = function if matrix else failure.detail or ""
    domain = DOMAINS.get(_bare(operation), "")
    example, steep = in_domain(failure, _bare(operation)) or ("", "")
    inside = _bare(operation) in WITH_BODIES
    log = _logarithm(failure, _bare(operation))
    if failure.not_finite is None and not (inside or matrix or domain) and _is_elsewhere(failure):
        return _explain_unknown(failure)
    return error_finding(
        failure,
        found=note("doctor.error_not_finite", operation=operation, inside=inside, returned=said.get("returned", "")),
        remedy=note("doctor.write_softmax", function=function, jnp=jnp)
        if function in _SHIFTED and operation == "sub"
        else note("doctor.write_disable_jit", jax=spelled(failure, "jax"), check=said.get("checked in a block", ""))
        if inside
        else note("doctor.write_matrix", function=function, needs=matrix, jnp=jnp)
        if matrix
        else write_stable(failure, log)
        if log is not None
        else note(
            "doctor.write_in_domain",
            domain=domain,
            jnp=jnp,
            example=example,
            steep=steep,
            inside=bool(domain) and not example and not is_written(failure, _bare(operation)),
            infinite=said.get("returned") == "inf",
        ),
    )


def _logarithm(failure: Failure, operation: str) -> ast.AST | None:
    """Return the failing expression if it is the logarithm of what has underflowed."""
    failing = expression_of(failure)
    if failing is None or failure.library is not None or not operation.startswith("log"):
        return None
    return None if underflowed(failure, failing.node) is None else failing.node


def _bare(operation: str) -> str:
    return operation.removeprefix("jit(").removesuffix(")")


def _is_of_line(failure: Failure, first: NotFinite, made: Made) -> bool:
    """Return whether the failing line applies the operation, as JAX says, and this one has a domain of its own."""
    if first.loop or role_of(failure, made) != "value" or (made.line and made.line.location) != failure.line:
        return made.line is None and made.role != "derivative"
    said = dict(failure.said)
    is_algebra = said.get("called", "").rpartition(".")[0] in ALGEBRA
    return is_algebra or made.operation in DOMAINS or made.operation in WITH_BODIES


def _is_elsewhere(failure: Failure) -> bool:
    """Return whether the failing line only calls a function that is not JAX's, or a transformed one.

    JAX would otherwise have named the line in this function, unless it computed a derivative.
    """
    failing, said = expression_of(failure), dict(failure.said)
    is_call = failing is not None and isinstance(failing.node, ast.Call)
    return is_call and failure.library is None and not said.get("called") and not said.get("location")


def _explain_unknown(failure: Failure) -> RuleFinding:
    """Explain an operation of which the line is unknown, with what to run to find it."""
    said, jax = dict(failure.said), spelled(failure, "jax")
    call = said.get("caller") or failure.statement or ""
    is_short = bool(call) and len(call.splitlines()) == 1 and len(call) <= _LONGEST
    returned, check = said.get("returned", ""), said.get("checked in a block", "")
    block = f"with {f'{jax}.{check}(True), ' if check else ''}{jax}.disable_jit():"
    return error_finding(
        failure,
        found=note("doctor.error_not_finite", operation=failure.detail or "", returned=returned),
        remedy=note("doctor.write_find_line", block=block),
        code=f"{block}\n    {call}" if is_short else None,
    )
