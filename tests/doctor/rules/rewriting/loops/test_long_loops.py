"""Loops over the layers of a model are short, and others may have many rounds."""

from __future__ import annotations

import ast

import pytest

from jaxmagic.doctor.record.evidence import Input
from jaxmagic.doctor.rules.rewriting.loops.long_loops import has_long_loop, lists_in

PATHS = (
    "params['blocks'][0]['w']",
    "params['blocks'][11]['w']",
    "state.mu[0]",
    "layers[2].weight",
    "x",
    "table['a']",
)
LISTS = lists_in(Input(path=each, kind="jax array", type="f32[3]") for each in PATHS)


def test_lists_are_known_by_their_names_keys_and_attributes() -> None:
    assert {"blocks", "mu", "layers"} == LISTS


@pytest.mark.parametrize(
    ("line", "is_long"),
    [
        ("for block in p['blocks']: x = g(block, x)", False),
        ("for n, block in enumerate(p['blocks']): x = g(block, x)", False),
        ("for m, block in zip(state.mu, p['blocks']): x = g(m, x)", False),
        ("for layer in reversed(layers): x = g(layer, x)", False),
        ("x = [g(each) for each in p['blocks']]", False),
        ("for block in p['data']: x = g(block, x)", True),
        ("for block, row in zip(p['blocks'], rows): x = g(row, x)", True),
        ("for row in x: y = g(row)", True),
        ("for n in range(3): x = g(x)", True),
        ("x = [g(n) for n in range(3)]", True),
        ("x = [g(row) for row in x]", True),
        ("x = jnp.stack([g(p, row) for row in p['data']])", True),
        ("x = sum(g(row) for row in x)", True),
        ("x = [w - 0.1 * g for w, g in zip(p, x)]", False),
        ("x = [g(leaf) for leaf in jax.tree.leaves(p)]", False),
        ("while x.any(): x = g(x)", True),
        ("return g(x)", False),
    ],
)
def test_loops_over_lists_among_the_inputs_are_not_long(line: str, is_long: bool) -> None:
    (function,) = ast.parse(f"def f(p, x):\n    {line}\n").body
    assert isinstance(function, ast.FunctionDef)
    assert has_long_loop(function, None, LISTS) == is_long
