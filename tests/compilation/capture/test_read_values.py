"""What a function reads when it is called, described without its data."""

from __future__ import annotations

import argparse
import dis
from collections import Counter
from types import FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.compilation.capture.contents import globals_named
from jaxmagic.compilation.capture.read_values import values_read
from jaxmagic.records.code_names import code_objects


def _words(function: Any) -> dict[str, str]:
    return {path: each.words for path, each in values_read(function).items()}


def test_arrays_are_described_by_their_types_and_numbers_by_their_values() -> None:
    x, p, n = jnp.ones((2, 3)), {"w": np.ones(4, "float32")}, 3
    f = jax.jit(lambda a: a * n)
    assert _words(lambda name="y": (f(x), p, name)) == {
        "f.n": "3",
        "name": "'y'",
        "p": "a dict of 1",
        "p['w']": "f32[4] of NumPy",
        "x": "f32[2,3]",
    }


def test_an_array_that_was_deleted_still_has_its_type() -> None:
    x = jnp.ones(3)
    x.delete()
    assert _words(lambda: x) == {"x": "f32[3]"}


def test_a_large_pytree_hides_no_other_variable() -> None:
    a, b, z = ({str(i): jnp.float32(i) for i in range(300)} for _ in "ab"), [list(range(900))] * 9, jnp.ones(3)
    big = dict(enumerate(a))
    found = _words(lambda: (big, b, z))
    assert (found["big"], found["b"], found["z"]) == ("a dict of 2", "a list of 9", "f32[3]")
    assert len(found) < 50


def test_more_variables_than_are_listed_are_cut() -> None:
    namespace: dict[str, Any] = {f"v{i}": i for i in range(99)}
    exec(f"def f(): return {'+'.join(namespace)}", namespace)
    found = values_read(namespace["f"])
    assert found["…"].kind == "unknown"
    assert len(found) < 50


@pytest.mark.parametrize("function", [argparse.ArgumentParser.__init__, dis.dis, argparse._get_action_name])
def test_globals_are_found_as_by_the_disassembler(function: FunctionType) -> None:
    steps = (step for each in code_objects(function.__code__) for step in dis.get_instructions(each))
    expected = Counter(str(step.argval) for step in steps if step.opname == "LOAD_GLOBAL")
    assert Counter(globals_named(function.__code__)) == expected


def test_names_beyond_the_first_byte_are_found() -> None:
    source = "def f():\n" + "".join(f"    a{i}(b{i})\n" for i in range(300))
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert set(globals_named(namespace["f"].__code__)) == {f"{letter}{i}" for letter in "ab" for i in range(300)}
