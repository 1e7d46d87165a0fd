"""Words NaN and infinity: the operation that made them, why, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted

#: Which value an operation returned, and the flag that forbids it.
_RETURNED = {
    "nan": "NaN, which jax_debug_nans makes",
    "inf": "infinity, which jax_debug_infs makes",
    "": "NaN or infinity, which JAX's debugging flags make",
}


def _in_loop(loop: str, location: str, step: int, index: str = "", length: int = 0) -> str:
    """Word which step of a loop is the first with NaN, by the number that the loop itself gives it."""
    first = f", and first occurs in iteration {step}, counted from 1" if step else ""
    if index and length:
        first = f", and first occurs at index {index} of {length}, counted from 0"
    elif index:
        first = f", and first occurs where the index that it passes to its body is {index}"
    return (
        f"It is inside the {printable(loop)} at {printable(location)}{first}. To find it, what JAX traced was "
        "computed again; none of your code ran."
    )


def _write_in_domain(
    domain: str, jnp: str, example: str = "", steep: str = "", inside: bool = False, infinite: bool = False
) -> str:
    """Word how to keep an operation in its domain: with the user's own operand, or without code.

    Args:
        domain: what the operation needs.
        jnp: the user's name of ``jax.numpy``.
        example: the user's expression, with a condition that includes the whole domain.
        steep: where in the domain the derivative is infinite.
        inside: whether the line does not apply the operation itself.
        infinite: whether the operation returned infinity.
    """
    if not domain and infinite:
        return (
            "A result is infinite where it is larger than the largest number of its dtype, or where an operand is "
            f"infinite: find out for which inputs. {jnp}.finfo(x.dtype).max is that number; scale the inputs, or "
            "compute with logarithms."
        )
    if not domain:
        return (
            f"Find out for which inputs it does, and replace these before the operation, with {jnp}.where(): one "
            "behind it leaves NaN in the gradient. NaN operands give NaN as well, and so can derivatives of log, "
            "sqrt and norm at 0, where their slope is infinite."
        )
    if inside:
        return (
            "The line itself does not apply it: a function that it calls does, or a derivative. Derivatives of log, "
            "sqrt, norm and powers divide by their operand. Replace operands outside of the domain before such an "
            f"operation, as in {jnp}.log({jnp}.where(x > 0, x, 1)). A where() behind the operation leaves NaN in the "
            "gradient."
        )
    is_operand = domain.startswith(("a divisor", "a base"))
    strict = "<" if "and" in steep else ">"
    edge = (
        f" For jax.grad, write {strict} in place of {strict}=: at {printable(steep)} the derivative can be infinite."
        if steep
        else ""
    )
    how = f": {printable(example)}.{edge} A where()" if example else f", with {jnp}.where(): one"
    return (
        f"The operation needs {'' if is_operand else 'a value that is '}{domain}. Where its operand is not, put "
        f"another number in its place before it{how} behind the operation leaves NaN in the gradient."
    )


def _not_finite(operation: str, inside: bool = False, code: str = "", returned: str = "") -> str:
    what = quoted(operation) or "An operation"
    what = f"An operation inside {what}" if inside else f"{what} in {quoted(code)}" if code else what
    return f"{what} returned {_RETURNED[returned]} an error."


def _derivative(code: str, returned: str) -> str:
    has = _RETURNED[returned]
    return f"The derivative of {quoted(code)} has {has} an error." if code else f"A derivative has {has} an error."


def _infinity(operation: str, location: str, code: str, role: str) -> str:
    """Word which operation made the infinity, for the value or the derivative of which expression."""
    if role == "derivative" and code:
        return f"The infinity comes from the derivative of {quoted(code)} at {printable(location)}."
    part = f" in {quoted(code)}{' or its derivative' if role == 'either' else ''}" if code else ""
    return f"The infinity was made by {quoted(operation)}{part} at {printable(location)}."


def _computed_for(location: str, code: str, again: bool) -> str:
    """Word which line was running, and that what JAX had traced was computed again to find the operation."""
    line = f"JAX computes it for {printable(location)}{f': {quoted(code)}' if code else '.'}"
    how = " To find the operation, what JAX traced was computed again; none of your code ran."
    return f"{line}{'.' if code and not code.endswith('.') else ''}{how}" if again else line


def _write_before(
    code: str, domain: str, example: str, steep: str, gradient: bool, sure: bool, root: str = "", name: str = ""
) -> str:
    """Word how to keep the operand of an expression in the domain of its value, or of its derivative.

    Args:
        code: the expression.
        domain: what its operand has to be.
        example: the expression with another operand where it is not.
        steep: where the derivative is infinite, if the example includes that.
        gradient: whether the derivative is what has to be finite.
        sure: whether the infinity is known to come from this expression.
        root: the root that the operand was computed as, of which the derivative is infinite as well.
        name: the variable that holds this root.
    """
    strict = "<" if "and" in steep else ">"
    edge = (
        f" For jax.grad, write {strict} in place of {strict}=: at {printable(steep)} the derivative can be infinite."
        if steep
        else ""
    )
    is_operand = domain.startswith(("a divisor", "a base"))
    needs = f"needs {'' if is_operand else 'a value that is '}{domain}{' for a finite gradient' if gradient else ''}"
    behind = (
        f" {quoted(name)} = {quoted(root)} has an infinite derivative at 0, so NaN would follow there: replace 0 "
        "before it as well."
        if root
        else ""
    )
    return (
        f"{_probably(sure)}{quoted(code)} {needs}. Where its operand is not, put another number in its place before "
        f"the operation: {printable(example)}.{edge}{behind} A where() behind the operation leaves NaN in the "
        "gradient."
    )


def _write_stable_log(code: str, stable: str, jax: str, jnp: str, sure: bool) -> str:
    """Word how to compute the logarithm of what is positive but for rounding."""
    why = (
        f"{_probably(sure)}The operand of {quoted(code)} is positive, but too small or too large for its dtype in "
        "places. Another number in its place would change the result, so compute the logarithm without it"
    )
    if stable:
        return f"{why}: {printable(stable)}."
    return (
        f"{why}. {jax}.nn.logsumexp(z, b=w) is the logarithm of sum(w * exp(z)), {jax}.nn.log_softmax(z) that of a "
        f"softmax, and {jnp}.sum({jnp}.log(p)) that of a product of positive numbers."
    )


def _write_double_where(code: str, sure: bool) -> str:
    """Word how to keep zero out of a square root; the code follows."""
    return (
        f"{_probably(sure)}{quoted(code)} has an infinite derivative at 0. Replace 0 before it, and its result "
        "behind it: the value at 0 stays 0, and its gradient becomes 0."
    )


def _probably(sure: bool) -> str:
    if sure:
        return ""
    return (
        "It is not known where the infinity comes from. A later operation on the result can make it, such as the "
        "derivative of log, sqrt or arccos, and so can this expression: "
    )


NOT_FINITE_NOTES: dict[str, Callable[..., str]] = {
    "error_not_finite": _not_finite,
    "error_derivative": _derivative,
    "error_or_derivative": lambda operation, code, returned: (
        f"{quoted(operation)}{f' in {quoted(code)} or in its derivative' if code else ''} returned "
        f"{_RETURNED[returned]} an error."
    ),
    "error_not_finite_argument": lambda argument, returned: (
        f"The argument {quoted(argument)} of the jitted function already had {_RETURNED[returned]} an error."
    ),
    "error_first_in": lambda operation: (
        f"{quoted(operation) or 'The operation'}, which JAX names, is the first operation that returned it."
    ),
    "error_reason": lambda operation, reason: f"{quoted(operation)} computed {printable(reason)}.",
    "error_infinity": _infinity,
    "error_computed_for": _computed_for,
    "error_in_loop": _in_loop,
    "write_disable_jit": lambda jax, check="": (
        "To find it, call the same function once more below "
        f"`with {f'{jax}.{check}(True), ' if check else ''}{jax}.disable_jit():`, which runs bodies of loops "
        "and branches as Python, and then %jaxdoctor again."
    ),
    "write_find_line": lambda block: (
        "The line with this operation is unknown: it is in a function that this line calls, or in its derivative. To "
        f"find it, run the call once more below `{printable(block)}`, and then %jaxdoctor again."
    ),
    "write_finite_argument": lambda argument: (
        f"Look at where {quoted(argument)} comes from. JAX checks what it computes while the flag is set, and not "
        "what was computed before."
    ),
    "write_finite_number": lambda code, jnp: (
        f"Write a large finite number in place of the infinity in {quoted(code)}, such as {jnp}.finfo(x.dtype).min "
        f"for -{jnp}.inf: the difference of two infinities is NaN, as where all elements are -{jnp}.inf."
    ),
    "write_operands": lambda code, jnp: (
        f"Find out for which operands {quoted(code) or 'the operation'} does that, and replace these before it, with "
        f"{jnp}.where(): one behind it leaves NaN in the gradient."
    ),
    "write_stable_log": _write_stable_log,
    "write_double_where": _write_double_where,
    "write_before": _write_before,
    "write_in_domain": _write_in_domain,
    "write_softmax": lambda function, jnp: (
        f"{function} subtracts the largest element of each row from all of them. Where all are -inf, as in a row "
        "that is masked completely, or one is inf, that is infinity minus infinity. Mask with a large finite number, "
        f"such as {jnp}.finfo(x.dtype).min, in place of -inf. An operand with NaN gives NaN as well."
    ),
    "write_matrix": lambda function, needs, jnp: (
        f"{function} needs a matrix that {needs}. Find out first why this one is not: rows may depend on each other. "
        "If only rounding makes it so, a small multiple of the identity is enough, and changes the result a little: "
        f"a + 1e-6 * {jnp}.eye(a.shape[-1]). Otherwise the result is that of another matrix."
        + (f" {jnp}.linalg.pinv and {jnp}.linalg.lstsq take singular matrices." if needs == "is not singular" else "")
    ),
}
