"""The calls of a jitted function are found by all names that it has in a file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxmagic.doctor.rules.host.syntax import around, calls_of
from jaxmagic.records.call_stack import Frame

CODE = """
forward = jax.jit(lambda params, x: x)
fast = jit(step, donate_argnums=0)
self.update = eqx.filter_jit(update)
other = vmap(step)
y = forward(fast(x), self.update(step(x)), other(x))
"""


@pytest.mark.parametrize(
    ("name", "calls"),
    [("<lambda>", ["forward"]), ("step", ["fast", "step"]), ("update", ["self.update"]), ("forward", ["forward"])],
)
def test_a_call_by_the_name_of_the_jitted_form_is_one_of_the_function(
    tmp_path: Path, name: str, calls: list[str]
) -> None:
    file = tmp_path / "program.py"
    file.write_text(CODE)
    line = Frame(function="<module>", file=str(file), line=6)
    assert sorted(ast.unparse(each.func) for each in calls_of(name, around(line)[-1], line)) == calls


def test_of_several_lambdas_it_is_unknown_which_one_is_called(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("forward = jax.jit(lambda x: x)\nbackward = jax.jit(lambda x: -x)\ny = forward(backward(x))\n")
    line = Frame(function="<module>", file=str(file), line=3)
    assert calls_of("<lambda>", around(line)[-1], line) == []
