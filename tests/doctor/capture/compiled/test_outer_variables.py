"""The outer variables of a function are those that its code reads, through the user's functions as well."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np

from jaxmagic.doctor.capture.compiled.outer_variables import outer_variables, plain_reads, static_only

RATE, TABLE, COUNT = 0.5, np.ones(3), 0


class Model:
    def __init__(self) -> None:
        self.w = TABLE


MODEL = Model()


def helper(x: Any) -> Any:
    return x * TABLE


def reads(x: Any) -> Any:
    global COUNT
    COUNT += 1
    return [each * RATE for each in helper(x)] + MODEL.w


def test_variables_are_read_as_they_are_when_asked() -> None:
    w = 1

    def enclosed(x: Any) -> Any:
        return x * w

    read = outer_variables(enclosed)["w"]
    assert read() == 1
    w = 2
    assert read() == 2


def test_functions_are_followed_and_objects_count_by_their_attributes() -> None:
    found = outer_variables(reads)
    assert {"RATE", "TABLE", "MODEL.w", "COUNT"} <= {*found}
    assert found["MODEL.w"]() is TABLE
    assert "helper" not in found


def test_what_a_function_assigns_is_no_plain_read() -> None:
    assert plain_reads(reads) >= {"RATE", "MODEL"}
    assert "COUNT" not in plain_reads(reads)
    assert "TABLE" not in plain_reads(reads)


def test_variables_of_one_name_in_two_places_are_left_out() -> None:
    RATE = 3.0

    def inner(x: Any) -> Any:
        return x * RATE

    def outer(x: Any) -> Any:
        return reads(inner(x))

    assert "RATE" not in outer_variables(outer)


def test_what_jit_takes_only_as_a_static_argument_is_known_by_its_kind() -> None:
    fn, jitted, given, mode, kind, library = helper, jax.jit(helper), partial(helper), "mean", Model, np
    model, rate, missing, w = MODEL, 0.1, None, TABLE

    def computes(x: Any) -> Any:
        def inner(y: Any) -> Any:
            return fn(y), jitted(y), given(y), np.tanh(y), mode, kind, library, model, rate, missing, w

        return inner(x)

    assert dict(static_only(computes)) == {
        **dict.fromkeys(("fn", "jitted", "given"), "function"),
        "mode": "string",
        "kind": "class",
        "library": "module",
        "np": "module",
    }
    assert static_only(jitted) == static_only(len) == static_only(None) == ()
