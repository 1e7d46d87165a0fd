"""The advice to jit says what becomes of arguments that are no arrays."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.records.note import note


def advice(**facts: Any) -> str:
    return str(note("doctor.not_jitted_remedy", **{"way": "function", "function": "step"} | facts))


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({}, "Compile step as one program."),
        ({"library": "equinox"}, "It compiles again for another value of anything else, even a number"),
        ({"library": "nnx"}, "nnx.jit takes modules and optimizers, and keeps what the function changes in them."),
        ({"functions": "act"}, "act is static: pass the same function in each call"),
        ({"functions": "act, norm"}, "act, norm are static: pass the same functions in each call"),
        ({"way": "group", "jit": "nnx.jit"}, "Put these operations into a function under nnx.jit."),
        ({"way": "group", "objects": "cfg"}, "jit does not trace cfg: let the jitted function read it from outside"),
        ({"way": "group", "objects": "cfg, f"}, "jit does not trace cfg, f: let the jitted function read them from"),
    ],
)
def test_what_is_no_array_is_named(facts: dict[str, str], sentence: str) -> None:
    assert sentence in advice(**facts)
