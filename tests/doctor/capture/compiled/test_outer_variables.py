"""The outer variables of a function are those that its code reads, through the user's functions as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmagic.doctor.capture.compiled.outer_variables import outer_variables, plain_reads

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
