"""What a loop carries from round to round, as names tell."""

from __future__ import annotations

import ast

import pytest

from jaxmagic.doctor.rules.host.dependencies import carried_by


@pytest.mark.parametrize(
    ("body", "carried"),
    [
        ("w = step(w, x)", {"w"}),
        ("v = w * x\n    w = v + 1", {"v", "w"}),
        ("state, loss = step(state, x)\n    y = f(loss)", {"state"}),
        ("total += f(x)", {"total"}),
        ("self.w = self.w - g(x)", {"self.w"}),
        ("w = step(x)\n    y = f(w)", set()),
        ("i += 1\n    y = f(xs[i])", set()),
        ("out.append(f(x))", set()),
    ],
)
def test_variables_that_a_loop_computes_from_themselves(body: str, carried: set[str]) -> None:
    loop = ast.parse(f"for x in xs:\n    {body}\n").body[0]
    assert carried_by(loop) == carried
