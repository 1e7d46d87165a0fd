"""The calls that may have deleted an array: those that ran, on the array that the variable holds now."""

from __future__ import annotations

import pytest
from failing_cells import Cell

#: Code after ``f`` and ``g``, which donate; and what is said of them.
CODE = {
    "a branch that never runs": (
        "if False:\n    g(x)\nelse:\n    f(x)\nx + 1  # here",
        ["Probably donated by f(x)"],
        ["g(x)"],
    ),
    "one of two branches": (
        "if flag:\n    g(x)\nelse:\n    f(x)\nx + 1  # here",
        ["It may have been donated by f(x)", "It may have been donated by g(x)", "what the donating call returned"],
        ["Probably"],
    ),
    "the other branch": (
        "y = x\nf(y)\nif flag:\n    g(x)\nelse:\n    x + 1  # here",
        ["Which call donated or deleted it is unknown"],
        ["g(x)"],
    ),
    "the other branch, in an earlier round": (
        "for i in range(2):\n    if i == 0:\n        g(x)\n    else:\n        x + 1  # here",
        ["Probably donated by g(x)"],
        ["unknown"],
    ),
    "a later line of a loop": (
        "for i in range(2):\n    y = x + 1  # here\n    g(x)",
        ["Probably donated by g(x)", "in an earlier round."],
        ["unknown"],
    ),
    "a later line": ("y = x\nf(y)\nx + 1  # here\ng(x)", ["is unknown"], ["g(x)"]),
    "delete()": (
        "x.delete()\nx + 1  # here",
        ["Probably deleted by x.delete()", "Delete x after its last use"],
        ["donating"],
    ),
    "delete() of what a call returned": (
        "x = f(x)\nx.delete()\nx + 1  # here",
        ["Probably deleted by x.delete()"],
        ["f(x)"],
    ),
    "a variable that has got another array since": (
        "y = f(x)\nx = y\nf(y)\nx + 1  # here",
        ["is unknown"],
        ["f(x)"],
    ),
    "an attribute beside it": (
        "class S: pass\ns = S()\ns.w, s.b = x, 1\nf(s.w)\ns.b = 2\ns.w + 1  # here",
        ["Probably donated by f(s.w)"],
        ["unknown"],
    ),
}


@pytest.mark.parametrize("name", CODE)
def test_the_calls_that_may_have_deleted_an_array(name: str) -> None:
    code, said, unsaid = CODE[name]
    head = "f, g = (jax.jit(lambda x, n=n: x + n, donate_argnums=0) for n in (1, 2))\nflag, x = False, jnp.ones(3)\n"
    cell = Cell(head + code)
    assert cell.failure.kind == "deleted"
    assert cell.finding.line == cell.here
    for each in said:
        assert each in cell.said
    for each in unsaid:
        assert each not in cell.said.replace("what f(x) returned", "")
