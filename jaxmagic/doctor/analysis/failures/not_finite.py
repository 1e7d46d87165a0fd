"""Explains NaN or infinity under ``jax_debug_nans``."""

from __future__ import annotations

from ....records.note import note
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .expression import spelled
from .origin import evidence_of

#: Operations that return NaN or infinity outside of their domain, and how the domain is worded.
_DOMAINS = {
    "log": "positive",
    "log2": "positive",
    "log10": "positive",
    "sqrt": "not negative",
    "rsqrt": "positive",
    "div": "a divisor other than zero, and a finite dividend",
    "true_divide": "a divisor other than zero, and a finite dividend",
    "asin": "between -1 and 1",
    "acos": "between -1 and 1",
    "arcsin": "between -1 and 1",
    "arccos": "between -1 and 1",
    "pow": "a base that is not negative, or an integer exponent",
    "power": "a base that is not negative, or an integer exponent",
}


def explain_not_finite(failure: Failure) -> RuleFinding:
    """Explain ``FloatingPointError`` of JAX's debugging flags."""
    operation = failure.detail or ""
    domain = _DOMAINS.get(operation.removeprefix("jit(").removesuffix(")"), "")
    return RuleFinding(
        rule="error",
        found=note("doctor.error_not_finite", operation=operation),
        line=failure.line,
        source=failure.source,
        evidence=evidence_of(failure),
        remedy=note("doctor.write_in_domain", domain=domain, jnp=spelled(failure, "jax.numpy")),
    )
