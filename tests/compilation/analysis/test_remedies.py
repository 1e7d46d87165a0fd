"""Differences in words: the shown text is bounded, and every difference has a remedy."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.compilation.analysis.remedies import combined, difference, remedy, type_difference
from jaxmagic.compilation.analysis.static_values import static_difference
from jaxmagic.compilation.record.compilation import Cause


def test_a_value_that_prints_as_a_page_is_cut() -> None:
    cause = static_difference("n", "x" * 10_000, "1")
    assert len(cause.reason) < 150
    assert cause.now is not None
    assert cause.now.endswith("…")


def test_only_the_size_of_a_slice_has_to_be_static() -> None:
    assert remedy("static value") == (
        "do not declare it static, and pass it as an array of one dtype, unless a shape, axis, size of a slice, "
        "length of a scan or Python if depends on it: then every value needs a program of its own. The start of a "
        "slice can be an array, with jax.lax.dynamic_slice_in_dim(x, start, size)"
    )


def test_what_is_shown_of_two_long_values_differs() -> None:
    common = "(" + "0, " * 500
    cause = static_difference("n", common + "1)", common + "2)")
    assert cause.now is not None
    assert cause.now.endswith("1)")
    assert cause.before is not None
    assert cause.before.endswith("2)")
    assert len(cause.now) <= 60


def test_a_type_that_cannot_be_read_is_shown_as_it_is() -> None:
    cause = type_difference("x", "str", "f32[4]")
    assert (cause.kind, cause.now, cause.before) == ("dtype", "str", "f32[4]")


@pytest.mark.parametrize(
    ("now", "before", "kind", "words"),
    [
        ("f32<host>[8]", "f32[8]", "placement", ("host memory", "device memory")),
        ("key<fry>[]", "key<fry><host>[]", "placement", ("device memory", "host memory")),
        ("f16<host>[8]", "f32[8]", "dtype", ("f16[8]", "f32[8]")),
        ("f32<host>[8]", "f32[4]", "shape", ("f32[8]", "f32[4]")),
        ("key<fry>[]", "key<rbg>[]", "dtype", ("key<fry>[]", "key<rbg>[]")),
    ],
)
def test_another_memory_is_no_other_dtype(now: str, before: str, kind: str, words: tuple[str, str]) -> None:
    cause = type_difference("x", now, before)
    assert (cause.kind, (cause.now, cause.before)) == (kind, words)


@pytest.mark.parametrize(
    ("shape", "numbers", "how"),
    [
        ("", None, "with jnp.asarray(value, dtype)"),
        ("", (False, False), "with .astype()"),
        ("3", None, "with .astype()"),
    ],
)
def test_what_may_be_a_python_number_is_not_told_to_call_astype(shape: str, numbers: Any, how: str) -> None:
    cause = type_difference("x", f"f32[{shape}]", f"i32[{shape}]", numbers=numbers)
    assert cause.remedy == f"pass the same dtype in every call, {how}"


def test_several_differences_are_one_cause_that_names_the_others() -> None:
    causes = [difference("shape", f"argument {name} differs", name, "1", "2") for name in "abcdef"]
    values = " (1 now, 2 before)"
    assert combined(causes).reason == (
        f"argument a differs: 1 now, 2 before; and other differences at b{values}, c{values}, d{values}, …"
    )
    unknown = Cause(kind="static value", reason="argument b may differ", argument="b")
    assert combined([causes[0], unknown]).reason.endswith("; and other differences at b")
    assert combined(causes[:1]) == causes[0]


def test_a_remedy_that_several_differences_share_is_given_once() -> None:
    types = [("x", "f32[4]", "f32[8]"), ("y", "bf16[4]", "i32[8]")]
    cause = combined([type_difference(name, now, before, numbers=None) for name, now, before in types])
    assert cause.remedy == (
        "pad to a few fixed shapes, or expect one compilation per shape. "
        "Also for y: pass the same dtype in every call, with .astype()"
    )


def test_a_remedy_names_its_arguments_and_one_of_each_kind_is_named_as_different() -> None:
    """Of four arguments with another shape and one with another dtype, the latter has a remedy of its own."""
    shapes = [type_difference(name, "f32[4]", "f32[8]", numbers=None) for name in "abcd"]
    token = type_difference("token", "i32[]", "f32[]", numbers=(False, False))
    both = combined([*shapes, token])
    assert re.findall(r"(\w+) \(", both.reason.partition("; and")[2]) == ["b", "token", "c"]
    assert both.reason.endswith(", …")
    assert (both.remedy or "").endswith(". Also for token: pass the same dtype in every call, with .astype()")
    one = type_difference("a", "f32[4]", "i32[8]")
    assert (combined([one, one]).remedy or "").endswith(". Also pass the same dtype in every call, with .astype()")
    nameless = combined([*shapes, replace(token, argument=None)])
    assert (nameless.remedy or "").endswith(". Also pass the same dtype in every call, with .astype()")
