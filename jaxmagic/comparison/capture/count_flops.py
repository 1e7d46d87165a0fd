"""Counts the floating-point operations of all programs that a statement runs, with XLA's cost analysis."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ...runtime.tracing import inner_jaxprs
from ..record.candidate import Work

#: Custom calls that compute nothing: they annotate the sharding of arrays.
_ANNOTATIONS = re.compile(r"Sharding|SPMD|annotate|sdy\.|shape_assertion", re.I)

#: Primitives that run the jaxpr in their parameters once.
_CALLS = frozenset(
    {"jit", "pjit", "closed_call", "core_call", "checkpoint", "remat", "remat2"}
    | {"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"}
)

_ONE_BRANCH = "of a condition, the branch with the most operations is counted"


class _Unknown(Exception):
    """XLA's cost analysis leaves out a part; the message says which."""


def count_operations(run: Callable[[], Any]) -> Work:
    """Count the floating-point operations of a statement without running it.

    The statement is traced. Each operation outside ``jit`` is a program, and so is each call of a jitted function;
    XLA's cost analysis gives the number for each. The programs are not optimized, so these are the operations in the
    source, not those that XLA executes. If a part of them cannot be counted, there is no number.

    Args:
        run: runs the statement.
    """
    import jax

    counter = _Counter()
    try:
        amount = counter.of_all(jax.make_jaxpr(lambda: (run(), None)[1])().jaxpr)
    except _Unknown as why:
        return Work(kind="flops", amount=None, caveats=(str(why),))
    except Exception as error:
        return Work(kind="flops", amount=None, caveats=(f"JAX cannot trace it ({type(error).__name__})",))
    if not amount > 0:
        return Work(kind="flops", amount=None, caveats=("XLA counts none",))
    return Work(kind="flops", amount=amount, caveats=(_ONE_BRANCH,) if counter.branches else ())


class _Counter:
    """Counts the operations of equations, of equal ones once.

    Attributes:
        branches: whether there are conditions.
    """

    def __init__(self) -> None:
        self.branches = False
        self._counted: dict[Any, float] = {}

    def of_all(self, jaxpr: Any) -> float:
        """Return the number of operations of all equations of a jaxpr."""
        return sum(map(self._of, jaxpr.eqns))

    def _of(self, equation: Any) -> float:
        operands = tuple(str(each.aval) for each in equation.invars)
        key: Any = (equation.primitive, operands, tuple(sorted(equation.params.items(), key=lambda item: item[0])))
        try:
            hash(key)
        except TypeError:
            return self._count(equation)
        if key not in self._counted:
            self._counted[key] = self._count(equation)
        return self._counted[key]

    def _count(self, equation: Any) -> float:
        lowered = _lower(equation)
        text = lowered.as_text()
        if re.search(r"\bstablehlo\.while\b", text):
            return self._count_rounds(equation)
        calls = dict.fromkeys(re.findall(r"custom_call @([\w.$]+)", text))
        missing = [name for name in calls if not _ANNOTATIONS.search(name)]
        if missing:
            raise _Unknown(f"XLA does not count custom calls ({', '.join(missing[:3])})")
        self.branches = self.branches or re.search(r"\bstablehlo\.(case|if)\b", text) is not None
        return max(float((lowered.cost_analysis() or {}).get("flops", 0.0)), 0.0)

    def _count_rounds(self, equation: Any) -> float:
        """Count an equation with loops, of which XLA counts one round: those of a scan are known."""
        name = equation.primitive.name
        inner = list(inner_jaxprs(equation))
        if len(inner) != 1 or name not in _CALLS | {"scan"}:
            raise _Unknown(f"XLA counts one round of a loop ({name})")
        return self.of_all(_without_dead_code(inner[0])) * equation.params.get("length", 1)


def _lower(equation: Any) -> Any:
    """Lower an equation as the program that runs it outside ``jit``, with all its outputs."""
    import jax

    variables = list(dict.fromkeys(each for each in equation.invars if not hasattr(each, "val")))
    alone = SimpleNamespace(
        constvars=[],
        invars=variables,
        all_invars=variables,  # read by 0.12 in place of the two above
        eqns=[equation],
        outvars=equation.outvars,
    )
    given = [jax.ShapeDtypeStruct(each.aval.shape, each.aval.dtype) for each in variables]
    return jax.jit(lambda *operands: jax.core.eval_jaxpr(alone, (), *operands)).lower(*given)


def _without_dead_code(jaxpr: Any) -> Any:
    """Remove the equations that JAX removes when it compiles."""
    from jax.interpreters import partial_eval

    open_jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    return partial_eval.dce_jaxpr(open_jaxpr, [True] * len(open_jaxpr.outvars))[0]
