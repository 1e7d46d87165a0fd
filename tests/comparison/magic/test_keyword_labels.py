"""A label that begins with a keyword is told only where the statement cannot be right as it is."""

from __future__ import annotations

import ast

import pytest
from IPython.core.error import UsageError

from jaxmagic.comparison.magic.keyword_labels import hint, require_names


def checked(source: str, *known: str) -> None:
    require_names(ast.parse(source).body, source, known)


@pytest.mark.parametrize("label", ["while loop", "with jit", "if fast", "for x in batches"])
def test_a_name_that_nothing_binds_is_refused_with_the_label_in_quotes(label: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked(f"y = 1\n{label}: f(x)", "f", "x", "y")
    name = label.split()[-1]
    assert str(caught.value) == (
        f'%%jaxcompare: {name} is not defined. If {label!r} is a label, put it in quotes: "{label}": f(x)'
    )


@pytest.mark.parametrize(
    "setup",
    [
        "while loop: f(x)",
        "if not fast: f(x)",
        "with jax.disable_jit(): f(x)",
        "fast = True\nif fast: f(x)",
        "import fast\nif fast: f(x)",
        "def fast(): pass\nif fast: f(x)",
        "from fast import *\nif fast: f(x)",
        "get_ipython().run_line_magic('run', 'fast.py')\nif fast: f(x)",
        "for fast in range(3): f(x)\nif fast: f(x)",
        "if slow:\n    f(x)",
        "if slow: y = f(x)",
        "if print: f(x)",
        "if slow: f(x); f(x)",
    ],
)
def test_python_that_may_be_right_is_left_alone(setup: str) -> None:
    checked(setup, "f", "x", "loop", "jax")


def test_of_no_other_statement_anything_is_said() -> None:
    for source in ("x = 1", "f(x)", "if a:\n    f(x)", 'if a["b"]: f(x)', "if a: f(x)\nelse: g(x)", "def f(): g(x)"):
        assert hint(ast.parse(source).body[0], source) == ""
